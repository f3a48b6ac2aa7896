# SPDX-License-Identifier: Apache-2.0
"""What the training core knows of Keras."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from xshards.errors import XShardsValueError
from xshards.learn.tf.operator import KerasOperator
from xshards.learn.tf.server_optimizer import ServerOptimizer
from xshards.learn.tf.variables import name_of
from xshards.learn.training.adapter import Buffers, ModelAdapter, ModelInput
from xshards.learn.training.packing import pack, unpack

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from xshards.learn.tf.model import KerasModel
    from xshards.learn.training.operator import Operator
    from xshards.learn.training.replica_optimizer import ServerLink

__all__ = ["KerasAdapter"]


class KerasAdapter(ModelAdapter):
    """Connects Keras, with TensorFlow under it, to the training core."""

    name = "keras"
    factory = "from_keras"
    operator_class: ClassVar[type[Operator]] = KerasOperator
    entry = "xshards.learn.tf.replica_process:main"
    own_data = "a tf.data.Dataset, a Keras PyDataset, or a function that makes one"

    def __init__(self) -> None:
        #: What the random layers of the next batch draw from.
        self.last_seed = 0

    # Models

    def describe_input(self, model: KerasModel) -> ModelInput:
        """Say what arrays a model takes."""
        keras_model = model.keras
        try:
            inputs = list(keras_model.inputs or [])
        except (AttributeError, ValueError):
            inputs = []
        layers = keras_model._flatten_layers()
        return ModelInput(
            float_type="float32",
            several=len(inputs) > 1,
            integers=any(type(one).__name__ == "Embedding" for one in layers),
        )

    def modules(self, model: KerasModel) -> Iterable[object]:
        """Return the model, all layers in it, and its creators."""
        return [*model.keras._flatten_layers(), *model.creators()]

    def copy_model(self, model: KerasModel) -> Any:
        """Return a Keras model with variables of its own."""
        code = [type(one) for one in self.modules(model)]
        copied: KerasModel = unpack(pack(model, {}, code))
        return copied.keras

    def buffers(self, models: Sequence[KerasModel]) -> Buffers:
        """Return what gradients do not change."""
        return models[0].state if models else Buffers()

    def model_state(self, model: KerasModel) -> dict[str, Any]:
        """Return a copy of all variables, by their names."""
        state: dict[str, Any] = {}
        for variable in model.keras.variables:
            name = name_of(variable)
            while name in state:
                name += "'"
            state[name] = np.array(variable.numpy())
        return state

    def load_model_state(self, model: KerasModel, state: dict[str, Any]) -> None:
        """Write a state to the variables, in their order."""
        own = list(model.keras.variables)
        saved = list(state.values())
        shapes = [tuple(one.shape) for one in own]
        if shapes != [np.shape(one) for one in saved]:
            differing = [
                f"{name_of(one)} {tuple(one.shape)}, saved {np.shape(other)}"
                for one, other in zip(own, saved, strict=False)
                if tuple(one.shape) != np.shape(other)
            ]
            msg = (
                f"the checkpoint is of another model: it has {len(saved)} variables, "
                f"this one {len(own)}; {'; '.join(differing[:3]) or 'none differs'}"
            )
            raise XShardsValueError(msg)
        for variable, values in zip(own, saved, strict=True):
            variable.assign(values)
        model.shared_again()

    def loss_of(self, models: Sequence[KerasModel]) -> Any:
        """Return the loss that the model was compiled with."""
        return getattr(models[0].keras, "loss", None)

    # Tensors

    def seed(self, number: int) -> None:
        """Note what random layers draw from; the step function gives it to them."""
        self.last_seed = number

    def to_tensor(
        self, array: np.ndarray[Any, Any], float_type: str | None = None
    ) -> Any:
        """Return the array: a step takes arrays, without a copy where it can."""
        if float_type is not None and array.dtype.kind == "f":
            return np.ascontiguousarray(array, dtype=float_type)
        return array

    def to_numpy(self, value: Any) -> Any:
        """Return a tensor as an array, and anything else as it is."""
        if hasattr(value, "numpy") and hasattr(value, "dtype"):
            return value.numpy()
        return value

    # In a replica

    def parameter(self, values: np.ndarray[Any, Any], shape: tuple[int, ...]) -> object:
        """Return the shared values, which the model's variable becomes a view of."""
        return values.reshape(shape)

    def server_optimizer(self, description: Any, link: ServerLink) -> ServerOptimizer:
        """Return what gives gradients to the parameter server."""
        return ServerOptimizer(description, link)

    # Batches

    def arrange(self, nested: Any) -> Any:
        """Return features, target and sample weights of what a shard has."""
        if isinstance(nested, dict):
            return nested["x"], nested.get("y"), nested.get("sample_weight")
        x, y, *weight = nested
        return x, y, weight[0] if weight else None

    # Files

    def write_file(self, state: dict[str, Any], path: Path) -> None:
        """Write arrays and plain values as one file of numpy."""
        arrays: list[np.ndarray[Any, Any]] = []
        text = json.dumps(_outline(state, arrays))
        with path.open("wb") as file:
            np.savez(file, *arrays, outline=np.array(text))

    def read_file(self, path: Path) -> Any:
        """Read arrays and plain values, and nothing that would run code."""
        with np.load(path, allow_pickle=False) as file:
            return _restored(json.loads(str(file["outline"])), file)


def _outline(value: Any, arrays: list[np.ndarray[Any, Any]]) -> Any:
    """Describe a nest as JSON, with numbers for its arrays."""
    if isinstance(value, (np.ndarray, np.generic)):
        arrays.append(np.asarray(value))
        return {"array": len(arrays) - 1}
    if isinstance(value, bytes):
        arrays.append(np.frombuffer(value, np.uint8))
        return {"bytes": len(arrays) - 1}
    if isinstance(value, dict):
        pairs = [[name, _outline(one, arrays)] for name, one in value.items()]
        return {"dict": pairs}
    if isinstance(value, (list, tuple)):
        return {"list": [_outline(one, arrays) for one in value]}
    return {"value": value}


def _restored(outline: Any, arrays: Any) -> Any:
    ((kind, content),) = outline.items()
    if kind == "array":
        return arrays[f"arr_{content}"]
    if kind == "bytes":
        return arrays[f"arr_{content}"].tobytes()
    if kind == "dict":
        return {name: _restored(one, arrays) for name, one in content}
    if kind == "list":
        return [_restored(one, arrays) for one in content]
    return content
