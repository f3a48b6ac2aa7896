# SPDX-License-Identifier: Apache-2.0
"""A torch optimizer on the driver."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from xshards.errors import XShardsValueError
from xshards.learn.pytorch.clipping import clip_gradients
from xshards.learn.pytorch.closures import needs_closure
from xshards.learn.pytorch.optimizer_rules import native_rules
from xshards.learn.pytorch.parameters import (
    copied,
    load_optimizer,
    narrow,
    specs_of,
    trained,
)
from xshards.learn.pytorch.rule_optimizer import RuleOptimizer
from xshards.learn.training.driver_optimizer import DriverOptimizer, refuse_closure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from xshards import _core
    from xshards.learn.training.clip import Clip
    from xshards.learn.training.driver_optimizer import Rule, Spec

__all__ = ["TorchOptimizer", "put_together", "take_apart"]


class TorchOptimizer(DriverOptimizer):
    """The training core's view of a torch optimizer."""

    def __init__(self, optimizer: torch.optim.Optimizer) -> None:
        self.handle = optimizer
        self.parameters = [one for _, one in trained(optimizer.param_groups)]
        self.evaluates_loss = needs_closure(optimizer)
        self._groups = [group for group, _ in trained(optimizer.param_groups)]
        self._shared: list[torch.Tensor] = []
        if isinstance(optimizer, RuleOptimizer):
            self.base_rate = optimizer.base_rate
            self.monitor = optimizer.chosen.monitor

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """The shape of each parameter."""
        return [tuple(parameter.shape) for parameter in self.parameters]

    @property
    def kinds(self) -> list[str | None]:
        """The types of parameters of half precision; None for others."""
        return [narrow(parameter) for parameter in self.parameters]

    @property
    def num_groups(self) -> int:
        """How many parameter groups there are."""
        return len(self.handle.param_groups)

    def specs(self, models: Sequence[Any]) -> list[Spec]:
        """Describe the parameters; refuses those that models do not have."""
        return specs_of(self.handle, models)

    def rules(self) -> list[Rule] | None:
        """Return the rule of each group; None if only torch can update."""
        halved = any(self.kinds)
        if isinstance(self.handle, RuleOptimizer):
            if halved:
                msg = (
                    "optimizers of xshards.learn.optimizers train float32 and float64; "
                    f"use one of torch for {next(filter(None, self.kinds))} parameters"
                )
                raise XShardsValueError(msg)
            return self.handle.rules()
        # Rounded to half precision after each update, by torch, as it would be alone.
        return None if halved else native_rules(self.handle)

    @torch.no_grad()
    def adopt(self, weights: Sequence[np.ndarray[Any, Any]]) -> None:
        """Copy the parameters to shared arrays and make them views of these."""
        self._shared = [
            torch.from_numpy(values).view(parameter.shape)
            for values, parameter in zip(weights, self.parameters, strict=True)
        ]
        for parameter, shared in zip(self.parameters, self._shared, strict=True):
            shared.copy_(parameter)
            if narrow(parameter) is None:
                parameter.data = shared

    @torch.no_grad()
    def publish(self) -> None:
        """Copy parameters of half precision to the shared arrays."""
        for parameter, shared in zip(self.parameters, self._shared, strict=False):
            if narrow(parameter) is not None:
                shared.copy_(parameter)

    @torch.no_grad()
    def release(self) -> None:
        """Move the parameters to memory of their own again."""
        for parameter in self.parameters:
            parameter.data = parameter.data.clone()
        self._shared = []

    def step(
        self,
        gradients: Sequence[Sequence[tuple[float, np.ndarray[Any, Any]]]],
        clip: Clip,
    ) -> None:
        """Update the parameters by torch's own rule."""
        with torch.no_grad():
            for parameter, parts in zip(self.parameters, gradients, strict=True):
                parameter.grad = _weighted_sum(parts, parameter)
        clip_gradients(self.parameters, clip)
        self.handle.step()
        self.handle.zero_grad(set_to_none=True)
        with torch.no_grad():
            for parameter, shared in zip(self.parameters, self._shared, strict=True):
                if parameter.data_ptr() != shared.data_ptr():
                    shared.copy_(parameter)
                    if narrow(parameter) is None:
                        parameter.data = shared

    def set_options(self, options: Sequence[Mapping[str, Any]]) -> None:
        """Change options of the groups."""
        for group, values in zip(self.handle.param_groups, options, strict=True):
            group.update(values)

    def make_schedule(self) -> _core.LearningRateSchedule | None:
        """Return a schedule of xshards.learn's optimizers; torch's are in replicas."""
        if isinstance(self.handle, RuleOptimizer):
            return self.handle.schedule
        return None

    def rate_options(self, rate: float) -> list[dict[str, Any]] | None:
        """Return options that set this learning rate; None if all groups have it."""
        if all(group["lr"] == rate for group in self.handle.param_groups):
            return None
        return [{"lr": rate} for _ in self.handle.param_groups]

    @property
    def learning_rate(self) -> float | None:
        """The rate of the first group, for summaries."""
        rate = self.handle.param_groups[0].get("lr")
        return None if rate is None else float(rate)

    def store_state(
        self, index: int, steps: int, values: Mapping[str, np.ndarray[Any, Any]]
    ) -> None:
        """Keep copies of what the server has for a parameter, as torch names it."""
        parameter = self.parameters[index]
        if steps == 0:
            self.handle.state.pop(parameter, None)
            return
        state: dict[str, Any] = {}
        if not isinstance(self.handle, torch.optim.SGD):
            state["step"] = torch.tensor(float(steps))
        for name in self._state_names(index, list(values)):
            state[name] = torch.from_numpy(values[name]).clone().view(parameter.shape)
        self.handle.state[parameter] = state

    def stored_state(
        self, index: int, names: Sequence[str]
    ) -> tuple[int, dict[str, np.ndarray[Any, Any]]]:
        """Return the steps and flat values for a parameter; (0, {}) if not all."""
        state = self.handle.state.get(self.parameters[index]) or {}
        names = self._state_names(index, names)
        if not state or any(state.get(name) is None for name in names):
            return 0, {}
        values = {name: state[name].detach().reshape(-1).numpy() for name in names}
        return int(state.get("step", 1)), values

    def state_dict(self) -> dict[str, Any]:
        """Return a copy of torch's state."""
        state: dict[str, Any] = copied(self.handle.state_dict())
        return state

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take over what `state_dict` returned."""
        load_optimizer(self.handle, state)

    def for_server(self) -> Any:
        """Return the parameter groups and defaults."""
        return self.handle.param_groups, self.handle.defaults

    def for_replica(self, num_replicas: int) -> Any:
        """Return all of the optimizer; refuses what replicas cannot run."""
        if isinstance(self.handle, RuleOptimizer):
            msg = (
                'backend="torch_distributed" runs optimizers of torch; those of '
                'xshards.learn.optimizers need backend="ps"'
            )
            raise XShardsValueError(msg)
        if num_replicas > 1 and self.evaluates_loss:
            refuse_closure(self)
        return take_apart(self.handle)

    def _state_names(self, index: int, names: Sequence[str]) -> Sequence[str]:
        options = self.handle.param_groups[self._groups[index]]
        if isinstance(self.handle, torch.optim.SGD) and not options["momentum"]:
            return []
        return names


def take_apart(optimizer: torch.optim.Optimizer) -> tuple[type, dict[str, Any]]:
    """Return all that an optimizer is made of; it pickles only what torch needs."""
    content = dict(optimizer.__dict__)
    content.pop("step", None)  # a scheduler's, if there is one
    return type(optimizer), content


def put_together(kind: type, content: dict[str, Any]) -> torch.optim.Optimizer:
    """Make the optimizer again that was taken apart."""
    made: torch.optim.Optimizer = object.__new__(kind)
    made.__setstate__(content)
    return made


def _weighted_sum(
    parts: Sequence[tuple[float, Any]], parameter: torch.nn.Parameter
) -> torch.Tensor | None:
    if not parts:
        return None
    kind = torch.float32 if narrow(parameter) else parameter.dtype
    result = torch.zeros(parameter.numel(), dtype=kind)
    for weight, gradient in parts:
        result.add_(torch.from_numpy(gradient), alpha=weight)
    return result.to(parameter.dtype).view(parameter.shape)
