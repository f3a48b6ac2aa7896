# SPDX-License-Identifier: Apache-2.0
"""Scripts for ``orca.learn.tf.estimator``, each in a process of its own."""

import pytest

pytestmark = pytest.mark.tensorflow
# TensorFlow is loaded by the script, its workers and its replicas: 4 s on an idle core.
SLOW_START = pytest.mark.timeout(300)

NETWORK = """
import numpy as np
import tensorflow as tf
from {root}.orca import init_orca_context, stop_orca_context, OrcaContext
from {root}.orca.data import XShards
from {root}.orca.data.tf.data import Dataset
from {root}.orca.learn.tf.estimator import Estimator

init_orca_context(cores=2)
draw = np.random.default_rng(0)
x = draw.normal(size=(60, 3)).astype("float32")
y = x.sum(1, keepdims=True)
shards = XShards.partition({{"x": x, "y": y}}, 3)
TRIGGERS = {{"zoo": "zoo.util.triggers",
            "bigdl": "bigdl.dllib.utils.triggers"}}["{root}"]
"""

FROM_GRAPH = """
features = tf.placeholder(tf.float32, [None, 3])
target = tf.placeholder(tf.float32, [None, 1])
training = tf.placeholder_with_default(False, [])
hidden = tf.layers.dense(features, 8, activation=tf.nn.tanh)
hidden = tf.layers.dropout(hidden, 0.1, training=training)
output = tf.layers.dense(hidden, 1)
loss = tf.losses.mean_squared_error(target, output)
metrics = {"mae": tf.reduce_mean(tf.abs(output - target))}

def raises(text, function):
    for kind in (AssertionError, RuntimeError):
        try:
            function()
        except kind as error:
            assert text in str(error), error
        else:
            raise SystemExit("no error: " + text)

bare = Estimator.from_graph(inputs=features)
raises("labels is None; it should not be None in training", lambda: bare.fit(shards))
raises("output is None, it should not be None in prediction",
       lambda: bare.predict(shards))
raises("metrics is None, it should not be None in evaluate",
       lambda: bare.evaluate(shards))
raises("it should be an instance of tf.train.Optimizer", lambda: Estimator.from_graph(
    inputs=features, labels=target, loss=loss, optimizer="adam"))

est = Estimator.from_graph(
    inputs=features, labels=target, outputs=output, loss=loss, metrics=metrics,
    optimizer=tf.train.AdamOptimizer(0.05), clip_value=5.0, model_dir="models")
raises("train data and validation data should be both SparkXShards",
       lambda: est.fit(shards, validation_data=(x, y)))
raises("data must be SparkXShards or orca.data.tf.Dataset",
       lambda: est.fit(3))
assert est.get_train_summary("Loss") is None
OrcaContext.train_data_store = "DISK_2"
raises("Please use a trigger defined in " + TRIGGERS,
       lambda: est.fit(shards, checkpoint_trigger=object()))
done = est.fit(shards, epochs=10, batch_size=20, validation_data=shards,
               feed_dict={training: (True, False)})
assert done is est
assert len(est.get_train_summary("Loss")) == 30
assert len(est.get_validation_summary("mae")) == 10
result = est.evaluate(shards)
assert list(result) == ["mae"] and result["mae"] < 1.0, result
predicted = est.predict(shards).collect()
assert [len(one["prediction"]) for one in predicted] == [20] * 3
whole = np.concatenate([one["prediction"] for one in predicted])
np.testing.assert_allclose(whole, est.sess.run(output, {features: x}), 1e-4, 1e-5)
assert abs(np.abs(whole - y).mean() - result["mae"]) < 1e-4
saver = tf.train.Saver()
saver.save(est.sess, "./check/model")

import pathlib
names = {one.name for one in pathlib.Path("models").glob("*/*")}
assert {"model.30", "optimMethod-TFParkTraining.30"} <= names, names
again = Estimator.from_graph(
    inputs=features, labels=target, outputs=output, loss=loss, metrics=metrics,
    optimizer=tf.train.AdamOptimizer(0.05), model_dir="models")
raises_no = pathlib.Path("empty"); raises_no.mkdir()
try:
    again.load_orca_checkpoint("empty")
except RuntimeError as error:
    assert "Cannot find tf checkpoint" in str(error)
again.load_orca_checkpoint("models")
again.fit(shards, epochs=10, batch_size=20)  # all of which are done
np.testing.assert_allclose(again.evaluate(shards)["mae"], result["mae"], 1e-4)
again.load("./check/model")
np.testing.assert_allclose(again.evaluate(shards)["mae"], result["mae"], 1e-4)
dataset = tf.data.Dataset.from_tensor_slices((x, y))
again.fit(dataset, epochs=1, batch_size=20)

# Functions on rows use the names of TensorFlow 1, in workers too.
rows = Dataset.from_tensor_slices(shards).map(
    lambda row: (tf.to_float(row["x"]), row["y"]))
again.fit(rows, epochs=1, batch_size=20, validation_data=rows)
np.testing.assert_allclose(
    again.evaluate(rows)["mae"], again.evaluate(shards)["mae"], 1e-5)
found = again.predict(Dataset.from_tensor_slices(shards)).collect()
np.testing.assert_allclose(
    np.stack(found), again.sess.run(output, {features: x}), 1e-4, 1e-5)
raises("train data and validation data should be both orca.data.tf.Dataset",
       lambda: again.fit(rows, validation_data=shards))
raises("tf.data.Dataset currently cannot be used", lambda: again.predict(dataset))
for one in (bare, est, again):
    one.shutdown()
stop_orca_context()
print("done")
"""

