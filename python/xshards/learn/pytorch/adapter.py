# SPDX-License-Identifier: Apache-2.0
"""The `ModelAdapter` of PyTorch."""

from __future__ import annotations

import inspect
import warnings
from typing import TYPE_CHECKING, Any, ClassVar

import cloudpickle
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

from xshards.learn.pytorch.building import make_loss
from xshards.learn.pytorch.distributed import make_store
from xshards.learn.pytorch.loaders import LoaderSource, lengths, make_loader
from xshards.learn.pytorch.local_optimizer import LocalExchange
from xshards.learn.pytorch.parameters import as_numpy, copied
from xshards.learn.pytorch.server_optimizer import ServerOptimizer
from xshards.learn.pytorch.training_operator import TrainingOperator
from xshards.learn.training.adapter import Buffers, ModelAdapter, ModelInput
from xshards.runtime.shipping import by_value
from xshards.shards import XShards

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from xshards.learn.training.operator import Operator
    from xshards.learn.training.replica_mode import ReplicaSetUp
    from xshards.learn.training.replica_optimizer import ServerLink

__all__ = ["TorchAdapter"]


class TorchAdapter(ModelAdapter):
    """Connects torch to the training core."""

    name = "pytorch"
    factory = "from_torch"
    operator_class: ClassVar[type[Operator]] = TrainingOperator
    entry = "xshards.learn.pytorch.replica_process:main"
    own_data = "a torch DataLoader or Dataset, or a function that makes one"
    group_name = "torch.distributed"
    precisions = ("bf16",)

    # Models

    def describe_input(self, model: torch.nn.Module) -> ModelInput:
        """Describe the tensors that a model takes."""
        floats = {one.dtype for one in model.parameters() if one.is_floating_point()}
        return ModelInput(
            float_type=(
                str(floats.pop()).removeprefix("torch.") if len(floats) == 1 else None
            ),
            several=_takes_several(model),
            integers=any(
                isinstance(part, (torch.nn.Embedding, torch.nn.EmbeddingBag))
                for part in model.modules()
            ),
        )

    def modules(self, model: torch.nn.Module) -> Iterable[object]:
        """Return the model and all modules in it."""
        return model.modules()

    def buffers(self, models: Sequence[torch.nn.Module]) -> Buffers:
        """Return the registered buffers."""
        return _TorchBuffers([one for model in models for one in model.buffers()])

    def model_state(self, model: torch.nn.Module) -> dict[str, Any]:
        """Return a copy of the state_dict."""
        state: dict[str, Any] = copied(model.state_dict())
        return state

    def load_model_state(self, model: torch.nn.Module, state: dict[str, Any]) -> None:
        """Load a state_dict."""
        model.load_state_dict(state)

    def make_loss(self, loss: Any, config: dict[str, Any]) -> Any:
        """Return the loss of an instance, a function, a class or a creator."""
        return make_loss(loss, config)

    # Tensors

    def seed(self, number: int) -> None:
        """Seed the CPU's generator."""
        torch.default_generator.manual_seed(number)

    def to_tensor(
        self, array: np.ndarray[Any, Any], float_type: str | None = None
    ) -> torch.Tensor:
        """Return an array as a tensor."""
        # A view of stored data may not be written to; torch has no such tensors.
        tensor = torch.from_numpy(array if array.flags.writeable else array.copy())
        if float_type is not None and tensor.is_floating_point():
            return tensor.to(getattr(torch, float_type))
        return tensor

    def to_numpy(self, value: Any) -> Any:
        """Return a tensor as an array, and anything else as it is."""
        return as_numpy(value) if isinstance(value, torch.Tensor) else value

    def inference_mode(self) -> AbstractContextManager[object]:
        """Return a context in which no gradients are recorded."""
        return torch.no_grad()

    # In a replica

    def parameter(
        self, values: np.ndarray[Any, Any], shape: tuple[int, ...]
    ) -> torch.nn.Parameter:
        """Return a parameter that is a view of flat values."""
        return torch.nn.Parameter(torch.from_numpy(values).view(shape))

    def narrow_parameter(
        self, values: np.ndarray[Any, Any], shape: tuple[int, ...], kind: str
    ) -> torch.nn.Parameter:
        """Return a parameter of half precision with these values."""
        tensor = torch.from_numpy(values).view(shape)
        return torch.nn.Parameter(tensor.to(getattr(torch, kind)))

    def server_optimizer(self, description: Any, link: ServerLink) -> ServerOptimizer:
        """Return what user code steps while the parameter server updates weights."""
        groups, defaults = description
        return ServerOptimizer(groups, defaults, link)

    def make_schedulers(
        self, creator: Any, optimizers: Sequence[Any], config: dict[str, Any]
    ) -> list[Any]:
        """Return the learning-rate schedulers that a user's function makes."""
        with warnings.catch_warnings():
            # Schedulers look for a step that has been taken: the server takes it.
            warnings.simplefilter("ignore", UserWarning)
            return super().make_schedulers(creator, optimizers, config)

    # Replicas that run optimizers themselves

    def open_group(self) -> Any:
        """Open the store through which replicas make a process group."""
        return make_store()

    def local_exchange(
        self, set_up: ReplicaSetUp, rank: int, num_replicas: int
    ) -> LocalExchange:
        """Join the process group."""
        return LocalExchange(set_up, rank, num_replicas)

    @torch.no_grad()
    def load_parameters(self, model: torch.nn.Module, values: Sequence[Any]) -> None:
        """Copy values to the parameters."""
        for parameter, value in zip(model.parameters(), values, strict=True):
            parameter.copy_(torch.from_numpy(np.asarray(value)))

    # Files

    def write_file(self, state: dict[str, Any], path: Path) -> None:
        """Write a state with torch.save."""
        torch.save(state, path)

    def read_file(self, path: Path) -> Any:
        """Read weights and plain values, and nothing that would run code."""
        return torch.load(path, map_location="cpu", weights_only=True)

    # Data that only torch knows

    def source_of(self, data: Any, config: dict[str, Any]) -> LoaderSource | None:
        """Return a source for a DataLoader, a Dataset or a function that makes one."""
        if not _is_loader(data):
            return None
        code = [data, getattr(data, "dataset", None), getattr(data, "collate_fn", None)]
        code += [type(one) for one in code]
        with by_value(code):
            return LoaderSource(cloudpickle.dumps(data), config, *lengths(data))

    def feature_batches(
        self,
        data: Any,
        model: torch.nn.Module,
        config: dict[str, Any],
        batch_size: int,
    ) -> Iterator[tuple[Any, ...]] | None:
        """Return the batches to predict of a DataLoader, without their targets."""
        if not _is_loader(data):
            return None
        loader = make_loader(data, config, batch_size, shuffle=False)
        return (_features(batch, model) for batch in loader)


