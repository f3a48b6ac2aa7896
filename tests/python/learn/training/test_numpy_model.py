# SPDX-License-Identifier: Apache-2.0
"""The training core with a framework of nothing but numpy."""

import os
import signal
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest
from numpy_adapter import Halving, Mlp, Sgd, SignSgd, SquaredError

import xshards as xs
from xshards.errors import (
    XShardsNotImplementedError,
    XShardsTypeError,
    XShardsValueError,
)
from xshards.learn.callbacks import Callback, EarlyStopping, ModelCheckpoint
from xshards.learn.feeder import Feeder
from xshards.learn.metrics import MAE, MSE, Accuracy
from xshards.learn.trigger import SeveralIteration

SEED = 7


def arrays(rows=96, seed=0):
    random = np.random.default_rng(seed)
    x = random.normal(size=(rows, 3))
    return {"x": x, "y": np.tanh(x @ np.array([[1.0], [-2.0], [0.5]]))}


def shards(rows=96, num_shards=3):
    return xs.XShards.partition(arrays(rows), num_shards=num_shards)


def weights_of(model):
    return {name: one.data.copy() for name, one in model.parameters.items()}


def assert_bitwise(ours, theirs):
    assert ours.keys() == theirs.keys()
    for name, value in ours.items():
        assert value.tobytes() == theirs[name].tobytes(), name


def plain_loop(model, data, epochs, batch_size, step):
    """Train as one would by hand, on the batches that the Estimator has."""
    feeder = Feeder(data, batch_size=batch_size, shuffle=True, seed=SEED)
    loss = SquaredError()
    losses = []
    for epoch in range(epochs):
        total = 0.0
        for batch in feeder.epoch(epoch):
            x, y = batch.arrays
            output = model(x)
            gradients = model.gradients(loss.gradient(output, y))
            for number, parameter in enumerate(model.parameters.values()):
                parameter.data -= step(number, gradients[number])
            total += loss(output, y) * len(x)
        losses.append(total / feeder.num_rows)
    return losses


