# SPDX-License-Identifier: Apache-2.0
"""Runs the engine's stages on the workers of a context, one stage at a time."""

from __future__ import annotations

import contextlib
import os
import threading
from typing import TYPE_CHECKING

from xshards.errors import XShardsCancelledError
from xshards.runtime.calling import Caller
from xshards.runtime.functions import find_packed
from xshards.runtime.pool import WorkerPool
from xshards.runtime.stage import Stage
from xshards.runtime.worker import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from xshards.runtime.functions import Task
    from xshards.runtime.stage import Encode, Finish, LendBlank

__all__ = ["Dispatcher"]

_SLICE_SECONDS = 0.05


class Dispatcher:
    """Has the worker processes of one context, and runs stages on them.

    The engine calls `run` from any thread; stages take turns. `call` and
    `call_on_empty` are for functions that run on this process's threads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()  # held by the stage that runs
        self._closing = threading.Event()
        self._owner = os.getpid()
        self._pool: WorkerPool | None = None
        self._size = 1
        self._settings = Settings(spill_directory="", memory_bytes=0, threads=1)
        self.call = Caller(_task_here)
        self.call_on_empty = Caller(_task_here, call_on_empty=True)

    def configure(
        self,
        cores: int,
        memory_bytes: int,
        spill_directory: str,
        stopped_timeout: float,
    ) -> None:
        """Set the cores and memory that workers share."""
        self._size = cores
        self._settings = Settings(
            spill_directory=spill_directory,
            memory_bytes=max(memory_bytes // cores, 1),
            threads=max(1, cores // self._size),
            stopped_timeout=stopped_timeout,
        )

    @property
    def pids(self) -> list[int]:
        """The worker processes there are."""
        return [] if self._pool is None else self._pool.pids

    def close(self) -> None:
        """End the workers and the stage that runs; the next stage starts new ones."""
        if os.getpid() != self._owner:
            return  # a forked copy: they belong to the parent
        self._closing.set()
        with self._lock:
            self._closing.clear()
            if self._pool is not None:
                self._pool.close()
                self._pool = None

    def __del__(self) -> None:
        # The last shards of a context were deleted, but it was not closed.
        self.close()

    def run(
        self,
        sizes: Sequence[int],
        encode: Encode,
        lend_blank: LendBlank,
        finish: Finish,
        may_start: Callable[[], bool],
        stop_requested: Callable[[], bool],
    ) -> None:
        """Run one fragment for each of `sizes`, which are the bytes it reads.

        Returns early if a stop is requested.
        """

        def stopped() -> bool:
            if self._closing.is_set():
                msg = "the session was stopped while this ran"
                raise XShardsCancelledError(msg)
            return stop_requested()

        with self._turn(stopped) as pool:
            if pool is None:
                return
            with Stage(pool, encode, lend_blank, finish, may_start, stopped) as stage:
                # Largest first, so that none of them delays the end of the stage.
                order = sorted(range(len(sizes)), key=lambda i: (-sizes[i], i))
                stage.run(order, call_on_empty=False)
                if sizes and len(stage.skipped) == len(sizes):
                    # No partition has rows: call the function once for its columns.
                    stage.run([0], call_on_empty=True)

    @contextlib.contextmanager
    def _turn(self, stopped: Callable[[], bool]) -> Iterator[WorkerPool | None]:
        while not self._lock.acquire(timeout=_SLICE_SECONDS):
            if stopped():
                yield None
                return
        try:
            if self._pool is None:
                self._pool = WorkerPool(self._size, self._settings)
            yield self._pool
        finally:
            self._lock.release()


def _task_here(name: str) -> Task:
    packed = find_packed(name)
    assert packed is not None  # the running plan holds it
    assert packed.task is not None
    return packed.task
