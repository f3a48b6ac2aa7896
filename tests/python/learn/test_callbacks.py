# SPDX-License-Identifier: Apache-2.0
"""Callbacks, called as a replica calls them while it trains a real model."""

import pickle

import pytest

from xshards.errors import XShardsKeyError, XShardsTypeError, XShardsValueError
from xshards.learn.training.summaries.event_files import read_events, read_scalar

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

from xshards.learn.pytorch.callbacks import (  # noqa: E402
    Callback,
    EarlyStopping,
    MainCallback,
    MaxstepsCallback,
    ModelCheckpoint,
    TensorBoardCallback,
    TqdmCallback,
    with_main_callback,
)
from xshards.learn.training.checkpoints.files import latest_checkpoint  # noqa: E402

BATCHES = 4


class Loop:
    """One replica that trains a line, with all that callbacks may use."""

    def __init__(self, callbacks=(), rank=0, validation_losses=None):
        torch.manual_seed(0)
        self.callbacks = with_main_callback(callbacks)
        self.rank, self.world_size = rank, 1
        self.epochs = self.num_epochs = self.batch_idx = self.global_step = 0
        self.steps_per_epoch = BATCHES
        self.model = torch.nn.Linear(2, 1)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.criterion = torch.nn.MSELoss()
        self.scheduler = torch.optim.lr_scheduler.ExponentialLR(self.optimizer, 0.5)
        self.batch = self.output = self.loss = None
        self.epoch_stats = {}
        self.should_stop = False
        self.validation_losses = validation_losses
        self.saved = []
        rows = torch.arange(16.0).reshape(8, 2) / 16
        self.data = list(zip(rows.split(2), rows.sum(1, True).split(2), strict=True))

    def hook(self, name):
        for callback in self.callbacks:
            getattr(callback, name)(self)

    def fit(self, epochs):
        main = self.callbacks[0]
        self.num_epochs = epochs
        self.hook("before_run")
        for _ in range(epochs):
            self.epoch_stats = {}
            self.hook("before_train_epoch")
            losses = []
            for number, batch in enumerate(self.data):
                self.batch_idx, self.batch = number, batch
                self.hook("before_train_iter")
                main.on_train_forward(self)
                main.on_train_backward(self)
                self.global_step += 1
                losses.append(float(self.loss.detach()))
                self.hook("after_train_iter")
                if self.should_stop:
                    break
            main.on_lr_adjust(self)
            self.epochs += 1
            self.epoch_stats = {
                "epoch": self.epochs,
                "train_loss": sum(losses) / len(losses),
                "note": "not a number",
            }
            self.hook("after_train_epoch")
            self.validate()
            if self.should_stop:
                break
        self.hook("after_run")
        return self

    def validate(self):
        if self.validation_losses is None:
            return
        self.hook("before_val_epoch")
        for number, batch in enumerate(self.data):
            self.batch_idx, self.batch = number, batch
            self.hook("before_val_iter")
            with torch.no_grad():
                self.callbacks[0].on_val_forward(self)
            self.hook("after_val_iter")
        self.epoch_stats["val_loss"] = self.validation_losses[self.epochs - 1]
        self.hook("after_val_epoch")

    def predict(self):
        self.hook("before_pred_epoch")
        outputs = []
        for number, (x, _) in enumerate(self.data):
            self.batch_idx, self.batch = number, (x,)
            self.hook("before_pred_iter")
            with torch.no_grad():
                self.callbacks[0].on_pred_forward(self)
            outputs.append(self.output)
            self.hook("after_pred_iter")
        self.hook("after_pred_epoch")
        return torch.cat(outputs)

    def save_checkpoint(self, filepath, save_weights_only=False):
        self.saved.append((filepath, save_weights_only))
        torch.save(self.model.state_dict(), filepath)


def plain_training(epochs):
    loop = Loop()
    for _ in range(epochs):
        for x, y in loop.data:
            loop.optimizer.zero_grad()
            loop.criterion(loop.model(x), y).backward()
            loop.optimizer.step()
        loop.scheduler.step()
    return loop.model


def test_the_main_callback_trains_as_a_loop_by_hand():
    loop, expected = Loop().fit(3), plain_training(3)
    for ours, theirs in zip(
        loop.model.parameters(), expected.parameters(), strict=True
    ):
        assert torch.equal(ours, theirs)
    x = torch.cat([x for x, _ in loop.data])
    torch.testing.assert_close(loop.predict(), expected(x).detach())


def test_the_main_callback_takes_several_inputs_outputs_and_targets():
    class Two(torch.nn.Module):
        def forward(self, a, b):
            return a + b, a * b

    runner = Loop()
    runner.model = Two()
    runner.criterion = lambda s, p, t, u: ((s - t) ** 2 + (p - u) ** 2).sum()
    runner.batch = (torch.ones(2), torch.ones(2), (torch.zeros(2), torch.ones(2)))
    runner.callbacks[0].on_val_forward(runner)
    assert float(runner.loss) == 8


