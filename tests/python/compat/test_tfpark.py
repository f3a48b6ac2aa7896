# SPDX-License-Identifier: Apache-2.0
"""Scripts for TFPark, each in a process of its own."""

import pytest

pytestmark = pytest.mark.tensorflow
# TensorFlow is loaded by the script, its workers and its replicas: 4 s on an idle core.
SLOW_START = pytest.mark.timeout(300)

PRELUDE = """
import numpy as np
import tensorflow as tf
from zoo import init_nncontext
from zoo.tfpark import (KerasModel, TFDataset, TFEstimator, TFNet, TFOptimizer,
                        TFPredictor, ZooOptimizer)
from bigdl.optim.optimizer import MaxEpoch, MaxIteration, MinLoss, SGD, TriggerOr

sc = init_nncontext()
draw = np.random.default_rng(0)
x = draw.normal(size=(48, 3)).astype("float32")
y = x.sum(1, keepdims=True)

def raises(text, function, *kinds):
    for kind in kinds or (RuntimeError,):
        try:
            function()
        except kind as error:
            assert text in str(error), error
        else:
            raise SystemExit("no error: " + text)
"""

TRAINING = """
rows = sc.parallelize(list(zip(x, y)), 3)
dataset = TFDataset.from_rdd(
    rows, features=(tf.float32, [3]), labels=(tf.float32, [1]), batch_size=16,
    val_rdd=rows)
assert dataset.feature_tensors.name == "input0:0"
features, labels = dataset.tensors
layer = tf.get_variable("fc1/weight", [3, 1])
output = tf.matmul(features, layer)
loss = tf.reduce_mean(tf.square(output - labels))
optimizer = TFOptimizer.from_loss(
    loss, {"fc1/": SGD(0.1)}, model_dir="models",
    metrics={"error": tf.reduce_mean(tf.abs(output - labels))})
optimizer.optimize(end_trigger=MaxEpoch(10))
(weight,) = optimizer.tf_model.training_helper_layer.get_weights()
np.testing.assert_allclose(weight, np.ones((3, 1)), atol=0.1)
np.testing.assert_array_equal(weight, optimizer.sess.run(layer))
optimizer.optimize(end_trigger=MaxEpoch(10))  # is reached already
np.testing.assert_array_equal(weight, optimizer.sess.run(layer))
optimizer.optimize(end_trigger=MaxIteration(31))
assert optimizer.estimator._job.num_steps == 31
optimizer.optimize(TriggerOr(MaxEpoch(60), MinLoss(1e-5)))
assert optimizer.estimator._job.epoch < 60
again = TFOptimizer.from_loss(loss, SGD(0.1), model_dir="models", session=None)
again.load_checkpoint("models", 30)
np.testing.assert_array_equal(weight, again.sess.run(layer))
again.optimize(MaxEpoch(10))
np.testing.assert_array_equal(weight, again.sess.run(layer))

from zoo.orca.learn.metrics import MAE
methods = {"val_method": MAE(), "val_outputs": [output * 3.0]}
for scale, options in ((3.0, {"val_labels": [labels * 3.0]}), (None, {})):
    by_labels = TFOptimizer.from_loss(
        loss, SGD(0.1), session=optimizer.sess, **methods, **options)
    found = by_labels.estimator.evaluate(dataset.read(), 16)["MAE"]
    values = x @ optimizer.sess.run(layer)
    expected = np.abs(3 * values - (scale or 1.0) * y).mean()
    np.testing.assert_allclose(found, expected, 1e-4)
    by_labels.estimator.shutdown()

import json
TFOptimizer.export_training_model(
    "exported", loss, optimizer.sess, [features], [labels], predictions=[output],
    metrics={"error": loss}, tensor_with_value={features: (0.0, 1.0)})
names = json.load(open("exported/training_meta.json"))
with tf.Graph().as_default() as graph, tf.Session() as other:
    tf.train.import_meta_graph("exported/model.meta").restore(other, "exported/model")
    feed = {names["inputs"][0]: x, names["labels"][0]: y}
    (gradient,) = other.run(names["grad_variables"], feed)
    values = x @ other.run(names["variables"][0] + ":0")
    np.testing.assert_allclose(gradient, 2 * x.T @ (values - y) / len(x), 1e-3, 1e-6)
assert names["metrics"] == {"error": names["loss"]}

named = TFDataset.from_ndarrays((x, y), batch_size=12)
assert [one.name for one in named.tensors] == ["input_0:0", "input_1:0"]
raises("should not be set simultaneously",
       lambda: TFDataset.from_ndarrays(x, batch_size=4, batch_per_thread=4))
weights = tf.get_variable("other", [3, 1], initializer=tf.zeros_initializer())
product = tf.matmul(named.tensors[0], weights)
loss = tf.reduce_mean(tf.square(product - named.tensors[1]))
step = tf.train.get_or_create_global_step()
train = ZooOptimizer(tf.train.AdamOptimizer(0.1)).minimize(loss, global_step=step)
by_op = TFOptimizer.from_train_op(train, loss)
by_op.optimize(MaxEpoch(40))
np.testing.assert_allclose(by_op.sess.run(weights), np.ones((3, 1)), atol=0.1)
assert by_op.sess.run(step) == 160
raises("made by ZooOptimizer", lambda: TFOptimizer.from_train_op(loss, loss))

inference = TFDataset.from_ndarrays([x], batch_per_thread=5)
(given,) = inference.tensors
predictor = TFPredictor(by_op.sess, [tf.matmul(given, weights), given])
found = predictor.predict().collect()
assert len(found) == 48 and np.array_equal(found[7][1], x[7])
np.testing.assert_allclose(found[7][0], x[7] @ by_op.sess.run(weights), 1e-4, 1e-5)
raises("instead of batch_size", TFPredictor(by_op.sess, product).predict)
print("done")
"""

