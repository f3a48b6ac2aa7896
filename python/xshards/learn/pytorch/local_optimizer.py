# SPDX-License-Identifier: Apache-2.0
"""An optimizer that each replica runs itself, and the driver's picture of it."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from xshards.errors import XShardsValueError
from xshards.learn.pytorch.parameters import trained
from xshards.learn.pytorch.rule_optimizer import RuleOptimizer
from xshards.learn.training.clip import Clip, clip_gradients

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch

__all__ = [
    "LocalOptimizer",
    "OptimizerMirror",
    "check_local",
    "needs_closure",
    "put_together",
    "take_apart",
]


def needs_closure(optimizer: torch.optim.Optimizer) -> bool:
    """Tell an optimizer that evaluates the loss itself, several times a step."""
    closure = inspect.signature(type(optimizer).step).parameters.get("closure")
    return closure is not None and closure.default is closure.empty


def check_local(optimizers: Sequence[torch.optim.Optimizer], num_replicas: int) -> None:
    """Refuse what replicas cannot run themselves."""
    for optimizer in optimizers:
        if isinstance(optimizer, RuleOptimizer):
            msg = (
                'backend="torch_distributed" runs optimizers of torch; those of '
                'xshards.learn.optimizers need backend="ps"'
            )
            raise XShardsValueError(msg)
        if num_replicas > 1 and needs_closure(optimizer):
            refuse_closure(optimizer)


def refuse_closure(optimizer: torch.optim.Optimizer) -> None:
    """Say why an optimizer cannot serve several replicas."""
    msg = (
        f"{type(optimizer).__name__} evaluates the loss several times a step, which "
        "replicas cannot do together; use workers=1 or another optimizer"
    )
    raise XShardsValueError(msg)


def take_apart(optimizer: torch.optim.Optimizer) -> tuple[type, dict[str, Any]]:
    """Give all that an optimizer is made of; it pickles only what torch needs of it."""
    content = dict(optimizer.__dict__)
    content.pop("step", None)  # a scheduler's, if there is one
    return type(optimizer), content


def put_together(kind: type, content: dict[str, Any]) -> torch.optim.Optimizer:
    """Make the optimizer again that was taken apart."""
    made: torch.optim.Optimizer = object.__new__(kind)
    made.__setstate__(content)
    return made


class LocalOptimizer:
    """A torch optimizer in a replica, with what training wants to know of it."""

    def __init__(self, optimizer: torch.optim.Optimizer, num_steps: int) -> None:
        self.as_torch = optimizer
        self.num_steps = num_steps
        self.rows = 0
        self.pushed_through = -1
        self.options_changed = True
        self.clip = Clip()
        self._parameters = [one for _, one in trained(optimizer.param_groups)]
        self._given = [group.get("fused") for group in optimizer.param_groups]
        _fuse(optimizer)
        optimizer.register_step_pre_hook(self._before_step)
        optimizer.register_step_post_hook(self._after_step)

    def options(self) -> list[dict[str, Any]]:
        """Give what the groups have besides parameters."""
        return [
            self._as_given(group, fused)
            for group, fused in zip(
                self.as_torch.param_groups, self._given, strict=True
            )
        ]

    def set_options(self, options: list[dict[str, Any]]) -> None:
        """Take over options that were changed before."""
        for group, values in zip(self.as_torch.param_groups, options, strict=True):
            group.update({name: one for name, one in values.items() if name != "fused"})

    def state_dict(self) -> dict[str, Any]:
        """Give torch's state, with the options the user gave."""
        state = self.as_torch.state_dict()
        state["param_groups"] = [
            {**self._as_given(group, fused), "params": group["params"]}
            for group, fused in zip(state["param_groups"], self._given, strict=True)
        ]
        return state

    def check_frozen(self) -> None:
        """Take any parameter: the optimizer has it."""

    def catch_up(self) -> None:
        """Do nothing: there is nobody to wait for."""

    def _before_step(self, *_: object) -> None:
        clip_gradients(self._parameters, self.clip)

    def _after_step(self, *_: object) -> None:
        self.num_steps += 1
        self.rows = 0

    def _as_given(self, group: dict[str, Any], fused: Any) -> dict[str, Any]:
        options = {name: value for name, value in group.items() if name != "params"}
        if "fused" in options:
            options["fused"] = fused
        return options


class OptimizerMirror:
    """The driver's copy of an optimizer, as of the last time a replica was asked."""

    schedule = None

    def __init__(self, optimizer: torch.optim.Optimizer, num_replicas: int) -> None:
        self.optimizer = optimizer
        self.parameters = [one for _, one in trained(optimizer.param_groups)]
        self.steps = 0
        self._states = [b""] * num_replicas

    def replica_state(self, rank: int) -> bytes:
        """Give what a replica reported with its last batch."""
        return self._states[rank]

    def report(self, steps: int, states: Sequence[bytes]) -> None:
        """Note where the replicas are."""
        self.steps, self._states = steps, list(states)

    restore = report

    def set_clip(self) -> None:
        """Do nothing: replicas are told with each epoch."""

    def observe(self, stats: dict[str, Any]) -> None:
        """Do nothing: torch's schedulers are in replicas."""

    def save_optimizer_state(self) -> None:
        """Do nothing: the job asks a replica for it."""

    def load_optimizer_state(self) -> None:
        """Do nothing: replicas are made of the optimizer as it is."""

    def abandon_step(self) -> None:
        """Do nothing: a step is made in all replicas or in none that counts."""

    def close(self) -> None:
        """Do nothing: the parameters are the driver's own."""


def _fuse(optimizer: torch.optim.Optimizer) -> None:
    """Have one kernel make the step, where torch has one and nothing else is asked."""
    for group in optimizer.param_groups:
        unset = "fused" in group and group["fused"] is None and not group.get("foreach")
        floats = all(one.is_floating_point() for one in group["params"])
        if unset and floats and not group.get("differentiable"):
            group["fused"] = True
