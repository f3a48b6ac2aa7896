# SPDX-License-Identifier: Apache-2.0
"""Losses, metrics and predictions against torch on all rows at once."""

import numpy as np
import pandas as pd
import pytest
import torch
from training import adam, arrays, frame, mlp, shards

import xshards as xs
from xshards.learn.metrics import MAE, MSE, Accuracy
from xshards.learn.pytorch.callbacks import Callback

COLUMNS = list("abcd")


def output_of(model, x):
    with torch.no_grad():
        return model(torch.from_numpy(np.array(x))).numpy()


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("batch_size", [1, 7, 1000])
def test_evaluation_is_that_of_all_rows_at_once(make, workers, batch_size):
    estimator = make(mlp(), workers=workers, metrics=[MAE(), MSE()])
    result = estimator.evaluate(shards(50), batch_size=batch_size)
    data = arrays(50)
    errors = output_of(mlp(), data["x"]) - data["y"]
    assert result["num_samples"] == 50
    assert result["val_loss"] == pytest.approx((errors**2).mean())
    assert result["MSE"] == pytest.approx((errors**2).mean(), rel=1e-6)
    assert result["MAE"] == pytest.approx(np.abs(errors).mean(), rel=1e-6)


def test_fit_validates_after_each_epoch(make):
    estimator = make(mlp(), metrics=MAE())
    data = xs.from_pandas(frame(), num_partitions=3)
    columns = {"feature_cols": COLUMNS, "label_cols": "y"}
    history = estimator.fit(data, 2, 16, validation_data=frame(30, seed=5), **columns)
    last = estimator.evaluate(frame(30, seed=5), **columns)
    assert history[-1]["val_loss"] == pytest.approx(last["val_loss"])
    assert history[-1]["val_MAE"] == pytest.approx(last["MAE"])
    assert history[0]["val_loss"] != history[1]["val_loss"]


def normalized():
    torch.manual_seed(0)
    layers = torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 1)
    return torch.nn.Sequential(*layers).double()


def test_replicas_measure_the_statistics_of_the_model_that_users_get(make):
    """Each replica trains with running statistics of its own rows."""
    data, estimator = arrays(100), make(normalized(), workers=2, metrics=MSE())
    history = estimator.fit(shards(100), 2, 16, validation_data=shards(100))
    model = estimator.get_model().eval()
    expected = ((output_of(model, data["x"]) - data["y"]) ** 2).mean()
    assert history[-1]["val_MSE"] == pytest.approx(expected, rel=1e-5)
    assert estimator.evaluate(shards(100))["MSE"] == pytest.approx(expected, rel=1e-5)


def test_measuring_changes_no_statistics_of_replicas(make):
    """Training goes on as if nothing had been measured."""
    trained = []
    for validation in (None, shards(30)):
        estimator = make(normalized(), workers=2, seed=3)
        estimator.fit(shards(100), 3, 16, validation_data=validation)
        trained.append(estimator.get_model().state_dict())
    for name, value in trained[0].items():
        assert torch.equal(value, trained[1][name]), name


class Marks(Callback):
    def __init__(self, directory):
        self.directory = directory

    def after_val_iter(self, runner):
        (self.directory / f"{runner.rank}-{runner.batch_idx}").touch()

    def before_run(self, runner):
        (self.directory / "run").touch()


def test_evaluation_of_each_replica_with_callbacks(make, tmp_path):
    estimator = make(mlp(), workers=2, metrics=[MAE()])
    options = {"batch_size": 25, "reduce_results": False, "profile": True}
    each = estimator.evaluate(shards(50), callbacks=[Marks(tmp_path)], **options)
    names = {"0-0", "0-1", "1-0", "1-1"}
    assert {path.name for path in tmp_path.iterdir()} == names
    assert sum(one["num_samples"] for one in each) == 50
    whole = estimator.evaluate(shards(50))
    for name in ("MAE", "val_loss"):
        mean = sum(one[name] * one["num_samples"] for one in each) / 50
        assert mean == pytest.approx(whole[name])
    assert all(one["seconds"] > 0 for one in each)
    with pytest.raises(TypeError, match="callbacks must be Callback objects"):
        estimator.evaluate(shards(50), callbacks=[3])


