# SPDX-License-Identifier: Apache-2.0
"""The PyTorch code of Orca's guide runs as it is, and its signatures hold.

The blocks are files of `seed_scripts`. What a block uses and does not define comes from
a prelude; torchvision's MNIST is replaced by digits made on the spot.
"""

import inspect
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

BLOCKS = Path(__file__).with_name("seed_scripts")

# Each digit is an image of its own brightness: a line can tell them apart.
TORCHVISION = """
import sys, types
import numpy as np
import torch

datasets, transforms = types.ModuleType("datasets"), types.ModuleType("transforms")

class MNIST(torch.utils.data.Dataset):
    def __init__(self, root, train, download, transform):
        self.transform = transform
        self.labels = np.random.default_rng(0).integers(0, 10, 500)
    def __len__(self):
        return len(self.labels)
    def __getitem__(self, index):
        digit = int(self.labels[index])
        image = np.zeros((28, 28), np.uint8)
        image[digit * 2 : digit * 2 + 2] = 255
        return self.transform(image), digit

class Compose:
    def __init__(self, steps):
        self.steps = steps
    def __call__(self, value):
        for step in self.steps:
            value = step(value)
        return value

class ToTensor:
    def __call__(self, image):
        return torch.from_numpy(image)[None].float() / 255

class Normalize:
    def __init__(self, mean, std):
        self.mean, self.std = mean[0], std[0]
    def __call__(self, image):
        return (image - self.mean) / self.std

datasets.MNIST = MNIST
transforms.Compose, transforms.ToTensor = Compose, ToTensor
transforms.Normalize = Normalize
"""
MODEL = """
import torch
batch_size = 32
torch.manual_seed(0)
torch_model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(28 * 28, 10))
torch_optim = torch.optim.SGD(torch_model.parameters(), lr=0.01)
torch_criterion = torch.nn.CrossEntropyLoss()
"""


def block(name):
    return (BLOCKS / f"{name}.py").read_text()


@pytest.fixture
def torchvision(tmp_path):
    """Put a small torchvision beside the script."""
    (tmp_path / "torchvision.py").write_text(TORCHVISION)


@pytest.mark.usefixtures("torchvision")
def test_data_loader(run_script):
    done = run_script(
        MODEL
        # The guide calls its Estimator by two names.
        + "class zoo_estimator:\n"
        + "    def fit(data):\n"
        + "        return est.fit(data=data, epochs=4)\n"
        + block("pytorch_data_loader")
        + """
from zoo.orca.learn.metrics import Accuracy
print(est.evaluate(train_loader, [Accuracy()])["Accuracy"])
print(est.get_model() is not torch_model)
est.shutdown()
"""
    )
    accuracy, copied = done.stdout.split()
    assert float(accuracy) > 0.9
    assert copied == "True"


@pytest.mark.usefixtures("torchvision")
@pytest.mark.parametrize("backend", ["horovod", "torch_distributed", "bigdl"])
def test_data_creator(run_script, backend):
    done = run_script(
        MODEL
        + "from torchvision import datasets, transforms\n"
        + block("pytorch_data_creator")
        + f"""
from zoo.orca.learn.pytorch import Estimator
est = Estimator.from_torch(
    model=lambda config: torch_model,
    optimizer=lambda model, config: torch.optim.SGD(model.parameters(), config["lr"]),
    loss=lambda config: torch_criterion,
    config={{"lr": 0.01, "batch_size": 50, "dir": "mnist"}},
    workers_per_node=2,
    backend={backend!r},
)
est.fit(train_data_creator, epochs=3)
print(est.evaluate(train_data_creator)["val_loss"])
est.shutdown()
"""
    )
    assert float(done.stdout) < 1


def parameters(function):
    """Give the names and the defaults of a method's arguments, in order."""
    return {
        name: parameter.default
        for name, parameter in inspect.signature(function).parameters.items()
        if name != "self"
    }


def test_from_torch_has_the_guides_arguments():
    from zoo.orca.learn.pytorch import Estimator, TrainingOperator

    expected = {
        "loss": None,
        "scheduler_creator": None,
        "training_operator_cls": TrainingOperator,
        "initialization_hook": None,
        "config": None,
        "scheduler_step_freq": "batch",
        "use_tqdm": False,
        "workers_per_node": 1,
        "model_dir": None,
        "backend": "bigdl",
    }
    found = parameters(Estimator.from_torch)
    assert {"model", "optimizer"} <= found.keys()
    assert expected.items() <= found.items()
    kinds = inspect.signature(Estimator.from_torch).parameters.values()
    assert {kind.kind for kind in kinds} == {inspect.Parameter.KEYWORD_ONLY}


