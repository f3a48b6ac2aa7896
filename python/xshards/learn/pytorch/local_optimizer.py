# SPDX-License-Identifier: Apache-2.0
"""Replicas that run torch optimizers themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xshards.learn.pytorch.clipping import clip_gradients
from xshards.learn.pytorch.distributed import add_up, join_group, run_without_rows, wrap
from xshards.learn.pytorch.driver_optimizer import put_together
from xshards.learn.pytorch.parameters import as_numpy, trained
from xshards.learn.training.exchange import Exchange
from xshards.learn.training.replica_optimizer import ReplicaOptimizer
from xshards.learn.training.replica_turn import Position

if TYPE_CHECKING:
    import torch

    from xshards.learn.training.commands import Parts
    from xshards.learn.training.replica_mode import ReplicaSetUp
    from xshards.learn.training.replica_turn import Turn

__all__ = ["LocalExchange", "LocalOptimizer"]


class LocalExchange(Exchange):
    """Replicas run optimizers themselves, on gradients that torch averages."""

    stand_in = True

    def __init__(self, set_up: ReplicaSetUp, rank: int, num_replicas: int) -> None:
        self._set_up = set_up
        if set_up.port is not None:
            join_group(set_up.port, rank, num_replicas)
        self._given: list[torch.nn.Module] = []
        self._models: list[torch.nn.Module] = []
        self._optimizers: list[LocalOptimizer] = []

    def make_optimizers(self, parts: Parts, turn: Turn) -> list[LocalOptimizer]:
        """Take the optimizers that came with the models."""
        self._optimizers = [
            LocalOptimizer(put_together(*parts_of_one), steps)
            for parts_of_one, steps in zip(
                parts.optimizers, self._set_up.steps, strict=True
            )
        ]
        return self._optimizers

    def make_models(self, parts: Parts, turn: Turn) -> list[Any]:
        """Return the models that user code runs."""
        self._given = parts.models
        averaged = self._set_up.port is not None and self._optimizers
        self._models = (
            wrap(parts.models, parts.config, turn) if averaged else parts.models
        )
        if averaged:
            turn.share_weight = add_up
        self._turn = turn
        return self._models

    def positions(self) -> list[Position | None]:
        """Return what this replica reported before the last set-up."""
        return [Position.decode(state) for state in self._set_up.states]

    def step_without_rows(self, batch: Any) -> None:
        """Take part in a step to which this replica has no rows to give."""
        for optimizer in self._optimizers:
            optimizer.handle.zero_grad()
        run_without_rows(self._models, batch, self._turn)
        for optimizer in self._optimizers:
            optimizer.handle.step()

    def state(self) -> tuple[list[int], list[list[Any]], list[dict[str, Any]]]:
        """Return the updates made, the parameters and the optimizers' states."""
        return (
            [optimizer.num_steps for optimizer in self._optimizers],
            [[as_numpy(one) for one in model.parameters()] for model in self._given],
            [optimizer.state_dict() for optimizer in self._optimizers],
        )


class LocalOptimizer(ReplicaOptimizer):
    """A torch optimizer in a replica, with the interface of the training core."""

    def __init__(self, optimizer: torch.optim.Optimizer, num_steps: int) -> None:
        self._optimizer = optimizer
        self.num_steps = num_steps
        self.options_changed = True
        self._parameters = [one for _, one in trained(optimizer.param_groups)]
        self._given = [group.get("fused") for group in optimizer.param_groups]
        _fuse(optimizer)
        optimizer.register_step_pre_hook(self._before_step)
        optimizer.register_step_post_hook(self._after_step)

    @property
    def handle(self) -> torch.optim.Optimizer:
        """The optimizer that user code gets."""
        return self._optimizer

    def options(self) -> list[dict[str, Any]]:
        """Return what the groups have in addition to parameters."""
        return [
            self._as_given(group, fused)
            for group, fused in zip(
                self._optimizer.param_groups, self._given, strict=True
            )
        ]

    def set_options(self, options: list[dict[str, Any]]) -> None:
        """Take over options that were changed before."""
        for group, values in zip(self._optimizer.param_groups, options, strict=True):
            group.update({name: one for name, one in values.items() if name != "fused"})

    def state_dict(self) -> dict[str, Any]:
        """Return torch's state, with the options the user gave."""
        state = self._optimizer.state_dict()
        state["param_groups"] = [
            {**self._as_given(group, fused), "params": group["params"]}
            for group, fused in zip(state["param_groups"], self._given, strict=True)
        ]
        return state

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


def _fuse(optimizer: torch.optim.Optimizer) -> None:
    """Have one kernel make the step, where torch has one and nothing else is asked."""
    for group in optimizer.param_groups:
        unset = "fused" in group and group["fused"] is None and not group.get("foreach")
        floats = all(one.is_floating_point() for one in group["params"])
        if unset and floats and not group.get("differentiable"):
            group["fused"] = True
