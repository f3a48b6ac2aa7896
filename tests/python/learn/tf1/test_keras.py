# SPDX-License-Identifier: Apache-2.0
"""Keras models in graphs train as Keras trains them."""

import numpy as np
import pytest

pytestmark = pytest.mark.tensorflow

from xshards.errors import XShardsTypeError, XShardsValueError  # noqa: E402
from xshards.learn import optimizers as orca  # noqa: E402
from xshards.learn.metrics import AUC, MAE  # noqa: E402
from xshards.learn.tf1.framework import tf  # noqa: E402
from xshards.learn.tf1.keras_estimator import KerasEstimator  # noqa: E402
from xshards.learn.tf1.keras_model import keras_backend  # noqa: E402

tf_keras = pytest.importorskip("tf_keras")


# What Keras warns of when its own fit, evaluate and save run in a graph.
ITS_OWN = pytest.mark.filterwarnings(
    "ignore:.*state_updates:UserWarning", "ignore:.*HDF5 file:UserWarning"
)


@pytest.fixture
def graph():
    """A graph of the test's own, in which Keras is that of version 1."""
    with tf.Graph().as_default() as made, tf.Session() as session:
        keras_backend(tf_keras.Sequential()).set_session(session)
        yield made


def model_of(optimizer="sgd", *, normalize=False, classes=None, seed=0):
    layers, draw = tf_keras.layers, np.random.default_rng(seed)
    steps = [layers.Dense(6, activation="tanh", input_shape=(4,))]
    if normalize:
        steps.append(layers.BatchNormalization(momentum=0.5))
    steps.append(layers.Dense(classes or 1, activation="softmax" if classes else None))
    model = tf_keras.Sequential(steps)
    loss = "sparse_categorical_crossentropy" if classes else "mse"
    model.compile(optimizer, loss, metrics=["accuracy" if classes else "mae"])
    model.set_weights(
        [
            value
            if normalize and value.shape == (6,)
            else draw.normal(size=value.shape)
            for value in model.get_weights()
        ]
    )
    return model


OPTIMIZERS = {
    "sgd": lambda: "sgd",
    "adam": lambda: tf_keras.optimizers.legacy.Adam(0.05),
    "clipped": lambda: tf_keras.optimizers.legacy.SGD(0.1, clipnorm=0.05),
    "train": lambda: tf.train.AdamOptimizer(0.05),
    "scheduled": lambda: tf_keras.optimizers.legacy.SGD(
        tf_keras.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5)
    ),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_equals_keras(graph, rows, shut_down, name):
    expected = model_of(OPTIMIZERS[name]())
    history = expected.fit(*rows, batch_size=32, epochs=3, shuffle=False, verbose=0)
    model = model_of(OPTIMIZERS[name]())
    estimator = shut_down(KerasEstimator.from_keras(model, workers=2))
    found = estimator.fit(rows, 3, 32, shuffle=False)
    losses = [one["train_loss"] for one in found]
    np.testing.assert_allclose(losses, history.history["loss"], 1e-4)
    assert estimator.get_model() is model
    for one, other in zip(model.get_weights(), expected.get_weights(), strict=True):
        np.testing.assert_allclose(one, other, 1e-4, 1e-5)


@ITS_OWN
def test_batch_normalization_has_its_statistics(graph, rows, shut_down):
    expected = model_of(normalize=True)
    expected.fit(*rows, batch_size=50, epochs=2, shuffle=False, verbose=0)
    model = model_of(normalize=True)
    estimator = shut_down(KerasEstimator.from_keras(model, workers=1))
    estimator.fit(rows, 2, 50, shuffle=False)
    for one, other in zip(model.get_weights(), expected.get_weights(), strict=True):
        np.testing.assert_allclose(one, other, 1e-4, 1e-5)
    np.testing.assert_allclose(
        estimator.predict(rows[0]), expected.predict(rows[0]), 1e-3, 1e-5
    )


@ITS_OWN
def test_metrics_are_those_of_keras(graph, rows, shut_down):
    x, classes = rows[0], (rows[1] > 0).astype("int32").reshape(-1)
    model = model_of(classes=3)
    expected = model.evaluate(x, classes, verbose=0)
    estimator = shut_down(KerasEstimator.from_keras(model, workers=2))
    found = estimator.evaluate((x, classes), 32)
    assert found["val_loss"] == pytest.approx(expected[0], 1e-5)
    assert found["accuracy"] == pytest.approx(expected[1], 1e-5)


