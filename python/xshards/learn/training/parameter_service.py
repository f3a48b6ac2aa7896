# SPDX-License-Identifier: Apache-2.0
"""The driver's end of training: one parameter server for each optimizer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from xshards import _core
from xshards.errors import XShardsValueError
from xshards.learn.pytorch.local_optimizer import needs_closure, refuse_closure
from xshards.learn.pytorch.optimizer_rules import native_rules
from xshards.learn.pytorch.parameters import specs_of, trained
from xshards.learn.pytorch.rule_optimizer import RuleOptimizer
from xshards.learn.training.board import Board
from xshards.learn.training.clip import Clip, clip_gradients

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xshards.context import Context

__all__ = ["OptimizerServer"]

# Where torch runs the optimizer the server's own rule is never applied.
_UNUSED_RULE = ("sgd", {"learning_rate": 0.0})


class OptimizerServer:
    """Keeps the weights of one optimizer's parameters and updates them.

    While it lives, the driver's parameters are views of the shared weights.
    """

    def __init__(
        self,
        optimizer: torch.optim.Optimizer,
        models: Sequence[torch.nn.Module],
        *,
        num_replicas: int,
        state_bytes: int,
        clip: Clip,
        context: Context,
    ) -> None:
        self.optimizer = optimizer
        self.parameters = [
            parameter for _, parameter in trained(optimizer.param_groups)
        ]
        self._groups = [group for group, _ in trained(optimizer.param_groups)]
        self._clip = clip
        self._num_replicas = num_replicas
        rules = _rules_of(optimizer)
        self.native = rules is not None
        if needs_closure(optimizer):
            refuse_closure(optimizer)
        self.server = _core.ParameterServer.make(
            specs_of(optimizer, models),
            rules or [_UNUSED_RULE] * len(optimizer.param_groups),
            num_replicas=num_replicas,
            clip_constant=clip.constant,
            clip_norm=clip.norm,
            replica_state_bytes=state_bytes,
            context=context._core,
        )
        self._rules = rules
        self.board = Board()
        self._seen = self.board.version
        #: Of an optimizer of this package; torch's schedulers are in replicas.
        self.schedule = (
            optimizer.schedule if isinstance(optimizer, RuleOptimizer) else None
        )
        self._adopt()
        self.load_optimizer_state()

    @property
    def steps(self) -> int:
        """Updates made so far."""
        return self.server.steps

    def replica_state(self, rank: int) -> bytes:
        """Give what a replica left with its last gradient."""
        return self.server.replica_state(rank)

    def restore(self, steps: int, states: Sequence[bytes]) -> None:
        """Go on after so many updates, with replicas where they were."""
        self.server.restore(steps, list(states))

    def set_clip(self) -> None:
        """Clip as was asked for since."""
        if self.native:
            self.server.set_clip(constant=self._clip.constant, norm=self._clip.norm)

    def update(self, seconds: float, *, patience: float | None = None) -> str:
        """Wait for the gradients of all replicas and make one update of them.

        With `patience`, make as many as come within the seconds, unless there are none
        for so long.
        """
        if patience is not None and self.native and self.schedule is None:
            word, seen = self.board.version_word, self._seen
            report = self.server.step_while(word, seen, seconds, patience)
        else:
            report = self.server.wait_for_gradients(seconds)
        if report.outcome != "ready":
            return report.outcome
        if self.board.version != self._seen:
            self._seen = self.board.version
            self.set_options(self.board.read())
        if self.schedule is not None:
            self._follow(self.schedule)
        if self.native:
            return self.server.step(0).outcome
        self._run_optimizer()
        self.server.release()
        return "updated"

    def set_options(self, options: list[dict[str, Any]]) -> None:
        """Change options of the groups from the next update on."""
        for group, values in zip(self.optimizer.param_groups, options, strict=True):
            group.update(values)
        if not self.native:
            return
        rules = _rules_of(self.optimizer)
        if rules is None:
            msg = f"the optimizer cannot go on with these options: {options}"
            raise XShardsValueError(msg)
        if rules != self._rules:
            self._rules = rules
            for number, rule in enumerate(rules):
                self.server.set_rule(number, rule)

    def observe(self, stats: dict[str, Any]) -> None:
        """Tell the schedule the results of an epoch, if it waits for one of them."""
        optimizer = self.optimizer
        if self.schedule is None or not isinstance(optimizer, RuleOptimizer):
            return
        name = optimizer.chosen.monitor
        if name is None:
            return
        named = {"Loss": "train_loss", "score": "val_loss"}.get(name, name)
        found = [stats[key] for key in (named, f"val_{named}") if key in stats]
        if not found:
            msg = (
                f"the learning-rate schedule monitors {name!r}, which is not among the "
                f"results of the epoch: {', '.join(stats)}"
            )
            raise XShardsValueError(msg)
        self.schedule.observe(float(found[0]), optimizer.base_rate, self.server.steps)

    def save_optimizer_state(self) -> None:
        """Give the torch optimizer the state that the server keeps."""
        if not self.native:
            return
        counts = self.server.step_counts
        for index, parameter in enumerate(self.parameters):
            if counts[index] == 0:
                self.optimizer.state.pop(parameter, None)
                continue
            names = self._state_names(self._groups[index])
            state: dict[str, Any] = {}
            if self._counts_steps:
                state["step"] = torch.tensor(float(counts[index]))
            for number, name in names:
                values = torch.from_numpy(self.server.state(number, index))
                state[name] = values.clone().view(parameter.shape)
            self.optimizer.state[parameter] = state

    def load_optimizer_state(self) -> None:
        """Take over the state that the torch optimizer has."""
        self.set_options([{} for _ in self.optimizer.param_groups])
        if not self.native:
            return
        counts = self.server.step_counts
        for index, parameter in enumerate(self.parameters):
            state = self.optimizer.state.get(parameter) or {}
            names = self._state_names(self._groups[index])
            known = all(state.get(name) is not None for _, name in names)
            counts[index] = int(state.get("step", 1)) if state and known else 0
            for number, name in names:
                values = torch.from_numpy(self.server.state(number, index))
                values.copy_(
                    state[name].detach().reshape(-1)
                ) if known else values.zero_()

    def abandon_step(self) -> None:
        """Forget gradients of a step that will not be made; replicas are gone."""
        # One that has all its gradients is made: deaths are only looked for after it.
        while self.update(0) in ("updated", "replica_died", "called"):
            pass
        states = [
            self.server.replica_state(replica) for replica in range(self._num_replicas)
        ]
        self.server.restore(self.server.steps, states)

    def close(self) -> None:
        """Give the parameters memory of their own, and end the server."""
        self.save_optimizer_state()
        self.server.stop()
        with torch.no_grad():
            for parameter in self.parameters:
                parameter.data = parameter.data.clone()
        self.board.close()

    @property
    def _counts_steps(self) -> bool:
        return not isinstance(self.optimizer, torch.optim.SGD)

    def _follow(self, schedule: _core.LearningRateSchedule) -> None:
        assert isinstance(self.optimizer, RuleOptimizer)
        rate = schedule.rate_at(self.optimizer.base_rate, self.server.steps)
        if any(group["lr"] != rate for group in self.optimizer.param_groups):
            self.set_options([{"lr": rate} for _ in self.optimizer.param_groups])

    def _state_names(self, group: int) -> list[tuple[int, str]]:
        options = self.optimizer.param_groups[group]
        if isinstance(self.optimizer, torch.optim.SGD) and not options["momentum"]:
            return []
        return list(enumerate(self.server.state_names(group)))

    def _adopt(self) -> None:
        with torch.no_grad():
            for index, parameter in enumerate(self.parameters):
                shared = torch.from_numpy(self.server.weights(index))
                shared = shared.view(parameter.shape)
                shared.copy_(parameter)
                parameter.data = shared
        self._addresses = [parameter.data_ptr() for parameter in self.parameters]

    def _run_optimizer(self) -> None:
        rows = [self.server.rows(replica) for replica in range(self._num_replicas)]
        presence = [self.server.presence(r) for r in range(self._num_replicas)]
        total = sum(rows)
        with torch.no_grad():
            for index, parameter in enumerate(self.parameters):
                parts = [
                    (rows[replica] / total, self.server.gradient(replica, index))
                    for replica in range(self._num_replicas)
                    if rows[replica] and presence[replica][index]
                ]
                parameter.grad = _weighted_sum(parts, parameter)
        clip_gradients(self.parameters, self._clip)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        with torch.no_grad():
            for index, parameter in enumerate(self.parameters):
                if parameter.data_ptr() != self._addresses[index]:
                    shared = torch.from_numpy(self.server.weights(index))
                    shared = shared.view(parameter.shape)
                    shared.copy_(parameter)
                    parameter.data = shared


def _rules_of(
    optimizer: torch.optim.Optimizer,
) -> list[tuple[str, dict[str, float]]] | None:
    if isinstance(optimizer, RuleOptimizer):
        return optimizer.rules()
    return native_rules(optimizer)


def _weighted_sum(
    parts: list[tuple[float, Any]], parameter: torch.nn.Parameter
) -> torch.Tensor | None:
    if not parts:
        return None
    result = torch.zeros(parameter.numel(), dtype=parameter.dtype)
    for weight, gradient in parts:
        result.add_(torch.from_numpy(gradient), alpha=weight)
    return result.view(parameter.shape)
