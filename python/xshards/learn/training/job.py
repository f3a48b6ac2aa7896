# SPDX-License-Identifier: Apache-2.0
"""A model in training: its replicas, where they update, and how far they are."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from xshards.learn.checks import check_count
from xshards.learn.training.commands import (
    Notify,
    Parts,
    SetCallbacks,
    SetUp,
    Train,
    Trained,
    Validate,
)
from xshards.learn.training.driver_optimizer import check_apart
from xshards.learn.training.packing import pack
from xshards.learn.training.replica_group import ReplicaGroup
from xshards.learn.training.replica_mode import ReplicaMode
from xshards.learn.training.replica_turn import Position
from xshards.learn.training.results import mean_of, merge_validation
from xshards.learn.training.server_mode import ServerMode
from xshards.runtime.output import log_levels
from xshards.runtime.request import Surroundings
from xshards.runtime.server import module_path
from xshards.runtime.shipping import worker_setup

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from xshards.context import Context
    from xshards.learn.training.adapter import ModelAdapter
    from xshards.learn.training.clip import Clip
    from xshards.learn.training.driver_optimizer import DriverOptimizer
    from xshards.learn.training.inputs import Input
    from xshards.learn.training.update_mode import OptimizerOwner, UpdateMode

__all__ = ["Job", "check_num_replicas"]


class Job:
    """Trains models with N replicas, epoch after epoch.

    It begins when first needed and lasts until `close`: replicas, weights and
    optimizer state stay between fits.

    Parameters
    ----------
    adapter
        The framework.
    parts
        What replicas train with.
    optimizers
        What changes the models' parameters; none to evaluate and predict only.
    num_replicas
        Processes that train together.
    seed
        What shuffling and random numbers of batches are drawn from.
    sync_stats
        Average the models' buffers over replicas after each epoch.
    clip
        How to clip gradients; looked at before each epoch.
    context
        Where replicas run.
    distributed
        Update in the replicas, not in the parameter server.
    """

    def __init__(
        self,
        adapter: ModelAdapter,
        parts: Parts,
        optimizers: list[DriverOptimizer],
        *,
        num_replicas: int,
        seed: int,
        sync_stats: bool,
        clip: Clip,
        context: Context,
        distributed: bool = False,
    ) -> None:
        self.adapter = adapter
        self.parts = parts
        self.optimizers = optimizers
        self.num_replicas = num_replicas
        self.seed = seed
        self.epoch = 0  # the next one, from 0
        self.first_batch = 0  # of it
        self.training = False  # inside of an epoch
        #: The loss of the last epoch, for schedulers that wait for one.
        self.observed: float | None = None
        self.schedulers: list[dict[str, Any]] | None = None
        self.options: list[list[dict[str, Any]]] | None = None
        self._distributed = distributed
        self._sync_stats = sync_stats
        self._sync_buffers: list[Any] | None = None
        self._clip = clip
        self._context = context
        self._mode = self._choose_mode()
        self._group: ReplicaGroup | None = None
        #: Called when a callback wants a checkpoint written: path, weights only.
        self.on_save: Callable[[str, bool], None] = lambda path, weights_only: None
        self._has_callbacks = False
        self._generation = 0

    @property
    def pids(self) -> list[int]:
        """The replica processes."""
        return [] if self._group is None else self._group.pids

    @property
    def servers(self) -> Sequence[OptimizerOwner]:
        """What has the state of each optimizer; none before the job has begun."""
        return self._mode.owners

    @property
    def sees_progress(self) -> bool:
        """Whether positions are those of now, without reports of each batch."""
        return self._mode.keeps_replicas

    @property
    def num_steps(self) -> int:
        """Updates made so far."""
        return self.servers[0].steps if self.servers else 0

    def begin(self) -> None:
        """Make what has the optimizers' state, if there is none yet."""
        if not self.servers:
            check_apart(self.optimizers)
            self._mode.begin(self.parts.models)

    def train_epoch(
        self,
        number: int,
        *,
        batch_size: int,
        shuffle: bool,
        max_batches: int | None,
        info: dict[str, Any],
        class_weight: dict[int, float] | None = None,
        accumulate: int = 1,
        num_steps: int | None = None,
        on_look: Callable[[], None] | None = None,
        after_update: Callable[[], None] | None = None,
    ) -> list[Trained]:
        """Train one epoch on a source; returns each replica's report."""
        for server in self.servers:
            server.set_clip()
        wanted = after_update is not None or self._has_callbacks
        command = Train(
            source=number,
            epoch=self.epoch,
            batch_size=batch_size,
            shuffle=shuffle,
            max_batches=max_batches,
            first_batch=self.first_batch,
            info=info,
            schedulers=self.schedulers,
            options=self.options,
            buffers=self._sync_buffers,
            clip=self._clip,
            watched=self._mode.watches_batches(wanted=wanted),
            observed=self.observed,
            class_weight=class_weight,
            accumulate=accumulate,
            num_steps=num_steps,
        )
        self.epoch += 1
        self.first_batch = 0
        replicas = self._replicas()
        replicas.on_look = on_look
        self.training = True
        try:
            answers = self._guarded(
                lambda: self._mode.run_epoch(replicas, command, after_update)
            )
        finally:
            self.training = False
            replicas.on_look = None
        self._mode.end_epoch(self.parts.models, replicas)
        self.schedulers = answers[0].schedulers
        self.options = answers[0].options
        self.parts.operator_state = answers[0].operator_state
        self.take_buffers(answers)
        return answers

    def validate(
        self,
        number: int,
        *,
        batch_size: int,
        metrics: Mapping[str, Any],
        max_batches: int | None = None,
        info: dict[str, Any] | None = None,
        reduce_results: bool = True,
    ) -> list[dict[str, Any]]:
        """Measure the model on a source; returns one result, or one of each replica."""
        for metric in metrics.values():
            metric.reset()
        answers = self.measure(
            number,
            batch_size=batch_size,
            metrics=metrics,
            max_batches=max_batches,
            info=info,
        )
        parts = [answers] if reduce_results else [[one] for one in answers]
        return [merge_validation(part, metrics) for part in parts]

    def measure(
        self,
        number: int,
        *,
        batch_size: int,
        metrics: Mapping[str, Any],
        max_batches: int | None = None,
        info: dict[str, Any] | None = None,
        on_batch: Callable[[list[Any]], None] | None = None,
    ) -> list[Any]:
        """Measure the model on a source; returns what each replica found.

        After each batch, `on_batch` gets the buffers of each.
        """
        packed = pack(dict(metrics), {}, [type(one) for one in metrics.values()])
        buffers = [one.copy() for one in self.adapter.buffers(self.parts.models).read()]
        command = Validate(
            number,
            batch_size,
            packed,
            max_batches,
            info or {},
            buffers,
            watched=on_batch is not None,
        )
        if on_batch is not None:
            self._replicas().on_batch = lambda reports: on_batch(
                [of_replica for (of_replica,) in reports]
            )
        return self._run(command)

    def add_source(self, data: Input) -> int:
        """Send data to the replicas; returns its identifier."""
        return self._replicas().add_source(data)

    def drop_source(self, number: int) -> None:
        """Drop data from the replicas."""
        if self._group is not None:
            self._group.drop_source(number)

    def set_callbacks(self, callbacks: Sequence[Any], num_epochs: int) -> None:
        """Have callbacks called in replicas; none by default."""
        command = None
        self._has_callbacks = bool(callbacks)
        if callbacks:
            code = [type(one) for one in callbacks]
            command = SetCallbacks(pack(list(callbacks), {}, code), num_epochs)
        self._replicas().set_callbacks(command)

    def notify(self, stage: str, stats: dict[str, Any]) -> bool:
        """Call a stage of the callbacks; returns whether one of them stops the run."""
        return any(self._run(Notify(stage, stats)))

    def positions(self) -> list[list[Position | None]]:
        """Return what each replica left with the last update, for each optimizer."""
        return [
            [
                Position.decode(server.replica_state(rank))
                for rank in range(self.num_replicas)
            ]
            for server in self.servers
        ]

    def take_state(self) -> None:
        """Copy the state that training made to the driver's optimizers and models."""
        group = self._group if self.training else None
        self._mode.collect_state(self.parts.models, group)

    def take_buffers(self, replicas: Sequence[Trained | Position | None]) -> None:
        """Make replica 0's buffers the model's, or the mean of all."""
        by_replica = [one.buffers for one in replicas if one is not None]
        chosen = by_replica[0]
        if self._sync_stats:
            chosen = [mean_of(same) for same in zip(*by_replica, strict=True)]
            if not self.training:
                self._sync_buffers = chosen
        self.adapter.buffers(self.parts.models).write(chosen)

    def restore(self, steps: list[int], positions: list[list[Position | None]]) -> None:
        """Go on after a number of updates, with replicas where they were."""
        generation = self._generation + 1  # of the set-up that comes next
        for server, count, states in zip(self.servers, steps, positions, strict=True):
            encoded = []
            for position in states:
                if position is not None:
                    position.generation = generation
                encoded.append(b"" if position is None else position.encode())
            server.restore(count, encoded)

    def replace_models(
        self, models: list[Any], optimizers: Sequence[DriverOptimizer] = ()
    ) -> None:
        """Take other models, and what changes their parameters."""
        self.close()
        self.parts.models = models
        self.optimizers = list(optimizers)
        self._mode = self._choose_mode()

    def stop_replicas(self) -> None:
        """End the replicas, so that the next ones take over what is changed here."""
        if self._group is not None:
            self._group.close()
            self._group = None
            self._mode.replicas_stopped()

    def close(self) -> None:
        """End the replicas and servers; models keep what they have learned."""
        self.stop_replicas()
        self._mode.close()

    def code(self) -> list[object]:
        """Return what has code that other processes may have to get by value."""
        parts = self.parts
        found: list[object] = [
            parts.criterion,
            parts.scheduler_creator,
            parts.operator_class,
            parts.initialization_hook,
            self.adapter,
            *(optimizer.handle for optimizer in self.optimizers),
        ]
        found += [part for one in parts.models for part in self.adapter.modules(one)]
        return found + [type(part) for part in found]

    def _choose_mode(self) -> UpdateMode:
        given = (self.adapter, self.optimizers, self.num_replicas)
        one_evaluates = any(one.evaluates_loss for one in self.optimizers)
        if self._distributed or (self.num_replicas == 1 and one_evaluates):
            return ReplicaMode(*given)
        return ServerMode(*given, clip=self._clip, context=self._context)

    def _run(self, command: Validate | Notify) -> list[Any]:
        replicas = self._replicas()
        return self._guarded(lambda: replicas.run(command))

    def _guarded(self, run: Callable[[], list[Any]]) -> list[Any]:
        try:
            return run()
        except BaseException:
            if not self._mode.keeps_replicas:
                self.stop_replicas()
            raise

    def _replicas(self) -> ReplicaGroup:
        self.begin()
        if self._group is not None and not self._mode.is_usable(self._group):
            self.stop_replicas()
        if self._group is None:
            self._group = ReplicaGroup(
                self.num_replicas,
                self._context,
                entry=self.adapter.entry,
                fatal_death=self._mode.fatal_death,
            )
            self._group.on_save = self.on_save
            self._set_up(self._group)
        return self._group

    def _set_up(self, group: ReplicaGroup) -> None:
        self._generation += 1
        for optimizer in self.optimizers:
            optimizer.publish()
        self.parts.optimizers = self._mode.describe_optimizers()
        code, generation = self.code(), self._generation
        packed = pack(self.parts, self._mode.places, code)
        adapter = pack(self.adapter, {}, code)
        surroundings = Surroundings(
            job=0,  # a replica has one job only
            directory=os.getcwd(),  # noqa: PTH109 - as the workers of a context
            module_path=tuple(module_path()),
            log_levels=log_levels(),
            setup=tuple(worker_setup),
        )

        def make(rank: int) -> SetUp:
            return SetUp(
                rank=rank,
                num_replicas=self.num_replicas,
                seed=self.seed,
                generation=generation,
                surroundings=surroundings,
                adapter=adapter,
                parts=packed,
                mode=self._mode.set_up(rank),
            )

        group.set_up(make, self._mode.descriptors)


def check_num_replicas(workers: int | None, context: Context) -> int:
    """Return the number of replicas that was asked for; by default one a core."""
    if workers is None:
        return context.cores
    return check_count("workers", workers)