DATASETS = """
slices = tf.data.Dataset.from_tensor_slices((x, y > 0)).map(lambda a, b: (a * 2, b))
dataset = TFDataset.from_tf_data_dataset(slices, batch_per_thread=8)
features, labels = dataset.tensors
assert features.name == "zoo_input_0:0" and labels.dtype == tf.bool
with tf.Session() as session:
    found = TFPredictor(session, [features + 1.0]).predict().collect()
np.testing.assert_allclose(np.stack(found), x * 2 + 1, 1e-6)

words = ["a", "wörd", "", "longer than the others"]
strings = TFDataset.from_string_rdd(sc.parallelize(words, 2), batch_per_thread=2)
assert strings.tensors.dtype == tf.string
with tf.Session() as session:
    length = tf.strings.length(strings.tensors)
    assert TFPredictor(session, [length]).predict().collect() == [1, 5, 0, 22]

with tf.io.TFRecordWriter("rows.tfrecord") as writer:
    for row, target in zip(x, y):
        value = tf.train.Example(features=tf.train.Features(feature={
            "x": tf.train.Feature(float_list=tf.train.FloatList(value=row)),
            "y": tf.train.Feature(float_list=tf.train.FloatList(value=target))}))
        writer.write(value.SerializeToString())
records = TFDataset.from_tfrecord_file(sc, "rows.tfrecord", batch_size=16)
parsed = tf.io.parse_example(records.tensors, {
    "x": tf.FixedLenFeature([3], tf.float32), "y": tf.FixedLenFeature([1], tf.float32)})
weights = tf.get_variable("weights", [3, 1])
loss = tf.reduce_mean(tf.square(tf.matmul(parsed["x"], weights) - parsed["y"]))
optimizer = TFOptimizer(loss, tf.train.GradientDescentOptimizer(0.1))
optimizer.optimize(MaxEpoch(10))
np.testing.assert_allclose(optimizer.sess.run(weights), np.ones((3, 1)), atol=0.1)

# Compressed files in a folder, two files by their names, and a damaged one.
import gzip, pathlib
content = pathlib.Path("rows.tfrecord").read_bytes()
pathlib.Path("folder").mkdir()
pathlib.Path("folder/rows.tfrecord.gz").write_bytes(gzip.compress(content))
pathlib.Path("damaged").write_bytes(content[:40] + b"?" + content[41:])
def records_in(paths):
    given = TFDataset.from_tfrecord_file(sc, paths, batch_per_thread=8)
    with tf.Session() as session:
        return TFPredictor(session, [tf.identity(given.tensors)]).predict().collect()
once = records_in("rows.tfrecord")
assert len(once) == 48 and sum(len(one) + 16 for one in once) == len(content)
assert records_in("folder") == once and records_in("rows.tfrecord, folder") == once * 2
raises("damaged", lambda: records_in("damaged"), ValueError)
print("done")
"""

