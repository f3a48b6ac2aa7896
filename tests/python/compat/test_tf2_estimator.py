# SPDX-License-Identifier: Apache-2.0
"""Scripts for ``orca.learn.tf2``, each in a process of its own, with legacy Keras."""

import pytest

pytestmark = pytest.mark.tensorflow
# TensorFlow is loaded by the script, its workers and its replicas: 4 s on an idle core.
SLOW_START = pytest.mark.timeout(300)

PRELUDE = """
import os
import numpy as np
import pandas as pd
import tensorflow as tf
from {root}.orca import init_orca_context, stop_orca_context, OrcaContext
from {root}.orca.data import XShards, SparkXShards
from {root}.orca.data.tf.data import Dataset
from {root}.orca.learn.tf2 import Estimator

sc = init_orca_context(cores=2)
assert tf.keras.__name__.startswith("tf_keras"), tf.keras.__name__
draw = np.random.default_rng(0)
x = draw.normal(size=(60, 2)).astype("float32")
y = x.sum(1, keepdims=True)
shards = XShards.partition({{"x": x, "y": y}}, 3)
frame = pd.DataFrame({{"a": x[:, 0], "b": x[:, 1], "y": y[:, 0]}})
frames = SparkXShards(sc.parallelize([frame[:25], frame[25:]], 2))
columns = {{"feature_cols": ["a", "b"], "label_cols": ["y"]}}

def simple_model(config):
    with open(f"keras-{{os.getpid()}}", "w") as file:
        file.write(tf.keras.__name__)
    return tf.keras.Sequential([
        tf.keras.layers.Dense(8, "tanh", input_shape=(2,)), tf.keras.layers.Dense(1)])

def compile_args(config):
    return {{"optimizer": tf.keras.optimizers.SGD(config.get("lr", 0.1)),
             "loss": "mean_squared_error", "metrics": ["mae"]}}

def model_creator(config):
    model = simple_model(config)
    model.compile(**compile_args(config))
    return model

class Counter(tf.keras.callbacks.Callback):
    batches = 0

    def on_train_batch_end(self, batch, logs=None):
        self.batches += 1

def raises(text, function, *kinds):
    for kind in kinds or (RuntimeError,):
        try:
            function()
        except kind as error:
            assert text in str(error), error
        else:
            raise SystemExit("no error: " + text)

def measured(model):
    loss, mae = model.evaluate(x, y, verbose=0)
    return {{"validation_loss": loss, "validation_mae": mae}}

def assert_close(found, expected):
    assert found.keys() == expected.keys(), found
    for name in found:
        np.testing.assert_allclose(found[name], expected[name], 1e-4, 1e-6)
"""

