# SPDX-License-Identifier: Apache-2.0
"""A model with all that a replica has of its own: statistics and random numbers."""

import importlib
import time

import numpy as np

ROWS, BATCH, EPOCHS = 640, 16, 2


def arrays():
    x = np.random.default_rng(5).normal(size=(ROWS, 4)).astype("float32")
    return x, x.sum(axis=1, keepdims=True)


def noisy(config):
    """Make the model of `config["package"]`; a step sleeps `config["seconds"]`."""
    import tensorflow as tf

    package = importlib.import_module(config["package"])
    layers = package.layers

    class Slow(layers.Layer):
        def call(self, inputs):
            if not config.get("seconds"):
                return inputs
            slept = tf.py_function(sleep, [inputs], tf.float32)
            return tf.ensure_shape(slept, inputs.shape)

    def sleep(inputs):
        time.sleep(config["seconds"])
        return inputs

    package.utils.set_random_seed(2)
    model = package.Sequential(
        [
            layers.Input((4,)),
            Slow(),
            layers.Dense(6, activation="tanh"),
            layers.BatchNormalization(),
            layers.Dropout(0.3),
            layers.Dense(1),
        ]
    )
    optimizer = package.optimizers.Adam(
        package.optimizers.schedules.ExponentialDecay(0.02, 50, 0.7)
    )
    model.compile(optimizer, "mse", metrics=["mae"], jit_compile=False)
    return model