def test_an_estimator_without_optimizer_evaluates(make):
    model = torch.nn.Linear(4, 3)
    x = arrays(40)["x"].astype("float32")
    y = np.random.default_rng(0).integers(0, 3, 40)
    estimator = make(model, None, loss=torch.nn.CrossEntropyLoss())
    result = estimator.evaluate({"x": x, "y": y}, validation_methods=[Accuracy()])
    expected = (output_of(model, x).argmax(1) == y).mean()
    assert result["Accuracy"] == pytest.approx(expected)
    # The number of steps limits what is looked at.
    few = estimator.evaluate({"x": x, "y": y}, batch_size=8, num_steps=2)
    assert few["num_samples"] == 16


def test_predictions_keep_shards_as_they_are(make):
    estimator = make(mlp(), None)
    data = arrays(50)
    sizes = [0, 7, 30, 1, 12]
    ends = np.cumsum(sizes)
    parts = [
        {name: values[end - size : end] for name, values in data.items()}
        for size, end in zip(sizes, ends, strict=True)
    ]
    ragged = xs.XShards.partition(list(range(5)), 5).transform_shard(
        lambda numbers: parts[numbers[0]]
    )
    predicted = estimator.predict(ragged, batch_size=4).collect()
    assert [len(shard["prediction"]) for shard in predicted] == sizes
    for shard, part in zip(predicted, parts, strict=True):
        np.testing.assert_array_equal(shard["x"], part["x"])
        expected = output_of(mlp(), part["x"])
        np.testing.assert_allclose(shard["prediction"], expected, rtol=1e-12)


@pytest.mark.parametrize("sharded", [False, True])
def test_frames_gain_a_column(make, sharded):
    estimator = make(mlp(), None)
    data = frame(20)
    given = xs.from_pandas(data, num_partitions=3) if sharded else data
    predicted = estimator.predict(given, feature_cols=COLUMNS)
    predicted = predicted.to_pandas() if sharded else predicted
    expected = output_of(mlp(), data[COLUMNS].to_numpy())[:, 0]
    pd.testing.assert_frame_equal(predicted[data.columns], data)
    np.testing.assert_allclose(predicted["prediction"], expected, rtol=1e-12)
    assert "prediction" not in data.columns


class Two(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 3)

    def forward(self, x):
        return self.linear(x), x.sum(dim=1)


def test_several_outputs_and_vectors(make):
    model = Two()
    x = arrays(10)["x"].astype("float32")
    estimator = make(model, None)
    first, second = estimator.predict(x, batch_size=3)
    np.testing.assert_allclose(first, output_of(model.linear, x), rtol=1e-5)
    np.testing.assert_allclose(second, x.sum(1), rtol=1e-5)
    (shard,) = estimator.predict(xs.XShards.partition({"x": x}, 1)).collect()
    np.testing.assert_allclose(shard["prediction"][1], second)
    predicted = estimator.predict(
        frame(10), feature_cols=COLUMNS, output_cols=["vector", "sum"]
    )
    np.testing.assert_allclose(np.stack(predicted["vector"]), first, rtol=1e-5)
    np.testing.assert_allclose(predicted["sum"], second, rtol=1e-5)


def test_predictions_are_those_of_the_trained_model(make):
    estimator = make(mlp(), adam)
    before = estimator.predict(shards(20))
    estimator.fit(shards(), epochs=2)
    after = estimator.predict(shards(20))
    x = arrays(20)["x"]
    ours = np.concatenate([shard["prediction"] for shard in after.collect()])
    expected = output_of(estimator.get_model(), x)
    np.testing.assert_allclose(ours, expected, rtol=1e-12)
    # Shards are lazy; the model is the one of the call.
    old = np.concatenate([shard["prediction"] for shard in before.collect()])
    np.testing.assert_allclose(old, output_of(mlp(), x), rtol=1e-12)


def test_the_model_given_out_is_a_copy(make):
    estimator = make(mlp())
    estimator.fit(shards())
    model = estimator.get_model()
    with torch.no_grad():
        model[0].weight.zero_()
    assert estimator.get_model()[0].weight.abs().sum() > 0
