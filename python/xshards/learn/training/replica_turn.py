# SPDX-License-Identifier: Apache-2.0
"""Where a replica is in its training, and what it leaves with each gradient."""

from __future__ import annotations

import io
import pickle
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from xshards.learn.row_weights import class_weights
from xshards.learn.training.meters import Meters
from xshards.learn.training.seeding import seed_everything, seed_framework

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from xshards.learn.training.adapter import Buffers, ModelAdapter
    from xshards.learn.training.replica_optimizer import ReplicaOptimizer

__all__ = ["Position", "Turn", "WindowNote"]


@dataclass(frozen=True)
class WindowNote:
    """How to read what the steps of a `_core.StepWindow` left after a position."""

    #: Of each step.
    rows: list[int]
    #: How many values a step left, and which of them is the loss; -1 if none is.
    num_values: int
    loss: int
    #: The type and the bytes of each buffer.
    buffers: list[tuple[str, int]]


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

    def encode(self, window: WindowNote | None = None) -> bytes:
        """Encode it as bytes, to be read by processes of this job alone.

        With `window`, as the head of what the steps of a window leave.
        """
        return pickle.dumps((tuple(self.__dict__.values()), window), protocol=5)

    @classmethod
    def decode(cls, content: bytes) -> Position | None:
        """Read what `encode` gave, with what steps added to it; None of nothing."""
        if not content:
            return None
        file = io.BytesIO(content)
        fields, window = pickle.load(file)
        position = cls(*fields)
        if window is not None:
            position._follow(window, content[file.tell() :])
        return position

    def _follow(self, window: WindowNote, tail: bytes) -> None:
        """Go on by the steps of a window."""
        done = int(np.frombuffer(tail, np.int64, 1)[0])
        begin, self.buffers = 8, []
        for kind, size in window.buffers:
            part = tail[begin : begin + size]
            self.buffers.append(np.frombuffer(part, kind).copy())
            begin += size
        values = np.frombuffer(tail[begin:], np.float32)
        values = values.reshape(len(window.rows), window.num_values)
        meters = Meters.from_state(self.meters)
        for rows, of_step in zip(window.rows[:done], values, strict=False):
            meters.count(rows)
            if window.loss >= 0:
                meters.add({"train_loss": float(of_step[window.loss])}, rows)
        self.batch += done
        self.meters = meters.state()


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
        #: What the batch counts: its rows, or the sum of their weights; and that over
        #: all replicas, where `share_weight` finds it.
        self.weight: float | None = None
        self.step_weight: float | None = None
        #: What rows of each class count in training, and each row of the batch.
        self.class_weight: Mapping[int, float] | None = None
        self.sample_weights: np.ndarray[Any, Any] | None = None
        #: Whether rows have weights in this epoch, and in this batch they were used.
        self.weighted = False
        self.weights_used = False
        #: What all batches of the last validation count; None if that is their rows.
        self.validation_weight: float | None = None
        #: Adds up the weight of all replicas, where each needs to know.
        self.share_weight: Callable[[float], float] | None = None
        #: The columns of each tensor of a batch, for messages.
        self.columns: Sequence[Sequence[str]] = []
        self.meters = Meters()
        self.pending: Mapping[str, Any] | None = None
        self.training = False
        #: Called once for each batch that is done; None if nothing uses the reports.
        self.report: Callable[[], None] | None = None
        self._reported = 0

    def begin_batch(
        self, number: int, rows: int, step_rows: int, *, python: bool = True
    ) -> None:
        """Note that a batch is computed now, and seed what it may draw from.

        Not `python` where none runs in the batch: its generators are left alone.
        """
        self.batch, self.rows, self.step_rows = number, rows, step_rows
        self.weight = self.step_weight = None
        seed = seed_everything if python else seed_framework
        seed(self.adapter, self.seed, self.rank, self.epoch, number)
        self.meters.count(rows)
        if self.training:
            for optimizer in self.optimizers:
                optimizer.rows += rows

    def hold(self, batch: Any) -> None:
        """Note the weights that rows of a batch came with, before it is computed."""
        self.sample_weights = getattr(batch, "weights", None)
        self.weights_used = False

    def row_weights(self, target: Any) -> np.ndarray[Any, Any] | None:
        """Return the weight of each row of the batch; None if they count alike."""
        self.weights_used = True
        found = self.sample_weights
        if self.class_weight is not None and self.training:
            classes = np.asarray(self.adapter.to_numpy(target))
            by_class = class_weights(classes, self.class_weight)
            found = by_class if found is None else found * by_class
        return found

    def weigh(self, total: float) -> None:
        """Note what the batch counts, if that is not the number of its rows."""
        before = self.rows if self.weight is None else self.weight
        self.weight = total
        if not self.training:
            return
        for optimizer in self.optimizers:
            optimizer.rows += total - before
        if self.share_weight is not None and self.weighted:
            self.step_weight = self.share_weight(total)

    def end_batch(self, values: Mapping[str, Any]) -> None:
        """Note what it returned."""
        self.meters.add(values, self.rows, self.weight)
        self.pending = None
        self.settle()

    def settle(self) -> None:
        """Report the batch, if it has not been."""
        if self.report is not None and self._reported != self.batch:
            self._reported = self.batch
            self.report()

    def before(self, number: int) -> Position:
        """Say where this replica is before a batch that has not begun."""
        meters = self.meters.state()
        return Position(self.generation, self.epoch, number - 1, meters, [], [], [])

    def position(self) -> bytes:
        """Return this replica's position after the current gradient is taken."""
        meters = self.meters
        if self.pending is not None:
            # If this replica dies in the step, its successor has these from here.
            meters = Meters.from_state(meters.state())
            meters.add(self.pending, self.rows, self.weight)
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
