# SPDX-License-Identifier: Apache-2.0
"""TensorFlow, Keras and legacy Keras as `make test-tensorflow` installs them."""

import os
import subprocess
import sys

import numpy as np
import pytest

pytestmark = pytest.mark.tensorflow


def run(code, **variables):
    environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "2"} | variables
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


def test_keras_3_computes_with_tensorflow():
    code = "import keras, tensorflow as tf; assert tf.keras.Model is keras.Model"
    run(code + "; assert keras.backend.backend() == 'tensorflow'")


def test_legacy_keras_is_there():
    code = "import tf_keras, tensorflow as tf; assert tf.keras.Model is tf_keras.Model"
    run(code, TF_USE_LEGACY_KERAS="1")


def test_slim_is_there():
    run("import tf_slim; tf_slim.arg_scope", TF_USE_LEGACY_KERAS="1")


def test_xshards_and_tensorflow_live_in_one_process():
    import tensorflow as tf

    import xshards as xs

    shards = xs.partition({"x": np.arange(6.0)}, num_shards=2)
    assert tf.reduce_sum(shards.collect()[0]["x"]).numpy() == 3.0
