# SPDX-License-Identifier: Apache-2.0
"""The TensorFlow code of Orca's guides runs as it is, each script in its own process.

The blocks are files of `seed_scripts`. What a block uses and does not define comes from
a prelude: digits made on the spot, a network that slim had, and tensorflow_datasets.
"""

from pathlib import Path

import pytest

pytestmark = pytest.mark.tensorflow
# TensorFlow is loaded by the script, its workers and its replicas: 4 s on an idle core.
SLOW_START = pytest.mark.timeout(300)

BLOCKS = Path(__file__).with_name("seed_scripts")

# What the guide's functions make of a "file": an image of the digit's own brightness.
PRELUDE = """
import numpy as np

BATCH_SIZE = 40
file_list = list(range(200))

def read_image_and_label(name):
    image = np.zeros((28, 28, 1), np.uint8)
    image[name % 10 * 2 : name % 10 * 2 + 2] = 255
    return image, name % 10
"""
DECODE = """
def decode_to_ndarrays(image_label):
    image, label = image_label
    return [image / np.float32(255), np.array([label], np.int32)]
"""
DECODE_IMAGES = """
def decode_to_ndarrays(image_label):
    return [image_label[0] / np.float32(255)]
"""
# The network of tensorflow/models' slim, which the guide imports from there.
LENET = """
import types
lenet = types.SimpleNamespace()

def lenet_arg_scope(weight_decay=0.0):
    import tensorflow as tf
    slim = tf.contrib.slim
    with slim.arg_scope(
        [slim.conv2d, slim.fully_connected],
        weights_regularizer=slim.l2_regularizer(weight_decay),
        activation_fn=tf.nn.relu,
    ) as scope:
        return scope

def network(images, num_classes, is_training):
    import tensorflow as tf
    slim, ends = tf.contrib.slim, {}
    with tf.variable_scope("LeNet"):
        net = slim.conv2d(images, 4, [5, 5], stride=2, scope="conv1")
        net = slim.max_pool2d(net, [2, 2], 2, scope="pool1")
        net = slim.flatten(net)
        net = slim.fully_connected(net, 32, scope="fc3")
        net = slim.dropout(net, 0.9, is_training=is_training, scope="dropout3")
        ends["Logits"] = logits = slim.fully_connected(
            net, num_classes, activation_fn=None, scope="fc4")
    return logits, ends

lenet.lenet_arg_scope, lenet.lenet = lenet_arg_scope, network
"""
TFDS = """
import numpy as np
import tensorflow as tf

def load(name, split, data_dir):
    assert (name, split, data_dir) == ("mnist", "train", "data")
    labels = (np.arange(200) % 10).astype("int64")
    images = np.zeros((200, 28, 28, 1), np.uint8)
    for image, label in zip(images, labels):
        image[label * 2 : label * 2 + 2] = 255
    return tf.data.Dataset.from_tensor_slices({"image": images, "label": labels})
"""
MODEL = """
import tensorflow as tf
tf.compat.v1.disable_v2_behavior()
dataset_dir = "data"
model = tf.keras.Sequential([
    tf.keras.layers.Flatten(input_shape=(28, 28, 1)),
    tf.keras.layers.Dense(10, activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
"""

TWO_INPUTS = """
import types
import numpy as np
import pandas as pd
import tensorflow as tf
from zoo.orca import init_orca_context
from zoo.orca.data.pandas import read_parquet
from zoo.orca.learn.tf.estimator import Estimator

init_orca_context(cores=2)
draw = np.random.default_rng(0)
frame = pd.DataFrame({name: draw.integers(0, 5, 200) for name in ("user", "item")})
frame["label"] = (frame["user"] > frame["item"]).astype("int32")
frame.to_parquet("data.parquet")

user, item = (tf.keras.layers.Input(shape=(1,)) for _ in range(2))
both = tf.keras.layers.concatenate([user, item])
hidden = tf.keras.layers.Dense(16, activation="relu")(both)
output = tf.keras.layers.Dense(2, activation="softmax")(hidden)
model = tf.keras.Model(inputs=[user, item], outputs=output)
model.compile(tf.keras.optimizers.Adam(0.05), "sparse_categorical_crossentropy",
              metrics=["accuracy"])
"""
# A DataFrame of pandas, or shards of them, in the place of Spark's.
READER = "\nspark = types.SimpleNamespace(read=types.SimpleNamespace(parquet={}))\n"
USED = """
est.fit(df, epochs=8, feature_cols=["user", "item"], labels_cols=["label"])
result = est.evaluate(df, feature_cols=["user", "item"], labels_cols=["label"])
local = model.evaluate([frame["user"], frame["item"]], frame["label"], verbose=0)
np.testing.assert_allclose(list(result.values()), local, 1e-5)
print(type(df).__name__, local[1] > 0.8)
est.shutdown()
"""


