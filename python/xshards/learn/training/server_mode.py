# SPDX-License-Identifier: Apache-2.0
"""Updates in the parameter server: the driver runs one for each optimizer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xshards import _core
from xshards.errors import XShardsValueError
from xshards.learn.training.board import Board
from xshards.learn.training.commands import ModeSetUp
from xshards.learn.training.driver_optimizer import refuse_closure
from xshards.learn.training.exchange import ServerExchange
from xshards.learn.training.update_mode import OptimizerOwner, UpdateMode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from xshards.context import Context
    from xshards.learn.training.adapter import ModelAdapter
    from xshards.learn.training.clip import Clip
    from xshards.learn.training.commands import Train
    from xshards.learn.training.driver_optimizer import DriverOptimizer
    from xshards.learn.training.packing import Places
    from xshards.learn.training.replica_group import ReplicaGroup

__all__ = ["OptimizerServer", "ServerMode", "ServerSetUp"]

# Where the framework runs the optimizer the server's own rule is never applied.
_UNUSED_RULE = ("sgd", {"learning_rate": 0.0})
# Room for what a replica leaves with each gradient, in addition to the model's buffers.
_STATE_BYTES = 1 << 16
_BYTES_A_BUFFER = 512


@dataclass(frozen=True)
class ServerSetUp(ModeSetUp):
    """Push gradients to parameter servers.

    Descriptors travel beside it: for each optimizer, of the server's region and of the
    board.
    """

    #: Of each optimizer's trained parameters.
    shapes: list[list[tuple[int, ...]]]
    #: Of the same: types that replicas compute in, where they are narrower.
    kinds: list[list[str | None]]

    def connect(
        self,
        adapter: ModelAdapter,
        rank: int,
        num_replicas: int,
        descriptors: list[int],
    ) -> ServerExchange:
        """Attach to the servers."""
        return ServerExchange(adapter, rank, self.shapes, self.kinds, descriptors)


class ServerMode(UpdateMode):
    """The parameter server updates; a replica that dies is replaced."""

    owners: list[OptimizerServer]

    def __init__(
        self,
        adapter: ModelAdapter,
        optimizers: Sequence[DriverOptimizer],
        num_replicas: int,
        *,
        clip: Clip,
        context: Context,
    ) -> None:
        super().__init__(adapter, optimizers, num_replicas)
        self._clip = clip
        self._context = context

    def begin(self, models: Sequence[Any]) -> None:
        """Make the parameter servers."""
        buffers = self._adapter.buffers(models).read()
        state_bytes = _STATE_BYTES + sum(
            buffer.nbytes + _BYTES_A_BUFFER for buffer in buffers
        )
        self.owners = [
            OptimizerServer(
                optimizer,
                models,
                num_replicas=self._num_replicas,
                state_bytes=state_bytes,
                clip=self._clip,
                context=self._context,
            )
            for optimizer in self._optimizers
        ]

    def set_up(self, rank: int) -> ServerSetUp:
        """Return the shapes of what is in the servers' regions."""
        return ServerSetUp(
            [owner.optimizer.shapes for owner in self.owners],
            [owner.optimizer.kinds for owner in self.owners],
        )

    def describe_optimizers(self) -> list[Any]:
        """Return what is left of optimizers without state and update rule."""
        return [optimizer.for_server() for optimizer in self._optimizers]

    @property
    def places(self) -> Places:
        """Where replicas find parameters: in the servers' regions."""
        return {
            id(parameter): (number, index)
            for number, owner in enumerate(self.owners)
            for index, parameter in enumerate(owner.optimizer.parameters)
        }

    @property
    def descriptors(self) -> list[int]:
        """The region and the board of each server."""
        return [
            descriptor
            for owner in self.owners
            for descriptor in (owner.server.fd, owner.board.descriptor)
        ]

    def run_epoch(
        self,
        group: ReplicaGroup,
        command: Train,
        after_update: Callable[[], None] | None,
    ) -> list[Any]:
        """Train, making an update whenever all replicas have pushed."""
        return group.run(command, self.owners, after_update)

    def collect_state(self, models: Sequence[Any], group: ReplicaGroup | None) -> None:
        """Take the optimizers' state out of the servers; models have theirs."""
        for owner in self.owners:
            owner.save_optimizer_state()


