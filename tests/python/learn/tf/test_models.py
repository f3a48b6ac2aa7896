# SPDX-License-Identifier: Apache-2.0
"""Models of all makes are trained as Keras trains them."""

import numpy as np
import pytest
import tensorflow as tf
from keras_models import PACKAGES, names

from xshards.learn.tf import Estimator

pytestmark = pytest.mark.tensorflow

OPTIONS = {"batch_size": 32, "epochs": 2, "shuffle": False, "verbose": 0}


def nested(package):
    """A frozen layer, a model in a model, an Embedding (of sparse gradients)."""
    layers = package.layers
    tokens = layers.Input((2,), dtype="int32", name="tokens")
    numbers = layers.Input((4,), name="numbers")
    frozen = layers.Dense(3, name="frozen", trainable=False)
    inner = package.Sequential([layers.Input((4,)), frozen, layers.Dense(2)])
    embedded = layers.Flatten()(layers.Embedding(5, 3)(tokens))
    joined = layers.Concatenate()([embedded, inner(numbers)])
    model = package.Model(
        {"tokens": tokens, "numbers": numbers}, layers.Dense(1)(joined)
    )
    model.compile(package.optimizers.SGD(0.05), "mse", jit_compile=False)
    return model


def subclassed(package):
    """Run eagerly; a variable without a gradient, and one with a constraint."""

    class Own(package.Model):
        def __init__(self):
            super().__init__()
            limit = package.constraints.MaxNorm(0.5)
            self.unused = package.layers.Dense(2)
            self.first = package.layers.Dense(6, kernel_constraint=limit)
            self.last = package.layers.Dense(1)

        def call(self, inputs, training=False):
            self.unused(inputs["numbers"])
            return self.last(tf.nn.tanh(self.first(inputs["numbers"])))

    model = Own()
    model.compile(package.optimizers.SGD(0.05), "mse", run_eagerly=True)
    return model


@pytest.mark.parametrize("package", PACKAGES, ids=names)
@pytest.mark.parametrize("kind", [nested, subclassed], ids=["nested", "subclassed"])
@pytest.mark.filterwarnings("ignore:Gradients do not exist")
@pytest.mark.filterwarnings("ignore:The model does not have any trainable")
def test_a_model_is_trained_as_keras_trains_it(rows, estimators, package, kind):
    numbers, y = rows
    tokens = np.random.default_rng(1).integers(0, 5, (len(y), 2)).astype("int32")
    x = (
        {"tokens": tokens, "numbers": numbers}
        if kind is nested
        else {"numbers": numbers}
    )

    def make(_=None):
        package.utils.set_random_seed(3)
        model = kind(package)
        if kind is nested:  # rows of variables have been changed one by one
            model.fit(x, y, batch_size=75, verbose=0, shuffle=False)
        else:
            model({name: one[:1] for name, one in x.items()})
        return model

    theirs = make()
    expected = theirs.fit(x, y, **OPTIONS).history
    given = {"model": make()} if kind is nested else {"model_creator": make}
    ours = Estimator.from_keras(workers=2, **given)
    estimators.append(ours)
    found = ours.fit({"x": x, "y": y}, **OPTIONS)
    assert found["loss"] == pytest.approx(expected["loss"], rel=1e-4)
    trained = ours._model.keras.get_weights()
    for one, other in zip(trained, theirs.get_weights(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
