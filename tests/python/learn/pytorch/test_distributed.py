# SPDX-License-Identifier: Apache-2.0
"""torch.distributed as the backend: a plain loop's weights, and the rest as well."""

import os
import signal
import threading

import pytest
import torch
from training import (
    adam,
    arrays,
    assert_same,
    frame,
    mlp,
    plain_loop,
    sgd,
    shards,
    weights_of,
)

from xshards.errors import XShardsWorkerError
from xshards.learn import optimizers
from xshards.learn.metrics import MAE
from xshards.learn.pytorch import TrainingOperator
from xshards.learn.pytorch.local_optimizer import LocalOptimizer
from xshards.learn.trigger import SeveralIteration

pytestmark = pytest.mark.timeout(120)  # what waits for a peer may wait for ever


@pytest.fixture
def make_distributed(make):
    def make_one(model, optimizer=sgd, **options):
        return make(model, optimizer, backend="torch_distributed", **options)

    return make_one


def step_lr(optimizer, config):
    return torch.optim.lr_scheduler.StepLR(optimizer, step_size=5, gamma=0.7)


@pytest.mark.parametrize("optimizer", [sgd, adam])
@pytest.mark.parametrize(
    ("workers", "batch_size"), [(1, 16), (2, 16), (3, 7), (2, 1000)]
)
def test_training_equals_a_plain_loop(make_distributed, optimizer, workers, batch_size):
    data = shards()  # the last batch of 7 has 2 rows, fewer than replicas
    estimator = make_distributed(mlp(), optimizer, workers=workers)
    history = estimator.fit(data, epochs=3, batch_size=batch_size)
    expected = mlp()
    losses = plain_loop(expected, optimizer(expected), data, 3, batch_size)
    assert_same(weights_of(estimator.get_model()), weights_of(expected))
    assert [one["train_loss"] for one in history] == pytest.approx(losses, rel=1e-5)
    assert [one["num_samples"] for one in history] == [100] * 3
    result = estimator.evaluate(data, validation_methods=[MAE()])
    with torch.no_grad():
        errors = expected(torch.from_numpy(arrays()["x"])) - torch.from_numpy(
            arrays()["y"]
        )
    assert result["MAE"] == pytest.approx(errors.abs().mean().item(), rel=1e-6)


def test_batches_of_loaders_smaller_than_the_replicas(make_distributed):
    data = arrays(9)
    rows = torch.utils.data.TensorDataset(*map(torch.from_numpy, data.values()))
    loader = torch.utils.data.DataLoader(rows, batch_size=2)

    class Stream(torch.utils.data.IterableDataset):
        def __iter__(self):
            return iter(rows)

    expected = mlp()
    optimizer = sgd(expected)
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(expected(x), y).backward()
        optimizer.step()
    for given in (loader, torch.utils.data.DataLoader(Stream(), batch_size=2)):
        estimator = make_distributed(mlp(), workers=3)
        estimator.fit(given)
        assert_same(weights_of(estimator.get_model()), weights_of(expected))


def test_schedulers_clipping_and_sums(make_distributed):
    data = shards()
    estimator = make_distributed(
        mlp(),
        lambda m, c: torch.optim.SGD(m.parameters(), lr=1e-2),
        scheduler_creator=step_lr,
        loss=torch.nn.MSELoss(reduction="sum"),
        workers=3,
    )
    estimator.set_constant_gradient_clipping(-0.5, 0.4)
    estimator.set_l2_norm_gradient_clipping(0.9)
    estimator.fit(data, epochs=2, batch_size=16)
    estimator.clear_gradient_clipping()
    estimator.fit(data, epochs=1, batch_size=16)
    reference = make_like_ours(estimator, data)
    assert_same(weights_of(estimator.get_model()), weights_of(reference))


