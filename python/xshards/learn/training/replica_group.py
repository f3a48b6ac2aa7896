# SPDX-License-Identifier: Apache-2.0
"""The replica processes of an Estimator: start them, ask them, replace the dead."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NoReturn

from xshards.errors import XShardsWorkerError
from xshards.learn.training.commands import AddSource, DropSource, Notify, SetCallbacks
from xshards.runtime.channel import wait_readable
from xshards.runtime.functions import load_error
from xshards.runtime.processes import wait_until_gone
from xshards.runtime.worker import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from xshards.context import Context
    from xshards.learn.training.commands import SendState, SetUp, Train, Validate
    from xshards.learn.training.inputs import Input
    from xshards.learn.training.server_mode import OptimizerServer
    from xshards.runtime.pool import Worker

__all__ = ["ReplicaGroup"]

# How long to wait for gradients before looking at what replicas say, and how often to
# look while gradients keep coming.
_WAIT_SECONDS = 0.005
_LOOK_SECONDS = 0.02
# After an error, how long to look for a death that would explain it.
_DEATH_SECONDS = 0.5
# How long a killed process may take to go where many others want to run; the parameter
# server counts it while it exists.
_GONE_SECONDS = 30.0
# A replica that dies this often without a step between is not killed by chance.
_MOST_DEATHS = 4


@dataclass(eq=False)
class _Member:
    rank: int
    worker: Worker | None = None
    waiting: bool = False  # for its answer
    answer: Any = None
    report: Any = None  # of its last batch, until all have reported
    reported: int = 0  # the number of that batch
    deaths: int = 0
    steps_at_death: int = -1


@dataclass(frozen=True)
class _Lasting:
    """A message that a replica needs whenever it starts."""

    message: Any
    descriptors: Sequence[int] = field(default_factory=list)
    keep: Any = None  # what the descriptors belong to


class ReplicaGroup:
    """N replicas, started when first asked, and again when they die.

    With `fatal_death`, which says why, they need each other, and the death of one ends
    all. Used by one thread.
    """

    def __init__(
        self,
        num_replicas: int,
        context: Context,
        *,
        entry: str,
        fatal_death: str | None = None,
    ) -> None:
        self._fatal_death = fatal_death
        settings = Settings(
            spill_directory=context.spill_dir,
            memory_bytes=max(context.memory // num_replicas, 1),
            threads=max(1, context.cores // num_replicas),
            entry=entry,
            stopped_timeout=context.stopped_timeout,
        )
        self._pool = context._pool_for(settings)
        self._members = [_Member(rank) for rank in range(num_replicas)]
        self._set_up: Callable[[int], _Lasting] | None = None
        self._sources: dict[int, _Lasting] = {}
        self._callbacks: SetCallbacks | None = None
        self._begun = False  # whether callbacks know that a run has begun
        self._command: Train | Validate | Notify | None = None
        #: Called when a replica wants a checkpoint written: path, weights only.
        self.on_save: Callable[[str, bool], None] = lambda path, weights_only: None
        #: Called when all replicas have reported a batch: their reports by rank.
        self.on_batch: Callable[[list[Any]], None] = lambda reports: None
        self._settled = -1  # the last batch that all replicas have reported
        #: Called now and then while replicas train.
        self.on_look: Callable[[], None] | None = None
        self._num_sources = 0

    @property
    def pids(self) -> list[int]:
        """The processes there are, by rank."""
        return [one.worker.pid for one in self._members if one.worker is not None]

    @property
    def has_dead(self) -> bool:
        """Whether one has died since the last command, to which all have answered."""
        workers = [one.worker for one in self._members if one.worker is not None]
        return any(one.lost for one in workers) or bool(wait_readable(workers, 0))

    def set_up(self, make: Callable[[int], SetUp], descriptors: Sequence[int]) -> None:
        """Set up replicas: those that run now, others when they start."""
        self._set_up = lambda rank: _Lasting(make(rank), descriptors)
        for member in self._members:
            if member.worker is not None:
                self._send(member, self._set_up(member.rank))

    def add_source(self, data: Input) -> int:
        """Have data ready in all replicas, until it is dropped; gives its number."""
        self._num_sources += 1
        number = self._num_sources
        message = AddSource(number, data.source)
        self._sources[number] = _Lasting(message, data.descriptors, data.keep)
        for member in self._members:
            if member.worker is not None:
                self._send(member, self._sources[number])
        return number

    def set_callbacks(self, callbacks: SetCallbacks | None) -> None:
        """Have callbacks called in replicas, or none."""
        if callbacks is None and self._callbacks is None:
            return
        self._callbacks, self._begun = callbacks, False
        for member in self._members:
            if member.worker is not None:
                self._send(member, _Lasting(callbacks or SetCallbacks(b"", 0)))

    def drop_source(self, number: int) -> None:
        """Let replicas forget data."""
        if self._sources.pop(number, None) is None:
            return
        for member in self._members:
            if member.worker is not None:
                self._send(member, _Lasting(DropSource(number)))

    def run(
        self,
        command: Train | Validate | Notify,
        servers: Sequence[OptimizerServer] = (),
        after_update: Callable[[], None] | None = None,
    ) -> list[Any]:
        """Have all replicas do something; gives their answers by rank.

        Meanwhile `servers` make updates of the gradients that replicas push. What a
        replica raises is raised here, and ends the others.
        """
        self._command, self._settled = command, -1
        try:
            for member in self._members:
                member.waiting, member.answer, member.deaths = True, None, 0
                if member.worker is None:
                    self._start(member)
                else:
                    self._send(member, _Lasting(command))
            self._await_answers(servers, after_update)
        except BaseException:
            self.close()
            for server in servers:
                server.abandon_step()
            raise
        finally:
            self._command = None
            self._pool.drain_output()
        if isinstance(command, Notify) and command.stage == "before_run":
            self._begun = True
        return [member.answer for member in self._members]

    def ask_first(self, command: SendState) -> Any:
        """Ask replica 0 for something while it waits for the driver."""
        worker = self._members[0].worker
        assert worker is not None
        try:
            worker.channel.send(command)
            message, _ = worker.channel.receive()
        except (EOFError, OSError):
            self._raise_death(0, self._pool.end_of(worker))
        if message[0] == "error":
            raise load_error(message[1], message[2], "replica 0")
        return message[1]

    def close(self) -> None:
        """End all replicas; the next command starts new ones."""
        self._pool.drain_output()
        for member in self._members:
            if member.worker is not None:
                pid = member.worker.pid
                self._pool.end_of(member.worker, kill=True)
                member.worker = None
                wait_until_gone(pid, _GONE_SECONDS)

    def _await_answers(
        self,
        servers: Sequence[OptimizerServer],
        after_update: Callable[[], None] | None,
    ) -> None:
        look_at = time.monotonic() + _LOOK_SECONDS
        turn = 0
        while any(member.waiting for member in self._members):
            if not servers:
                self._look(servers, 1.0)
                continue
            if len(servers) == 1 and after_update is None:
                servers[0].update(_LOOK_SECONDS, patience=_WAIT_SECONDS)
                self._look(servers, 0)
                continue
            # Operators step their optimizers one after the other.
            outcome = servers[turn].update(_WAIT_SECONDS / len(servers))
            turn = (turn + 1) % len(servers)
            if outcome == "updated":
                if after_update is not None:
                    after_update()
                if time.monotonic() < look_at:
                    continue
            self._look(servers, 0)
            look_at = time.monotonic() + _LOOK_SECONDS

    def _look(self, servers: Sequence[OptimizerServer], seconds: float) -> None:
        """Take in what replicas have to say."""
        if self.on_look is not None:
            self.on_look()
        self._replace_lost(servers)
        self._pool.end_stopped()
        workers = {
            member.worker.channel: member
            for member in self._members
            if member.worker is not None
        }
        outputs = self._pool.output_ends()
        ends: list[Any] = [*workers, *outputs]
        for end in wait_readable(ends, seconds):
            if end not in workers:
                end.pass_on()
                continue
            member = workers[end]
            try:
                message, _ = end.receive()
            except (EOFError, OSError):
                self._replace(member, servers)
                continue
            if message[0] == "save":
                _, path, weights_only = message
                self.on_save(path, weights_only)
                self._send(member, _Lasting(("saved",)))
                continue
            if message[0] == "batch":
                member.reported, member.report = message[1], message[2:]
                self._settle_reports()
                continue
            if message[0] == "error":
                self._look_for_deaths(member)
                _, pickled, text = message
                raise load_error(pickled, text, f"replica {member.rank}")
            member.answer, member.waiting = message[1], False
            self._settle_reports()

    def _settle_reports(self) -> None:
        """Have replicas go on when all have reported, and those first that replay."""
        waiting = [one for one in self._members if one.waiting]
        if not waiting or any(one.report is None for one in waiting):
            return
        first = min(one.reported for one in waiting)
        last = [one for one in waiting if one.reported == first]
        if len(last) == len(self._members) and first > self._settled:
            self._settled = first  # replicas that all died replay it
            self.on_batch([one.report for one in last])
        for one in last:
            one.report = None
            self._send(one, _Lasting(("go on",)))

    def _look_for_deaths(self, except_for: _Member) -> None:
        """Raise if another replica died: its death is then the cause of the error."""
        if self._fatal_death is None:
            return
        others = {
            member.worker.channel: member
            for member in self._members
            if member is not except_for and member.worker is not None
        }
        for end in wait_readable(others, _DEATH_SECONDS):
            try:
                end.receive()
            except (EOFError, OSError):
                self._replace(others[end], ())

    def _start(self, member: _Member) -> None:
        member.worker = self._pool.take()
        assert member.worker is not None
        assert self._set_up is not None
        for lasting in [self._set_up(member.rank), *self._sources.values()]:
            self._send(member, lasting)
        if self._callbacks is not None:
            self._send(member, _Lasting(replace(self._callbacks, begun=self._begun)))
        if member.waiting and self._command is not None:
            self._send(member, _Lasting(self._command))

    def _send(self, member: _Member, lasting: _Lasting) -> None:
        assert member.worker is not None
        # One that has ended shows when its answer is awaited.
        if member.worker.lost:
            return
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            member.worker.channel.send(lasting.message, lasting.descriptors)

    def _replace_lost(self, servers: Sequence[OptimizerServer]) -> None:
        """Replace those that ended with their fork server, as often as that happens.

        Whoever starts a process finds out, and ends all that the server had made.
        """
        while lost := [one for one in self._members if one.worker and one.worker.lost]:
            for member in lost:
                assert member.worker is not None
                wait_until_gone(member.worker.pid, _GONE_SECONDS)
                self._replace(member, servers)

    def _raise_death(self, rank: int, end: str) -> NoReturn:
        msg = f"replica {rank} died {end}, and {self._fatal_death}"
        raise XShardsWorkerError(msg)

    def _replace(self, member: _Member, servers: Sequence[OptimizerServer]) -> None:
        assert member.worker is not None
        end = self._pool.end_of(member.worker)
        member.worker = member.report = None
        if self._fatal_death is not None:
            self._raise_death(member.rank, end)
        if not member.waiting:
            return  # it is started when it is needed
        steps = sum(server.steps for server in servers)
        member.deaths = member.deaths + 1 if steps == member.steps_at_death else 1
        member.steps_at_death = steps
        if member.deaths >= _MOST_DEATHS:
            msg = (
                f"replica {member.rank} died {end}, {member.deaths} times in the same "
                "step; if it ran out of memory, use fewer workers or smaller "
                "batches"
            )
            raise XShardsWorkerError(msg)
        self._start(member)
