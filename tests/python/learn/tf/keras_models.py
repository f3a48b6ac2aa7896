# SPDX-License-Identifier: Apache-2.0
"""Models of Keras 3 and of legacy Keras for the tests."""

import keras
import tf_keras


def dense(package=keras, optimizer=None, metrics=("mae",), hidden=8, **compiled):
    """Two layers, always with the same weights."""
    package.utils.set_random_seed(3)
    model = package.Sequential(
        [
            package.layers.Input((4,)),
            package.layers.Dense(hidden, activation="tanh"),
            package.layers.Dense(1),
        ]
    )
    model.compile(
        optimizer or package.optimizers.Adam(0.01),
        compiled.pop("loss", "mse"),
        metrics=list(metrics),
        jit_compile=compiled.pop("jit_compile", False),
        **compiled,
    )
    return model


PACKAGES = [keras, tf_keras]


def names(package):
    return package.__name__