NETS = """
from zoo.util.tf import export_tf
given = tf.placeholder(tf.float32, [None, 3], name="given")
weights = tf.get_variable("weights", initializer=np.ones((3, 2), "float32"))
output = tf.square(tf.matmul(given, weights), name="squares")
session = tf.Session()
session.run(tf.global_variables_initializer())
expected = session.run(output, {given: x})
export_tf(session, "folder", [given], [output])
tf.saved_model.simple_save(session, "saved", {"a": given}, {"b": output})
raises('Node "unused"', lambda: export_tf(
    session, "no", [tf.placeholder(tf.float32, [], name="unused")], [output]))
nets = [TFNet.from_export_folder("folder"), TFNet.from_saved_model("saved"),
        TFNet.from_saved_model("saved", inputs=["given:0"], outputs=["squares:0"]),
        TFNet.from_session(session, [given], [output], generate_backward=True)]
session.close()
for net in nets:
    np.testing.assert_allclose(net.forward(x), expected, 1e-5)
gradient = nets[3].backward(x, np.ones_like(expected))
np.testing.assert_allclose(gradient, 4 * x.sum(1, keepdims=True) * np.ones(3), 1e-4)
np.testing.assert_allclose(nets[0].predict(x, 7, distributed=False), expected, 1e-5)
rows = nets[0].predict(x, batch_per_thread=5).collect()
np.testing.assert_allclose(np.stack(rows), expected, 1e-5)
raises("nowhere does not exist", lambda: TFNet.from_export_folder("nowhere"))

classes = (y > 0).astype("int32")
model = tf.keras.Sequential([tf.keras.layers.Dense(8, "relu", input_shape=(3,)),
                             tf.keras.layers.Dense(2, "softmax")])
model.compile(tf.keras.optimizers.Adam(0.05), "sparse_categorical_crossentropy",
              metrics=["acc"])
keras_model = KerasModel(model)
keras_model.fit(x, classes, 16, 1, verbose=0)
keras_model.fit(x, classes, batch_size=16, epochs=5, distributed=True)
training = TFDataset.from_ndarrays((x, classes), batch_size=16)
keras_model.fit(training, epochs=5)
local = keras_model.evaluate(x, classes)
assert set(local) == {"loss", "acc"} and local["acc"] > 0.8, local
measured = keras_model.evaluate(x, classes, distributed=True)
assert abs(measured["acc Top1Accuracy"] - local["acc"]) < 1e-6
assert abs(measured["loss"] - local["loss"]) < 1e-5
raises("batch_per_thread of TFDataset must be specified when used in KerasModel evalu",
       lambda: keras_model.evaluate(training))
predicted = keras_model.predict(x, 8, distributed=True)
np.testing.assert_allclose(predicted, keras_model.predict(x), 1e-4, 1e-6)
one = TFDataset.from_ndarrays([x], batch_per_thread=8)
assert len(keras_model.predict(one).collect()) == 48
keras_model.save_model("model.h5")
again = KerasModel.load_model("model.h5")
np.testing.assert_array_equal(again.get_weights()[0], keras_model.get_weights()[0])

keras_model.add_metric(tf.reduce_max(tf.abs(model.outputs[0])), name="largest")
measured = keras_model.evaluate(x, classes, batch_per_thread=48, distributed=True)
np.testing.assert_allclose(measured["largest"], keras_model.predict(x).max(), 1e-3)
assert "acc Top1Accuracy" in measured and "largest" not in keras_model.metrics_names
keras_model.fit(x, classes, batch_size=16, distributed=True)

# Two inputs and outputs, with metrics, by lists and by names.
given = {name: tf.keras.layers.Input((3,), name=name) for name in ("right", "left")}
outputs = [tf.keras.layers.Dense(1, name=name)(one)
           for name, one in zip("ab", given.values())]
two = tf.keras.Model(list(given.values()), outputs)
two.compile("sgd", ["mse", "mae"], metrics=["mse"])
both = KerasModel(two)
arrays = [x, x * 2], [y, y]
both.fit(*arrays, validation_data=arrays, batch_size=16, distributed=True)
local = both.evaluate(*arrays)
measured = both.evaluate({"left": x * 2, "right": x}, [y, y], distributed=True)
assert {"loss", "a_mean_squared_error"} < set(measured) < set(local), measured
for name in measured:
    np.testing.assert_allclose(measured[name], local[name], 1e-5)
kinds = AssertionError, RuntimeError
raises("model_target number does not match data number",
       lambda: both.fit([x, x], [y, y, y], distributed=True), *kinds)
raises("model_input number does not match data number",
       lambda: both.predict([x], distributed=True), *kinds)
raises("all model_input names should exist in data",
       lambda: both.fit({"left": x}, [y, y], distributed=True), *kinds)

def model_fn(features, labels, mode, params):
    logits = tf.layers.dense(features, 2, name="only")
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"logits": logits})
    loss = tf.losses.sparse_softmax_cross_entropy(tf.reshape(labels, [-1]), logits)
    train = ZooOptimizer(tf.train.AdamOptimizer(params["lr"])).minimize(loss)
    return tf.estimator.EstimatorSpec(mode, predictions=logits, loss=loss,
                                      train_op=train)

def input_fn(mode):
    if mode == "infer":
        return TFDataset.from_ndarrays([x])
    if mode == "eval":
        return TFDataset.from_ndarrays((x, classes), batch_per_thread=8)
    return TFDataset.from_ndarrays((x, classes), batch_size=16)

def first(features):
    return features[0] if isinstance(features, (list, tuple)) else features

estimator = TFEstimator.from_model_fn(
    lambda features, labels, mode, params: model_fn(
        first(features), labels, mode, params),
    model_dir="estimator", params={"lr": 0.1})
estimator.train(input_fn, steps=30)
assert tf.train.latest_checkpoint("estimator").endswith("model-30")
result = estimator.evaluate(input_fn, ["acc", "loss"])
assert result["acc Top1Accuracy"] > 0.8, result
rows = estimator.predict(input_fn).collect()
assert len(rows) == 48 and rows[0]["logits"].shape == (2,)
accuracy = np.mean([row["logits"].argmax() == c for row, c in zip(rows, classes[:, 0])])
assert abs(accuracy - result["acc Top1Accuracy"]) < 1e-6
print("done")
"""


@SLOW_START
@pytest.mark.parametrize(
    "script", [TRAINING, DATASETS, NETS], ids=["training", "datasets", "nets"]
)
def test_tfpark_as_scripts_use_it(run_script, script):
    assert run_script(PRELUDE + script, timeout=280).stdout.split() == ["done"]
