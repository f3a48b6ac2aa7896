# SPDX-License-Identifier: Apache-2.0
"""Files of Keras models: its own format, HDF5 and SavedModel."""

from __future__ import annotations

from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from xshards.errors import XShardsFileNotFoundError, XShardsValueError
from xshards.learn.tf.packages import keras_of, load_tensorflow

if TYPE_CHECKING:
    import os

__all__ = [
    "load_keras_model",
    "load_saved_weights",
    "read_weights",
    "save_keras_model",
    "write_weights",
]

_FILES = (".keras", ".h5", ".hdf5")
_NOT_MEASURES = ("deserialize", "get", "serialize")
_SHORT = ("mse", "mae", "mape", "msle", "accuracy", "acc", "crossentropy", "ce")


def save_keras_model(
    model: Any, path: str | os.PathLike[str], *, overwrite: bool
) -> None:
    """Write a model to a file, or to a directory as a SavedModel."""
    target = Path(path)
    if target.exists() and not overwrite:
        msg = f"{path} exists; pass overwrite=True to replace it"
        raise XShardsValueError(msg)
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        if target.suffix in _FILES or keras_of(model).__name__ == "tf_keras":
            model.save(str(target), overwrite=True)
        else:
            model.export(str(target), verbose=False)
    except Exception as error:  # depends on what the model is made of
        msg = f"{path} cannot be written by {keras_of(model).__name__}: {error}"
        raise XShardsValueError(msg) from error


def load_keras_model(
    like: Any, path: str | os.PathLike[str], custom_objects: dict[str, Any] | None
) -> Any:
    """Read a model of the same Keras; None if there are weights only.

    That is the case with what Keras 3 exports as a SavedModel.
    """
    target = Path(path)
    if not target.exists():
        raise _absent(path)
    keras = keras_of(like)
    if target.is_dir() and keras.__name__ == "keras":
        return None
    named = dict(custom_objects or {})
    incomplete = keras.__name__ == "keras" and target.suffix in _FILES[1:]
    if incomplete:
        named = {**_names_of_functions(keras), **named}
    try:
        loaded = keras.models.load_model(str(target), custom_objects=named)
    except Exception as error:  # depends on what is wrong
        msg = f"{path} is no model that {keras.__name__} can load: {error}"
        raise XShardsValueError(msg) from error
    if incomplete and getattr(loaded, "optimizer", None) is not None:
        # Keras 3 builds it for no variables, so that it can train none.
        optimizer = loaded.optimizer
        loaded.optimizer = type(optimizer).from_config(optimizer.get_config())
    return loaded


def load_saved_weights(model: Any, path: str | os.PathLike[str]) -> None:
    """Give a model the weights of one that was exported as a SavedModel."""
    try:
        saved = load_tensorflow().saved_model.load(str(path))
    except (OSError, ValueError) as error:
        msg = f"{path} is no model that TensorFlow can load: {error}"
        raise XShardsValueError(msg) from error
    values = [np.asarray(one.numpy()) for one in saved.variables]
    own = model.trainable_variables + model.non_trainable_variables
    by_kind = [*saved.trainable_variables, *saved.non_trainable_variables]
    values = [np.asarray(one.numpy()) for one in by_kind] or values
    if [one.shape for one in values] != [tuple(one.shape) for one in own]:
        msg = (
            f"{path} has {len(values)} variables of another model: this one has "
            f"{len(own)}, or their shapes differ"
        )
        raise XShardsValueError(msg)
    for variable, array in zip(own, values, strict=True):
        variable.assign(array)


def write_weights(model: Any, path: str | os.PathLike[str]) -> None:
    """Write the weights of a model to a file."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    try:
        model.save_weights(str(path))
    except ValueError as error:  # Keras 3 takes only names that end in .weights.h5
        msg = f"weights cannot be written to {path}: {error}"
        raise XShardsValueError(msg) from error


def read_weights(model: Any, path: str | os.PathLike[str]) -> None:
    """Give a model the weights of a file; it keeps its own if they are of another."""
    # Of legacy Keras' other format, the path is what its files' names begin with.
    if not Path(path).exists() and not Path(f"{path}.index").exists():
        raise _absent(path)
    kept = model.get_weights()
    try:
        model.load_weights(str(path))
    except Exception as error:  # depends on what is wrong
        model.set_weights(kept)
        msg = f"{path} has no weights of this model: {error}"
        raise XShardsValueError(msg) from error


def _absent(path: str | os.PathLike[str]) -> XShardsFileNotFoundError:
    return XShardsFileNotFoundError(f"there is no file {path} to load")


def _names_of_functions(keras: Any) -> dict[str, str]:
    """Return the names of losses and metrics that are functions, for their names.

    Keras 3 writes these to HDF5 and takes them for classes when it loads them, if it
    is not told to leave them to `compile`.
    """
    names = [
        name
        for module in (keras.losses, keras.metrics)
        for name, function in vars(module).items()
        if isinstance(function, FunctionType) and name not in _NOT_MEASURES
    ]
    return {name: name for name in [*names, *_SHORT]}