def block(name):
    return (BLOCKS / f"{name}.py").read_text()


@pytest.fixture
def in_folder(tmp_path):
    """Write to the test's folder what the guide writes to /tmp."""

    def change(text):
        return text.replace("/tmp/", f"{tmp_path}/")

    return change


# The variables that the prediction restores, as a training of the guide leaves them.
SAVED = """
import tensorflow as tf
from zoo.pipeline.api.net import TFPredictor
with tf.Graph().as_default(), tf.Session() as session:
    lenet.lenet(tf.placeholder(tf.float32, [None, 28, 28, 1]), 10, False)
    session.run(tf.global_variables_initializer())
    tf.train.Saver().save(session, "/tmp/lenet")
"""
CHECKED = """
found = np.stack(predictions_rdd.collect())
direct = [read_image_and_label(name)[0] / 255 for name in file_list]
expected = sess.run(logits, {images: np.stack(direct)})
np.testing.assert_allclose(found, expected, 1e-3, 1e-4)
print(found.shape)
"""


@SLOW_START
def test_tfpark_trains_and_saves(run_script, in_folder, tmp_path):
    text = PRELUDE + DECODE + LENET + block("tfpark_training_data")
    text += block("tfpark_model") + block("tfpark_training")
    text += block("tfpark_checkpoint")
    text += """
summary = TrainSummary("/tmp/az_lenet", "lenet").read_scalar("Loss")
print(len(summary), summary[-1][1] < summary[0][1])
"""
    done = run_script(in_folder(text), timeout=280)
    assert done.stdout.split() == ["25", "True"]
    assert list(tmp_path.glob("lenet/*index"))


@SLOW_START
def test_tfpark_restores_and_predicts(run_script, in_folder):
    text = PRELUDE + DECODE_IMAGES + LENET + SAVED + block("tfpark_testing_data")
    text += block("tfpark_restored_model") + block("tfpark_prediction") + CHECKED
    done = run_script(in_folder(text), timeout=280)
    assert done.stdout.strip() == "(200, 10)"


@SLOW_START
def test_a_dataset_goes_to_the_estimator(run_script, tmp_path):
    (tmp_path / "tensorflow_datasets.py").write_text(TFDS)
    text = MODEL + block("tensorflow_dataset")
    text += "\nest.fit(data=dataset, epochs=10)"
    text += "\nprint(est.evaluate(dataset)['acc Top1Accuracy'])\nest.shutdown()"
    done = run_script(text, timeout=280)
    assert float(done.stdout) > 0.9


@SLOW_START
def test_a_data_creator_makes_batches(run_script, tmp_path):
    (tmp_path / "tensorflow_datasets.py").write_text(TFDS)
    text = 'dataset_dir = "data"\n' + block("tensorflow_data_creator")
    text += "\nbatches = list(train_data_creator({'batch_size': 64}))"
    text += "\nprint(*[len(labels) for _, labels in batches])"
    assert run_script(text, timeout=280).stdout.split() == ["64", "64", "64", "8"]


@SLOW_START
def test_a_data_frame_goes_to_the_estimator(run_script):
    used = block("tensorflow_data_frame") + USED
    text = TWO_INPUTS + READER.format("pd.read_parquet") + used
    text += READER.format("read_parquet") + used
    done = run_script(text, timeout=280)
    assert done.stdout.split() == ["DataFrame", "True", "SparkXShards", "True"]