NONE = inspect.Parameter.empty
# Of each backend and method: the arguments of the guide, in its order.
GUIDE = {
    ("horovod", "fit"): {
        "data": NONE,
        "epochs": 1,
        "profile": False,
        "reduce_results": True,
        "info": None,
    },
    ("horovod", "evaluate"): {
        "data": NONE,
        "num_steps": None,
        "profile": False,
        "info": None,
    },
    ("horovod", "save"): {"checkpoint": NONE},
    ("horovod", "load"): {"checkpoint": NONE},
    ("horovod", "shutdown"): {"force": False},
    ("bigdl", "fit"): {
        "data": NONE,
        "epochs": 1,
        "batch_size": 32,
        "validation_data": None,
        "validation_methods": None,
        "checkpoint_trigger": None,
    },
    ("bigdl", "evaluate"): {
        "data": NONE,
        "validation_methods": None,
        "batch_size": 32,
    },
    ("bigdl", "get_model"): {},
    ("bigdl", "load"): {"checkpoint": NONE, "loss": None},
    ("bigdl", "clear_gradient_clipping"): {},
    ("bigdl", "set_constant_gradient_clipping"): {"min": NONE, "max": NONE},
    ("bigdl", "set_l2_norm_gradient_clipping"): {"clip_norm": NONE},
}


@pytest.fixture
def make(sc):
    """Make an Estimator of a line; it is shut down at the end."""
    from zoo.orca.learn.pytorch import Estimator

    made = []

    def make_one(**options):
        torch.manual_seed(0)
        model = torch.nn.Linear(2, 1)
        options = {
            "model": model,
            "optimizer": torch.optim.SGD(model.parameters(), lr=0.5),
            "loss": torch.nn.MSELoss(),
            **options,
        }
        made.append(Estimator.from_torch(**options))
        return made[-1]

    yield make_one
    for estimator in made:
        estimator.shutdown()


@pytest.mark.parametrize(("backend", "method"), GUIDE)
def test_methods_have_the_guides_arguments(make, backend, method):
    found = parameters(getattr(make(backend=backend), method))
    expected = GUIDE[backend, method]
    assert list(found.items())[: len(expected)] == list(expected.items())


def rows(count=64):
    x = np.random.default_rng(1).random((count, 2), np.float32)
    return x, x.sum(1, keepdims=True)


def loader_creator(config, batch_size=16):
    x, y = (torch.from_numpy(array) for array in rows())
    data = torch.utils.data.TensorDataset(x, y)
    return torch.utils.data.DataLoader(data, config.get("batch_size", batch_size))


def test_the_bigdl_estimator_at_work(make, tmp_path):
    """Every call of the guide's section on the BigDL Estimator."""
    from bigdl.optim.optimizer import EveryEpoch
    from zoo.orca.data import XShards
    from zoo.orca.learn.metrics import MAE, MSE

    x, y = rows()
    shards = XShards.partition({"x": x, "y": y}, 4)
    estimator = make(model_dir=str(tmp_path))
    estimator.set_constant_gradient_clipping(-1, 1)
    estimator.set_l2_norm_gradient_clipping(5.0)
    estimator.clear_gradient_clipping()
    for data in (shards, loader_creator({}), loader_creator):
        done = estimator.fit(data, 10, 16, data, [MSE(), MAE()], EveryEpoch())
        assert done is estimator
    for data in (shards, loader_creator({}), loader_creator):
        result = estimator.evaluate(data, [MSE()], 16)
        assert result["MSE"] < 1e-3
        assert result["num_samples"] == 64
    predicted = estimator.predict(shards).collect()
    assert [len(shard["prediction"]) for shard in predicted] == [16] * 4
    found = np.concatenate([shard["prediction"] for shard in predicted])
    np.testing.assert_allclose(found, y, atol=0.1)
    for data in (loader_creator({}), loader_creator):
        np.testing.assert_allclose(estimator.predict(data), y, atol=0.1)
    weights = estimator.get_model().state_dict()
    other = make(model_dir=str(tmp_path))
    other.load_orca_checkpoint(str(tmp_path))
    torch.testing.assert_close(other.get_model().state_dict(), weights)
    estimator.save(str(tmp_path / "model.pt"))
    another = make(loss=None)
    another.load(str(tmp_path / "model.pt"), torch.nn.MSELoss())
    torch.testing.assert_close(another.get_model().state_dict(), weights)
    assert another.evaluate(shards)["val_loss"] < 1e-3


