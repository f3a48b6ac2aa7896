# SPDX-License-Identifier: Apache-2.0
"""Which parameters are trained, and copies of tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from xshards.errors import XShardsTypeError, XShardsValueError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from xshards.learn.training.driver_optimizer import Spec

__all__ = ["as_numpy", "copied", "load_optimizer", "narrow", "specs_of", "trained"]

# The server keeps half precision as floats, which have all of its values.
_DTYPES = {
    torch.float32: "float32",
    torch.float64: "float64",
    torch.bfloat16: "float32",
    torch.float16: "float32",
}
_NARROW = {torch.bfloat16: "bfloat16", torch.float16: "float16"}


def narrow(parameter: torch.Tensor) -> str | None:
    """Name the type of a parameter of half precision; None for others."""
    return _NARROW.get(parameter.dtype)


def as_numpy(tensor: torch.Tensor) -> Any:
    """Return a tensor as an array; numpy has floats for torch's bfloat16."""
    tensor = tensor.detach()
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()


def trained(
    groups: Iterable[dict[str, Any]],
) -> list[tuple[int, torch.nn.Parameter]]:
    """Return the parameters an optimizer changes, each once, with their groups."""
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
                f"parameter {name!r} is {parameter.dtype}; only float parameters are "
                "trained: call model.float(), or freeze it"
            )
            raise XShardsTypeError(msg)
        specs.append((name, parameter.numel(), _DTYPES[parameter.dtype], group))
    if not specs:
        msg = "the optimizer has no parameter that requires a gradient"
        raise XShardsValueError(msg)
    return specs


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
    """Copy state to an optimizer from another of its class."""
    optimizer.load_state_dict(copied(values))
    # torch casts state to the parameter's dtype, also where a step does not.
    numbers = [number for group in values["param_groups"] for number in group["params"]]
    own = [one for group in optimizer.param_groups for one in group["params"]]
    for number, parameter in zip(numbers, own, strict=True):
        if number in values["state"]:
            optimizer.state[parameter] = copied(values["state"][number])