FIT = """
def creator(config, batch_size):
    # The size over all workers, in both places.
    assert batch_size == config["batch_size"] == 20 and config["more"] == 1, config
    data = tf.data.Dataset.from_tensor_slices((x, y))
    return data.shuffle(60).batch(batch_size)

est = Estimator.from_keras(
    model_creator=model_creator, config={"lr": 0.05}, workers_per_node=2,
    backend="ray", model_dir="models")
assert est.num_workers == 2
before = est.evaluate(shards, batch_size=20, num_steps=3, verbose=0)
assert_close(before, measured(est.get_model()))
seen = []
history = est.fit(
    creator, epochs=3, batch_size=20, verbose=0, data_config={"more": 1},
    validation_data=creator, validation_freq=[3], callbacks=[
        tf.keras.callbacks.LearningRateScheduler(lambda epoch: 0.1 / (1 + epoch)),
        tf.keras.callbacks.TensorBoard("logs"),
        tf.keras.callbacks.LambdaCallback(on_epoch_end=lambda e, logs: seen.append(e))])
assert [len(history[name]) for name in ("loss", "mae", "val_loss", "val_mae")] == [
    3, 3, 1, 1], history
np.testing.assert_allclose(history["lr"], [0.1, 0.05, 0.1 / 3], 1e-6)
assert seen == [0, 1, 2]
import pathlib
assert list(pathlib.Path("logs").rglob("events*"))
assert Estimator.latest_checkpoint("models").endswith("model.9")
after = est.evaluate(creator, batch_size=20, data_config={"more": 1})
assert after["validation_loss"] < before["validation_loss"], (before, after)
assert_close(after, measured(est.get_model()))
more = est.fit(frames, epochs=5, initial_epoch=3, batch_size=20, verbose=0, **columns)
assert len(more["loss"]) == 2
assert_close(est.evaluate(frames, **columns), measured(est.get_model()))

# Ten rows for 25 steps, in fewer and in more partitions than workers, one empty.
few = XShards.partition({"x": x[:10], "y": y[:10]}, 1)
odd = SparkXShards(sc.parallelize(range(5), 5).mapPartitionsWithIndex(
    lambda index, _: [{"x": x[: index * 3], "y": y[: index * 3]}] if index else []))
for data, validation in ((few, odd), (odd, few)):
    counter = Counter()
    est.fit(data, epochs=2, batch_size=4, steps_per_epoch=25, verbose=0,
            validation_data=validation, validation_steps=1, callbacks=[counter])
    assert counter.batches == 50, counter.batches
assert est.get_model(set_weights=False).optimizer.iterations.numpy() == 0

raises("batch_size should be a positive integer", lambda: est.fit(shards, batch_size=0))
raises("batch_size should be a positive integer",
       lambda: est.fit(shards, batch_size=None))
raises("data should be SparkXShards", lambda: est.fit(3))
raises("Validation data type should be the same as train data",
       lambda: est.fit(shards, validation_data=Dataset.from_tensor_slices(shards)))
raises("are supported for predict", lambda: est.predict(creator))
raises("weights of rows are a part", lambda: est.evaluate(shards, sample_weight=x))
raises("Please do not specify batch_size in config", lambda: Estimator.from_keras(
    model_creator=model_creator, config={"batch_size": 3}))
raises("Only horovod, ray and spark backends are supported for now, got backend: mpi",
       lambda: Estimator.from_keras(model_creator=model_creator, backend="mpi"))
raises("cpu_binding should not be True", lambda: Estimator.from_keras(
    model_creator=model_creator, backend="spark", cpu_binding=True))

# Files, and Estimators that get their model from one.
predicted = np.concatenate([s["prediction"] for s in est.predict(shards).collect()])
np.testing.assert_allclose(predicted, est.get_model().predict(x, verbose=0), 1e-5, 1e-6)
raises("no model: give model_creator", lambda: Estimator.from_keras().predict(shards))
est.save("folder/model.h5")
est.save("saved", include_optimizer=False, signatures=None)
assert pathlib.Path("saved/saved_model.pb").is_file()
for path in ("folder/model.h5", "saved"):
    other = Estimator.from_keras(workers_per_node=2)
    other.load(path)
    found = np.concatenate([s["prediction"] for s in other.predict(shards).collect()])
    np.testing.assert_array_equal(found, predicted)
    if path.endswith("h5"):
        other.fit(shards, epochs=1, batch_size=20, verbose=0)
        assert_close(other.evaluate(shards), measured(other.get_model()))
        other.save("again.h5")
    other.shutdown()
raises("no file", lambda: est.load("nowhere"), OSError)
raises("no file", lambda: est.load_checkpoint("nowhere"), OSError)
est.save_weights("weights.h5")
est.save_weights("weights/tf")
expected = est.evaluate(shards)
fresh = Estimator.from_keras(model_creator=model_creator)
for options in ({"filepath": "weights.h5"}, {"filepath": "weights/tf"},
                {"filepath": "weights.h5", "by_name": False}):
    fresh.load_weights(**options)
    assert_close(fresh.evaluate(shards), expected)
est.save_checkpoint("state")
fresh.load_checkpoint("state")
fresh.save("resumed.h5")
assert tf.keras.models.load_model("resumed.h5").optimizer.iterations.numpy() == 115
for one in (est, fresh):
    one.shutdown()
stop_orca_context()
print("done")
"""

