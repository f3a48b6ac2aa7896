# SPDX-License-Identifier: Apache-2.0
"""Models, optimizers and losses made from instances or creators."""

from __future__ import annotations

import contextlib
import inspect
from typing import TYPE_CHECKING, Any

import torch

from xshards.errors import XShardsTypeError, XShardsValueError
from xshards.learn.optimizers import Optimizer as OrcaOptimizer
from xshards.learn.pytorch.rule_optimizer import RuleOptimizer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["make_loss", "make_models", "make_optimizers", "seeded"]


@contextlib.contextmanager
def seeded(seed: int | None) -> Iterator[None]:
    """Draw initial weights from a seed, leaving the global generator alone."""
    if seed is None:
        yield
        return
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def make_models(model: Any, config: dict[str, Any]) -> list[torch.nn.Module]:
    """Return the models of an instance, several, or a creator."""
    if not isinstance(model, (torch.nn.Module, list, tuple)) and callable(model):
        model = model(config)
    models = list(model) if isinstance(model, (list, tuple)) else [model]
    for one in models:
        if not isinstance(one, torch.nn.Module):
            msg = (
                "model must be a torch.nn.Module, or a function that takes the config "
                f"and returns one or several; got {type(one).__name__}"
            )
            raise XShardsTypeError(msg)
    return models


def make_optimizers(
    optimizer: Any, models: Sequence[torch.nn.Module], config: dict[str, Any]
) -> list[torch.optim.Optimizer]:
    """Return the optimizers of an instance, several, an Orca optimizer or a creator."""
    if optimizer is None:
        return []
    if isinstance(optimizer, type):
        raise _optimizer_class(optimizer)
    if isinstance(optimizer, OrcaOptimizer):
        return [RuleOptimizer(_trainable(models), optimizer)]
    single = (torch.optim.Optimizer, list, tuple)
    if not isinstance(optimizer, single) and callable(optimizer):
        optimizer = optimizer(models[0] if len(models) == 1 else models, config)
    made = list(optimizer) if isinstance(optimizer, (list, tuple)) else [optimizer]
    if len(made) == 1 and isinstance(made[0], OrcaOptimizer):
        return [RuleOptimizer(_trainable(models), made[0])]
    for one in made:
        if not isinstance(one, torch.optim.Optimizer):
            msg = (
                "optimizer must be a torch optimizer, one of xshards.learn.optimizers, "
                "or a function that takes the model and the config and returns one or "
                f"several; got {type(one).__name__}"
            )
            raise XShardsTypeError(msg)
    return made


def _optimizer_class(kind: type) -> XShardsTypeError:
    """Return the error for a class in place of an optimizer object."""
    call = f"{kind.__name__}()"
    if issubclass(kind, torch.optim.Optimizer):
        call = f"{kind.__name__}(model.parameters(), lr=0.001)"
    msg = (
        f"optimizer must be an object such as {call}, or a function that takes the "
        f"model and the config and returns one; got the class {kind.__name__}"
    )
    return XShardsTypeError(msg)


def make_loss(loss: Any, config: dict[str, Any]) -> Any:
    """Return the loss: an instance or a function, or what a class or creator makes."""
    if loss is None or isinstance(loss, torch.nn.Module):
        return loss
    if isinstance(loss, type):
        return loss()
    if not callable(loss):
        msg = f"loss must be callable, got {type(loss).__name__}"
        raise XShardsTypeError(msg)
    if _takes_config_only(loss):
        made = loss(config)
        if not callable(made):
            msg = (
                "a loss creator takes the config and returns a loss; this one returned "
                f"{type(made).__name__}"
            )
            raise XShardsValueError(msg)
        return make_loss(made, config)
    return loss


def _takes_config_only(function: Any) -> bool:
    """Return whether a function creates a loss, rather than being one."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    required = [
        one
        for one in parameters
        if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
        and one.default is one.empty
    ]
    return len(required) <= 1 and not any(
        one.kind is one.VAR_POSITIONAL for one in parameters
    )


def _trainable(models: Sequence[torch.nn.Module]) -> list[torch.nn.Parameter]:
    found = {
        id(parameter): parameter
        for model in models
        for parameter in model.parameters()
        if parameter.requires_grad
    }
    return list(found.values())
