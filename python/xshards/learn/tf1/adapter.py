# SPDX-License-Identifier: Apache-2.0
"""What the training core knows of TensorFlow graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from xshards.errors import XShardsValueError
from xshards.learn.metrics import register_metrics
from xshards.learn.tf1.graph_model import FlatVector
from xshards.learn.tf1.graph_session import generator
from xshards.learn.tf1.operator import GraphOperator, GraphServerOptimizer
from xshards.learn.tf1.state_files import read_state, write_state
from xshards.learn.training.adapter import Buffers, ModelAdapter, ModelInput

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from xshards.learn.tf1.graph_model import GraphModel
    from xshards.learn.training.operator import Operator
    from xshards.learn.training.replica_optimizer import ServerLink

__all__ = ["GraphAdapter"]

register_metrics("tensorflow graph", "xshards.learn.tf1.metrics")


class GraphAdapter(ModelAdapter):
    """Connects TensorFlow graphs to the training core."""

    name = "tensorflow graph"
    factory = "from_graph"
    operator_class: ClassVar[type[Operator]] = GraphOperator
    entry = "xshards.learn.tf1.replica_process:main"
    own_data = "a tf.data.Dataset"
    checkpoint_prefix = "TFParkTraining"  # BigDL's name for training a graph

    # Models

    def describe_input(self, model: GraphModel) -> ModelInput:
        """Say what placeholders a graph has; feeds are cast to their dtypes."""
        inputs = model.names.inputs
        kinds = [np.dtype(one.dtype).kind for one in inputs]
        return ModelInput(
            several=len(inputs) > 1, integers=any(kind in "iu" for kind in kinds)
        )

    def buffers(self, models: Sequence[GraphModel]) -> Buffers:
        """Return the variables that no gradient changes."""
        return _GraphBuffers(models)

    def model_state(self, model: GraphModel) -> dict[str, Any]:
        """Return a copy of all variables, by name."""
        state: dict[str, Any] = {}
        for names, vector in zip(model.names.vectors, model.vectors, strict=True):
            begin = 0
            for name, shape in names.variables:
                size = int(np.prod(shape, dtype=np.int64))
                part = vector.data[begin : begin + size]
                state[name] = part.copy().reshape(shape)
                begin += size
        for (name, _, _), value in zip(model.names.buffers, model.buffers, strict=True):
            state[name] = value.copy()
        return state

    def load_model_state(self, model: GraphModel, state: dict[str, Any]) -> None:
        """Write what `model_state` returned to a model."""
        _check_names(self.model_state(model), state)
        for names, vector in zip(model.names.vectors, model.vectors, strict=True):
            begin = 0
            for name, shape in names.variables:
                size = int(np.prod(shape, dtype=np.int64))
                vector.data[begin : begin + size] = np.asarray(state[name]).reshape(-1)
                begin += size
        for (name, _, _), value in zip(model.names.buffers, model.buffers, strict=True):
            np.copyto(value, state[name])
        model.buffers_changed = True

    # Tensors

    def seed(self, number: int) -> None:
        """Seed what random operations draw from."""
        generator.set(number)

    def to_tensor(
        self, array: np.ndarray[Any, Any], float_type: str | None = None
    ) -> np.ndarray[Any, Any]:
        """Return the array: a session is fed with arrays."""
        return array

    def to_numpy(self, value: Any) -> Any:
        """Return the value: a session returns arrays."""
        return value

    # In a replica

    def parameter(
        self, values: np.ndarray[Any, Any], shape: tuple[int, ...]
    ) -> FlatVector:
        """Return a vector that is a view of the shared weights."""
        return FlatVector(values)

    def server_optimizer(
        self, description: Any, link: ServerLink
    ) -> GraphServerOptimizer:
        """Return what pushes gradients."""
        return GraphServerOptimizer(link)

    # Files

    def write_file(self, state: dict[str, Any], path: Path) -> None:
        """Write arrays and plain values."""
        write_state(state, path)

    def read_file(self, path: Path) -> Any:
        """Read arrays and plain values."""
        return read_state(path)


class _GraphBuffers(Buffers):
    def __init__(self, models: Sequence[GraphModel]) -> None:
        super().__init__([one for model in models for one in model.buffers])
        self._models = models

    def write(self, values: Sequence[Any]) -> None:
        super().write(values)
        for model in self._models:
            model.buffers_changed = True


def _check_names(own: dict[str, Any], other: dict[str, Any]) -> None:
    missing = sorted(set(own) - set(other))
    if missing:
        msg = (
            f"expected the variables of this graph in the file; it has no "
            f"{', '.join(missing)}"
        )
        raise XShardsValueError(msg)
    for name, value in own.items():
        found = np.shape(other[name])
        if found != value.shape:
            msg = f"the file is of another model: {name} has the shape {value.shape} "
            raise XShardsValueError(msg + f"here and {found} there")
