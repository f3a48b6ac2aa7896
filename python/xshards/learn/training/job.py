# SPDX-License-Identifier: Apache-2.0
"""A model in training: its parameter servers, its replicas, and how far it is."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from xshards.errors import XShardsValueError
from xshards.learn.pytorch.distributed import make_store
from xshards.learn.pytorch.local_optimizer import (
    OptimizerMirror,
    check_local,
    needs_closure,
    take_apart,
)
from xshards.learn.pytorch.parameters import check_apart, load_optimizer, pack
from xshards.learn.training.commands import (
    Local,
    Notify,
    Parts,
    SendState,
    SetCallbacks,
    SetUp,
    Train,
    Trained,
    Validate,
)
from xshards.learn.training.meters import NUM_SAMPLES, Meters
from xshards.learn.training.parameter_service import OptimizerServer
from xshards.learn.training.replica_group import ReplicaGroup
from xshards.learn.training.replica_turn import Position
from xshards.runtime.output import log_levels
from xshards.runtime.request import Surroundings
from xshards.runtime.server import module_path
from xshards.runtime.shipping import worker_setup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from xshards.context import Context
    from xshards.learn.training.clip import Clip
    from xshards.learn.training.inputs import Input

__all__ = ["Job"]

# Room for what a replica leaves with each gradient, besides the model's buffers.
_STATE_BYTES = 1 << 16
_BYTES_A_BUFFER = 512


class Job:
    """Trains models with N replicas, epoch after epoch.

    It begins when first needed and lasts until `close`: replicas, weights and
    optimizer state stay between fits.
    """

    def __init__(
        self,
        parts: Parts,
        optimizers: list[torch.optim.Optimizer],
        *,
        num_replicas: int,
        seed: int,
        sync_stats: bool,
        clip: Clip,
        context: Context,
        distributed: bool = False,
    ) -> None:
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
        self.servers: list[OptimizerServer | OptimizerMirror] = []
        self._distributed = distributed
        self._store: Any = None
        self._sync_stats = sync_stats
        self._sync_buffers: list[Any] | None = None
        self._clip = clip
        self._context = context
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
    def num_steps(self) -> int:
        """Updates made so far."""
        return self.servers[0].steps if self.servers else 0

    @property
    def _local(self) -> bool:
        """Whether replicas run the optimizers themselves."""
        return self._distributed or (
            self.num_replicas == 1 and any(map(needs_closure, self.optimizers))
        )

    def train_epoch(
        self,
        number: int,
        *,
        batch_size: int,
        shuffle: bool,
        max_batches: int | None,
        info: dict[str, Any],
        after_update: Callable[[], None] | None = None,
    ) -> list[Trained]:
        """Train one epoch on a source; gives what each replica says of it."""
        for server in self.servers:
            server.set_clip()
        command = Train(
            number,
            self.epoch,
            batch_size,
            shuffle,
            max_batches,
            self.first_batch,
            info,
            self.schedulers,
            self.options,
            self._sync_buffers,
            self._clip,
            self._local and (after_update is not None or self._has_callbacks),
            self.observed,
        )
        self.epoch += 1
        self.first_batch = 0
        replicas = self._replicas()
        self.training = True
        try:
            answers = self._run_epoch(replicas, command, after_update)
        finally:
            self.training = False
        if self._local:
            self._ask_for_state(replicas)
        self.schedulers = answers[0].schedulers
        self.options = answers[0].options
        self.parts.operator_state = answers[0].operator_state
        self.take_buffers(answers)
        return answers

    def _run_epoch(
        self,
        replicas: ReplicaGroup,
        command: Train,
        after_update: Callable[[], None] | None,
    ) -> list[Trained]:
        if not self._local:
            return replicas.run(command, self._parameter_servers(), after_update)

        def on_batch(reports: list[Any]) -> None:
            steps = reports[0][1]
            states = [position for position, _ in reports]
            for mirror, count in zip(self._mirrors(), steps, strict=True):
                mirror.report(count, states)
            if after_update is not None:
                after_update()

        replicas.on_batch = on_batch
        return self._run(command)

    def _run(self, command: Train | Validate | Notify) -> list[Any]:
        try:
            return self._replicas().run(command)
        except BaseException:
            if self._local:  # new replicas are made of what the driver has
                self.stop_replicas()
            raise

    def take_state(self) -> None:
        """Give the driver's optimizers, and models if need be, what training made."""
        if not self._local:
            for server in self._parameter_servers():
                server.save_optimizer_state()
        elif self.training and self._group is not None:
            self._ask_for_state(self._group)

    def _ask_for_state(self, replicas: ReplicaGroup) -> None:
        steps, parameters, states = replicas.ask_first(SendState())
        with torch.no_grad():
            for model, values in zip(self.parts.models, parameters, strict=True):
                for parameter, value in zip(model.parameters(), values, strict=True):
                    parameter.copy_(torch.from_numpy(np.asarray(value)))
        for mirror, count, state in zip(self._mirrors(), steps, states, strict=True):
            mirror.steps = count
            load_optimizer(mirror.optimizer, state)

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
        """Measure the model on a source; gives one result, or one of each replica."""
        for metric in metrics.values():
            metric.reset()
        packed = pack(dict(metrics), {}, [type(one) for one in metrics.values()])
        command = Validate(number, batch_size, packed, max_batches, info or {})
        answers = self._run(command)
        parts = [answers] if reduce_results else [[one] for one in answers]
        return [
            _merge_results([result for result, _ in part])
            | {
                name: _merged_metric(metric, [states[index] for _, states in part])
                for index, (name, metric) in enumerate(metrics.items())
            }
            for part in parts
        ]

    def add_source(self, data: Input) -> int:
        """Give data to the replicas; gives its number."""
        return self._replicas().add_source(data)

    def drop_source(self, number: int) -> None:
        """Let the replicas forget data."""
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
        """Call a stage of the callbacks; tells whether one of them wants to stop."""
        return any(self._run(Notify(stage, stats)))

    def positions(self) -> list[list[Position | None]]:
        """Give what each replica left with the last update, for each optimizer."""
        return [
            [
                Position.decode(server.replica_state(rank))
                for rank in range(self.num_replicas)
            ]
            for server in self.servers
        ]

    def begin(self) -> None:
        """Make the parameter servers, if there are none yet."""
        if self.servers:
            return
        check_apart(self.optimizers)
        if self._local:
            check_local(self.optimizers, self.num_replicas)
            self.servers = [
                OptimizerMirror(optimizer, self.num_replicas)
                for optimizer in self.optimizers
            ]
            return
        buffers = self._buffers()
        state_bytes = _STATE_BYTES + sum(
            buffer.nbytes + _BYTES_A_BUFFER for buffer in buffers
        )
        self.servers = [
            OptimizerServer(
                optimizer,
                self.parts.models,
                num_replicas=self.num_replicas,
                state_bytes=state_bytes,
                clip=self._clip,
                context=self._context,
            )
            for optimizer in self.optimizers
        ]

    def stop_replicas(self) -> None:
        """End the replicas, so that the next ones take over what is changed here."""
        if self._group is not None:
            self._group.close()
            self._group = self._store = None
            for server in self.servers:
                server.abandon_step()

    def replace_models(self, models: list[torch.nn.Module]) -> None:
        """Take other models, for which there is no optimizer."""
        self.close()
        self.parts.models = models
        self.optimizers = []

    def restore(self, steps: list[int], positions: list[list[Position | None]]) -> None:
        """Go on after so many updates, with replicas where they were."""
        generation = self._generation + 1  # of the set-up that comes next
        for server, count, states in zip(self.servers, steps, positions, strict=True):
            encoded = []
            for position in states:
                if position is not None:
                    position.generation = generation
                encoded.append(b"" if position is None else position.encode())
            server.restore(count, encoded)

    def close(self) -> None:
        """End the replicas and servers; models keep what they have learned."""
        self.stop_replicas()
        for server in self.servers:
            server.close()
        self.servers = []

    def _replicas(self) -> ReplicaGroup:
        self.begin()
        if self._local and self._group is not None and self._group.has_dead:
            self.stop_replicas()
        if self._group is None:
            self._group = ReplicaGroup(
                self.num_replicas, self._context, alone=not self._local
            )
            self._group.on_save = self.on_save
            self._set_up(self._group)
        return self._group

    def _set_up(self, group: ReplicaGroup) -> None:
        self._generation += 1
        servers = self._parameter_servers()
        places = {
            id(parameter): (number, index)
            for number, server in enumerate(servers)
            for index, parameter in enumerate(server.parameters)
        }
        self.parts.optimizers = (
            [take_apart(optimizer) for optimizer in self.optimizers]
            if self._local
            else [
                (optimizer.param_groups, optimizer.defaults)
                for optimizer in self.optimizers
            ]
        )
        packed = pack(self.parts, places, self._code())
        surroundings = Surroundings(
            directory=os.getcwd(),  # noqa: PTH109 - as the workers of a context
            module_path=tuple(module_path()),
            log_levels=log_levels(),
            setup=tuple(worker_setup),
        )
        shapes = [
            [tuple(parameter.shape) for parameter in server.parameters]
            for server in servers
        ]
        generation = self._generation

        def local(rank: int) -> Local | None:
            if not self._local:
                return None
            if self.num_replicas > 1 and self._store is None:
                self._store = make_store()
            mirrors = self._mirrors()
            return Local(
                None if self._store is None else self._store.port,
                [mirror.steps for mirror in mirrors],
                [mirror.replica_state(rank) for mirror in mirrors],
            )

        def make(rank: int) -> SetUp:
            return SetUp(
                rank,
                self.num_replicas,
                self.seed,
                generation,
                surroundings,
                shapes,
                packed,
                local(rank),
            )

        descriptors = [
            descriptor
            for server in servers
            for descriptor in (server.server.fd, server.board.descriptor)
        ]
        group.set_up(make, descriptors)

    def _code(self) -> list[object]:
        """Give what has code that replicas may have to get by value."""
        parts = self.parts
        found: list[object] = [
            parts.criterion,
            parts.scheduler_creator,
            parts.operator_class,
            parts.initialization_hook,
            *self.optimizers,
        ]
        found += [part for model in parts.models for part in model.modules()]
        return found + [type(part) for part in found]

    def _parameter_servers(self) -> list[OptimizerServer]:
        return [one for one in self.servers if isinstance(one, OptimizerServer)]

    def _mirrors(self) -> list[OptimizerMirror]:
        return [one for one in self.servers if isinstance(one, OptimizerMirror)]

    def _buffers(self) -> list[torch.Tensor]:
        return [buffer for model in self.parts.models for buffer in model.buffers()]

    def take_buffers(self, replicas: Sequence[Trained | Position | None]) -> None:
        """Make replica 0's buffers the model's, or the mean of all."""
        by_replica = [one.buffers for one in replicas if one is not None]
        chosen = by_replica[0]
        if self._sync_stats:
            chosen = [_mean_of(same) for same in zip(*by_replica, strict=True)]
            if not self.training:
                self._sync_buffers = chosen
        with torch.no_grad():
            for buffer, value in zip(self._buffers(), chosen, strict=True):
                buffer.copy_(torch.from_numpy(np.asarray(value)))


def _mean_of(values: Iterable[Any]) -> Any:
    values = list(values)
    if values[0].dtype.kind != "f":
        return values[0]
    return np.mean(values, axis=0, dtype=values[0].dtype)


def _merge_results(results: list[Any]) -> dict[str, Any]:
    meters = []
    for result in results:
        one = Meters()
        one.count(int(result.get(NUM_SAMPLES, 1)))
        one.add(result, one.num_samples)
        meters.append(one.state())
    merged = Meters.merged(meters).summary()
    del merged["batch_count"]
    if all(NUM_SAMPLES not in result for result in results):
        del merged[NUM_SAMPLES]
    return {
        name: value for name, value in merged.items() if not name.startswith("last_")
    }


def _merged_metric(metric: Any, states: list[Any]) -> Any:
    metric.reset()
    for state in states:
        metric.merge(state)
    value = metric.compute()
    return value.item() if getattr(value, "ndim", None) == 0 else value


def check_num_replicas(workers: int | None, context: Context) -> int:
    """Give the number of replicas that was asked for; by default one a core."""
    if workers is None:
        return context.cores
    if workers < 1:
        msg = f"workers must be at least 1, got {workers}"
        raise XShardsValueError(msg)
    return workers