class _TorchBuffers(Buffers):
    def __init__(self, tensors: list[torch.Tensor]) -> None:
        super().__init__()
        self._tensors = tensors

    def read(self) -> list[np.ndarray[Any, Any]]:
        return [as_numpy(tensor) for tensor in self._tensors]

    @torch.no_grad()
    def write(self, values: Sequence[Any]) -> None:
        for tensor, value in zip(self._tensors, values, strict=True):
            tensor.copy_(torch.from_numpy(np.asarray(value)))


def _is_loader(data: Any) -> bool:
    return isinstance(data, (DataLoader, Dataset)) or (
        callable(data) and not isinstance(data, XShards)
    )


def _forward_parameters(model: torch.nn.Module) -> list[inspect.Parameter]:
    """Return what the model's forward takes, looking through wrappers.

    A compiled model, and one of data-parallel or averaged training, pass on whatever
    they get: what the model in them takes counts.
    """
    try:
        found = list(inspect.signature(model.forward).parameters.values())
    except (TypeError, ValueError):
        found = []
    passes_on = not found or any(one.kind is one.VAR_POSITIONAL for one in found)
    for name in ("_orig_mod", "module") if passes_on else ():
        inner = getattr(model, name, None)
        if isinstance(inner, torch.nn.Module):
            return _forward_parameters(inner)
    return found


def _takes_several(model: torch.nn.Module) -> bool:
    parameters = _forward_parameters(model)
    needed = [
        one
        for one in parameters
        if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
        and one.default is one.empty
    ]
    return len(needed) > 1 or any(one.kind is one.VAR_POSITIONAL for one in parameters)


def _features(batch: Any, model: torch.nn.Module) -> tuple[Any, ...]:
    """Remove the target of a batch, if it has one."""
    if not isinstance(batch, (tuple, list)):
        return (batch,)
    parameters = _forward_parameters(model)
    if any(one.kind is one.VAR_POSITIONAL for one in parameters):
        return tuple(batch[:-1])
    return tuple(batch[: len(parameters)])
