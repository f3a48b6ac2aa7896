# SPDX-License-Identifier: Apache-2.0
"""Where a replica is in its training, and what it leaves with each gradient."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xshards.learn.training.meters import Meters
from xshards.learn.training.seeding import seed_everything

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np

    from xshards.learn.training.adapter import Buffers, ModelAdapter
    from xshards.learn.training.replica_optimizer import ReplicaOptimizer

__all__ = ["Position", "Turn"]


@dataclass
class Position:
    """What a replica that starts in place of another needs to go on."""

    #: Which set-up it belongs to: buffers of another are not taken over.
    generation: int
    #: Which epoch, counted from 0 over all fits, and how many of its batches are done.
    epoch: int
    batch: int
    meters: tuple[Any, ...]
    schedulers: list[dict[str, Any]]
    #: Of each optimizer's groups, where they are not those of the set-up.
    options: list[list[dict[str, Any]]]
    buffers: list[np.ndarray[Any, Any]]

    def encode(self) -> bytes:
        """Encode it as bytes, to be read by processes of this job alone."""
        return pickle.dumps(tuple(self.__dict__.values()), protocol=5)

    @classmethod
    def decode(cls, content: bytes) -> Position | None:
        """Read what `encode` gave; None of nothing."""
        return cls(*pickle.loads(content)) if content else None


class Turn:
    """One replica's epoch: what its batches, optimizers and operator share."""

    def __init__(
        self,
        adapter: ModelAdapter,
        *,
        rank: int,
        num_replicas: int,
        seed: int,
        generation: int,
    ) -> None:
        self.adapter = adapter
        self.rank = rank
        self.num_replicas = num_replicas
        self.seed = seed
        self.generation = generation
        self.optimizers: Sequence[ReplicaOptimizer] = []
        self.schedulers: Sequence[Any] = []
        self.buffers: Buffers = adapter.buffers([])
        self.epoch = 0
        self.batch = 0  # the number of the one that is computed, from 1
        self.rows = 0  # of it, here
        self.step_rows = 0  # of it, over all replicas
        self.meters = Meters()
        self.pending: Mapping[str, Any] | None = None
        self.training = False
        #: Called once for each batch that is done; None if nothing uses the reports.
        self.report: Callable[[], None] | None = None
        self._reported = 0

    def begin_batch(self, number: int, rows: int, step_rows: int) -> None:
        """Note that a batch is computed now, and seed what it may draw from."""
        self.batch, self.rows, self.step_rows = number, rows, step_rows
        seed_everything(self.adapter, self.seed, self.rank, self.epoch, number)
        self.meters.count(rows)
        if self.training:
            for optimizer in self.optimizers:
                optimizer.rows += rows

    def end_batch(self, values: Mapping[str, Any]) -> None:
        """Note what it returned."""
        self.meters.add(values, self.rows)
        self.pending = None
        self.settle()

    def settle(self) -> None:
        """Report the batch, if it has not been."""
        if self.report is not None and self._reported != self.batch:
            self._reported = self.batch
            self.report()

    def position(self) -> bytes:
        """Say where this replica is once the current gradient has been taken."""
        meters = self.meters
        if self.pending is not None:
            # If this replica dies in the step, its successor has these from here.
            meters = Meters.from_state(meters.state())
            meters.add(self.pending, self.rows)
        changed = any(optimizer.options_changed for optimizer in self.optimizers)
        return Position(
            self.generation,
            self.epoch,
            self.batch,
            meters.state(),
            [scheduler.state_dict() for scheduler in self.schedulers],
            [optimizer.options() for optimizer in self.optimizers] if changed else [],
            self.buffers.read(),
        ).encode()
