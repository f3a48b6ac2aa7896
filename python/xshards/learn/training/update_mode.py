# SPDX-License-Identifier: Apache-2.0
"""Where gradients become weights: what the driver does in each of the two modes."""

# ruff: noqa: B027 - what is optional does nothing by default
from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from xshards import _core
    from xshards.learn.training.adapter import ModelAdapter
    from xshards.learn.training.commands import ModeSetUp, Train
    from xshards.learn.training.driver_optimizer import DriverOptimizer
    from xshards.learn.training.packing import Places
    from xshards.learn.training.replica_group import ReplicaGroup

__all__ = ["OptimizerOwner", "UpdateMode"]


class OptimizerOwner(ABC):
    """What the driver has for one optimizer while a job lives."""

    optimizer: DriverOptimizer
    #: Updates made so far.
    steps: int
    #: How the learning rate changes, where the driver changes it.
    schedule: _core.LearningRateSchedule | None = None

    @abstractmethod
    def replica_state(self, rank: int) -> bytes:
        """Return what a replica left with its last gradient or batch."""

    @abstractmethod
    def restore(self, steps: int, states: Sequence[bytes]) -> None:
        """Go on after a number of updates, with replicas where they were."""

    def set_clip(self) -> None:
        """Apply the current settings for clipping."""

    def observe(self, stats: dict[str, Any]) -> None:
        """Pass results of an epoch to the schedule, if it monitors one of them."""

    def save_optimizer_state(self) -> None:
        """Copy the state that training made to the optimizer."""

    def load_optimizer_state(self) -> None:
        """Take over the state that the optimizer has."""

    def abandon_step(self) -> None:
        """Drop gradients of a step that will not be made; replicas are gone."""

    def close(self) -> None:
        """Move the parameters to memory of their own, and end."""


class UpdateMode(ABC):
    """The driver's side of a mode; `Exchange` is the replica's.

    `ServerMode` updates in the parameter server, `ReplicaMode` in the replicas. A job
    has one, chosen when it is made, and delegates mode-specific steps to it.
    """

    def __init__(
        self,
        adapter: ModelAdapter,
        optimizers: Sequence[DriverOptimizer],
        num_replicas: int,
    ) -> None:
        self._adapter = adapter
        self._optimizers = list(optimizers)
        self._num_replicas = num_replicas
        #: One for each optimizer, once the job has begun.
        self.owners: list[Any] = []

    #: Why the death of a replica ends training; None if it is replaced.
    fatal_death: str | None = None
    #: Whether replicas go on after an error; else the next are made of what the driver
    #: has.
    keeps_replicas: bool = True

    @abstractmethod
    def begin(self, models: Sequence[Any]) -> None:
        """Make the owners."""

    @abstractmethod
    def set_up(self, rank: int) -> ModeSetUp:
        """Return what a replica needs to take part."""

    @abstractmethod
    def describe_optimizers(self) -> list[Any]:
        """Return what replicas make their optimizers of."""

    @property
    def places(self) -> Places:
        """Where replicas find parameters, which are not sent."""
        return {}

    @property
    def descriptors(self) -> list[int]:
        """What is sent with the set-up."""
        return []

    @abstractmethod
    def run_epoch(
        self,
        group: ReplicaGroup,
        command: Train,
        after_update: Callable[[], None] | None,
    ) -> list[Any]:
        """Have replicas train an epoch; returns their answers by rank."""

    def watches_batches(self, *, wanted: bool) -> bool:
        """Whether replicas report each batch; `wanted` if anything uses the reports."""
        return False

    def is_usable(self, group: ReplicaGroup) -> bool:
        """Whether replicas can take another command."""
        return True

    @abstractmethod
    def collect_state(self, models: Sequence[Any], group: ReplicaGroup | None) -> None:
        """Copy the state that training made to optimizers and models.

        `group` is given in the middle of an epoch.
        """

    def end_epoch(self, models: Sequence[Any], group: ReplicaGroup) -> None:
        """Copy the state after an epoch to optimizers and models, if they lack it."""

    def replicas_stopped(self) -> None:
        """Forget what belonged to replicas that are gone."""
        for owner in self.owners:
            owner.abandon_step()

    def close(self) -> None:
        """End the owners; models keep what they have learned."""
        for owner in self.owners:
            owner.close()
        self.owners = []
