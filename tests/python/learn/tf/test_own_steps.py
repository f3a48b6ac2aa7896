# SPDX-License-Identifier: Apache-2.0
"""Models with steps and losses of their own are trained as Keras trains them."""

import numpy as np
import pytest
import tensorflow as tf
from keras_models import PACKAGES, names

from xshards.learn.tf import Estimator

pytestmark = pytest.mark.tensorflow

OPTIONS = {"batch_size": 32, "epochs": 2, "shuffle": False, "verbose": 0}


def with_train_step(package, own_metrics):
    class OwnStep(package.Sequential):
        """Trains on an error of its own, and logs it by a name of its own."""

        def __init__(self, layers):
            super().__init__(layers)
            self.error = package.metrics.Mean(name="error")

        @property
        def metrics(self):
            return [self.error] if own_metrics else []

        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                error = tf.reduce_mean(tf.square(tf.abs(y - self(x, training=True))))
                loss = 2 * error
            gradients = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply_gradients(
                zip(gradients, self.trainable_variables, strict=True)
            )
            if own_metrics:
                self.error.update_state(error, sample_weight=tf.shape(x)[0])
                return {"error": self.error.result()}
            return {"error": error}

        def test_step(self, data):
            x, y = data
            error = tf.reduce_mean(tf.square(y - self(x, training=False)))
            if own_metrics:
                self.error.update_state(error, sample_weight=tf.shape(x)[0])
                return {"error": self.error.result()}
            return {"error": error}

    return OwnStep


def with_compute_loss(package):
    class OwnLoss(package.Sequential):
        """Adds to the compiled loss what is the same in each replica."""

        def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, **_):
            error = tf.reduce_mean(tf.abs(y - y_pred))
            size = tf.reduce_sum(tf.square(tf.convert_to_tensor(self.weights[0])))
            return error + 0.01 * size

    return OwnLoss


def compiled(package, kind, **options):
    package.utils.set_random_seed(3)
    model = kind(
        [
            package.layers.Input((4,)),
            package.layers.Dense(6, activation="tanh"),
            package.layers.Dense(1),
        ]
    )
    model.compile(package.optimizers.Adam(0.02), jit_compile=False, **options)
    return model


def assert_trained_alike(make, rows, estimators, **options):
    x, y = rows
    theirs = make()
    expected = theirs.fit(x, y, **OPTIONS, **options).history
    ours = Estimator.from_keras(model_creator=lambda _: make(), workers=2)
    estimators.append(ours)
    ours._model.keras.set_weights(make().get_weights())
    found = ours.fit((x, y), **OPTIONS, **options)
    trained = ours._model.keras.get_weights()
    for one, other in zip(trained, theirs.get_weights(), strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-6)
    return found, expected


@pytest.mark.parametrize("package", PACKAGES, ids=names)
def test_a_train_step_with_a_metric(rows, estimators, package):
    x, y = rows
    kind = with_train_step(package, own_metrics=True)
    found, expected = assert_trained_alike(
        lambda: compiled(package, kind),
        rows,
        estimators,
        validation_data=(x[:50], y[:50]),
    )
    assert list(found) == list(expected) == ["error", "val_error"]
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=2e-5, err_msg=name)


@pytest.mark.parametrize("package", PACKAGES, ids=names)
def test_a_train_step_that_returns_plain_values(rows, estimators, package):
    """Keras logs those of the last batch, which replicas share."""
    kind = with_train_step(package, own_metrics=False)
    found, expected = assert_trained_alike(
        lambda: compiled(package, kind), rows, estimators
    )
    assert list(found) == list(expected) == ["error"]
    np.testing.assert_allclose(found["error"], expected["error"], rtol=2e-5)


@pytest.mark.parametrize("package", PACKAGES, ids=names)
def test_a_compute_loss(rows, estimators, package):
    x, y = rows
    kind = with_compute_loss(package)
    found, expected = assert_trained_alike(
        lambda: compiled(package, kind, metrics=["mae"]),
        rows,
        estimators,
        validation_data=(x[:50], y[:50]),
    )
    assert list(found) == list(expected)
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=2e-5, err_msg=name)