FROM_KERAS = """
from {root}.orca.learn.optimizers import Adam
labels = (y > 0).astype("int32")
shards = XShards.partition({{"x": x, "y": labels}}, 3)
model = tf.keras.Sequential([
    tf.keras.layers.Dense(8, activation="relu", input_shape=(3,)),
    tf.keras.layers.Dropout(0.1),
    tf.keras.layers.Dense(2, activation="softmax"),
])
model.compile(optimizer=tf.keras.optimizers.Adam(0.05),
              loss="sparse_categorical_crossentropy", metrics=["accuracy"])
est = Estimator.from_keras(keras_model=model)
assert est.get_train_summary("Loss") is None
est.set_tensorboard("logs", "app")
est.fit(data=shards, epochs=8, batch_size=20, validation_data=shards)
assert est.get_model() is model
result = est.evaluate(shards)
assert set(result) == {{"loss", "acc Top1Accuracy"}}, result
assert result["acc Top1Accuracy"] > 0.8, result
local = model.evaluate(x, labels, verbose=0)
np.testing.assert_allclose([result["loss"], result["acc Top1Accuracy"]], local, 1e-5)
assert len(est.get_validation_summary("Top1Accuracy")) == 8
predicted = np.concatenate([one["prediction"] for one in est.predict(shards).collect()])
np.testing.assert_allclose(predicted, model.predict(x), 1e-4, 1e-6)
est.save_keras_model("model.h5")
other = Estimator.load_keras_model("model.h5")
np.testing.assert_allclose(other.evaluate(shards)["loss"], result["loss"], 1e-5)
dataset = tf.data.Dataset.from_tensor_slices((x, labels)).shuffle(10)
est.set_l2_norm_gradient_clipping(1.0)
est.fit(dataset, epochs=1, batch_size=30)
ours = Estimator.from_keras(model, optimizer=Adam(1e-3))
rows = Dataset.from_tensor_slices(shards)
ours.fit(rows, epochs=1, batch_size=30, validation_data=rows)
np.testing.assert_allclose(ours.evaluate(rows)["loss"],
                           model.evaluate(x, labels, verbose=0)[0], 1e-5)
for one in (est, other, ours):
    one.shutdown()
stop_orca_context()
print("done")
"""


@SLOW_START
@pytest.mark.parametrize("root", ["zoo", "bigdl"])
def test_from_graph_as_scripts_use_it(run_script, root):
    done = run_script(NETWORK.format(root=root) + FROM_GRAPH, timeout=280)
    assert done.stdout.split() == ["done"]


@SLOW_START
def test_from_keras_as_scripts_use_it(run_script):
    done = run_script((NETWORK + FROM_KERAS).format(root="zoo"), timeout=280)
    assert done.stdout.split() == ["done"]


@SLOW_START
def test_names_that_load_tensorflow_are_there(run_script):
    done = run_script(
        """
import importlib, sys
from xshards.compat.modules import MODULES, Lazy
lazy = [path for path, entry in MODULES.items() if isinstance(entry, Lazy)]
modules = [importlib.import_module(path) for path in lazy]
assert "tensorflow" not in sys.modules
for module in modules:
    assert module.__all__ and all(getattr(module, one) for one in module.__all__)
from zoo.pipeline.api.net import *
import tensorflow as tf
assert tf.keras.__name__.startswith("tf_keras"), tf.keras.__name__
assert tf.Session and tf.contrib.slim.conv2d and TFDataset.from_rdd
print(len(lazy))
""",
        timeout=280,
    )
    assert int(done.stdout) > 10
