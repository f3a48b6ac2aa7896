# SPDX-License-Identifier: Apache-2.0
"""The interface between the training core and a framework."""

from __future__ import annotations

import contextlib
import copy
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from xshards.errors import XShardsNotImplementedError
from xshards.learn.training.checkpoints.files import DEFAULT_PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from xshards.learn.training.exchange import Exchange
    from xshards.learn.training.operator import Operator
    from xshards.learn.training.replica_mode import ReplicaSetUp
    from xshards.learn.training.replica_optimizer import (
        ServerLink,
        ServerOptimizerBase,
    )
    from xshards.learn.training.source import Source

__all__ = ["Buffers", "ModelAdapter", "ModelInput"]


@dataclass(frozen=True)
class ModelInput:
    """The kind of tensors that a model takes."""

    #: The dtype of float tensors, by numpy's name; None leaves them as they are.
    float_type: str | None = None
    #: Whether it takes several tensors, each an argument of its own.
    several: bool = False
    #: Whether columns of integers stay integers, for it looks values up by them.
    integers: bool = False


class Buffers:
    """State of models that is not trained by gradients, such as running statistics.

    Parameters
    ----------
    arrays
        The memory of the models itself.
    """

    def __init__(self, arrays: Sequence[np.ndarray[Any, Any]] = ()) -> None:
        self._arrays = list(arrays)

    def read(self) -> list[np.ndarray[Any, Any]]:
        """Return the values; they may be views that the next batch changes."""
        return list(self._arrays)

    def write(self, values: Sequence[Any]) -> None:
        """Write these values to the models, in the order of `read`."""
        for array, value in zip(self._arrays, values, strict=True):
            np.copyto(array, value)

    @contextlib.contextmanager
    def replaced_by(self, values: Sequence[Any]) -> Iterator[None]:
        """Write these values to the models until the block ends, then their own.

        Replicas train with running statistics of their own, but all measure the one
        model that users get.
        """
        own = [array.copy() for array in self.read()]
        self.write(values)
        try:
            yield
        finally:
            self.write(own)