def make_like_ours(estimator, data):
    """Train by the parameter server, which is compared with torch elsewhere."""
    from training import estimator_of

    ours = estimator_of(
        mlp(),
        lambda m, c: torch.optim.SGD(m.parameters(), lr=1e-2),
        scheduler_creator=step_lr,
        loss=torch.nn.MSELoss(reduction="sum"),
        workers=1,
    )
    ours.set_constant_gradient_clipping(-0.5, 0.4)
    ours.set_l2_norm_gradient_clipping(0.9)
    ours.fit(data, epochs=2, batch_size=16)
    ours.clear_gradient_clipping()
    ours.fit(data, epochs=1, batch_size=16)
    model = ours.get_model()
    ours.shutdown()
    return model


def with_norm():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return torch.nn.Sequential(
            torch.nn.Linear(4, 6),
            torch.nn.BatchNorm1d(6),
            torch.nn.Dropout(0.2),
            torch.nn.Linear(6, 1),
        ).double()


@pytest.mark.parametrize("backend", ["torch_distributed", "ps"])
def test_an_interrupted_epoch_is_finished(make, tmp_path, backend):
    """By the same backend bitwise; by the other one too, up to rounding."""
    options = {"scheduler_creator": step_lr, "model_dir": str(tmp_path)}
    whole = make(with_norm(), adam, backend="torch_distributed", **options)
    whole.set_tensorboard(tmp_path / "board", "app")
    history = whole.fit(
        shards(), epochs=3, batch_size=16, checkpoint_trigger=SeveralIteration(4)
    )
    assert [row[0] for row in whole.get_train_summary("Loss")] == list(range(1, 22))
    expected = weights_of(whole.get_model())
    tolerance = {"rtol": 0, "atol": 0} if backend == "torch_distributed" else {}
    for version, epochs_left in [(4, 3), (8, 2), (20, 1)]:
        resumed = make(with_norm(), adam, backend=backend, **options)
        resumed.load_orca_checkpoint(tmp_path, version)
        again = resumed.fit(shards(), epochs=epochs_left, batch_size=16)
        assert_same(weights_of(resumed.get_model()), expected, **tolerance)
        if backend == "torch_distributed":
            assert again == history[-epochs_left:]


def test_saved_files_equal_those_of_torch(make_distributed, tmp_path):
    model = mlp()
    estimator = make_distributed(model, adam)
    estimator.fit(shards(), epochs=2, batch_size=16)
    estimator.save(tmp_path / "state")
    # An instance is trained itself, as torch would.
    assert_same(weights_of(model), weights_of(estimator.get_model()), rtol=0, atol=0)
    optimizer = adam(mlp())
    optimizer.load_state_dict(estimator.get_state_dict()["optimizers"][0])
    assert optimizer.param_groups[0]["fused"] is None
    (first, *_) = optimizer.state.values()
    assert first["step"] == 14
    estimator.fit(shards(), batch_size=16)
    resumed = make_distributed(mlp(), adam)
    resumed.load(tmp_path / "state")
    resumed.fit(shards(), batch_size=16)
    ours = weights_of(resumed.get_model())
    assert_same(ours, weights_of(estimator.get_model()), rtol=0, atol=0)


