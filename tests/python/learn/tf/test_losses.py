# SPDX-License-Identifier: Apache-2.0
"""Losses that are no mean over rows: several replicas train as Keras does."""

import keras
import numpy as np
import pytest
from keras_models import PACKAGES, dense, names

from xshards.errors import XShardsValueError
from xshards.learn.tf import Estimator

pytestmark = pytest.mark.tensorflow


def regularized(package, loss, **compiled):
    """A model with what layers add to the loss, which replicas must not add up."""
    package.utils.set_random_seed(3)
    model = package.Sequential(
        [
            package.layers.Input((4,)),
            package.layers.Dense(8, "tanh", kernel_regularizer="l2"),
            package.layers.Dense(1),
        ]
    )
    optimizer = package.optimizers.SGD(0.001)
    model.compile(optimizer, loss, metrics=["mae"], **compiled)
    return model


@pytest.mark.parametrize("jit_compile", [False, True])
@pytest.mark.parametrize("package", PACKAGES, ids=names)
def test_a_sum_over_rows_is_one_over_replicas(rows, estimators, package, jit_compile):
    """The last batch has 15 of 150 rows, which 2 replicas share unevenly."""
    x, y = rows

    def make():
        loss = package.losses.MeanSquaredError(reduction="sum")
        return regularized(package, loss, jit_compile=jit_compile)

    options = {"batch_size": 27, "epochs": 2, "shuffle": False, "verbose": 0}
    theirs = make()
    expected = theirs.fit(x, y, validation_data=(x[:50], y[:50]), **options).history
    ours = Estimator.from_keras(model=make(), workers=2)
    estimators.append(ours)
    found = ours.fit((x, y), validation_data=(x[:50], y[:50]), **options)
    assert list(found) == list(expected)
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-5, err_msg=name)
    trained = ours._model.keras.get_weights()
    for one, other in zip(trained, theirs.get_weights(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize("package", PACKAGES, ids=names)
def test_outputs_may_have_sums_and_means(rows, estimators, package):
    x, y = rows
    targets = {"total": y, "average": 2 * y}

    def make():
        package.utils.set_random_seed(3)
        inputs = package.layers.Input((4,))
        hidden = package.layers.Dense(6, "tanh")(inputs)
        outputs = {name: package.layers.Dense(1, name=name)(hidden) for name in targets}
        model = package.Model(inputs, outputs)
        model.compile(
            package.optimizers.SGD(0.002),
            {"total": package.losses.Huber(reduction="sum"), "average": "mse"},
            loss_weights={"total": 0.5, "average": 2.0},
            jit_compile=False,
        )
        return model

    options = {"batch_size": 27, "epochs": 2, "shuffle": False, "verbose": 0}
    theirs = make()
    expected = theirs.fit(x, targets, **options).history
    ours = Estimator.from_keras(model=make(), workers=2)
    estimators.append(ours)
    found = ours.fit({"x": x, "y": targets}, **options)
    assert sorted(found) == sorted(expected)
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-5, err_msg=name)


@pytest.mark.parametrize("package", PACKAGES, ids=names)
def test_values_of_rows_are_refused(rows, package):
    model = dense(package, loss=package.losses.MeanSquaredError(reduction="none"))
    ours = Estimator.from_keras(model=model, workers=2)
    with pytest.raises(
        XShardsValueError, match=r'MeanSquaredError has reduction=None.*use "sum"'
    ):
        ours.fit(rows, verbose=0)


def test_a_mean_by_weights_is_refused_where_there_are_weights(rows):
    x, y = rows
    loss = keras.losses.MeanSquaredError(reduction="mean_with_sample_weight")
    ours = Estimator.from_keras(model=dense(loss=loss), workers=2)
    with pytest.raises(XShardsValueError, match="a mean by weights"):
        ours.fit((x, y, np.ones(len(x), "float32")), verbose=0)


def test_a_sum_in_a_step_of_the_models_own_is_refused(rows):
    class Own(keras.Sequential):
        def train_step(self, data):
            return super().train_step(data)

    model = Own([keras.Input((4,)), keras.layers.Dense(1)])
    model.compile("sgd", keras.losses.MeanSquaredError(reduction="sum"))
    ours = Estimator.from_keras(model=model, workers=2)
    with pytest.raises(XShardsValueError, match="Own its own train_step"):
        ours.fit(rows, verbose=0)
