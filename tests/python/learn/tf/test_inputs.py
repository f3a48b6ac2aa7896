# SPDX-License-Identifier: Apache-2.0
"""What fit takes, and what it refuses."""

import keras
import numpy as np
import pandas as pd
import pytest
import tensorflow as tf
from keras_models import dense

import xshards as xs
from xshards.learn.tf import Estimator
from xshards.learn.tf.datasets import reader_of
from xshards.learn.tf.packages import load_tensorflow

pytestmark = pytest.mark.tensorflow


def numbered(rows=10):
    x = np.arange(rows * 2, dtype="float32").reshape(rows, 2)
    return x, x.sum(axis=1, keepdims=True)


def read(data, steps=None, batch_size=4):
    reader = reader_of(data, {"rows": 6}, batch_size, 2)
    reader.check(steps)
    return joined(reader.epoch(steps))


def joined(batches):
    x, y, _ = zip(*batches, strict=True)
    return {"x": np.concatenate(x), "y": np.concatenate(y)}


def generated():
    for number in range(5):
        yield np.full(2, number, "float32"), np.float32(number)


def test_datasets_are_read_batched_or_not():
    x, y = numbered()
    slices = tf.data.Dataset.from_tensor_slices((x, y))
    for dataset in (slices, slices.batch(3), slices.batch(3).map(lambda a, b: (a, b))):
        found = read(dataset)
        np.testing.assert_array_equal(found["x"], x)
        np.testing.assert_array_equal(found["y"], y)
    reader = reader_of(slices.batch(3), {}, 4, 2)
    assert reader.num_batches(None) == 4
    reader.first()
    assert reader.batch_size == 3


def test_generators_and_python_functions_run_on_the_driver():
    spec = (tf.TensorSpec((2,), tf.float32), tf.TensorSpec((), tf.float32))
    dataset = tf.data.Dataset.from_generator(generated, output_signature=spec)
    assert read(dataset)["x"].tolist() == [[n, n] for n in range(5)]
    doubled = dataset.map(
        lambda a, b: (tf.numpy_function(lambda v: v * 2, [a], tf.float32), b)
    )
    assert read(doubled.batch(2))["x"].tolist() == [[2 * n, 2 * n] for n in range(5)]


def test_an_endless_dataset_goes_on_where_the_last_epoch_ended():
    dataset = tf.data.Dataset.range(5).map(lambda n: (tf.fill([2], n), n)).repeat()
    reader = reader_of(dataset, {}, 2, 2)
    assert joined(reader.epoch(2))["y"].tolist() == [0, 1, 2, 3]
    assert joined(reader.epoch(2))["y"].tolist() == [4, 0, 1, 2]
    with pytest.raises(ValueError, match=r"repeated without end: give fit steps_per"):
        reader.check(None)


def test_a_generator_that_is_used_up_is_refused():
    rest = generated()
    spec = (tf.TensorSpec((2,), tf.float32), tf.TensorSpec((), tf.float32))
    dataset = tf.data.Dataset.from_generator(lambda: rest, output_signature=spec)
    reader = reader_of(dataset, {}, 2, 2)
    assert len(list(reader.epoch(None))) == 3
    reader.end_epoch()
    assert list(reader.epoch(None)) == []
    with pytest.raises(ValueError, match=r"no elements when it is read again"):
        reader.end_epoch()


def test_creators_take_the_config_and_the_batch_size():
    def one(config):
        return tf.data.Dataset.range(config["rows"]).map(lambda n: (tf.fill([2], n), n))

    def two(config, batch_size):
        return one(config).batch(batch_size)

    assert read(one)["y"].tolist() == list(range(6))
    assert len(read(two, steps=1)["y"]) == 4
    with pytest.raises(TypeError, match=r"returns a tf\.data\.Dataset .* got list"):
        read(lambda config: [1, 2])


def test_a_dataset_trains_as_in_keras(rows, estimators):
    x, y = rows
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)
    ours = Estimator.from_keras(model=dense(), workers=2)
    estimators.append(ours)
    found = ours.fit(dataset, epochs=2, verbose=0)
    expected = dense().fit(dataset, epochs=2, shuffle=False, verbose=0).history
    assert found["loss"] == pytest.approx(expected["loss"], rel=1e-5)
    predicted = ours.predict(dataset)
    np.testing.assert_array_equal(predicted, ours.predict(x))


