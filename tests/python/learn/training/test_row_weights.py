# SPDX-License-Identifier: Apache-2.0
"""Rows that count differently: the same as one weighted loss over the whole batch."""

import numpy as np
import pytest
from numpy_adapter import Mlp, NumpyOperator, Sgd, SignSgd
from test_numpy_model import (
    COLUMNS,
    arrays,
    frame,
    momentum_step,
    shards,
    weights_of,
)
from weighted_rows import plain_weighted_loop, weighted

import xshards as xs
from xshards.errors import XShardsTypeError, XShardsValueError
from xshards.learn.row_weights import check_class_weight, class_weights, sample_weights


def assert_close(ours, theirs):
    theirs = weights_of(theirs)
    for name, value in weights_of(ours).items():
        np.testing.assert_allclose(value, theirs[name], rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("batch_size", [16, 2])  # the last: replicas without rows
def test_sample_weights_are_those_of_the_whole_batch(make, workers, batch_size):
    data = xs.XShards.partition(weighted(), num_shards=3)
    model, expected = Mlp(3, 4), Mlp(3, 4)
    estimator = make(model, Sgd(model, 0.1, 0.9), workers=workers)
    history = estimator.fit(data, 2, batch_size)
    losses = plain_weighted_loop(
        expected, data, 2, batch_size, momentum_step(0.1, 0.9), lambda y, w: w
    )
    assert history.history["train_loss"] == pytest.approx(losses, rel=1e-11)
    assert history[0]["num_samples"] == 96
    assert_close(estimator.get_model(), expected)


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("kind", [Sgd, SignSgd])
def test_class_weights_by_the_server_and_by_the_framework(make, workers, kind):
    data = arrays()
    data["y"] = (data["y"] > 0).astype(float)
    data = xs.XShards.partition(data, num_shards=3)
    given = {0: 0.25, 1: 5.0}
    model, expected = Mlp(3, 4), Mlp(3, 4)
    estimator = make(model, kind(model, 0.05), workers=workers)
    estimator.fit(data, 2, 16, class_weight=given)
    step = momentum_step(0.05, 0.0)
    if kind is SignSgd:
        step = lambda _, gradient: 0.05 * np.sign(gradient)  # noqa: E731
    plain_weighted_loop(
        expected, data, 2, 16, step, lambda y: np.where(y[:, 0] == 1, 5.0, 0.25)
    )
    assert_close(estimator.get_model(), expected)


def test_columns_and_third_elements_are_the_same(make):
    data = weighted(20)
    table = frame(20).assign(w=data["sample_weight"])
    found = []
    for given, columns in [
        (data, {}),
        ((data["x"], data["y"], data["sample_weight"]), {}),
        (table, {**COLUMNS, "sample_weight_col": "w"}),
        (
            xs.from_pandas(table, num_partitions=4),
            {**COLUMNS, "sample_weight_col": "w"},
        ),
    ]:
        model = Mlp(3, 4)
        estimator = make(model, Sgd(model), workers=2)
        (stats,) = estimator.fit(
            given, batch_size=20, shuffle=False, validation_data=given, **columns
        )
        found.append([stats["train_loss"], stats["val_loss"]])
        measured = estimator.evaluate(given, batch_size=6, **columns)["val_loss"]
        assert measured == pytest.approx(stats["val_loss"], rel=1e-12)
    np.testing.assert_allclose(found, [found[0]] * 4, rtol=1e-11)


def test_validation_is_weighted_if_it_has_the_column(make):
    data, model = weighted(20), Mlp(3, 4)
    table = frame(20).assign(w=data["sample_weight"])
    error = np.square(Mlp(3, 4)(data["x"]) - data["y"])[:, 0]
    estimator = make(model, Sgd(model, 0.0), workers=2)
    given = {**COLUMNS, "sample_weight_col": "w", "batch_size": 6}
    (stats,) = estimator.fit(table, validation_data=table, **given)
    expected = np.average(error, weights=data["sample_weight"])
    assert stats["val_loss"] == pytest.approx(expected, rel=1e-12)
    (stats,) = estimator.fit(table, validation_data=frame(20), **given)
    assert stats["val_loss"] == pytest.approx(error.mean(), rel=1e-12)


def test_classes_have_weights_in_training_alone(make):
    data, model = arrays(20), Mlp(3, 4)
    data["y"] = (data["y"] > 0).astype(float)
    error = np.square(Mlp(3, 4)(data["x"]) - data["y"])[:, 0]
    weights = np.where(data["y"][:, 0], 9.0, 1.0)
    (stats,) = make(model, Sgd(model, 0.0), workers=2).fit(
        data, 1, 6, validation_data=data, class_weight={1: 9.0}
    )
    assert stats["val_loss"] == pytest.approx(error.mean(), rel=1e-12)
    expected = np.average(error, weights=weights)
    assert stats["train_loss"] == pytest.approx(expected, rel=1e-12)


def test_class_and_sample_weights_multiply(make):
    data = weighted(24)
    data["y"] = (data["y"] > 0).astype(float)
    model, other = Mlp(3, 4), Mlp(3, 4)
    both = make(model, Sgd(model), workers=2)
    both.fit(data, 1, 24, class_weight={1: 3.0})
    data["sample_weight"] = data["sample_weight"] * np.where(data["y"][:, 0], 3.0, 1.0)
    one = make(other, Sgd(other), workers=2)
    one.fit(data, 1, 24)
    assert_close(both.get_model(), one.get_model())


def test_rows_of_weight_zero_change_nothing(make):
    data = weighted(12)
    data["sample_weight"][:] = 0.0
    model = Mlp(3, 4)
    estimator = make(model, Sgd(model), workers=2)
    estimator.fit(data, 1, 4)
    assert_close(estimator.get_model(), Mlp(3, 4))


class Deaf(NumpyOperator):
    """Has a loss in which all rows count alike."""

    def row_weights(self, target):
        return None


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"class_weight": [1, 5]}, XShardsTypeError, r"dict .* \{0: 1.0, 1: 5.0\}"),
        ({"class_weight": {"a": 1}}, XShardsTypeError, "'a': 1"),
        ({"class_weight": {1: -1}}, XShardsValueError, "at least 0, got 1: -1"),
        ({"class_weight": {0: 1}}, XShardsValueError, "class indices as targets, got"),
        ({"sample_weight_col": "w"}, XShardsValueError, "arrays are given as"),
    ],
)
def test_invalid_weights_are_rejected(make, options, error, text):
    model = Mlp(3, 4)
    with pytest.raises(error, match=text):
        make(model, Sgd(model)).fit(shards(), **options)


