# SPDX-License-Identifier: Apache-2.0
"""Every kind of data that fit, evaluate and predict take."""

import numpy as np
import pandas as pd
import pytest
import torch
from torch.utils.data import DataLoader, IterableDataset, TensorDataset
from training import arrays, assert_same, mlp, sgd, weights_of

import xshards as xs


def dataset(rows=50):
    data = arrays(rows)
    return TensorDataset(torch.from_numpy(data["x"]), torch.from_numpy(data["y"]))


class Stream(IterableDataset):
    def __iter__(self):
        return iter(dataset())


def loop(batches, epochs=2):
    model = mlp()
    optimizer = sgd(model)
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
    return weights_of(model)


def creator(config, batch_size):
    assert config == {"rows": 50}
    return DataLoader(dataset(config["rows"]), batch_size=batch_size)


def config_creator(config):
    return DataLoader(dataset(config["rows"]), batch_size=8)


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize(
    "data",
    [
        DataLoader(dataset(), batch_size=8),
        DataLoader(dataset(), batch_size=8, num_workers=1),
        DataLoader(Stream(), batch_size=8),
        Stream(),
        creator,
        config_creator,
        arrays(50),
        (arrays(50)["x"], arrays(50)["y"]),
        pd.DataFrame(
            {**dict(enumerate(arrays(50)["x"].T)), "y": arrays(50)["y"][:, 0]}
        ),
    ],
    ids=lambda data: type(data).__name__,
)
def test_batches_are_those_of_a_loop(make, data, workers):
    columns = {}
    if isinstance(data, pd.DataFrame):
        data.columns = ["a", "b", "c", "d", "y"]
        columns = {"feature_cols": ["a", "b", "c", "d"], "label_cols": ["y"]}
    estimator = make(mlp(), workers=workers, config={"rows": 50})
    history = estimator.fit(data, epochs=2, batch_size=8, shuffle=False, **columns)
    assert [one["num_samples"] for one in history] == [50, 50]
    assert [one["batch_count"] for one in history] == [7, 7]
    expected = loop(DataLoader(dataset(), batch_size=8))
    assert_same(weights_of(estimator.get_model()), expected)
    result = estimator.evaluate(data, batch_size=8, **columns)
    assert result["num_samples"] == 50


def test_a_shuffled_loader_gives_every_row_once(make):
    x = torch.arange(50.0).double().unsqueeze(1)
    model = torch.nn.Linear(1, 1, bias=False).double()
    torch.nn.init.zeros_(model.weight)

    class Sums(torch.nn.Module):
        """A loss whose gradient is the sum of the rows' targets."""

        def forward(self, output, target):
            return (output * 0 + target).mean()

    loader = DataLoader(TensorDataset(x, x), batch_size=7, shuffle=True)
    estimator = make(
        model, lambda m, c: torch.optim.SGD(m.parameters(), lr=0), workers=3
    )
    estimator._job.parts.criterion = Sums()
    orders = estimator.fit(loader, epochs=2)
    for one in orders:
        assert one["num_samples"] == 50
        assert one["train_loss"] == pytest.approx(24.5)
    assert orders[0]["last_train_loss"] != orders[1]["last_train_loss"]


def test_datasets_are_loaders_of_the_batch_size(make):
    estimator = make(mlp())
    (stats,) = estimator.fit(dataset(), batch_size=10)
    assert (stats["batch_count"], stats["num_samples"]) == (5, 50)


def test_predictions_of_loaders_and_datasets(make):
    estimator = make(mlp(), None)
    with torch.no_grad():
        expected = mlp()(torch.from_numpy(arrays(50)["x"])).numpy()
    for data in [DataLoader(dataset(), batch_size=8), dataset(), config_creator]:
        estimator._job.parts.config = {"rows": 50}
        np.testing.assert_allclose(estimator.predict(data), expected, rtol=1e-12)


class ByName(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = mlp()

    def forward(self, features):
        return self.inner(torch.cat([features["left"], features["right"]], dim=1))


class ByPosition(ByName):
    def forward(self, left, right):
        return super().forward({"left": left, "right": right})


@pytest.mark.parametrize("model", [ByName, ByPosition])
def test_nested_features(make, model):
    data = arrays(50)
    parts = {"left": data["x"][:, :1], "right": data["x"][:, 1:]}
    if model is ByPosition:
        parts = tuple(parts.values())
    estimator = make(model())
    given = xs.XShards.partition({"y": data["y"], "x": parts}, num_shards=3)
    estimator.fit(given, batch_size=8, epochs=2, shuffle=False)
    expected = loop(DataLoader(dataset(), batch_size=8))
    assert_same(weights_of(estimator.get_model().inner), expected)
    predicted = estimator.predict(given).collect()
    assert sum(len(shard["prediction"]) for shard in predicted) == 50


def test_more_replicas_than_rows(make):
    estimator = make(mlp(), workers=3)
    history = estimator.fit(arrays(2), epochs=3, batch_size=4)
    assert [one["num_samples"] for one in history] == [2, 2, 2]
    assert estimator.evaluate(arrays(1))["num_samples"] == 1
