# SPDX-License-Identifier: Apache-2.0
"""Updates in the replicas: each runs the optimizers, on gradients they average."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xshards.learn.training.commands import ModeSetUp, SendState
from xshards.learn.training.update_mode import OptimizerOwner, UpdateMode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from xshards.learn.training.adapter import ModelAdapter
    from xshards.learn.training.commands import Train
    from xshards.learn.training.driver_optimizer import DriverOptimizer
    from xshards.learn.training.exchange import Exchange
    from xshards.learn.training.replica_group import ReplicaGroup

__all__ = ["OptimizerMirror", "ReplicaMode", "ReplicaSetUp"]


@dataclass(frozen=True)
class ReplicaSetUp(ModeSetUp):
    """Run the optimizers in the replicas themselves."""

    #: Where replicas find each other to average gradients; None if there is one.
    port: int | None
    #: Updates that each optimizer has made.
    steps: list[int]
    #: What the replica reported last, for each optimizer.
    states: list[bytes]

    def connect(
        self,
        adapter: ModelAdapter,
        rank: int,
        num_replicas: int,
        descriptors: list[int],
    ) -> Exchange:
        """Join the others."""
        return adapter.local_exchange(self, rank, num_replicas)


class OptimizerMirror(OptimizerOwner):
    """The driver's copy of an optimizer, as of the last time a replica was asked."""

    def __init__(self, optimizer: DriverOptimizer, num_replicas: int) -> None:
        self.optimizer = optimizer
        self.steps = 0
        self._states = [b""] * num_replicas

    def replica_state(self, rank: int) -> bytes:
        """Return what a replica reported with its last batch."""
        return self._states[rank]

    def restore(self, steps: int, states: Sequence[bytes]) -> None:
        """Note where the replicas are."""
        self.steps, self._states = steps, list(states)


class ReplicaMode(UpdateMode):
    """Replicas update; the driver has their weights when it asks for them."""

    owners: list[OptimizerMirror]
    keeps_replicas = False

    def __init__(
        self,
        adapter: ModelAdapter,
        optimizers: Sequence[DriverOptimizer],
        num_replicas: int,
    ) -> None:
        super().__init__(adapter, optimizers, num_replicas)
        self._meeting: Any = None
        self.fatal_death = (
            f"{adapter.group_name} cannot go on without it: the model is as it was at "
            'the end of the last epoch; backend="ps" replaces replicas that die'
        )

    def begin(self, models: Sequence[Any]) -> None:
        """Make mirrors; refuses what replicas cannot run themselves."""
        for optimizer in self._optimizers:
            optimizer.for_replica(self._num_replicas)
        self.owners = [
            OptimizerMirror(optimizer, self._num_replicas)
            for optimizer in self._optimizers
        ]

    def set_up(self, rank: int) -> ReplicaSetUp:
        """Return where replicas meet, and where this one was."""
        if self._num_replicas > 1 and self._meeting is None:
            self._meeting = self._adapter.open_group()
        return ReplicaSetUp(
            None if self._meeting is None else self._meeting.port,
            [mirror.steps for mirror in self.owners],
            [mirror.replica_state(rank) for mirror in self.owners],
        )

    def describe_optimizers(self) -> list[Any]:
        """Return the optimizers, whole."""
        return [one.for_replica(self._num_replicas) for one in self._optimizers]

    def run_epoch(
        self,
        group: ReplicaGroup,
        command: Train,
        after_update: Callable[[], None] | None,
    ) -> list[Any]:
        """Train, noting what replicas report of each batch."""

        def on_batch(reports: list[Any]) -> None:
            steps = reports[0][1]
            states = [position for position, _ in reports]
            for mirror, count in zip(self.owners, steps, strict=True):
                mirror.restore(count, states)
            if after_update is not None:
                after_update()

        group.on_batch = on_batch
        return group.run(command)

    def watches_batches(self, *, wanted: bool) -> bool:
        """Whether replicas report each batch; `wanted` if anything uses the reports."""
        return wanted

    def is_usable(self, group: ReplicaGroup) -> bool:
        """Whether all replicas are alive: none can be replaced."""
        return not group.has_dead

    def collect_state(self, models: Sequence[Any], group: ReplicaGroup | None) -> None:
        """Ask a replica, in the middle of an epoch; else the driver has it all."""
        if group is not None:
            self.end_epoch(models, group)

    def end_epoch(self, models: Sequence[Any], group: ReplicaGroup) -> None:
        """Ask replica 0 for parameters and optimizer state."""
        steps, parameters, states = group.ask_first(SendState())
        for model, values in zip(models, parameters, strict=True):
            self._adapter.load_parameters(model, values)
        for mirror, count, state in zip(self.owners, steps, states, strict=True):
            mirror.steps = count
            mirror.optimizer.load_state_dict(state)

    def replicas_stopped(self) -> None:
        """Let the next replicas make a new group."""
        super().replicas_stopped()
        self._meeting = None
