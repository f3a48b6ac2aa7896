# SPDX-License-Identifier: Apache-2.0
"""TensorFlow and the two generations of Keras, imported when first needed."""

from __future__ import annotations

import importlib
import os
from typing import Any

from xshards.errors import XShardsRuntimeError, XShardsTypeError

__all__ = ["is_keras_model", "is_of_keras", "keras_of", "load_tensorflow"]

_INSTALL = "pip install tensorflow-cpu==2.21.0 keras==3.15.1"


def load_tensorflow() -> Any:
    """Import TensorFlow and the Keras that it is set to use."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")
    try:
        tensorflow = importlib.import_module("tensorflow")
        tensorflow.keras.layers  # noqa: B018 - imports Keras
    except ImportError as error:
        msg = f"Keras models are trained with TensorFlow, which is missing: {_INSTALL}"
        raise XShardsRuntimeError(msg) from error
    return tensorflow


def is_keras_model(value: object) -> bool:
    """Tell a model of either generation."""
    named = hasattr(type(value), "trainable_variables")  # not built, it has none
    return named and _package_name(value) is not None


def is_of_keras(function: object) -> bool:
    """Whether a class or function is Keras' own, not a user's; None counts as such."""
    module = str(getattr(function, "__module__", ""))
    return function is None or module.partition(".")[0] in ("keras", "tf_keras")


def keras_of(value: object) -> Any:
    """Return the package that an object of Keras is of: keras or tf_keras."""
    name = _package_name(value)
    if name is None:
        msg = f"expected an object of keras or tf_keras, got {type(value).__name__}"
        raise XShardsTypeError(msg)
    return importlib.import_module(name)


def _package_name(value: object) -> str | None:
    for base in type(value).__mro__:
        name = base.__module__.partition(".")[0]
        if name in ("keras", "tf_keras"):
            return name
    return None
