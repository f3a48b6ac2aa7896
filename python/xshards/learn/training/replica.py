# SPDX-License-Identifier: Apache-2.0
"""What a replica does: train and validate one copy of the model."""

from __future__ import annotations

import os
import sys
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xshards.errors import XShardsValueError
from xshards.learn.training.callback_runner import CallbackRunner
from xshards.learn.training.commands import (
    Notify,
    Parts,
    SendState,
    SetCallbacks,
    SetUp,
    Train,
    Trained,
    Validate,
)
from xshards.learn.training.meters import Meters
from xshards.learn.training.operator import Operator
from xshards.learn.training.packing import unpack
from xshards.learn.training.replica_turn import Turn
from xshards.learn.training.source import Feed, grouped
from xshards.runtime.shipping import set_up

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from xshards.learn.training.adapter import ModelAdapter
    from xshards.learn.training.replica_optimizer import ReplicaOptimizer
    from xshards.runtime.channel import Channel

__all__ = ["Replica"]


class Replica:
    """Trains and validates one copy of the model, on commands of the driver."""

    def __init__(
        self, command: SetUp, descriptors: list[int], channel: Channel
    ) -> None:
        surroundings = command.surroundings
        os.chdir(surroundings.directory)
        sys.path[:] = surroundings.module_path
        set_up(surroundings.setup)
        self.adapter: ModelAdapter = unpack(command.adapter)
        self._turn = Turn(
            self.adapter,
            rank=command.rank,
            num_replicas=command.num_replicas,
            seed=command.seed,
            generation=command.generation,
        )
        self._channel = channel
        self._exchange = command.mode.connect(
            self.adapter, command.rank, command.num_replicas, descriptors
        )
        self._runner: CallbackRunner | None = None
        self._parts: Parts = unpack(command.parts, self._exchange.parameters)
        if self._parts.initialization_hook is not None:
            self._parts.initialization_hook()
        self._build()
        self._inherit()

    def close(self) -> None:
        """Make room for another set-up."""
        self._exchange.close()

    def set_callbacks(self, command: SetCallbacks) -> None:
        """Have callbacks called from now on."""
        callbacks = unpack(command.callbacks) if command.callbacks else []
        self._runner = (
            CallbackRunner(
                callbacks, self._operator, self._turn, command.num_epochs, self._save
            )
            if callbacks
            else None
        )
        if self._runner is not None and command.begun:
            self._runner.call("before_run")

    def answer(
        self, command: Train | Validate | Notify | SendState, source: Any
    ) -> object:
        """Run a command of the driver, on a source if it names one."""
        if isinstance(command, Train):
            return self._train(command, source)
        if isinstance(command, SendState):
            return self._exchange.state()
        if isinstance(command, Notify):
            assert self._runner is not None
            self._runner.epoch_stats = dict(command.stats)
            self._runner.epochs = int(command.stats.get("epoch", 0))
            self._runner.call(command.stage)
            return self._runner.should_stop
        return self._validate(command, source)

    def tell(self, *message: object) -> None:
        """Send the driver a message."""
        self._channel.send(message)
        self._exchange.call_driver()

    def _save(self, path: str, weights_only: bool) -> None:  # noqa: FBT001
        """Have the driver write a file; it has what replicas do not have."""
        self._ask("save", str(Path(path).absolute()), weights_only)

    def _report(self) -> None:
        """Report a batch to the driver, and wait until the driver continues."""
        steps = [optimizer.num_steps for optimizer in self._optimizers]
        self._ask("batch", self._turn.batch, self._turn.position(), steps)

    def _ask(self, *message: object) -> None:
        self.tell(*message)
        while isinstance(self._channel.receive()[0], SendState):
            self._channel.send(("done", self._exchange.state()))

    def _build(self) -> None:
        parts, turn = self._parts, self._turn
        self._optimizers: list[ReplicaOptimizer] = [
            *self._exchange.make_optimizers(parts, turn)
        ]
        given = [optimizer.handle for optimizer in self._optimizers]
        schedulers = self.adapter.make_schedulers(
            parts.scheduler_creator, given, parts.config
        )
        self._operator = parts.operator_class(
            parts.config,
            self._exchange.make_models(parts, turn),
            given,
            turn.rank,
            parts.criterion,
            schedulers,
            use_tqdm=bool(parts.use_tqdm),
        )
        self._operator._turn = turn
        self._operator._scheduler_step_freq = parts.scheduler_step_freq
        self._operator._precision = parts.precision
        if parts.operator_state:
            self._operator.load_state_dict(parts.operator_state)
        turn.optimizers = self._optimizers
        turn.schedulers = schedulers
        turn.buffers = self.adapter.buffers(parts.models)

    def _inherit(self) -> None:
        """Find where the replica was that this one replaces, if it does."""
        for optimizer in self._optimizers:
            optimizer.catch_up()
        self._inherited = [
            position
            for position in self._exchange.positions()
            if position is not None and position.generation == self._turn.generation
        ]
        self._fresh = True
        if self._inherited:
            # Of several optimizers, the one with the fewest batches done.
            last = min(self._inherited, key=lambda one: (one.epoch, one.batch))
            self._turn.buffers.write(last.buffers)

    def _begin(self, command: Train) -> int:
        """Take over the state in which the epoch begins; gives its first batch."""
        turn = self._turn
        turn.epoch, turn.meters, turn.pending = command.epoch, Meters(), None
        for optimizer in self._optimizers:
            optimizer.rows, optimizer.pushed_through = 0, -1
            optimizer.check_frozen()
            optimizer.clip = command.clip
        same = [one for one in self._inherited if one.epoch == command.epoch]
        fresh, self._fresh, self._inherited = self._fresh, False, []
        if same and len(same) == len(self._optimizers):
            last = min(same, key=lambda one: one.batch)
            for optimizer, position in zip(self._optimizers, same, strict=True):
                optimizer.pushed_through = position.batch
            turn.meters = Meters.from_state(last.meters)
            self._set_schedules(last.schedulers, last.options)
            self._operator._step_schedulers("batch")
            return last.batch
        if fresh:
            self._set_schedules(command.schedulers or [], command.options or [])
        if command.buffers is not None:
            turn.buffers.write(command.buffers)
        self._operator._observe(command.observed)
        return command.first_batch

    def _set_schedules(self, schedulers: Sequence[Any], options: Sequence[Any]) -> None:
        if schedulers:
            for scheduler, state in zip(self._turn.schedulers, schedulers, strict=True):
                scheduler.load_state_dict(state)
        if options:
            for optimizer, groups in zip(self._optimizers, options, strict=True):
                optimizer.set_options(groups)

    def _train(self, command: Train, source: Any) -> Trained:
        begin = time.perf_counter()
        turn, operator = self._turn, self._operator
        first = self._begin(command)
        turn.training = True
        turn.class_weight = command.class_weight
        turn.columns = getattr(source, "columns", [])
        self._given_weights = command.class_weight is not None or bool(
            getattr(source, "weighted", False)
        )
        turn.weighted = self._given_weights or operator.weighs_rows
        turn.report = self._report if command.watched else None
        operator.global_step = self._optimizers[0].num_steps
        shares, info = self._shares(command, source, first), dict(command.info)
        result = None
        try:
            if self._runner is not None:
                self._runner.steps_per_epoch = command.num_steps
                self._runner.train_epoch(self._batches(shares), info)
            elif self._takes_windows(command, source):
                skip = self._exchange.step_without_rows
                result = operator._train_windows(shares, info, skip)
            else:
                result = operator.train_epoch(self._batches(shares), info)
        finally:
            turn.training = False
        operator._step_schedulers("epoch")
        self._warn_of_changes()
        own = type(operator).train_epoch is not Operator.train_epoch
        return Trained(
            turn.meters.state(),
            result if own and isinstance(result, dict) else None,
            time.perf_counter() - begin,
            [scheduler.state_dict() for scheduler in turn.schedulers],
            [optimizer.options() for optimizer in self._optimizers],
            [buffer.copy() for buffer in turn.buffers.read()],
            operator.state_dict(),
        )

    def _takes_windows(self, command: Train, source: Any) -> bool:
        """Whether nothing has to be done between the updates of this epoch."""
        return (
            not command.watched
            and not getattr(source, "one_by_one", False)
            and command.accumulate == 1
            and not self._given_weights
            and not self._turn.schedulers
            and len(self._optimizers) == 1
            and self._operator._takes_windows()
        )

    def _shares(
        self, command: Train, source: Any, first: int
    ) -> Iterator[tuple[int, int, int, Any]]:
        """Give the batches of an epoch with their numbers and rows."""
        turn = self._turn
        feed = Feed(
            command.epoch,
            command.batch_size,
            command.shuffle,
            turn.seed,
            turn.rank,
            turn.num_replicas,
            first * command.accumulate,
            self._exchange.stand_in,
        )
        shares = source.shares(feed)
        if command.accumulate > 1:
            shares = grouped(shares, command.accumulate)
        number = first
        last = command.max_batches
        if last is not None and number >= last:
            return
        for rows, step_rows, batch in shares:
            number += 1
            yield number, rows, step_rows, batch
            if last is not None and number >= last:
                return

    def _batches(self, shares: Iterator[tuple[int, int, int, Any]]) -> Iterator[Any]:
        """Give those that have rows here; take part in the updates of the others."""
        turn = self._turn
        for number, rows, step_rows, batch in shares:
            turn.begin_batch(number, rows, step_rows)
            if rows:
                turn.hold(batch)
                yield batch
                if self._given_weights and not turn.weights_used:
                    raise self._weights_ignored()
            else:
                self._exchange.step_without_rows(batch)
            turn.settle()
            if not rows:
                self._operator._step_schedulers("batch")

    def _validate(self, command: Validate, source: Any) -> tuple[Any, ...]:
        self._exchange.refresh()
        metrics = unpack(command.metrics)
        turn = self._turn
        feed = Feed(
            0, command.batch_size, False, turn.seed, turn.rank, turn.num_replicas
        )
        shares = source.shares(feed)

        def batches() -> Iterator[Any]:
            for number, (rows, step_rows, batch) in enumerate(shares):
                if command.max_batches is not None and number >= command.max_batches:
                    return
                if batch is not None:
                    turn.rows, turn.step_rows = rows, step_rows
                    yield batch
                if command.watched:
                    self._ask("batch", number, turn.buffers.read())

        turn.validation_weight = None
        doer = self._operator if self._runner is None else self._runner
        with self._turn.buffers.replaced_by(command.buffers):
            result = doer.validate(batches(), dict(command.info), metrics)
        states = [metric.state() for metric in metrics.values()]
        return result, states, turn.validation_weight

    def _weights_ignored(self) -> XShardsValueError:
        msg = (
            "class_weight and sample weights were given, but the training operator or "
            "MainCallback made a loss without them: have it use "
            "TrainingOperator.row_weights, or leave them out"
        )
        return XShardsValueError(msg)

    def _warn_of_changes(self) -> None:
        changed = self._exchange.changed()
        if changed and self._turn.rank == 0:
            msg = (
                f"{changed} parameters were changed in place outside of the "
                "optimizer; replicas take their weights from the parameter server, so "
                "each step undoes such changes"
            )
            warnings.warn(msg, stacklevel=1)
