# SPDX-License-Identifier: Apache-2.0
"""Every kind of data that fit, evaluate and predict take."""

import numpy as np
import pandas as pd
import pytest
import torch
from torch.utils.data import DataLoader, IterableDataset, TensorDataset
from training import arrays, assert_same, mlp, sgd, weights_of

import xshards as xs
from xshards.learn import optimizers
from xshards.learn.pytorch.loaders import lengths


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


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (dataset(), (50, None)),
        (DataLoader(dataset(), batch_size=8), (50, 7)),
        (DataLoader(dataset(), batch_size=8, drop_last=True), (None, 6)),
        (DataLoader(dataset(), batch_sampler=[[1, 2], [3]]), (None, 2)),
        (DataLoader(Stream(), batch_size=8), (None, None)),
        (Stream(), (None, None)),
        (creator, (None, None)),
    ],
)
def test_lengths_that_are_known(data, expected):
    assert lengths(data) == expected


class Passing(torch.nn.Module):
    """Hands on whatever it gets, as data-parallel wrappers do."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, *inputs, **options):
        return self.module(*inputs, **options)


class Apart(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = mlp()

    def forward(self, a, b, c, d):
        return self.inner(torch.stack([a, b, c, d], dim=1))


def compiled(model):
    return torch.compile(model, backend="eager")


@pytest.mark.parametrize("inner", [mlp, Apart])
@pytest.mark.parametrize(
    "wrap",
    [compiled, Passing, torch.nn.DataParallel, lambda model: Passing(compiled(model))],
    ids=["compiled", "module", "data parallel", "both"],
)
def test_flat_columns_of_wrapped_models(make, wrap, inner):
    table = pd.DataFrame({**dict(zip("abcd", arrays(8)["x"].T, strict=True)), "y": 0.0})
    adapter = make(mlp())._job.adapter
    assert adapter.describe_input(wrap(inner())).several is (inner is Apart)
    if wrap is torch.nn.DataParallel:
        return  # needs devices to run
    plain = make(inner()).predict(table, feature_cols=list("abcd"))
    found = make(wrap(inner())).predict(table, feature_cols=list("abcd"))
    np.testing.assert_allclose(found["prediction"], plain["prediction"], rtol=1e-12)


def test_a_compiled_model_is_trained(make):
    table = pd.DataFrame({**dict(zip("abcd", arrays(8)["x"].T, strict=True)), "y": 0.0})
    given = {"feature_cols": list("abcd"), "label_cols": "y", "batch_size": 4}
    found = []
    for model in (mlp(), compiled(mlp())):
        estimator = make(model)
        estimator.fit(table, 2, **given)
        found.append(list(weights_of(estimator.get_model()).values()))
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    ("kind", "call"),
    [
        (torch.optim.Adam, r"Adam\(model.parameters\(\), lr=0.001\)"),
        (optimizers.Adam, r"Adam\(\)"),
    ],
    ids=["torch", "xshards"],
)
def test_an_optimizer_class_is_answered_with_the_call(make, kind, call):
    with pytest.raises(TypeError, match=f"such as {call}, .* got the class Adam"):
        make(mlp(), kind)