MODELS = """
class OwnSteps(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.layer = tf.keras.layers.Dense(1)

    def call(self, inputs):
        return self.layer(inputs["item"])

    def train_step(self, data):
        with tf.GradientTape() as tape:
            predicted = self(data, training=True)
            loss = self.compiled_loss(data["label"], predicted)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        self.compiled_metrics.update_state(data["label"], predicted)
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, data):
        predicted = self(data, training=False)
        self.compiled_loss(data["label"], predicted)
        self.compiled_metrics.update_state(data["label"], predicted)
        return {m.name: m.result() for m in self.metrics}

def own_creator(config):
    model = OwnSteps()
    model.compile(**compile_args(config))
    return model

def own(workers=2):
    return Estimator.from_keras(model_creator=own_creator, workers_per_node=workers)

items = SparkXShards(sc.parallelize(range(3), 3)).transform_shard(
    lambda n: {"item": x[n * 20 : n * 20 + 20], "label": y[n * 20 : n * 20 + 20] / 2})
dataset = Dataset.from_tensor_slices(items).map(
    lambda row: {"item": row["item"], "label": tf.multiply(row["label"], 2.0)})
np.testing.assert_array_equal(dataset.get_xshards().collect()[1]["label"], y[20:40])
est = own()
history = est.fit(dataset, epochs=20, batch_size=20, steps_per_epoch=3, verbose=0,
                  validation_data=dataset)
assert history["val_loss"][-1] < history["val_loss"][0] / 5, history
result = est.evaluate(dataset, batch_size=20)
assert_close(result, {"validation_loss": history["val_loss"][-1],
                      "validation_mae": history["val_mae"][-1]})
found = est.predict(dataset).collect()
assert set(found[0]) == {"item", "label", "prediction"} and len(found) == 3
sample = {"item": x[:1]}
model = est.get_model(sample_input=sample)
np.testing.assert_allclose(found[2]["prediction"], model({"item": x[40:]}), 1e-5, 1e-6)
est.save_checkpoint("state")
again = own()
raises("Failed to set model weights, please provide real tensor data",
       lambda: again.load_checkpoint("state"))
again.load_checkpoint("state", sample_input=sample)
np.testing.assert_array_equal(
    again.predict(dataset).collect()[0]["prediction"], found[0]["prediction"])
assert_close(again.evaluate(dataset, batch_size=20), result)
est.save("own")  # has no code of the class, so the creator's model gets the weights
third = own()
third.load("own")
np.testing.assert_array_equal(
    third.predict(dataset).collect()[0]["prediction"], found[0]["prediction"])
third.fit(dataset, batch_size=20, verbose=0)
for one in (est, again, third):
    one.shutdown()
raises("only datasets backed by a SparkXShards are supported",
       lambda: Dataset.from_tensor_slices(x))
raises("Only Friesian FeatureTable is supported", lambda: Dataset.from_feature_table(3))

# (features, target) pairs and tables go to models with the steps of Keras.
class Table:
    df = frame

pairs = Dataset.from_feature_table(Table()).map(
    lambda row: (tf.stack([row["a"], row["b"]]), tf.reshape(row["y"], [1])))
est = Estimator.from_keras(model_creator=model_creator)
est.fit(pairs, batch_size=20, verbose=0)
assert_close(est.evaluate(pairs), measured(est.get_model()))
found = np.concatenate([one["prediction"] for one in est.predict(pairs).collect()])
np.testing.assert_allclose(found, est.get_model().predict(x, verbose=0), 1e-5, 1e-6)
est.shutdown()

# Two inputs and two outputs, not compiled.
def two_creator(config):
    given = [tf.keras.Input((1,)) for _ in range(2)]
    return tf.keras.Model(given, [given[0] + given[1], tf.concat(given, 1)])

two = Estimator.from_keras(model_creator=two_creator)
pair = XShards.partition({"x": (x[:, :1], x[:, 1:])}, 2)
both = two.predict(pair, batch_size=7).collect()[0]["prediction"]
assert isinstance(both, list) and [part.shape for part in both] == [(30, 1), (30, 2)]
np.testing.assert_allclose(both[0], y[:30], 1e-6)
table = pd.concat(two.predict(frames, feature_cols=["a", "b"]).collect())
assert list(table.columns) == ["a", "b", "y", "prediction"]
np.testing.assert_allclose([row[0] for row in table["prediction"]], y[:, 0], 1e-6)
np.testing.assert_allclose([row[1] for row in table["prediction"]], x, 1e-6)
table = two.predict(frames, feature_cols=["a", "b"], output_cols=["sum", "both"])
assert list(table.collect()[1].columns) == ["a", "b", "y", "sum", "both"]
raises("not compiled", lambda: two.fit(pair))

# Strings as inputs, one and an array of them in a cell.
def words_creator(config):
    lookup = tf.keras.layers.StringLookup(vocabulary=["a", "b", "c"])
    given = tf.keras.Input((config["width"],), dtype=tf.string)
    return tf.keras.Sequential([given, lookup])

for width, cells in ((1, ["a", "c", "?"]), (2, [["a", "b"], ["c", "a"], ["b", "?"]])):
    est = Estimator.from_keras(model_creator=words_creator, config={"width": width})
    text = SparkXShards(sc.parallelize([pd.DataFrame({"word": cells})], 1))
    (found,) = est.predict(text, feature_cols=["word"], batch_size=2).collect()
    index = {"a": 1, "b": 2, "c": 3, "?": 0}
    expected = np.vectorize(index.get)(cells)
    assert np.array_equal(np.stack(list(found["prediction"])), expected), found
stop_orca_context()
print("done")
"""

