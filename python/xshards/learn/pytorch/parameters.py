# SPDX-License-Identifier: Apache-2.0
"""Which parameters are trained, and how a model travels without them."""

from __future__ import annotations

import io
import pickle
from typing import TYPE_CHECKING, Any

import cloudpickle
import torch

from xshards.errors import XShardsTypeError, XShardsValueError
from xshards.runtime.shipping import by_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = [
    "Spec",
    "check_apart",
    "copied",
    "load_optimizer",
    "pack",
    "specs_of",
    "trained",
    "unpack",
]

#: (name, number of elements, dtype, parameter group), as the server wants it.
Spec = tuple[str, int, str, int]
_DTYPES = {torch.float32: "float32", torch.float64: "float64"}


def trained(
    groups: Iterable[dict[str, Any]],
) -> list[tuple[int, torch.nn.Parameter]]:
    """Give the parameters an optimizer changes, each once, with their groups."""
    found: dict[int, tuple[int, torch.nn.Parameter]] = {}
    for number, group in enumerate(groups):
        for parameter in group["params"]:
            if parameter.requires_grad:
                found.setdefault(id(parameter), (number, parameter))
    return list(found.values())


def specs_of(
    optimizer: torch.optim.Optimizer, models: Sequence[torch.nn.Module]
) -> list[Spec]:
    """Describe the parameters of an optimizer, in the order of `trained`."""
    names = {
        id(parameter): name
        for model in models
        for name, parameter in model.named_parameters()
    }
    specs = []
    for group, parameter in trained(optimizer.param_groups):
        name = names.get(id(parameter))
        if name is None:
            msg = (
                f"the optimizer has a parameter of shape {tuple(parameter.shape)} that "
                "the model does not have: make the optimizer of model.parameters()"
            )
            raise XShardsValueError(msg)
        if isinstance(parameter, torch.nn.parameter.UninitializedParameter):
            msg = (
                f"parameter {name!r} has no shape yet: run the model on one batch "
                "before it is given to an Estimator"
            )
            raise XShardsValueError(msg)
        if parameter.dtype not in _DTYPES:
            msg = (
                f"parameter {name!r} is {parameter.dtype}; parameters are trained as "
                "float32 or float64: call model.float(), or freeze it"
            )
            raise XShardsTypeError(msg)
        specs.append((name, parameter.numel(), _DTYPES[parameter.dtype], group))
    if not specs:
        msg = "the optimizer has no parameter that requires a gradient"
        raise XShardsValueError(msg)
    return specs


def check_apart(optimizers: Iterable[torch.optim.Optimizer]) -> None:
    """Refuse a parameter that two optimizers would change."""
    seen: set[int] = set()
    for optimizer in optimizers:
        own = {id(parameter) for _, parameter in trained(optimizer.param_groups)}
        if own & seen:
            msg = (
                "two optimizers share a parameter; give each parameter to one of them, "
                "or use parameter groups"
            )
            raise XShardsValueError(msg)
        seen |= own


def copied(value: Any) -> Any:
    """Copy tensors, each to memory of its own and no larger than it is."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if isinstance(value, dict):
        return type(value)((name, copied(part)) for name, part in value.items())
    if isinstance(value, (list, tuple)):
        return type(value)(copied(part) for part in value)
    return value


def load_optimizer(optimizer: torch.optim.Optimizer, values: dict[str, Any]) -> None:
    """Give an optimizer the state that another of its kind had."""
    optimizer.load_state_dict(copied(values))
    # torch casts state to the parameter's dtype, also where a step does not.
    numbers = [number for group in values["param_groups"] for number in group["params"]]
    own = [one for group in optimizer.param_groups for one in group["params"]]
    for number, parameter in zip(numbers, own, strict=True):
        if number in values["state"]:
            optimizer.state[parameter] = copied(values["state"][number])


class _Packer(cloudpickle.Pickler):  # type: ignore[misc]
    """Leaves trained parameters out: a replica has them in the shared region."""

    def __init__(self, file: io.BytesIO, places: dict[int, tuple[int, int]]) -> None:
        super().__init__(file, protocol=5)
        self._places = places

    def persistent_id(self, value: object) -> tuple[int, int] | None:
        if isinstance(value, torch.nn.Parameter):
            return self._places.get(id(value))
        return None


class _Unpacker(pickle.Unpickler):
    def __init__(
        self, content: bytes, parameters: Sequence[Sequence[torch.Tensor]]
    ) -> None:
        super().__init__(io.BytesIO(content))
        self._parameters = parameters

    def persistent_load(self, place: tuple[int, int]) -> torch.Tensor:
        optimizer, index = place
        return self._parameters[optimizer][index]


def pack(
    content: object, places: dict[int, tuple[int, int]], code: Iterable[object] = ()
) -> bytes:
    """Pickle something for a replica.

    `places` says where parameters are, by id: number of the optimizer and of the
    parameter. The modules of `code` need not be importable there.
    """
    file = io.BytesIO()
    try:
        with by_value(code):
            _Packer(file, places).dump(content)
    except (pickle.PicklingError, TypeError, AttributeError, RuntimeError) as error:
        msg = (
            "the model, its loss and everything else a replica needs must be picklable "
            f"to train in other processes: {error}"
        )
        raise XShardsValueError(msg) from error
    return file.getvalue()


def unpack(content: bytes, parameters: Sequence[Sequence[torch.Tensor]]) -> Any:
    """Unpickle what `pack` gave, around these parameters."""
    return _Unpacker(content, parameters).load()