def test_the_main_callback_compares_a_column_with_a_row_of_labels():
    runner = Loop()
    runner.batch = (torch.tensor([[1.0, 0], [0, 1]]), torch.tensor([1, 2]))
    runner.callbacks[0].on_val_forward(runner)
    expected = ((runner.output[:, 0] - torch.tensor([1.0, 2.0])) ** 2).mean()
    torch.testing.assert_close(runner.loss, expected)


class Recorder(Callback):
    def __init__(self):
        self.calls = []

    def __getattribute__(self, name):
        if name.startswith(("before_", "after_")):
            object.__getattribute__(self, "calls").append(name)
        return object.__getattribute__(self, name)


def test_stages_come_in_order_and_call_the_general_ones():
    recorder = Recorder()
    loop = Loop([recorder], validation_losses=[1.0])
    loop.fit(1)
    train = ["before_train_iter", "before_iter", "after_train_iter", "after_iter"]
    validate = ["before_val_iter", "before_iter", "after_val_iter", "after_iter"]
    assert recorder.calls == [
        "before_run",
        *["before_train_epoch", "before_epoch"],
        *train * BATCHES,
        *["after_train_epoch", "after_epoch"],
        *["before_val_epoch", "before_epoch"],
        *validate * BATCHES,
        *["after_val_epoch", "after_epoch"],
        "after_run",
    ]
    recorder.calls.clear()
    loop.predict()
    predict = ["before_pred_iter", "before_iter", "after_pred_iter", "after_iter"]
    assert recorder.calls == [
        *["before_pred_epoch", "before_epoch"],
        *predict * BATCHES,
        *["after_pred_epoch", "after_epoch"],
    ]


class Counter(Callback):
    def __init__(self):
        self.iters, self.epochs = [], []

    def after_train_iter(self, runner):
        if self.every_n_iter(runner, 2):
            self.iters.append(runner.global_step)
        assert not self.every_n_iter(runner, -1)

    def after_train_epoch(self, runner):
        if self.every_n_epoch(runner, 2):
            self.epochs.append(runner.epochs)


def test_every_n():
    counter = Counter()
    Loop([counter]).fit(5)
    assert counter.iters == [2, 4, 6, 8, 10, 12, 14, 16, 18, 20]
    assert counter.epochs == [2, 4]


def test_there_is_one_main_callback_and_it_is_first():
    mine, other = MainCallback(), Callback()
    assert with_main_callback([other, mine]) == [mine, other]
    made = with_main_callback(None)
    assert [type(each) for each in made] == [MainCallback]
    with pytest.raises(XShardsValueError, match="got 2: MainCallback, MainCallback"):
        with_main_callback([mine, MainCallback()])
    with pytest.raises(XShardsTypeError, match="got <class"):
        with_main_callback([Callback])


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_checkpoints_of_epochs(tmp_path):
    loop = Loop([ModelCheckpoint(str(tmp_path / "net"))]).fit(3)
    assert names(tmp_path) == [
        "last.ckpt",
        "net-epoch=1.ckpt",
        "net-epoch=2.ckpt",
        "net-epoch=3.ckpt",
    ]
    first = torch.load(tmp_path / "net-epoch=1.ckpt")
    torch.testing.assert_close(first, plain_training(1).state_dict(), rtol=0, atol=0)
    assert {weights_only for _, weights_only in loop.saved} == {False}
    assert latest_checkpoint(tmp_path) == str(tmp_path / "last.ckpt")
    (tmp_path / "last.ckpt").unlink()
    assert ModelCheckpoint.get_latest_checkpoint(tmp_path).endswith("epoch=3.ckpt")


def test_checkpoints_at_intervals(tmp_path):
    Loop([ModelCheckpoint(tmp_path / "{epoch:02d}", True, interval=2)]).fit(5)
    assert names(tmp_path) == ["epoch=02.ckpt", "epoch=04.ckpt", "last.ckpt"]
    by_update = ModelCheckpoint(tmp_path / "net", by_epoch=False, interval=5)
    loop = Loop([by_update]).fit(3)
    assert [path.rsplit("/", 1)[1] for path, _ in loop.saved] == [
        "net-iter=5.ckpt",
        "net-iter=10.ckpt",
        "last.ckpt",
    ]


def test_only_the_first_replica_writes(tmp_path):
    quiet = [
        ModelCheckpoint(tmp_path / "net"),
        TensorBoardCallback(tmp_path / "board"),
        TqdmCallback(),
    ]
    Loop(quiet, rank=1).fit(1)
    assert list(tmp_path.iterdir()) == []


def test_names_of_checkpoints_with_nothing_in_front():
    assert ModelCheckpoint().path_of(7) == "epoch=7.ckpt"
    assert ModelCheckpoint("models/").path_of(7) == "models/epoch=7.ckpt"


