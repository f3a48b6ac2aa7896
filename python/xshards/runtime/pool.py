# SPDX-License-Identifier: Apache-2.0
"""The worker processes of a context."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import weakref
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xshards.runtime.channel import Channel
from xshards.runtime.output import WorkerOutput
from xshards.runtime.processes import end_marked, kill_group
from xshards.runtime.server import SET_PATH, ForkServer, heavy_modules, start_python
from xshards.runtime.stopped import StoppedWatch

if TYPE_CHECKING:
    from collections.abc import Iterable

    from xshards.runtime.assignment import Assignment
    from xshards.runtime.output import OutputEnd
    from xshards.runtime.request import Surroundings
    from xshards.runtime.values import SharedSegment
    from xshards.runtime.worker import Settings

__all__ = ["Worker", "WorkerPool"]

_SERVER_ATTEMPTS = 2
_EXIT_SECONDS = 1.0
_OPEN_FILES = 1 << 17
_SPAWN_CODE = SET_PATH + "from xshards.runtime.forkserver import spawned; spawned()"


@dataclass(eq=False)
class Worker:
    """A worker process, as its parent knows it."""

    number: int
    pid: int
    channel: Channel
    output: WorkerOutput
    process: subprocess.Popen[bytes] | None = None  # where it was not forked
    mark: str = ""  # of that process
    functions: set[str] = field(default_factory=set)
    values: dict[str, weakref.ref[SharedSegment]] = field(default_factory=dict)
    surroundings: Surroundings | None = None
    #: What it was given and has not reported, oldest first.
    queue: deque[Assignment] = field(default_factory=deque)

    def fileno(self) -> int:
        """Return the descriptor, for selectors."""
        return self.channel.fileno()

    @property
    def lost(self) -> bool:
        """Whether it was ended because its fork server was gone."""
        return self.channel.fileno() < 0


class WorkerPool:
    """Up to `size` workers, started when needed and kept for the next action.

    Used by one thread at a time.
    """

    def __init__(self, size: int, settings: Settings) -> None:
        self._size = size
        self._settings = settings
        self._idle: list[Worker] = []
        self._busy: set[Worker] = set()
        self._server: ForkServer | None = None
        self._spawning = False
        self._watch = StoppedWatch(settings.stopped_timeout)
        _pools.add(self)
        _allow_many_files()

    @property
    def pids(self) -> list[int]:
        """The worker processes there are."""
        return [worker.pid for worker in self._all()]

    @property
    def has_room(self) -> bool:
        """Whether `take` would return a worker."""
        return bool(self._idle) or len(self._busy) < self._size

    def take(self) -> Worker | None:
        """Return an idle worker, starting one if there may be more; else None."""
        if self._idle:
            worker = self._idle.pop()
        elif len(self._busy) < self._size:
            worker = self._start_worker()
        else:
            return None
        self._busy.add(worker)
        return worker

    def give_back(self, worker: Worker) -> None:
        """Mark a worker as idle."""
        self._busy.discard(worker)
        self._idle.append(worker)

    def drop(self, worker: Worker) -> None:
        """End a worker at once, whatever it does, and all that it has started."""
        kill_group(worker.pid)
        self._remove(worker)

    def end_of(self, worker: Worker, *, kill: bool = False) -> str:
        """Remove a worker whose channel is closed; returns how it ended.

        With `kill` it is ended first, so that it is gone when this returns.
        """
        if worker.lost:
            return "with its fork server"
        if kill:
            kill_group(worker.pid)
        code: int | None = None
        if worker.process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = worker.process.wait(_EXIT_SECONDS)
        elif self._server is not None:
            code = self._server.wait_for_exit(worker.pid, _EXIT_SECONDS)
        kill_group(worker.pid)
        self._remove(worker)
        if code is None:
            return "for an unknown reason"
        if code >= 0:
            return f"with exit code {code}"
        try:
            return f"by signal {signal.Signals(-code).name}"
        except ValueError:
            return f"by signal {-code}"

    def end_stopped(self) -> None:
        """Warn of workers that are stopped, and end them after the time-out."""
        if self._watch.due:
            self._watch.look({one.pid: f"worker {one.number}" for one in self._busy})

    def output_ends(self) -> list[OutputEnd]:
        """Return the pipes of what functions print and log."""
        return [end for worker in self._all() for end in worker.output.ends()]

    def drain_output(self) -> None:
        """Pass on what functions have printed and logged until now."""
        for worker in self._all():
            worker.output.drain()

    def prepare(self, pickles: Iterable[memoryview]) -> None:
        """Have modules ready that these functions name and this process has loaded.

        They are preloaded when the fork server starts. For one that was imported since,
        a new server is worth its start only if a function needs it.
        """
        if self._server is None or self._busy:
            return
        missing = heavy_modules() - self._server.modules
        texts = [bytes(pickled) for pickled in pickles] if missing else []
        if any(name.encode() in text for name in missing for text in texts):
            self.close()

    def close(self) -> None:
        """End all workers and the fork server, and wait until they are gone."""
        for worker in self._all():
            worker.channel.close()
        if self._server is not None:
            self._server.close()
            self._server = None
        for worker in self._all():
            # If the server was killed, nothing else ends the processes they started.
            kill_group(worker.pid)
            self._remove(worker)

    def forget(self) -> None:
        """Close a forked child's copies of descriptors; nothing here is the child's."""
        for worker in self._all():
            worker.channel.close()
            worker.output.abandon()
            if worker.process is not None:
                worker.process.returncode = 0  # not a child of this process
        self._idle.clear()
        self._busy.clear()
        if self._server is not None:
            self._server.forget()
            self._server = None

    def _all(self) -> list[Worker]:
        return [*self._idle, *self._busy]

    def _remove(self, worker: Worker) -> None:
        self._busy.discard(worker)
        if worker in self._idle:
            self._idle.remove(worker)
        worker.channel.close()
        worker.output.close()
        if worker.process is not None:
            worker.process.wait()  # it was killed, or ended
            end_marked(worker.mark)

    def _start_worker(self) -> Worker:
        used = {worker.number for worker in self._all()}
        number = next(n for n in range(self._size) if n not in used)
        ours, theirs = Channel.pair()
        output = WorkerOutput(number)
        try:
            made = self._make_process([theirs.fileno(), *output.worker_ends])
        except BaseException:
            ours.close()
            output.abandon()
            raise
        finally:
            theirs.close()
        output.close_worker_ends()
        worker = Worker(number, made[0], ours, output, *made[1:])
        ours.while_waiting = self.end_stopped
        if worker.process is not None:
            # A worker that has already ended is detected when its first result is
            # awaited.
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                ours.send(self._settings)
        return worker

    def _make_process(
        self, descriptors: list[int]
    ) -> tuple[int] | tuple[int, subprocess.Popen[bytes], str]:
        for attempt in range(_SERVER_ATTEMPTS):
            if self._spawning:
                break
            try:
                # Importing one of them may have ended the first.
                server = self._ensure_server(self._modules() if attempt == 0 else ())
                return (server.fork(self._settings, descriptors),)
            except (EOFError, OSError):
                self.close()  # it was killed just now; its workers are gone with it
        # Without a fork server workers only take longer to start.
        self._spawning = True
        return self._spawn(descriptors)

    def _spawn(
        self, descriptors: list[int]
    ) -> tuple[int, subprocess.Popen[bytes], str]:
        channel, *output = descriptors
        arguments = (str(channel), str(os.getpid()), ",".join(map(str, output)))
        process, mark = start_python(
            _SPAWN_CODE, arguments, descriptors, self._settings.threads
        )
        return process.pid, process, mark

    def _modules(self) -> set[str]:
        entry, _, _ = self._settings.entry.partition(":")
        return heavy_modules() | {entry}

    def _ensure_server(self, modules: Iterable[str]) -> ForkServer:
        if self._server is not None and not self._server.alive:
            self.close()  # it was killed; its workers are gone with it
        if self._server is None:
            self._server = ForkServer(
                self._settings.threads, modules, self._settings.stopped_timeout
            )
        return self._server


def _allow_many_files() -> None:
    """Raise the limit of open files as far as this process may.

    Every partition in shared memory is an open file, and the usual limit of 1,024 is
    for programs that would use select().
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, _OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


_pools: weakref.WeakSet[WorkerPool] = weakref.WeakSet()


def _forget_after_fork() -> None:
    for pool in list(_pools):
        pool.forget()


os.register_at_fork(after_in_child=_forget_after_fork)