@ITS_OWN
def test_metrics_that_are_no_means_are_counted_over_replicas(graph, rows, shut_down):
    """Uneven batches, and replicas that see another mixture of classes."""
    x, y = rows[0], (rows[1] > 0).astype("float32").reshape(-1)
    layers, metrics = tf_keras.layers, tf_keras.metrics
    given = layers.Input((4,))
    first = layers.Dense(1, activation="sigmoid", name="first")(given)
    second = layers.Dense(1, name="second")(given)
    two = tf_keras.Model(given, [first, second])
    measured = {
        "first": [metrics.AUC(name="auc"), metrics.Recall(name="recall"), "accuracy"],
        "second": metrics.RootMeanSquaredError(name="rmse"),
    }
    two.compile("sgd", ["binary_crossentropy", "mse"], metrics=measured)
    one = tf_keras.Sequential([layers.Dense(1, "sigmoid", input_shape=(4,))])
    one.compile("sgd", "binary_crossentropy", metrics=[metrics.Precision(name="p")])
    for model, target in ((two, [y, rows[1]]), (one, y)):
        expected = model.evaluate(x, target, batch_size=32, verbose=0)
        names = [
            f"val_{name}" if name == "loss" else name for name in model.metrics_names
        ]
        estimator = shut_down(KerasEstimator.from_keras(model, workers=2))
        target = tuple(target) if isinstance(target, list) else target
        found = estimator.evaluate({"x": x, "y": target}, 32)
        values = dict(zip(names, expected, strict=True))
        for name in found.keys() - {"num_samples"}:
            assert found[name] == pytest.approx(values[name], 1e-5), name
        counted = (
            {"first_auc", "first_recall", "second_rmse"} if model is two else {"p"}
        )
        assert counted < found.keys()


@ITS_OWN
def test_metrics_and_optimizers_of_xshards(graph, rows, shut_down):
    x, y = rows[0], (rows[1] > 0).astype("float32")
    model = model_of()
    estimator = shut_down(
        KerasEstimator.from_keras(
            model, metrics=[MAE(), AUC()], optimizer=orca.Adam(0.01), workers=2
        )
    )
    estimator.fit((x, y), 5, 32, validation_data=(x, y))
    found = estimator.evaluate((x, y), 32)
    output = model.predict(x)
    assert found["MAE"] == pytest.approx(np.abs(output - y).mean(), 1e-5)
    tests = output[y == 1][:, None] > output[y == 0][None]
    assert found["AUC"] == pytest.approx(tests.mean(), 1e-5)


@ITS_OWN
def test_files_of_keras(graph, rows, shut_down, tmp_path):
    model = model_of()
    estimator = shut_down(KerasEstimator.from_keras(model, workers=1))
    estimator.fit(rows, 1, 50)
    estimator.save_keras_model(tmp_path / "model.h5")
    estimator.save_keras_weights(tmp_path / "weights.h5")
    saved = tf_keras.models.load_model(str(tmp_path / "model.h5"))
    expected = model.predict(rows[0])
    np.testing.assert_allclose(saved.predict(rows[0]), expected, 1e-5)
    model.set_weights([np.zeros_like(one) for one in model.get_weights()])
    assert not estimator.predict(rows[0]).any()
    estimator.load_keras_weights(tmp_path / "weights.h5")
    np.testing.assert_allclose(estimator.predict(rows[0]), expected, 1e-5, 1e-6)


def test_models_of_other_kinds_are_refused(graph):
    bare = tf_keras.Sequential([tf_keras.layers.Dense(1, input_shape=(2,))])
    with pytest.raises(XShardsValueError, match="expected a compiled Keras model"):
        KerasEstimator.from_keras(bare)
    with pytest.raises(XShardsTypeError, match="expected a Keras model, got int"):
        KerasEstimator.from_keras(3)
    import keras

    with pytest.raises(XShardsTypeError, match="got one of Keras 3: set TF_USE_LEGACY"):
        KerasEstimator.from_keras(keras.Sequential())