def momentum_step(lr, momentum):
    velocity = {}

    def step(number, gradient):
        velocity[number] = momentum * velocity.get(number, 0.0) + gradient
        return lr * velocity[number]

    return step


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_training_is_the_plain_loop(make, workers, momentum):
    model, expected = Mlp(3, 4), Mlp(3, 4)
    estimator = make(model, Sgd(model, 0.1, momentum), workers=workers)
    history = estimator.fit(shards(), epochs=4, batch_size=16)
    losses = plain_loop(expected, shards(), 4, 16, momentum_step(0.1, momentum))
    assert [one["train_loss"] for one in history] == pytest.approx(losses, rel=1e-12)
    assert losses[-1] < losses[0] / 2
    theirs = weights_of(expected)
    for name, value in weights_of(estimator.get_model()).items():
        np.testing.assert_allclose(value, theirs[name], rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("workers", [1, 3])
def test_the_frameworks_own_rule_runs_on_the_driver(make, workers):
    model, expected = Mlp(3, 4), Mlp(3, 4)
    estimator = make(model, SignSgd(model, 0.01), workers=workers)
    estimator.fit(shards(), epochs=2, batch_size=16)
    plain_loop(expected, shards(), 2, 16, lambda _, gradient: 0.01 * np.sign(gradient))
    theirs = weights_of(expected)
    for name, value in weights_of(estimator.get_model()).items():
        np.testing.assert_allclose(value, theirs[name], rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize(
    ("rows", "num_shards", "batch_size"), [(1, 1, 4), (2, 1, 1), (5, 5, 2)]
)
def test_fewer_rows_than_replicas(make, rows, num_shards, batch_size):
    model, expected = Mlp(3, 4), Mlp(3, 4)
    data = shards(rows, num_shards)
    estimator = make(model, Sgd(model), workers=3)
    history = estimator.fit(data, epochs=2, batch_size=batch_size)
    assert [one["num_samples"] for one in history] == [rows] * 2
    plain_loop(expected, data, 2, batch_size, momentum_step(0.1, 0.0))
    theirs = weights_of(expected)
    for name, value in weights_of(estimator.get_model()).items():
        np.testing.assert_allclose(value, theirs[name], rtol=1e-11, atol=1e-13)


def frame(rows=20):
    data = arrays(rows)
    columns = {name: data["x"][:, i] for i, name in enumerate("abc")}
    return pd.DataFrame({**columns, "y": data["y"][:, 0]})


COLUMNS = {"feature_cols": ["a", "b", "c"], "label_cols": "y"}


def test_empty_partitions_and_more_of_them_than_rows(make):
    whole = xs.from_pandas(frame(), num_partitions=4)
    few = whole.filter(xs.col("a") >= frame()["a"].nlargest(3).iloc[-1])
    assert 0 in [len(one) for one in few.collect()]
    estimator = make(Mlp(3, 4), workers=3)
    assert estimator.evaluate(few, batch_size=2, **COLUMNS)["num_samples"] == 3
    predicted = estimator.predict(few, feature_cols=["a", "b", "c"])
    assert predicted.to_pandas()["prediction"].notna().sum() == 3
    model = Mlp(3, 4)
    trained = make(model, Sgd(model), workers=2)
    spread = xs.from_pandas(frame(3), num_partitions=8)
    (stats,) = trained.fit(spread, batch_size=2, **COLUMNS)
    assert (stats["num_samples"], stats["batch_count"]) == (3, 2)


def test_no_rows_are_refused(make):
    model = Mlp(3, 4)
    none = xs.from_pandas(frame(), num_partitions=2)
    none = none.filter(xs.col("a") > 1e9)
    with pytest.raises(XShardsValueError, match="no rows"):
        make(model, Sgd(model)).fit(none, **COLUMNS)


def test_evaluate_measures_the_loss_and_the_frameworks_metrics(make):
    model = Mlp(3, 4)
    result = make(model, metrics=[MSE(), MAE()], workers=2).evaluate(shards())
    output = Mlp(3, 4)(arrays()["x"])
    error = output - arrays()["y"]
    assert result["num_samples"] == 96
    assert result["val_loss"] == pytest.approx(np.square(error).mean(), rel=1e-12)
    assert result["MSE"] == pytest.approx(np.square(error).mean(), rel=1e-12)
    assert result["MAE"] == pytest.approx(np.abs(error).mean(), rel=1e-12)


def test_metrics_are_taken_by_name(make):
    model = Mlp(3, 4)
    estimator = make(model, Sgd(model), metrics=["mae"], workers=2)
    by_object = estimator.evaluate(shards(), validation_methods=[MAE()])["MAE"]
    assert estimator.evaluate(shards())["mae"] == by_object
    (stats,) = estimator.fit(
        shards(), validation_data=shards(), validation_methods=["mae", "mse"]
    )
    assert {"val_mae", "val_mse"} <= stats.keys()
    with pytest.raises(XShardsValueError, match=r"by name are accuracy, auc, .*'mea'"):
        make(Mlp(3, 4), metrics=["mea"])


def test_a_metric_that_the_framework_lacks_is_named(make):
    with pytest.raises(XShardsNotImplementedError, match="'numpy' has no metric Acc"):
        make(Mlp(3, 4)).evaluate(shards(), validation_methods=[Accuracy()])


def test_predict_gives_what_the_model_gives(make):
    data, estimator = arrays(10), make(Mlp(3, 4))
    expected = Mlp(3, 4)(data["x"])
    # Sums over rows may be made in another order.
    close = {"rtol": 1e-12, "atol": 1e-14}
    np.testing.assert_allclose(estimator.predict(data["x"], 4), expected, **close)
    collected = estimator.predict(shards(10)).collect()
    found = np.concatenate([one["prediction"] for one in collected])
    np.testing.assert_allclose(found, expected, **close)
    found = estimator.predict(frame(10), feature_cols=["a", "b", "c"])
    np.testing.assert_allclose(found["prediction"], expected[:, 0], **close)


def noisy():
    return Mlp(3, 4, noise=0.3)


def test_a_checkpoint_in_the_middle_of_an_epoch_resumes_bitwise(make, tmp_path):
    model = noisy()
    whole = make(model, Sgd(model, 0.05, 0.9), model_dir=str(tmp_path))
    whole.fit(shards(), epochs=3, batch_size=8, checkpoint_trigger=SeveralIteration(17))
    model = noisy()
    resumed = make(model, Sgd(model, 0.05, 0.9))
    resumed.load_orca_checkpoint(tmp_path, version=17)
    history = resumed.fit(shards(), epochs=2, batch_size=8)
    assert [one["num_samples"] for one in history] == [96, 96]
    ours, theirs = resumed.get_model(), whole.get_model()
    assert_bitwise(weights_of(ours), weights_of(theirs))
    assert ours.mean.tobytes() == theirs.mean.tobytes()
    assert resumed._job.num_steps == whole._job.num_steps == 36


def test_save_and_load_go_on_bitwise(make, tmp_path):
    model = noisy()
    first = make(model, Sgd(model, 0.05, 0.9))
    first.fit(shards(), batch_size=8)
    first.save(tmp_path / "state")
    first.fit(shards(), batch_size=8)
    model = noisy()
    second = make(model, Sgd(model, 0.05, 0.9))
    second.load(tmp_path / "state")
    second.fit(shards(), batch_size=8)
    assert_bitwise(weights_of(second.get_model()), weights_of(first.get_model()))


def test_a_whole_model_is_sealed(make, tmp_path):
    model = Mlp(3, 4, seed=3)
    make(model).save(tmp_path / "whole", entire=True, key="secret")
    other = make(Mlp(3, 4))
    with pytest.raises(XShardsValueError, match="sealed with another key"):
        other.load(tmp_path / "whole", key="guess")
    other.load(tmp_path / "whole", key="secret")
    assert_bitwise(weights_of(other.get_model()), weights_of(model))


def test_a_file_of_anything_else_is_refused(make, tmp_path):
    (tmp_path / "other").write_bytes(b"not weights")
    with pytest.raises(XShardsValueError, match="not a file of weights"):
        make(Mlp(3, 4)).load(tmp_path / "other")


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_killed_replicas_change_nothing(make, workers):
    def train(disturb=None):
        model = noisy()
        estimator = make(model, Sgd(model, 0.05, 0.9), workers=workers)
        thread = threading.Thread(target=disturb, args=(estimator,))
        if disturb is not None:
            thread.start()
        history = estimator.fit(shards(12_000), epochs=2, batch_size=16)
        if disturb is not None:
            thread.join()
        return estimator.get_model(), history

    killed = []

    def kill(estimator):
        random = np.random.default_rng(0)
        job, steps = estimator._job, 0
        while len(killed) < 3:
            time.sleep(0.01)
            pids = job.pids
            if len(pids) == workers and job.num_steps > steps + 100:
                steps = job.num_steps
                killed.append(int(random.choice(pids)))
                os.kill(killed[-1], signal.SIGKILL)

    expected, history = train()
    model, disturbed = train(kill)
    assert len(killed) == 3
    assert disturbed == history
    assert_bitwise(weights_of(model), weights_of(expected))
    assert model.mean.tobytes() == expected.mean.tobytes()


class Record(Callback):
    """Writes what it sees in each replica to a file."""

    def __init__(self, directory):
        self.directory = directory

    def after_train_epoch(self, runner):
        found = {"torch", "tensorflow"} & set(sys.modules)
        stats = sorted(runner.epoch_stats)
        line = f"{runner.epochs} {runner.global_step} {sorted(found)} {stats}\n"
        with (self.directory / str(runner.rank)).open("a") as file:
            file.write(line)


def test_callbacks_are_called_in_every_replica(make, tmp_path):
    model = Mlp(3, 4)
    estimator = make(model, Sgd(model), workers=3)
    estimator.fit(shards(), epochs=2, batch_size=16, callbacks=[Record(tmp_path)])
    loaded = sorted({"torch", "tensorflow"} & set(sys.modules))
    stats = ["batch_count", "epoch", "last_train_loss", "num_samples", "train_loss"]
    assert sorted(one.name for one in tmp_path.iterdir()) == ["0", "1", "2"]
    for file in tmp_path.iterdir():
        assert file.read_text().splitlines() == [
            f"1 6 {loaded} {stats}",
            f"2 12 {loaded} {stats}",
        ]


def test_callbacks_stop_and_write_checkpoints(make, tmp_path):
    model = Mlp(3, 4)
    estimator = make(model, Sgd(model, lr=0.0), workers=2)
    history = estimator.fit(
        shards(),
        epochs=9,
        callbacks=[
            EarlyStopping("train_loss", 2, 1e-6),
            ModelCheckpoint(tmp_path / "net"),
        ],
    )
    assert len(history) == 3
    names = sorted(one.name for one in tmp_path.iterdir())
    epochs = [f"net-epoch={epoch}.ckpt" for epoch in (1, 2, 3)]
    assert names == ["last.ckpt", *epochs]
    other = make(Mlp(3, 4, seed=5))
    other.load(tmp_path / "last.ckpt")
    assert_bitwise(weights_of(other.get_model()), weights_of(estimator.get_model()))


def test_schedulers_change_the_rate_of_the_server(make):
    model, expected = Mlp(3, 4), Mlp(3, 4)
    estimator = make(
        model,
        Sgd(model, 0.2),
        scheduler_creator=lambda optimizer, _: Halving(optimizer),
    )
    estimator.fit(shards(), epochs=2, batch_size=16)
    rate = [0.2]

    def step(number, gradient):
        change = rate[0] * gradient
        if number == 3:
            rate[0] *= 0.5
        return change

    plain_loop(expected, shards(), 2, 16, step)
    theirs = weights_of(expected)
    for name, value in weights_of(estimator.get_model()).items():
        np.testing.assert_allclose(value, theirs[name], rtol=1e-11, atol=1e-13)
    assert estimator._job.options == [[{"lr": 0.2 * 0.5**12, "momentum": 0.0}]]


def test_gradients_are_clipped_by_the_server(make):
    model, expected = Mlp(3, 4), Mlp(3, 4)
    estimator = make(model, Sgd(model))
    estimator.set_constant_gradient_clipping(-0.01, 0.01)
    estimator.fit(shards(), batch_size=16)
    plain_loop(
        expected, shards(), 1, 16, lambda _, gradient: 0.1 * gradient.clip(-0.01, 0.01)
    )
    theirs = weights_of(expected)
    for name, value in weights_of(estimator.get_model()).items():
        np.testing.assert_allclose(value, theirs[name], rtol=1e-11, atol=1e-13)


def test_summaries_have_the_learning_rate(make, tmp_path):
    model = Mlp(3, 4)
    estimator = make(model, Sgd(model))
    estimator.set_tensorboard(tmp_path, "run")
    estimator.fit(shards(), batch_size=16, validation_data=shards())
    rates = [value for _, value, _ in estimator.get_train_summary("LearningRate")]
    assert rates == pytest.approx([0.1] * 6)
    assert len(estimator.get_validation_summary("Loss")) == 1


def test_missing_framework_support_is_reported(make):
    model = Mlp(3, 4)
    with pytest.raises(XShardsNotImplementedError, match="by the parameter server"):
        make(model, Sgd(model), distributed=True).fit(shards())
    with pytest.raises(XShardsTypeError, match=r"^data is XShards, a DataFrame, arr"):
        make(model, Sgd(model)).fit(3)
    with pytest.raises(RuntimeError, match="give one to from_numpy"):
        make(model).fit(shards())