def test_bad_sample_weights_are_named(make):
    model = Mlp(3, 4)
    table = frame(20).assign(w=1.0)
    with pytest.raises(KeyError, match="v"):
        make(model, Sgd(model)).fit(table, **COLUMNS, sample_weight_col="v")
    table.loc[3, "w"] = np.nan
    with pytest.raises(ValueError, match="finite and at least 0"):
        make(model, Sgd(model)).fit(table, **COLUMNS, sample_weight_col="w")


def test_operator_that_ignores_weights_raises(make):
    model = Mlp(3, 4)
    estimator = make(model, Sgd(model))
    estimator._job.parts.operator_class = Deaf
    with pytest.raises(XShardsValueError, match=r"TrainingOperator\.row_weights"):
        estimator.fit(weighted())


def test_weights_of_classes():
    given = check_class_weight({np.int64(1): 2, 3.0: 0.5})
    assert given == {1: 2.0, 3: 0.5}
    targets = np.array([0, 1, 3, 1])
    assert class_weights(targets, given).tolist() == [1.0, 2.0, 0.5, 2.0]
    assert class_weights(targets[:, None], given).tolist() == [1.0, 2.0, 0.5, 2.0]
    assert class_weights(np.eye(4)[targets], given).tolist() == [1.0, 2.0, 0.5, 2.0]
    assert class_weights(targets[:0], given).tolist() == []
    with pytest.raises(XShardsValueError, match=r"shape \(2, 2, 2\)"):
        class_weights(np.zeros((2, 2, 2)), given)
    with pytest.raises(XShardsValueError, match=r"float64 of shape \(2, 2\)"):
        sample_weights(np.zeros((2, 2)))
    assert check_class_weight(None) is None