def test_what_does_not_fit_is_refused_in_one_sentence(rows):
    x, y = rows
    made = Estimator.from_keras(model=dense(), workers=1)
    wrong_shape = r"input '.*' of the model takes .*\(4\), the data has .*7\)"
    with pytest.raises(ValueError, match=wrong_shape):
        made.fit((np.zeros((5, 7), "float32"), np.zeros((5, 1), "float32")), verbose=0)
    with pytest.raises(ValueError, match=r"there are no rows to work on"):
        made.fit((x[:0], y[:0]), verbose=0)
    with pytest.raises(ValueError, match=r"the dataset has no elements"):
        made.fit(tf.data.Dataset.from_tensor_slices((x[:0], y[:0])), verbose=0)
    frame = pd.DataFrame({"a": [1.0], "b": [2.0]})
    with pytest.raises(ValueError, match=r"need label_cols"):
        made.fit(frame, feature_cols=["a"], verbose=0)
    with pytest.raises(TypeError, match=r"epochs must be a whole number"):
        made.fit((x, y), epochs="3")
    with pytest.raises(TypeError, match=r"data is XShards.*got int"):
        made.fit(5)
    with pytest.raises(ValueError, match=r"the model has a loss, the data no target"):
        made.fit({"x": x}, verbose=0)
    assert made._job.pids == []


def test_a_model_that_cannot_be_trained_is_refused():
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    made = Estimator.from_keras(model=model, workers=1)
    with pytest.raises(RuntimeError, match=r"the model is not compiled: call model"):
        made.fit(numbered())
    with pytest.raises(ValueError, match=r"give either model or model_creator"):
        Estimator.from_keras()
    with pytest.raises(TypeError, match=r"must be a Keras model, got int"):
        Estimator.from_keras(model=5)
    with pytest.raises(TypeError, match=r"returns a Keras model; it returned dict"):
        Estimator.from_keras(model_creator=dict)


def test_a_checkpoint_of_another_model_is_refused(estimators, tmp_path):
    small, large = (Estimator.from_keras(model=dense(hidden=n)) for n in (3, 8))
    estimators += [small, large]
    small.save_checkpoint(tmp_path / "state")
    with pytest.raises(ValueError, match=r"checkpoint is of another model"):
        large.load_checkpoint(tmp_path / "state")


def test_missing_tensorflow_is_named(monkeypatch):
    def fail(name):
        raise ImportError(name)

    monkeypatch.setattr("importlib.import_module", fail)
    with pytest.raises(RuntimeError, match=r"pip install tensorflow-cpu==2\.21\.0"):
        load_tensorflow()


def test_dicts_and_several_inputs_and_outputs(estimators):
    def make():
        keras.utils.set_random_seed(1)
        a, b = keras.Input((2,), name="a"), keras.Input((3,), name="b")
        joined = keras.layers.Concatenate()([a, b])
        first = keras.layers.Dense(1, name="first")(joined)
        second = keras.layers.Dense(2, name="second")(joined)
        model = keras.Model({"a": a, "b": b}, {"first": first, "second": second})
        model.compile(
            "sgd",
            {"first": "mse", "second": "mae"},
            metrics={"first": ["mae"]},
            jit_compile=False,
        )
        return model

    draw = np.random.default_rng(0)
    x = {"a": draw.normal(size=(50, 2)), "b": draw.normal(size=(50, 3))}
    y = {"first": draw.normal(size=(50, 1)), "second": draw.normal(size=(50, 2))}
    x, y = ({k: v.astype("float32") for k, v in one.items()} for one in (x, y))
    ours, theirs = Estimator.from_keras(model=make(), workers=2), make()
    estimators.append(ours)
    shards = xs.XShards.partition({"x": x, "y": y}, num_shards=3)
    found = ours.fit(shards, epochs=2, batch_size=16, shuffle=False, verbose=0)
    expected = theirs.fit(
        x, y, epochs=2, batch_size=16, shuffle=False, verbose=0
    ).history
    assert sorted(found) == sorted(expected)
    for name, values in expected.items():
        assert found[name] == pytest.approx(values, rel=1e-5), name
