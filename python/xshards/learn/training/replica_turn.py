# SPDX-License-Identifier: Apache-2.0
"""Where a replica is in its training, and what it leaves with each gradient."""

from __future__ import annotations

import pickle
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from xshards.learn.training.meters import Meters

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from xshards.learn.pytorch.local_optimizer import LocalOptimizer
    from xshards.learn.pytorch.server_optimizer import ServerOptimizer

__all__ = ["Position", "Turn", "seed_everything"]

_MASK = (1 << 64) - 1


def seed_everything(*numbers: int) -> None:
    """Seed torch, numpy and random for one batch of one replica.

    So a batch draws the same numbers whenever it is computed: by a replica that
    replaces another, or by a job that goes on from a checkpoint.
    """
    mixed = 0
    for number in numbers:  # splitmix64
        mixed = (mixed + number + 0x9E3779B97F4A7C15) & _MASK
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
        mixed ^= mixed >> 31
    torch.default_generator.manual_seed(mixed >> 1)
    np.random.seed(mixed & 0xFFFFFFFF)  # noqa: NPY002 - models may use the global one
    random.seed(mixed)


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
        """Give it as bytes, to be read by processes of this job alone."""
        return pickle.dumps(tuple(self.__dict__.values()), protocol=5)

    @classmethod
    def decode(cls, content: bytes) -> Position | None:
        """Read what `encode` gave; None of nothing."""
        return cls(*pickle.loads(content)) if content else None


class Turn:
    """One replica's epoch: what its batches, optimizers and operator share."""

    def __init__(
        self, *, rank: int, num_replicas: int, seed: int, generation: int
    ) -> None:
        self.rank = rank
        self.num_replicas = num_replicas
        self.seed = seed
        self.generation = generation
        self.optimizers: Sequence[ServerOptimizer | LocalOptimizer] = []
        self.schedulers: Sequence[Any] = []
        self.buffers: Sequence[torch.Tensor] = []
        self.epoch = 0
        self.batch = 0  # the number of the one that is computed, from 1
        self.rows = 0  # of it, here
        self.step_rows = 0  # of it, over all replicas
        self.meters = Meters()
        self.pending: Mapping[str, Any] | None = None
        self.training = False
        #: Called once with each batch that is done, if somebody wants to know.
        self.report: Callable[[], None] | None = None
        self._reported = 0

    def begin_batch(self, number: int, rows: int, step_rows: int) -> None:
        """Note that a batch is computed now, and seed what it may draw from."""
        self.batch, self.rows, self.step_rows = number, rows, step_rows
        seed_everything(self.seed, self.rank, self.epoch, number)
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
            # The batch will return these, but perhaps to nobody.
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
            [buffer.numpy() for buffer in self.buffers],
        ).encode()
