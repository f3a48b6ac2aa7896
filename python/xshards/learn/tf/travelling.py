# SPDX-License-Identifier: Apache-2.0
"""How a compiled Keras model goes to another process: as what it can be made of."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import Any

from xshards.errors import XShardsValueError
from xshards.learn.tf.packages import keras_of

__all__ = ["Recipe", "recipe_of"]


@dataclass
class Recipe:
    """What makes a model again: its configuration, classes and compile arguments."""

    package: str
    architecture: dict[str, Any]
    #: Classes and functions that are not of Keras, by the names configurations have.
    custom: dict[str, Any]
    compile_arguments: dict[str, Any] | None = field(default=None)

    def make(self) -> Any:
        """Make the model."""
        keras = importlib.import_module(self.package)
        with keras.saving.custom_object_scope(self.custom):
            model = keras.saving.deserialize_keras_object(
                self.architecture, safe_mode=False
            )
            if self.compile_arguments is not None:
                model.compile(**_revived(self.compile_arguments))
        return model


@dataclass
class _Object:
    """An optimizer, a metric or a loss: its class and configuration or state."""

    kind: type
    config: dict[str, Any] | None
    content: dict[str, Any]

    def revive(self) -> Any:
        if self.config is not None:
            return self.kind.from_config(self.config)  # type: ignore[attr-defined]
        made: Any = object.__new__(self.kind)
        made.__dict__.update(self.content)
        return made


def recipe_of(model: Any) -> Recipe:
    """Describe a model, so that another process can make it."""
    keras = keras_of(model)
    try:
        architecture = keras.saving.serialize_keras_object(model)
    except Exception as error:  # depends on what the model is made of
        raise _refusal(model, error) from error
    architecture.pop("compile_config", None)
    arguments = getattr(model, "_compile_config", None)
    return Recipe(
        package=keras.__name__,
        architecture=architecture,
        custom={**_custom_classes(model), **keras.saving.get_custom_objects()},
        compile_arguments=(
            None if arguments is None else _described(dict(arguments.config))
        ),
    )


def _refusal(model: Any, error: Exception) -> XShardsValueError:
    msg = (
        f"replicas cannot make a {type(model).__name__} of its configuration: give the "
        f"Estimator model_creator, a function that makes the model ({error})"
    )
    return XShardsValueError(msg)


def _custom_classes(model: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    layers = getattr(model, "_flatten_layers", None)
    for layer in [model, *(layers() if layers is not None else [])]:
        kind = type(layer)
        if kind.__module__.partition(".")[0] not in ("keras", "tf_keras"):
            package = getattr(kind, "_api_export_path", None)
            for name in (kind.__name__, f"Custom>{kind.__name__}", package):
                if name:
                    found[name] = kind
    return found


def _described(value: Any) -> Any:
    """Replace objects of Keras, which may hold variables, by what they are made of."""
    if isinstance(value, dict):
        return {name: _described(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_described(part) for part in value]
    if not (hasattr(value, "get_config") and not isinstance(value, type)):
        return value
    kind = type(value)
    if hasattr(value, "variables"):
        return _Object(kind, value.get_config(), {})
    return _Object(kind, None, dict(value.__dict__))


def _revived(value: Any) -> Any:
    if isinstance(value, _Object):
        return value.revive()
    if isinstance(value, dict):
        return {name: _revived(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_revived(part) for part in value]
    return value