class Skips(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = mlp()
        self.unused = torch.nn.Linear(3, 3).double()

    def forward(self, x):
        return self.inner(x)


def test_parameters_without_gradient_are_skipped_when_looked_for(make_distributed):
    model = Skips()
    before = weights_of(model.unused)
    estimator = make_distributed(
        model,
        lambda m, c: torch.optim.AdamW(m.parameters(), weight_decay=0.5),
        config={"find_unused_parameters": True},
    )
    estimator.fit(shards(), epochs=2, batch_size=16)
    assert_same(weights_of(estimator.get_model().unused), before, rtol=0, atol=0)


class Pair(TrainingOperator):
    def train_batch(self, batch, batch_info):
        x, y = batch
        losses = []
        for model, optimizer in zip(self.models, self.optimizers, strict=True):
            optimizer.zero_grad()
            loss = self.criterion(model(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return {"train_loss": losses[0], "second_loss": losses[1]}


def test_several_models_and_optimizers(make_distributed):
    estimator = make_distributed(
        lambda config: [mlp(1), mlp(2)],
        lambda models, config: [sgd(models[0]), adam(models[1])],
        training_operator_cls=Pair,
        workers=3,
    )
    (stats,) = estimator.fit(shards(), batch_size=16)
    assert {"train_loss", "second_loss"} <= set(stats)
    for number, optimizer in ((1, sgd), (2, adam)):
        expected = mlp(number)
        plain_loop(expected, optimizer(expected), shards(), 1, 16)
        ours = estimator.get_model()[number - 1]
        assert_same(weights_of(ours), weights_of(expected))


def test_a_death_is_reported_and_training_can_restart(make_distributed):
    estimator = make_distributed(mlp(), workers=2)
    estimator.fit(shards(), batch_size=16)
    trained = weights_of(estimator.get_model())
    victim = estimator._job.pids[1]
    timer = threading.Timer(0.5, os.kill, (victim, signal.SIGKILL))
    timer.start()
    with pytest.raises(XShardsWorkerError, match="replica 1 died by signal SIGKILL"):
        estimator.fit(shards(20_000), epochs=1000, batch_size=4)
    timer.join()
    estimator.fit(shards(), batch_size=16)
    for pid in estimator._job.pids:
        os.kill(pid, signal.SIGKILL)
    while not estimator._job._group.has_dead:
        pass
    assert estimator.fit(shards(), batch_size=16)[0]["num_samples"] == 100
    assert trained.keys() == weights_of(estimator.get_model()).keys()


def test_errors_of_the_model_reach_the_caller(make_distributed):
    class Fails(torch.nn.Linear):
        def forward(self, x):
            if torch.distributed.get_rank() == 1:
                msg = "not here"
                raise ArithmeticError(msg)
            return super().forward(x)

    estimator = make_distributed(Fails(4, 1))
    with pytest.raises(ArithmeticError, match="not here"):
        estimator.fit(shards())
    assert estimator._job.pids == []


def test_frames_predictions_and_callbacks(make_distributed, tmp_path):
    from xshards.learn.pytorch.callbacks import ModelCheckpoint

    columns = {"feature_cols": list("abcd"), "label_cols": "y"}
    estimator = make_distributed(mlp(), adam)
    path = str(tmp_path / "net-{iter}")
    checkpoint = ModelCheckpoint(path, by_epoch=False, interval=3)
    estimator.fit(frame(), batch_size=16, callbacks=[checkpoint], **columns)
    other = make_distributed(mlp(), adam)
    other.load_checkpoint(tmp_path / "net-iter=6.ckpt")
    (stats,) = other.fit(frame(), batch_size=16, **columns)
    assert stats["num_samples"] == 100
    expected = weights_of(estimator.get_model())
    assert_same(weights_of(other.get_model()), expected, rtol=0, atol=0)
    predicted = other.predict(frame(10), feature_cols=list("abcd"))["prediction"]
    with torch.no_grad():
        output = estimator.get_model()(torch.from_numpy(arrays(10)["x"]))[:, 0]
    assert predicted.to_numpy() == pytest.approx(output.numpy(), rel=1e-12)


def test_optimizers_are_fused_where_torch_can():
    model = mlp()
    for made, fused in [
        (torch.optim.Adam(model.parameters()), True),
        (torch.optim.SGD(model.parameters()), True),
        (torch.optim.Adam(model.parameters(), foreach=True), None),
        (torch.optim.Adam(model.parameters(), fused=False), False),
    ]:
        local = LocalOptimizer(made, 0)
        assert made.param_groups[0]["fused"] is fused
        assert local.options()[0]["fused"] is (None if fused is True else fused)
    assert (
        "fused"
        not in LocalOptimizer(torch.optim.NAdam(model.parameters()), 0).options()[0]
    )


def test_mistakes_are_named(make_distributed):
    lbfgs = lambda m, c: torch.optim.LBFGS(m.parameters())  # noqa: E731
    with pytest.raises(ValueError, match="use workers=1"):
        make_distributed(mlp(), lbfgs).fit(shards())
    with pytest.raises(ValueError, match='need backend="ps"'):
        make_distributed(mlp(), optimizers.Adam()).fit(shards())
    with pytest.raises(ValueError, match=r"backend must be one of .* got 'mpi'"):
        make_distributed(mlp()).from_torch(model=mlp(), backend="mpi")
