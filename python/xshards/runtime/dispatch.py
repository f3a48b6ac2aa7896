# SPDX-License-Identifier: Apache-2.0
"""Hands the engine's fragments to worker processes."""

from __future__ import annotations

import contextlib
import os
import pickle
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator

import pyarrow as pa

from xshards.errors import XShardsWorkerError
from xshards.runtime.channel import wait_readable
from xshards.runtime.functions import load_error
from xshards.runtime.pool import Worker, WorkerPool, module_path
from xshards.runtime.request import Request
from xshards.runtime.worker import Settings

__all__ = ["Dispatcher"]

_SLICE_SECONDS = 0.05
_MAX_ATTEMPTS = 3
_KEPT_FUNCTIONS = 8

Segments = list[tuple[int, int, int]]
Encode = Callable[[int], tuple[pa.Buffer, Segments, dict[str, pa.Buffer]]]
Finish = Callable[[int, pa.Buffer, Segments], None]
StopRequested = Callable[[], bool]


class Dispatcher:
    """Runs the fragments of a stage on the workers of one context.

    The engine calls `run` from any thread; stages take turns.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()  # held by the stage that runs
        self._pool: WorkerPool | None = None
        self._size = 1
        self._settings = Settings(spill_directory="", memory_bytes=0, threads=1)

    def configure(self, cores: int, memory_bytes: int, spill_directory: str) -> None:
        """Say what the context has; workers share its cores and memory."""
        self._size = cores
        self._settings = Settings(
            spill_directory=spill_directory,
            memory_bytes=max(memory_bytes // cores, 1),
            threads=max(1, cores // self._size),
        )

    @property
    def pids(self) -> list[int]:
        """The worker processes there are."""
        return [] if self._pool is None else self._pool.pids

    def close(self) -> None:
        """End the workers; the next stage starts new ones."""
        with self._lock:
            if self._pool is not None:
                self._pool.close()
                self._pool = None

    def __del__(self) -> None:
        # The last shards of a context are gone, and nobody closed it.
        self.close()

    def run(
        self,
        count: int,
        encode: Encode,
        finish: Finish,
        stop_requested: StopRequested,
    ) -> None:
        """Run fragments 0 to `count` - 1; returns early if a stop is requested."""
        with self._turn(stop_requested) as pool:
            if pool is None:
                return
            try:
                stage = _Stage(pool, encode, finish, stop_requested)
                stage.run(range(count), call_on_empty=False)
                if count > 0 and len(stage.skipped) == count:
                    # No partition has rows: ask the function once for its columns.
                    stage.run([0], call_on_empty=True)
            finally:
                pool.drop_busy()

    @contextlib.contextmanager
    def _turn(self, stop_requested: StopRequested) -> Iterator[WorkerPool | None]:
        while not self._lock.acquire(timeout=_SLICE_SECONDS):
            if stop_requested():
                yield None
                return
        try:
            if self._pool is None:
                self._pool = WorkerPool(self._size, self._settings)
            yield self._pool
        finally:
            self._lock.release()


class _Stage:
    def __init__(
        self,
        pool: WorkerPool,
        encode: Encode,
        finish: Finish,
        stop_requested: StopRequested,
    ) -> None:
        self._pool = pool
        self._encode = encode
        self._finish = finish
        self._stop_requested = stop_requested
        self._surroundings = (os.getcwd(), module_path())  # noqa: PTH109
        self._attempts: dict[int, int] = {}
        self.skipped: set[int] = set()

    def run(self, fragments: Iterable[int], *, call_on_empty: bool) -> None:
        waiting = deque(fragments)
        running: dict[Worker, int] = {}
        while (waiting or running) and not self._stop_requested():
            while waiting and (worker := self._pool.take()) is not None:
                index = waiting.popleft()
                running[worker] = index
                self._send(worker, index, call_on_empty=call_on_empty)
            # Workers end with their fork server; their channels are closed by then.
            for worker in [worker for worker in running if worker.fileno() < 0]:
                waiting.appendleft(running.pop(worker))
            for worker in wait_readable(running, _SLICE_SECONDS):
                index = running.pop(worker)
                if self._receive(worker, index):
                    self._pool.give_back(worker)
                else:
                    self._note_death(worker, index)
                    waiting.appendleft(index)

    def _send(self, worker: Worker, index: int, *, call_on_empty: bool) -> None:
        fragment, segments, functions = self._encode(index)
        changed = worker.surroundings != self._surroundings
        # What a function closes over stays in the worker's memory while it is kept.
        forget = len(worker.functions) >= _KEPT_FUNCTIONS
        if forget:
            worker.functions.clear()
        request = Request(
            fragment=pickle.PickleBuffer(fragment),
            segments=[(kind, size) for kind, _, size in segments],
            functions={
                name: pickled.to_pybytes()
                for name, pickled in functions.items()
                if name not in worker.functions
            },
            forget=forget,
            surroundings=self._surroundings if changed else None,
            call_on_empty=call_on_empty,
        )
        # A worker that died while idle shows on the next receive.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            worker.channel.send(request, [descriptor for _, descriptor, _ in segments])
        worker.functions.update(functions)
        worker.surroundings = self._surroundings

    def _receive(self, worker: Worker, index: int) -> bool:
        """Take a fragment's result, or raise its error; False if the worker died."""
        try:
            reply, descriptors = worker.channel.receive()
        except EOFError:
            return False
        match reply:
            case ("done", content, kinds, skipped):
                segments = [
                    (kind, descriptor, size)
                    for (kind, size), descriptor in zip(kinds, descriptors, strict=True)
                ]
                self._finish(index, pa.py_buffer(content), segments)
                if skipped:
                    self.skipped.add(index)
                return True
            case ("error", pickled, text):
                # It may have failed before it took what was sent: send it all again.
                worker.functions.clear()
                worker.surroundings = None
                self._pool.give_back(worker)
                raise load_error(pickled, text, index)
        msg = f"a worker sent {reply!r}"
        raise XShardsWorkerError(msg)

    def _note_death(self, worker: Worker, index: int) -> None:
        how = self._pool.exit_of(worker)
        self._attempts[index] = self._attempts.get(index, 0) + 1
        if self._attempts[index] == _MAX_ATTEMPTS:
            msg = (
                f"the worker process that ran partition {index} ended {how}, "
                f"{_MAX_ATTEMPTS} times in a row; SIGKILL often means that the machine "
                "ran out of memory: try more partitions or fewer cores"
            )
            raise XShardsWorkerError(msg)
