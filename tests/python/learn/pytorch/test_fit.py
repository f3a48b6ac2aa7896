# SPDX-License-Identifier: Apache-2.0
"""Training equals a plain torch loop, whatever the number of replicas."""

import numpy as np
import pandas as pd
import pytest
import torch
from training import (
    adam,
    arrays,
    assert_same,
    estimator_of,
    frame,
    mlp,
    plain_loop,
    sgd,
    shards,
    weights_of,
)

import xshards as xs


@pytest.mark.parametrize("optimizer", [sgd, adam])
@pytest.mark.parametrize(
    ("workers", "batch_size"), [(1, 16), (2, 16), (3, 7), (2, 1000)]
)
def test_training_equals_a_plain_loop(make, optimizer, workers, batch_size):
    data = shards()
    estimator = make(mlp(), optimizer, workers=workers)
    history = estimator.fit(data, epochs=3, batch_size=batch_size)
    expected = mlp()
    losses = plain_loop(expected, optimizer(expected), data, 3, batch_size)
    assert_same(weights_of(estimator.get_model()), weights_of(expected))
    assert [one["train_loss"] for one in history] == pytest.approx(losses, rel=1e-5)
    assert [one["epoch"] for one in history] == [1, 2, 3]
    assert [one["num_samples"] for one in history] == [100] * 3
    assert [one["batch_count"] for one in history] == [-(-100 // batch_size)] * 3


def test_exact_arithmetic_gives_exactly_the_weights_of_one_replica(make):
    # Small whole numbers and powers of two: no sum is rounded, in whatever order.
    x = np.random.default_rng(0).integers(-2, 3, size=(64, 4)).astype("float32")
    data = xs.XShards.partition({"x": x, "y": x.sum(1, keepdims=True)}, num_shards=5)

    def train(workers):
        model = torch.nn.Linear(4, 1, bias=False)
        torch.nn.init.zeros_(model.weight)
        estimator = make(
            model,
            lambda model, config: torch.optim.SGD(model.parameters(), lr=2**-5),
            workers=workers,
        )
        estimator.fit(data, batch_size=16, max_steps=3)
        return estimator.get_model().weight

    alone = train(1)
    assert torch.equal(train(2), alone)
    assert torch.equal(train(4), alone)
    assert alone.abs().sum() > 0


def test_a_seed_repeats_bitwise_and_another_does_not(make):
    def train(seed):
        model = torch.nn.Sequential(mlp(), torch.nn.Dropout(0.3))
        estimator = make(model, seed=seed)
        estimator.fit(shards(), epochs=2, batch_size=9)
        return weights_of(estimator.get_model())

    first = train(3)
    assert_same(train(3), first, rtol=0, atol=0)
    assert not torch.equal(train(4)["0.0.weight"], first["0.0.weight"])


def test_two_fits_are_one_longer_fit(make):
    data = shards()
    apart = make(mlp(), adam)
    apart.fit(data, epochs=1, batch_size=16)
    assert apart.fit(data, epochs=2, batch_size=16)[-1]["epoch"] == 3
    at_once = make(mlp(), adam)
    at_once.fit(data, epochs=3, batch_size=16)
    assert_same(
        weights_of(apart.get_model()), weights_of(at_once.get_model()), rtol=0, atol=0
    )


def test_training_goes_on_after_shutdown(make):
    data = shards()
    stopped = make(mlp(), adam)
    stopped.fit(data, epochs=1, batch_size=16)
    stopped.shutdown()
    stopped.fit(data, epochs=1, batch_size=16)
    whole = make(mlp(), adam)
    whole.fit(data, epochs=2, batch_size=16)
    assert_same(
        weights_of(stopped.get_model()), weights_of(whole.get_model()), rtol=0, atol=0
    )


def test_columns_of_frames_are_features_and_label(make):
    data = frame()
    estimator = make(mlp())
    estimator.fit(
        xs.from_pandas(data, num_partitions=3),
        epochs=2,
        batch_size=16,
        feature_cols=["a", "b", "c", "d"],
        label_cols=["y"],
    )
    from_arrays = make(mlp())
    from_arrays.fit(shards(), epochs=2, batch_size=16)
    expected = weights_of(from_arrays.get_model())
    assert_same(weights_of(estimator.get_model()), expected)


class TwoInputs(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(5, 3)
        self.linear = torch.nn.Linear(4, 1)

    def forward(self, kind, amount):
        assert kind.dtype == torch.int64
        assert amount.dtype == torch.float32
        parts = [self.embedding(kind), amount.unsqueeze(1)]
        return self.linear(torch.cat(parts, dim=1))


def test_each_column_is_an_input_of_a_model_with_several(make):
    data = pd.DataFrame(
        {
            "kind": np.arange(30) % 5,
            "amount": np.linspace(0, 1, 30),
            "y": np.linspace(1, 2, 30),
        }
    )
    estimator = make(TwoInputs(), adam)
    history = estimator.fit(
        data, epochs=20, feature_cols=["kind", "amount"], label_cols="y"
    )
    assert history[-1]["train_loss"] < history[0]["train_loss"]


def test_integer_labels_are_classes(make):
    x = arrays()["x"]
    data = {"x": x, "y": (x[:, 0] > 0).astype("int64")}
    model = torch.nn.Linear(4, 2)  # of floats: the arrays are cast
    estimator = make(model, adam, loss=torch.nn.CrossEntropyLoss())
    history = estimator.fit(data, epochs=30, batch_size=10)
    assert history[-1]["train_loss"] < 0.6 * history[0]["train_loss"]


class Partly(torch.nn.Module):
    """Frozen, tied and unused parameters, and one that some batches do not reach."""

    def __init__(self):
        super().__init__()
        with torch.random.fork_rng():
            torch.manual_seed(0)
            self.first = torch.nn.Linear(4, 4)
            self.second = torch.nn.Linear(4, 4)
            self.last = torch.nn.Linear(4, 1)
            self.unused = torch.nn.Linear(4, 4)
            self.sometimes = torch.nn.Parameter(torch.ones(1))
        self.double()
        self.second.weight = self.first.weight
        self.last.bias.requires_grad_(requires_grad=False)

    def forward(self, x):
        result = self.last(torch.tanh(self.second(torch.tanh(self.first(x)))))
        return result * self.sometimes if len(x) > 5 else result


@pytest.mark.parametrize("optimizer", [sgd, adam])
def test_frozen_tied_and_missing_gradients_are_as_in_torch(make, optimizer):
    data = shards(46)
    estimator = make(Partly(), optimizer, workers=1)
    estimator.fit(data, epochs=2, batch_size=21)  # 21, 21 and 4 rows
    expected = Partly()
    plain_loop(expected, optimizer(expected), data, 2, 21)
    ours = estimator.get_model()
    assert_same(weights_of(ours), weights_of(expected))
    assert ours.first.weight is ours.second.weight
    assert torch.equal(ours.unused.weight, Partly().double().unused.weight)
    assert torch.equal(ours.last.bias, Partly().last.bias)
    counts = estimator._job.servers[0].server.step_counts
    assert sorted(set(counts)) == [0, 4, 6]


def test_a_sum_over_rows_is_the_sum_over_replicas(make):
    def train(workers):
        estimator = make(
            mlp(),
            lambda model, config: torch.optim.SGD(model.parameters(), lr=1e-3),
            loss=torch.nn.MSELoss(reduction="sum"),
            workers=workers,
        )
        estimator.fit(shards(), batch_size=15)
        return weights_of(estimator.get_model())

    assert_same(train(3), train(1))


class Writes(torch.nn.Module):
    """Changes its parameters in place, noticed by torch and unnoticed."""

    def __init__(self):
        super().__init__()
        self.inner = mlp()

    def forward(self, x):
        result = self.inner(x)
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.data.mul_(2)
                parameter.add_(1)
        return result


def test_writing_to_parameters_stays_private(make):
    model = Writes()
    estimator = make(model)
    # The gradient of a weight needs the values it was used with: a copy of them.
    x = torch.zeros(1, 4).double()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        Writes()(x).sum().backward()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        estimator.fit(shards(), batch_size=16)
    assert_same(weights_of(estimator.get_model().inner), weights_of(mlp()))


class WritesData(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 1)
        torch.nn.init.ones_(self.linear.weight)

    def forward(self, x):
        result = self.linear(x)
        self.linear.weight.data.zero_()
        return result


def test_writing_past_torch_is_undone_and_reported(make, capfd):
    estimator = make(WritesData(), lambda m, c: torch.optim.SGD(m.parameters(), lr=0))
    estimator.fit(shards(), batch_size=50)
    assert torch.equal(estimator.get_model().linear.weight, torch.ones(1, 4))


class Replaces(torch.nn.Module):
    """Gives its parameters other memory: in another order, and in every batch."""

    def __init__(self):
        super().__init__()
        with torch.random.fork_rng():
            torch.manual_seed(0)
            self.spread = torch.nn.Conv2d(1, 3, (1, 2)).double()
            self.last = torch.nn.Linear(9, 1).double()
        self.spread.to(memory_format=torch.channels_last)

    def forward(self, x):
        self.last.weight.data = self.last.weight.data.clone()
        return self.last(self.spread(x.view(-1, 1, 1, 4)).flatten(1))


@pytest.mark.parametrize("optimizer", [sgd, adam])
def test_parameters_with_memory_of_their_own_are_trained(make, optimizer):
    data = shards()
    estimator = make(Replaces(), optimizer)
    estimator.fit(data, epochs=2, batch_size=16)
    expected = Replaces()
    plain_loop(expected, optimizer(expected), data, 2, 16)
    assert_same(weights_of(estimator.get_model()), weights_of(expected))


def test_errors_of_the_model_reach_the_caller(make):
    class Fails(torch.nn.Linear):
        def forward(self, x):
            if len(x) < 8:
                msg = "too few rows"
                raise ArithmeticError(msg)
            return super().forward(x)

    estimator = make(Fails(4, 1))
    with pytest.raises(ArithmeticError, match="too few rows"):
        estimator.fit(shards(100), batch_size=16)  # 6 steps of 16, and one of 4
    # What was trained is kept, and one can go on.
    history = estimator.fit(shards(96), batch_size=16)
    assert history[0]["num_samples"] == 96


def test_mistakes_are_named(make):
    with pytest.raises(ValueError, match="workers must be at least 1, got 0"):
        estimator_of(mlp(), workers=0)
    with pytest.raises(TypeError, match=r"model must be a torch\.nn\.Module"):
        estimator_of(lambda config: 3)
    with pytest.raises(ValueError, match="two optimizers share a parameter"):
        make(mlp(), lambda m, c: [sgd(m), adam(m)]).fit(shards())
    with pytest.raises(TypeError, match=r"is torch\.complex64"):
        make(torch.nn.Linear(4, 1, dtype=torch.complex64)).fit(shards())
    with pytest.raises(ValueError, match="epochs must be at least 1, got 0"):
        make(mlp()).fit(shards(), epochs=0)
    with pytest.raises(ValueError, match="need feature_cols"):
        make(mlp()).fit(frame(), label_cols="y")
    with pytest.raises(KeyError, match="nope"):
        make(mlp()).fit(frame(), feature_cols=["nope"], label_cols="y")
    with pytest.raises(TypeError, match="got int"):
        make(mlp()).fit(3)
    with pytest.raises(RuntimeError, match="fit needs an optimizer"):
        make(mlp(), None).fit(shards())
    with pytest.raises(ValueError, match="no rows"):
        make(mlp()).fit(frame(0), feature_cols=list("abcd"), label_cols="y")
