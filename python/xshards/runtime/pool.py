# SPDX-License-Identifier: Apache-2.0
"""The worker processes of a context, and the fork server that makes them."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xshards.errors import XShardsWorkerError
from xshards.runtime.channel import Channel, wait_readable

if TYPE_CHECKING:
    from xshards.runtime.worker import Settings

__all__ = ["Worker", "WorkerPool"]

_START_SECONDS = 60.0
_STOP_SECONDS = 5.0
_SERVER_ATTEMPTS = 2
_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
# The fork server takes the parent's module path before it imports anything of ours.
_START_CODE = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[3]); "
    "from xshards.runtime.forkserver import main; "
    "main(int(sys.argv[1]), int(sys.argv[2]))"
)


@dataclass(eq=False)
class Worker:
    """A worker process, as its parent knows it."""

    pid: int
    channel: Channel
    functions: set[str] = field(default_factory=set)
    surroundings: tuple[str, list[str]] | None = None

    def fileno(self) -> int:
        """Give the descriptor, for selectors."""
        return self.channel.fileno()


class WorkerPool:
    """Up to `size` workers, started when needed and kept for the next action.

    Used by one thread at a time.
    """

    def __init__(self, size: int, settings: Settings) -> None:
        self._size = size
        self._settings = settings
        self._owner = os.getpid()
        self._idle: list[Worker] = []
        self._busy: set[Worker] = set()
        self._exits: dict[int, int] = {}
        self._control: Channel | None = None
        self._server: subprocess.Popen[bytes] | None = None

    @property
    def pids(self) -> list[int]:
        """The worker processes there are."""
        return [worker.pid for worker in [*self._idle, *self._busy]]

    def take(self) -> Worker | None:
        """Give an idle worker, starting one if there may be more; else None."""
        if self._idle:
            worker = self._idle.pop()
        elif len(self._busy) < self._size:
            worker = self._start_worker()
        else:
            return None
        self._busy.add(worker)
        return worker

    def give_back(self, worker: Worker) -> None:
        """Say that a worker is idle again."""
        self._busy.discard(worker)
        self._idle.append(worker)

    def drop(self, worker: Worker) -> None:
        """End a worker at once, whatever it does."""
        self._busy.discard(worker)
        worker.channel.close()
        if worker.pid not in self._exits:
            with contextlib.suppress(ProcessLookupError):
                os.kill(worker.pid, signal.SIGKILL)

    def drop_busy(self) -> None:
        """End the workers that are running something."""
        for worker in list(self._busy):
            self.drop(worker)

    def exit_of(self, worker: Worker) -> str:
        """Say how a worker whose channel ended came to its end."""
        deadline = time.monotonic() + 1.0
        while worker.pid not in self._exits and time.monotonic() < deadline:
            try:
                self._read_control(0.05)
            except (EOFError, OSError):
                break  # the fork server is gone too
        code = self._exits.pop(worker.pid, None)
        self._busy.discard(worker)
        worker.channel.close()
        if code is None:
            return "for an unknown reason"
        if code >= 0:
            return f"with exit code {code}"
        try:
            return f"by signal {signal.Signals(-code).name}"
        except ValueError:
            return f"by signal {-code}"

    def close(self) -> None:
        """End all workers and the fork server, and wait until they are gone."""
        if os.getpid() != self._owner:
            return  # a forked copy: they belong to the parent
        for worker in [*self._idle, *self._busy]:
            worker.channel.close()
        self._idle.clear()
        self._busy.clear()
        self._exits.clear()
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._server is not None:
            try:
                self._server.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._server.kill()
                self._server.wait()
            self._server = None

    def _start_worker(self) -> Worker:
        failure: Exception | None = None
        for _ in range(_SERVER_ATTEMPTS):
            control = self._ensure_server()
            ours, theirs = Channel.pair()
            try:
                control.send(self._settings, [theirs.fileno()])
                return Worker(self._wait_for_fork(), ours)
            except (EOFError, OSError) as error:
                # It was killed just now; its workers are gone with it.
                failure = error
                ours.close()
                self.close()
            finally:
                theirs.close()
        msg = "the fork server of the worker processes ended; see its message above"
        raise XShardsWorkerError(msg) from failure

    def _ensure_server(self) -> Channel:
        if self._server is not None and self._server.poll() is not None:
            self.close()  # it was killed; its workers are gone with it
        if self._control is None:
            ours, theirs = Channel.pair()
            threads = str(self._settings.threads)
            environment = {**os.environ, **dict.fromkeys(_THREAD_VARIABLES, threads)}
            try:
                self._server = subprocess.Popen(
                    [
                        sys.executable,
                        "-c",
                        _START_CODE,
                        str(theirs.fileno()),
                        str(os.getpid()),
                        json.dumps(module_path()),
                    ],
                    stdin=subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                    # Ctrl-C in the terminal is for the parent, which stops workers.
                    start_new_session=True,
                    env=environment,
                )
            finally:
                theirs.close()
            self._control = ours
        return self._control

    def _wait_for_fork(self) -> int:
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            if pid := self._read_control(0.2):
                return pid
        msg = f"no worker process after {_START_SECONDS:.0f} s"
        raise XShardsWorkerError(msg)

    def _read_control(self, timeout: float) -> int | None:
        """Note exits; give the process id if a fork was reported."""
        if self._control is None:
            return None
        if not wait_readable([self._control], timeout):
            return None
        message, _ = self._control.receive()
        match message:
            case ("forked", pid):
                return int(pid)
            case ("exited", pid, code):
                self._exits[pid] = code
        return None


def module_path() -> list[str]:
    """Give the places modules are imported from, as another process must see them."""
    return [os.path.abspath(entry) for entry in sys.path]  # noqa: PTH100 - "" is here