class OptimizerServer(OptimizerOwner):
    """Keeps the weights of one optimizer's parameters and updates them.

    While it lives, the driver's parameters are views of the shared weights.
    """

    def __init__(
        self,
        optimizer: DriverOptimizer,
        models: Sequence[Any],
        *,
        num_replicas: int,
        state_bytes: int,
        clip: Clip,
        context: Context,
    ) -> None:
        self.optimizer = optimizer
        self._clip = clip
        self._num_replicas = num_replicas
        self._rules = optimizer.rules()
        #: Whether the server itself has the update rule.
        self.native = self._rules is not None
        if optimizer.evaluates_loss:
            refuse_closure(optimizer)
        specs = optimizer.specs(models)
        self._groups = [group for _, _, _, group in specs]
        self.server = _core.ParameterServer.make(
            specs,
            self._rules or [_UNUSED_RULE] * optimizer.num_groups,
            num_replicas=num_replicas,
            clip_constant=clip.constant,
            clip_norm=clip.norm,
            replica_state_bytes=state_bytes,
            context=context._core,
        )
        #: What each state begins with, which a rule decides.
        self._initial = {
            (number, index): self.server.state(number, index)[:1].copy()
            for index in range(len(specs))
            for number in range(len(self._state_names(index)))
        }
        self.board = Board()
        self._seen = self.board.version
        self.schedule = optimizer.make_schedule()
        optimizer.adopt([self.server.weights(index) for index in range(len(specs))])
        self.load_optimizer_state()

    @property
    def steps(self) -> int:  # type: ignore[override]
        """Updates made so far."""
        return self.server.steps

    def replica_state(self, rank: int) -> bytes:
        """Return what a replica left with its last gradient."""
        return self.server.replica_state(rank)

    def restore(self, steps: int, states: Sequence[bytes]) -> None:
        """Go on after a number of updates, with replicas where they were."""
        self.server.restore(steps, list(states))

    def set_clip(self) -> None:
        """Apply the current settings for clipping."""
        if self.native:
            self.server.set_clip(constant=self._clip.constant, norm=self._clip.norm)

    def update(self, seconds: float, *, patience: float | None = None) -> str:
        """Wait for the gradients of all replicas and make one update of them.

        With `patience`, make as many as come within the seconds, unless there are none
        for that long.
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
        self.optimizer.step(self._gradients(), self._clip)
        self.server.release()
        return "updated"

    def set_options(self, options: list[dict[str, Any]]) -> None:
        """Change options of the groups from the next update on."""
        self.optimizer.set_options(options)
        if not self.native:
            return
        rules = self.optimizer.rules()
        if rules is None:
            msg = f"the optimizer cannot go on with these options: {options}"
            raise XShardsValueError(msg)
        if rules != self._rules:
            self._rules = rules
            for number, rule in enumerate(rules):
                self.server.set_rule(number, rule)

    def observe(self, stats: dict[str, Any]) -> None:
        """Pass results of an epoch to the schedule, if it monitors one of them."""
        schedule, name = self.schedule, self.optimizer.monitor
        if schedule is None or name is None:
            return
        named = {"Loss": "train_loss", "score": "val_loss"}.get(name, name)
        found = [stats[key] for key in (named, f"val_{named}") if key in stats]
        if not found:
            msg = (
                f"the learning-rate schedule monitors {name!r}, which is not among the "
                f"results of the epoch: {', '.join(stats)}"
            )
            raise XShardsValueError(msg)
        schedule.observe(float(found[0]), self.optimizer.base_rate, self.server.steps)

    def save_optimizer_state(self) -> None:
        """Copy the state that the server keeps to the optimizer."""
        if not self.native:
            return
        counts = self.server.step_counts
        for index in range(len(self._groups)):
            values = {
                name: self.server.state(number, index)
                for number, name in enumerate(self._state_names(index))
            }
            self.optimizer.store_state(index, int(counts[index]), values)

    def load_optimizer_state(self) -> None:
        """Take over the state that the optimizer has."""
        self.set_options([{} for _ in range(self.optimizer.num_groups)])
        if not self.native:
            return
        counts = self.server.step_counts
        for index in range(len(self._groups)):
            names = self._state_names(index)
            counts[index], stored = self.optimizer.stored_state(index, names)
            for number, name in enumerate(names):
                values = self.server.state(number, index)
                values[:] = stored.get(name, self._initial[number, index])

    def abandon_step(self) -> None:
        """Drop gradients of a step that will not be made; replicas are gone."""
        # One that has all its gradients is made: deaths are only looked for after it.
        while self.update(0) in ("updated", "replica_died", "called"):
            pass
        states = [
            self.server.replica_state(replica) for replica in range(self._num_replicas)
        ]
        self.server.restore(self.server.steps, states)

    def close(self) -> None:
        """Move the parameters to memory of their own, and end the server."""
        self.save_optimizer_state()
        self.server.stop()
        self.optimizer.release()
        self.board.close()

    def _follow(self, schedule: _core.LearningRateSchedule) -> None:
        rate = schedule.rate_at(self.optimizer.base_rate, self.server.steps)
        options = self.optimizer.rate_options(rate)
        if options is not None:
            self.set_options(options)

    def _state_names(self, index: int) -> list[str]:
        return list(self.server.state_names(self._groups[index]))

    def _gradients(self) -> list[list[tuple[float, Any]]]:
        """Return the weight and gradient of each replica, for each parameter."""
        replicas = range(self._num_replicas)
        rows = [self.server.rows(replica) for replica in replicas]
        presence = [self.server.presence(replica) for replica in replicas]
        total = sum(rows)
        return [
            [
                (rows[replica] / total, self.server.gradient(replica, index))
                for replica in replicas
                if rows[replica] and presence[replica][index]
            ]
            for index in range(len(self._groups))
        ]
