# SPDX-License-Identifier: Apache-2.0
"""Datasets are read while replicas train on them, with the results of Keras."""

import os
import signal
import threading

import keras
import numpy as np
import pytest
import tensorflow as tf
import tf_keras
from keras_models import dense

from xshards.learn.tf import Estimator

pytestmark = pytest.mark.tensorflow


@pytest.fixture
def trained(estimators):
    """Train a model; returns its history and weights."""

    def train(model, data, **arguments):
        estimator = Estimator.from_keras(model=model, workers=2, seed=1)
        estimators.append(estimator)
        history = estimator.fit(data, verbose=0, **arguments)
        return history, estimator.get_model().get_weights()

    return train


def assert_equal_to_keras(found, model, data, **arguments):
    history, weights = found
    expected = model.fit(data, verbose=0, **{"shuffle": False} | arguments).history
    assert sorted(history) == sorted(expected)
    for name, values in expected.items():
        np.testing.assert_allclose(history[name], values, rtol=2e-5, err_msg=name)
    for one, other in zip(weights, model.get_weights(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=2e-6)


def from_rows(rows, batch_size=32):
    return tf.data.Dataset.from_tensor_slices(rows).batch(batch_size)


def generated(rows):
    def generate():
        for x, y in zip(*rows, strict=True):
            yield x / 2, y

    spec = (tf.TensorSpec((4,), tf.float32), tf.TensorSpec((1,), tf.float32))
    made = tf.data.Dataset.from_generator(generate, output_signature=spec)
    # Where Keras does not know the length, it makes an update more than there are
    # batches in each epoch.
    return made.apply(tf.data.experimental.assert_cardinality(150)).batch(32)


def by_py_function(rows):
    def double(x):
        return tf.py_function(lambda v: v.numpy() * 2, [x], tf.float32)

    return from_rows(rows).map(lambda x, y: (tf.ensure_shape(double(x), (None, 4)), y))


def by_numpy_function(rows):
    def double(x):
        return tf.numpy_function(lambda v: v * 2, [x], tf.float32)

    return from_rows(rows).map(lambda x, y: (tf.ensure_shape(double(x), (None, 4)), y))


@pytest.mark.parametrize("make", [generated, by_py_function, by_numpy_function])
def test_python_functions_in_a_pipeline_train_as_in_keras(rows, trained, make):
    data = make(rows)
    assert_equal_to_keras(trained(dense(), data, epochs=2), dense(), data, epochs=2)


def test_a_finite_dataset_goes_on_over_epochs_of_some_steps(rows, trained):
    """Of 5 batches epochs of 2 take 1-2, 3-4, 5, and measure 1-2 each time."""
    data = from_rows(rows)
    arguments = {"epochs": 4, "steps_per_epoch": 2}
    arguments |= {"validation_data": data, "validation_steps": 2}
    message = "ended before steps_per_epoch"
    with pytest.warns(UserWarning, match=message):
        found = trained(dense(), data, **arguments)
    with pytest.warns(UserWarning, match="ran out of data"):
        assert_equal_to_keras(found, dense(), data, **arguments)


def test_batches_of_differing_shape_train_as_in_keras(trained):
    draw = np.random.default_rng(0)
    lengths = [1, 5, 2, 9, 3, 3, 8, 4, 6, 2]
    texts = [draw.integers(1, 20, length) for length in lengths]

    def rows():
        for text in texts:
            yield text, [text.mean() / 10]

    def make():
        keras.utils.set_random_seed(2)
        model = keras.Sequential(
            [
                keras.Input((None,), dtype="int64"),
                keras.layers.Embedding(20, 4),
                keras.layers.GlobalAveragePooling1D(),
                keras.layers.Dense(1),
            ]
        )
        model.compile(keras.optimizers.SGD(0.1), "mse", jit_compile=False)
        return model

    spec = (tf.TensorSpec((None,), tf.int64), tf.TensorSpec((1,), tf.float32))
    data = tf.data.Dataset.from_generator(rows, output_signature=spec)
    data = data.apply(tf.data.experimental.assert_cardinality(len(lengths)))
    padded = data.padded_batch(3)
    assert_equal_to_keras(trained(make(), padded, epochs=2), make(), padded, epochs=2)
    bucketed = data.bucket_by_sequence_length(
        lambda text, _: tf.shape(text)[0], [4, 7], [3, 2, 2]
    ).apply(tf.data.experimental.assert_cardinality(5))
    assert_equal_to_keras(trained(make(), bucketed), make(), bucketed)


def test_models_that_look_up_strings(trained):
    words = np.array(["red", "green", "blue", "grey", "red", "blue"])
    target = np.array([[1.0], [2.0], [3.0], [0.0], [1.0], [3.0]], dtype="float32")

    def make():
        keras.utils.set_random_seed(2)
        lookup = keras.layers.StringLookup(vocabulary=["red", "green", "blue"])
        inputs = keras.Input((), dtype="string")
        hidden = keras.layers.Embedding(4, 3)(lookup(inputs))
        model = keras.Model(inputs, keras.layers.Dense(1)(hidden))
        model.compile(keras.optimizers.SGD(0.1), "mse", jit_compile=False)
        return model

    data = tf.data.Dataset.from_tensor_slices((words, target)).batch(4)
    assert_equal_to_keras(trained(make(), data, epochs=2), make(), data, epochs=2)


def pairs(base):
    class Pairs(base):
        """Numbered batches that note what Keras does with them."""

        def __init__(self):
            super().__init__()
            self.calls = []

        def __len__(self):
            return 3

        def __getitem__(self, index):
            self.calls.append(index)
            x = np.full((4, 4), index + 1, "float32")
            return x, x[:, :1]

        def on_epoch_begin(self):
            self.calls.append("begin")

        def on_epoch_end(self):
            self.calls.append("end")

    return Pairs()


def test_a_pydataset_is_called_as_by_keras(trained):
    found, expected = pairs(keras.utils.PyDataset), pairs(keras.utils.PyDataset)
    measured, expected_measured = (pairs(keras.utils.PyDataset) for _ in range(2))
    arguments = {"epochs": 2, "shuffle": False}
    result = trained(dense(), found, validation_data=measured, **arguments)
    model = dense()
    more = arguments | {"validation_data": expected_measured}
    assert_equal_to_keras(result, model, expected, **more)
    # Keras reads as many batches as there are, or two, to see what they are made of.
    assert calls(found) == calls(expected)
    assert calls(measured) == calls(expected_measured)


def calls(data):
    return data.calls[data.calls.index("end") :]


def test_a_legacy_sequence_trains_as_in_keras(trained):
    data = pairs(tf_keras.utils.Sequence)
    found = trained(dense(tf_keras), data, epochs=2, shuffle=False)
    assert data.calls == [0, 0, 1, 2, "end", 0, 1, 2, "end"]
    other = pairs(tf_keras.utils.Sequence)
    assert_equal_to_keras(found, dense(tf_keras), other, epochs=2, shuffle=False)


def test_batches_of_a_pydataset_are_shuffled_by_the_seed(trained):
    orders = []
    for _ in range(2):
        data = pairs(keras.utils.PyDataset)
        trained(dense(), data, epochs=6)
        orders.append(data.calls[1:])
    assert orders[0] == orders[1]
    epochs = {tuple(orders[0][at + 1 : at + 5]) for at in range(0, 30, 5)}
    assert len(epochs) > 1
    assert all(sorted(map(str, one)) == ["0", "1", "2", "begin"] for one in epochs)


@pytest.mark.timeout(300)
def test_a_killed_replica_gets_the_same_batches_again(estimators, trained, tmp_path):
    """The pipeline draws other rows each time it runs, and is run once an epoch."""
    killed = []

    def rows(kills):
        draw = np.random.default_rng(4)

        def generate():
            for number in range(40):
                if kills and number in kills:
                    killed.append(number)
                    os.kill(estimators[-1]._job.pids[number % 2], signal.SIGKILL)
                x = draw.normal(size=(6, 4)).astype("float32")
                yield x, x[:, :1]

        spec = (tf.TensorSpec((6, 4)), tf.TensorSpec((6, 1)))
        return tf.data.Dataset.from_generator(generate, output_signature=spec)

    def train(kills, measured):
        return trained(dense(), rows(kills), validation_data=rows(measured))

    expected, weights = train((), ())
    found, again = train((15, 26), (7,))
    assert killed == [15, 26, 7]
    assert found == expected
    for one, other in zip(weights, again, strict=True):
        np.testing.assert_array_equal(one, other)


def test_replicas_train_before_the_epoch_is_read(estimators):
    """Reading goes on only after the first update."""
    first_update, waited = threading.Event(), []

    class Watch(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            first_update.set()

    def generate():
        for number in range(12):
            if number == 8:
                waited.append(first_update.wait(60))
            yield np.full((4, 4), number, "float32"), np.zeros((4, 1), "float32")

    spec = (tf.TensorSpec((4, 4)), tf.TensorSpec((4, 1)))
    data = tf.data.Dataset.from_generator(generate, output_signature=spec)
    estimator = Estimator.from_keras(model=dense(), workers=2)
    estimators.append(estimator)
    estimator.fit(data, verbose=0, callbacks=[Watch()])
    assert waited == [True]


def test_an_error_in_a_pipeline_is_the_callers(estimators):
    class Missing(keras.utils.PyDataset):
        def __len__(self):
            return 9

        def __getitem__(self, index):
            if index == 6:
                msg = "the sixth is missing"
                raise FileNotFoundError(msg)
            return np.full((4, 4), index, "float32"), np.zeros((4, 1), "float32")

    estimator = Estimator.from_keras(model=dense(), workers=2)
    estimators.append(estimator)
    before = threading.active_count()
    with pytest.raises(FileNotFoundError, match="the sixth is missing"):
        estimator.fit(Missing(), verbose=0, shuffle=False)
    assert threading.active_count() == before
    assert estimator._job.pids == []


def test_ragged_batches_are_refused():
    rows = tf.ragged.constant([[1.0], [2.0, 3.0]])
    data = tf.data.Dataset.from_tensor_slices((rows, [[0.0], [1.0]])).ragged_batch(2)
    estimator = Estimator.from_keras(model=dense(), workers=2)
    with pytest.raises(TypeError, match=r"make ragged or sparse tensors dense"):
        estimator.fit(data, verbose=0)