ZOO = """
raises("compile_args_creator should not be None, when backend is set to horovod",
       lambda: Estimator.from_keras(model_creator=simple_model, backend="horovod"),
       AssertionError, RuntimeError)
raises('Only "tf2" and "horovod" are legal values of backend, but got spark',
       lambda: Estimator.from_keras(model_creator=simple_model, backend="spark"))
est = Estimator.from_keras(
    model_creator=simple_model, compile_args_creator=compile_args, backend="horovod",
    config=None, verbose=True, workers_per_node=2)
stats = est.fit(shards, epochs=2, batch_size=20, verbose=0, validation_data=shards)
import pathlib
names = [one.read_text() for one in pathlib.Path().glob("keras-*")]
assert len(names) == 3 and set(names) == {tf.keras.__name__}, names
keras_of_worker = lambda _: __import__("tensorflow").keras.__name__
assert sc.parallelize([1]).map(keras_of_worker).collect() == [tf.keras.__name__]
assert set(stats) == {"train_loss", "train_mae", "train_val_loss", "train_val_mae"}
result = est.evaluate(shards, batch_size=20)
assert_close(result, measured(est.get_model()))
assert abs(result["validation_loss"] - stats["train_val_loss"]) < 1e-6
assert est.save("state") == "state"
rows = est.predict(frames, feature_cols=["a", "b"]).collect()
assert [len(one) for one in rows] == [25, 35] and "prediction" in rows[0]
other = Estimator.from_keras(model_creator=model_creator, config={"lr": 0.1})
other.load("state")
assert_close(other.evaluate(shards), result)
for one in (est, other):
    one.shutdown()
stop_orca_context()
print("done")
"""


@SLOW_START
@pytest.mark.parametrize(
    ("root", "script"),
    [("bigdl", FIT), ("bigdl", MODELS), ("zoo", ZOO)],
    ids=["fit", "models", "zoo"],
)
def test_tf2_as_scripts_use_it(run_script, monkeypatch, root, script):
    # What the tests' own process chose; the script chooses itself, and says so once.
    monkeypatch.delenv("TF_USE_LEGACY_KERAS", raising=False)
    done = run_script(PRELUDE.format(root=root) + script, timeout=280)
    assert done.stdout.split()[-1] == "done"
    assert done.stderr.count("tf.keras is Keras 2 (tf_keras) here, in workers") == 1