class ModelAdapter(ABC):
    """Connects a framework to the training core.

    An adapter has no state of its own and pickles: the driver and every replica have
    one. A model, an optimizer, a loss and a tensor are the framework's objects, which
    the core only passes on. `DriverOptimizer` and `ReplicaOptimizer` say the same of
    optimizers, `Operator` of what is done with a batch.
    """

    #: The name in messages and of the framework's metrics, see `xshards.learn.metrics`.
    name: ClassVar[str]
    #: What users call to make an Estimator, for messages.
    factory: ClassVar[str]
    #: The operator class that trains by default.
    operator_class: ClassVar[type[Operator]]
    #: What runs in a replica, as "module:function". The fork server imports the module
    #: before it forks: name one that imports the framework and then
    #: `xshards.learn.training.replica_process`.
    entry: ClassVar[str] = "xshards.learn.training.replica_process:main"
    #: What `fit` takes in addition to shards, DataFrames and arrays, for messages.
    own_data: ClassVar[str] = ""
    #: Precisions that models can compute in, other than their parameters' type.
    precisions: ClassVar[tuple[str, ...]] = ()
    #: What is in the name of the optimizer's file of a checkpoint.
    checkpoint_prefix: ClassVar[str] = DEFAULT_PREFIX
    #: What averages gradients where replicas update, for messages.
    group_name: ClassVar[str] = "the process group"

    # Models

    @abstractmethod
    def describe_input(self, model: Any) -> ModelInput:
        """Describe the tensors that a model takes."""

    def modules(self, model: Any) -> Iterable[object]:
        """Return the objects in a model whose classes replicas may have to be sent."""
        return [model]

    def copy_model(self, model: Any) -> Any:
        """Return a copy with memory of its own."""
        return copy.deepcopy(model)

    def buffers(self, models: Sequence[Any]) -> Buffers:
        """Return the buffers of models, always in the same order."""
        return Buffers()

    @abstractmethod
    def model_state(self, model: Any) -> dict[str, Any]:
        """Return a copy of all parameters and buffers: plain values and tensors."""

    @abstractmethod
    def load_model_state(self, model: Any, state: dict[str, Any]) -> None:
        """Write what `model_state` returned to a model, into the memory it has."""

    def make_loss(self, loss: Any, config: dict[str, Any]) -> Any:
        """Return the loss for what a user gave as one."""
        return loss

    def loss_of(self, models: Sequence[Any]) -> Any:
        """Return the loss, or names of losses, that models have themselves."""
        return None

    # Tensors

    @abstractmethod
    def seed(self, number: int) -> None:
        """Seed the framework's global random generator with 63 bits.

        Called before each batch; `random` and `numpy.random` are seeded by the core.
        """

    @abstractmethod
    def to_tensor(
        self, array: np.ndarray[Any, Any], float_type: str | None = None
    ) -> Any:
        """Return an array as a tensor, without a copy where the framework allows.

        A read-only array must be copied. Floats become `float_type` unless it is None.
        """

    @abstractmethod
    def to_numpy(self, value: Any) -> Any:
        """Return a tensor as an array, and anything else as it is."""

    def arrange(self, nested: Any) -> Any:
        """Return the batch of a shard's tensors, which are nested as in the shard."""
        if isinstance(nested, dict):
            features, target = nested["x"], nested["y"]
        else:
            features, target = nested
        if isinstance(features, (tuple, list)):
            return (*features, target)
        return (features, target)

    def inference_mode(self) -> AbstractContextManager[object]:
        """Return a context in which no gradients are recorded."""
        return contextlib.nullcontext()

    # In a replica

    @abstractmethod
    def parameter(self, values: np.ndarray[Any, Any], shape: tuple[int, ...]) -> object:
        """Return a parameter of a model that is a view of flat values."""

    def narrow_parameter(
        self, values: np.ndarray[Any, Any], shape: tuple[int, ...], kind: str
    ) -> object:
        """Return a parameter of a narrower type than the server's, with its own memory.

        `kind` is of `DriverOptimizer.kinds`; the optimizer of the replica copies the
        values to it after each update.
        """
        msg = f"{self.name} has no parameters of type {kind}"
        raise XShardsNotImplementedError(msg)

    @abstractmethod
    def server_optimizer(
        self, description: Any, link: ServerLink
    ) -> ServerOptimizerBase:
        """Return what user code steps while the parameter server updates weights.

        `description` is what `DriverOptimizer.for_server` returned, around parameters
        made by `parameter`.
        """

    def make_schedulers(
        self, creator: Any, optimizers: Sequence[Any], config: dict[str, Any]
    ) -> list[Any]:
        """Return the learning-rate schedulers that a user's function makes.

        They have `state_dict` and `load_state_dict`; the operator steps them.
        """
        if creator is None:
            return []
        made = creator(optimizers[0] if len(optimizers) == 1 else optimizers, config)
        return list(made) if isinstance(made, (list, tuple)) else [made]

    # Replicas that run optimizers themselves, for frameworks that can average gradients

    def open_group(self) -> Any:
        """Open a place where replicas find each other; has a picklable `port`."""
        raise self._no_updates_in_replicas()

    def local_exchange(
        self, set_up: ReplicaSetUp, rank: int, num_replicas: int
    ) -> Exchange:
        """Return how a replica updates its own weights."""
        raise self._no_updates_in_replicas()

    def load_parameters(self, model: Any, values: Sequence[Any]) -> None:
        """Write the parameters that `local_exchange`'s `state` returned to a model."""
        raise self._no_updates_in_replicas()

    def _no_updates_in_replicas(self) -> Exception:
        msg = f"{self.name} trains by the parameter server only"
        return XShardsNotImplementedError(msg)

    # Files

    @abstractmethod
    def write_file(self, state: dict[str, Any], path: Path) -> None:
        """Write a state of plain values and tensors, nested in dicts and lists."""

    @abstractmethod
    def read_file(self, path: Path) -> Any:
        """Read what `write_file` wrote, or the framework's own file of a model's state.

        Must run no code from the file; raise any exception if it holds anything else.
        """

    # Data that only the framework knows

    def source_of(self, data: Any, config: dict[str, Any]) -> Source | None:
        """Return a source for a loader of the framework's own; None for other data."""
        return None

    def feature_batches(
        self, data: Any, model: Any, config: dict[str, Any], batch_size: int
    ) -> Iterator[tuple[Any, ...]] | None:
        """Return the batches to predict of such a loader; None for other data."""
        return None