def test_tensorboard_of_epochs(tmp_path):
    losses = [0.5, 0.25, 0.125]
    loop = Loop([TensorBoardCallback(tmp_path)], validation_losses=losses).fit(3)
    assert [row[:2] for row in read_scalar(tmp_path, "val_loss")] == [
        [1, 0.5],
        [2, 0.25],
        [3, 0.125],
    ]
    rows = read_scalar(tmp_path, "train_loss")
    assert [row[0] for row in rows] == [1, 2, 3]
    assert rows[-1][1] == pytest.approx(loop.epoch_stats["train_loss"], rel=1e-6)
    assert {event.tag for event in read_events(tmp_path)} == {"train_loss", "val_loss"}


@pytest.mark.parametrize(("freq", "steps"), [("batch", range(1, 9)), (3, [3, 6])])
def test_tensorboard_of_batches(tmp_path, freq, steps):
    Loop([TensorBoardCallback(tmp_path, freq)]).fit(2)
    assert [row[0] for row in read_scalar(tmp_path, "train_loss")] == list(steps)
    rates = [row[1] for row in read_scalar(tmp_path, "LearningRate")]
    expected = [0.1 if step <= BATCHES else 0.05 for step in steps]
    assert rates == pytest.approx(expected)


def test_tensorboard_of_a_second_run_has_its_own_results_only(tmp_path):
    loop = Loop([TensorBoardCallback(tmp_path / "one")])
    loop.fit(2)
    loop.callbacks[1] = TensorBoardCallback(tmp_path / "two")
    loop.fit(1)
    assert [row[0] for row in read_scalar(tmp_path / "two", "train_loss")] == [3]


def test_max_steps_end_training_in_the_middle():
    loop = Loop([MaxstepsCallback(6)]).fit(5)
    assert (loop.global_step, loop.epochs) == (6, 2)


@pytest.mark.parametrize(
    ("options", "losses", "epochs"),
    [
        ({}, [3.0, 2.0, 2.0, 1.0], 3),
        ({"patience": 1}, [3.0, 2.0, 2.0, 1.0], 3),
        ({"patience": 2}, [3.0, 2.0, 2.0, 1.0, 1.0, 1.0, 0.0], 6),
        ({"patience": 3, "min_delta": 0.5}, [3, 2.8, 2.6, 2.4, 2.2, 2.1, 2, 1.95], 7),
        ({"mode": "max"}, [1.0, 2.0, 3.0, 3.0], 4),
        ({}, [float("nan"), 1.0], 1),
        ({}, [3.0, float("nan"), 1.0], 2),
        ({"patience": 9}, [1.0] * 4, 4),
    ],
)
def test_early_stopping(options, losses, epochs):
    stop = EarlyStopping("val_loss", **options)
    loop = Loop([stop], validation_losses=losses).fit(len(losses))
    assert loop.epochs == epochs


def test_early_stopping_on_a_training_result():
    loop = Loop([EarlyStopping("train_loss", min_delta=100.0)]).fit(5)
    assert loop.epochs == 2


def test_early_stopping_is_reset_for_each_run():
    stop = EarlyStopping()
    assert Loop([stop], validation_losses=[1.0, 1.0]).fit(2).should_stop
    assert not Loop([stop], validation_losses=[5.0]).fit(1).should_stop


def test_progress_is_shown(capsys):
    Loop([TqdmCallback()]).fit(2)
    shown = capsys.readouterr().err
    assert "epoch 1/2" in shown
    assert "epoch 2/2" in shown
    assert "/4" in shown


def test_callbacks_travel_to_replicas(tmp_path):
    callbacks = [
        EarlyStopping(),
        MaxstepsCallback(3),
        ModelCheckpoint(tmp_path / "net"),
        TensorBoardCallback(tmp_path),
        TqdmCallback(),
    ]
    loop = Loop(pickle.loads(pickle.dumps(callbacks)), validation_losses=[1.0]).fit(1)
    assert loop.global_step == 3
    pickle.dumps(loop.callbacks)


def test_mistakes_are_named(tmp_path):
    runner = Loop().fit(1)
    with pytest.raises(XShardsKeyError, match=r"'val_loss' is not among.*train_loss"):
        EarlyStopping().after_val_epoch(runner)
    with pytest.raises(XShardsValueError, match="'auto'"):
        EarlyStopping(mode="auto")
    with pytest.raises(XShardsValueError, match="got -1 and 0"):
        EarlyStopping(patience=-1)
    with pytest.raises(XShardsValueError, match="got 0"):
        MaxstepsCallback(0)
    with pytest.raises(XShardsValueError, match="'day'"):
        TensorBoardCallback(tmp_path, "day")
    with pytest.raises(XShardsValueError, match="number of updates"):
        ModelCheckpoint(tmp_path / "net", by_epoch=False)
    with pytest.raises(XShardsValueError, match=r"\{epoch\} in it, got \{loss\}"):
        ModelCheckpoint(tmp_path / "{epoch}-{loss}")