def test_the_horovod_estimator_at_work(make, tmp_path):
    """Every call of the guide's section on the horovod Estimator."""
    estimator = make(backend="horovod", workers_per_node=2, config={"batch_size": 16})
    stats = estimator.fit(loader_creator, 20, False, True, {"name": "value"})
    assert len(stats) == 20
    assert stats[-1]["train_loss"] < stats[0]["train_loss"] / 10
    assert estimator.evaluate(loader_creator, 2)["num_samples"] == 32
    path = str(tmp_path / "model.pt")
    estimator.save(path)
    other = make(backend="horovod", config={"batch_size": 16})
    other.load(path)
    expected = estimator.get_model().state_dict()
    torch.testing.assert_close(other.get_model().state_dict(), expected)
    estimator.shutdown(force=False)
    estimator.shutdown()


def test_two_backends_train_alike(make):
    x, y = rows()
    losses = []
    for backend in ("bigdl", "horovod", "torch_distributed"):
        estimator = make(backend=backend)
        estimator.fit((x, y), epochs=3, batch_size=16)
        losses.append(estimator.evaluate((x, y), batch_size=16)["val_loss"])
    assert losses[0] == pytest.approx(losses[1], rel=0.2)
    assert losses[1] == pytest.approx(losses[2], rel=0.2)


def test_orcas_optimizers_and_frames(make, csv_folder):
    from zoo.orca.data.pandas import read_csv
    from zoo.orca.learn.optimizers import SGD
    from zoo.orca.learn.optimizers.schedule import Step

    shards = read_csv(str(csv_folder))
    optimizer = SGD(learningrate=1e-5, learningrate_schedule=Step(10, 0.5))
    estimator = make(optimizer=optimizer)
    features = ["sale_price", "ID"]
    columns = {"feature_cols": features, "label_cols": ["sale_price"]}
    before = estimator.evaluate(shards, batch_size=7, **columns)["val_loss"]
    estimator.fit(shards, epochs=3, batch_size=7, **columns)
    assert estimator.evaluate(shards, batch_size=7, **columns)["val_loss"] < before
    predicted = estimator.predict(shards, feature_cols=features)
    frames = predicted.collect()
    assert [len(frame) for frame in frames] == [7, 7]
    assert "prediction" in frames[0].columns
    assert predicted["location"].unique().size == 6


@pytest.fixture
def make_bigdl_2(sc):
    """Make an Estimator of a line from creators; it is shut down at the end."""
    from bigdl.orca.learn.metrics import MSE
    from bigdl.orca.learn.pytorch import Estimator

    made = []

    def make_one(**options):
        torch.manual_seed(0)
        estimator = Estimator.from_torch(
            model=lambda config: torch.nn.Linear(2, 1),
            optimizer=lambda model, config: torch.optim.SGD(
                model.parameters(), lr=config["lr"]
            ),
            loss=torch.nn.MSELoss(),
            metrics=[MSE()],
            config={"lr": 0.5},
            **options,
        )
        made.append(estimator)
        return estimator

    yield make_one
    for estimator in made:
        estimator.shutdown()


@pytest.mark.parametrize("backend", ["spark", "ray", "horovod"])
def test_bigdl_2s_estimator_at_work(make_bigdl_2, backend):
    from bigdl.orca.data import XShards

    x, y = rows()
    shards = XShards.partition({"x": x, "y": y}, 4)
    estimator = make_bigdl_2(backend=backend, workers_per_node=2)
    stats = estimator.fit(shards, epochs=20, batch_size=16, validation_data=shards)
    assert [each["epoch"] for each in stats] == list(range(1, 21))
    assert stats[-1]["val_MSE"] < 1e-2
    assert set(estimator.evaluate(shards)) >= {"num_samples", "val_loss", "MSE"}
    predicted = estimator.predict(shards, batch_size=16).collect()
    assert [len(shard["prediction"]) for shard in predicted] == [16] * 4


def test_mistakes_are_named(sc):
    import bigdl.orca.learn.pytorch
    import zoo.orca.learn.pytorch

    model = torch.nn.Linear(1, 1)
    for module in (bigdl.orca.learn.pytorch, zoo.orca.learn.pytorch):
        with pytest.raises(RuntimeError, match="but got 'mpi'"):
            module.Estimator.from_torch(model=model, optimizer=None, backend="mpi")
        with pytest.raises(RuntimeError, match="from_torch"):
            module.Estimator()
    with pytest.raises(NotImplementedError, match="from_mmcv is not in XShards yet"):
        bigdl.orca.learn.pytorch.Estimator.from_mmcv(mmcv_runner_creator=None)


def test_summaries_are_where_bigdl_has_them(make, tmp_path):
    from bigdl.optim.optimizer import TrainSummary, ValidationSummary
    from zoo.orca.learn.metrics import MSE

    x, y = rows()
    estimator = make()
    estimator.set_tensorboard(str(tmp_path), "app")
    estimator.fit((x, y), 2, 16, (x, y), [MSE()])
    losses = TrainSummary(str(tmp_path), "app").read_scalar("Loss")
    assert losses == estimator.get_train_summary("Loss")
    assert [row[0] for row in losses] == list(range(1, 9))
    measured = ValidationSummary(str(tmp_path), "app").read_scalar("MSE")
    assert measured == estimator.get_validation_summary("MSE")
    assert [row[0] for row in measured] == [4, 8]


def test_bigdls_names_of_optimizers_and_triggers(tmp_path):
    names = {}
    exec("from bigdl.optim.optimizer import *", names)
    assert names["Adam"](1e-2).rule()[1]["learning_rate"] == 1e-2
    from xshards.learn.training.summaries.event_files import SummaryWriter
    from xshards.learn.trigger import TrainingState

    both = names["TriggerAnd"](names["EveryEpoch"](), names["MaxEpoch"](2))
    assert not both.fires(TrainingState(1, 10, epoch_finished=True))
    assert both.fires(TrainingState(2, 20, epoch_finished=True))
    with SummaryWriter(tmp_path / "app" / "train") as writer:
        writer.add_scalar("Loss", 0.5, 1)
    summary = names["TrainSummary"](str(tmp_path), "app")
    assert [row[:2] for row in summary.read_scalar("Loss")] == [[1, 0.5]]
    assert names["ValidationSummary"](tmp_path, "app").read_scalar("Loss") == []


def test_bigdl_2s_callbacks(make_bigdl_2, tmp_path):
    from bigdl.orca.data import XShards
    from bigdl.orca.learn.pytorch import Estimator
    from bigdl.orca.learn.pytorch.callbacks import Callback
    from bigdl.orca.learn.pytorch.callbacks.model_checkpoint import ModelCheckpoint
    from bigdl.orca.learn.pytorch.callbacks.tensorboard import TensorBoardCallback

    from xshards.learn.training.summaries.event_files import read_scalar

    class Mark(Callback):
        def after_run(self, runner):
            if runner.rank == 0:
                (tmp_path / "ran").write_text(str(runner.epochs))

    x, y = rows()
    shards = XShards.partition({"x": x, "y": y}, 4)
    folder, board = tmp_path / "checkpoints", tmp_path / "board"
    estimator = make_bigdl_2()
    stats = estimator.fit(
        shards,
        epochs=4,
        batch_size=16,
        validation_data=shards,
        callbacks=[
            Mark(),
            ModelCheckpoint(str(folder / "net-{epoch}"), interval=2),
            TensorBoardCallback(str(board)),
        ],
    )
    assert (tmp_path / "ran").read_text() == "4"
    assert {path.name for path in folder.iterdir()} == {
        "net-epoch=2.ckpt",
        "net-epoch=4.ckpt",
        "last.ckpt",
    }
    for name in ("train_loss", "val_loss", "val_MSE"):
        found = read_scalar(board, name)
        assert [row[0] for row in found] == [1, 2, 3, 4]
        values = [each[name] for each in stats]
        assert [row[1] for row in found] == pytest.approx(values, rel=1e-6)
    last = Estimator.latest_checkpoint(str(folder))
    assert last == str(folder / "last.ckpt")
    other = make_bigdl_2()
    other.load_checkpoint(last)
    expected = estimator.get_model().state_dict()
    torch.testing.assert_close(other.get_model().state_dict(), expected)
