# SPDX-License-Identifier: Apache-2.0
"""Cores, memory and spill directory, and the default context of a session."""

from __future__ import annotations

import atexit
import os
import re
import threading
import weakref
from pathlib import Path
from typing import TYPE_CHECKING

from xshards import _core, profile
from xshards.errors import XShardsValueError
from xshards.runtime.dispatch import Dispatcher
from xshards.runtime.pool import WorkerPool
from xshards.runtime.stopped import check_timeout

if TYPE_CHECKING:
    from xshards.runtime.worker import Settings

__all__ = ["Context", "default_context", "init", "stop"]

_MOST_PROCESSES = 1 << 16
_UNITS = {
    "": 1,
    "b": 1,
    "k": 2**10,
    "m": 2**20,
    "g": 2**30,
    "t": 2**40,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "tb": 10**12,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
    "tib": 2**40,
}


class Context:
    """The cores, memory and spill directory that shards use.

    Most sessions need none: a default one is made on first use. See `init`.

    Parameters
    ----------
    cores, memory, spill_dir, progress, stopped_timeout
        See `init`.

    Examples
    --------
    >>> context = xs.Context(cores=1, memory="256MB")
    >>> len(xs.from_pandas(pd.DataFrame({"a": [1, 2]}), context=context))
    2
    >>> context.close()
    """

    #: Whether plans are optimized; not so in tests, to compare the results.
    _optimizes = True

    def __init__(
        self,
        *,
        cores: int | None = None,
        memory: int | str | None = None,
        spill_dir: str | os.PathLike[str] | None = None,
        progress: bool | None = None,
        stopped_timeout: float = 60.0,
    ) -> None:
        if cores is not None and cores < 1:
            msg = f"cores must be at least 1, got {cores}"
            raise XShardsValueError(msg)
        #: After how many seconds a stopped worker is replaced.
        self.stopped_timeout = check_timeout(stopped_timeout)
        self._owner = os.getpid()
        self._dispatcher = Dispatcher()
        #: Processes other than workers.
        self._pools: dict[Settings, WorkerPool] = {}
        self._core = _core.Context.make(
            cores or len(os.sched_getaffinity(0)),
            0 if memory is None else parse_memory(memory),
            "" if spill_dir is None else str(Path(spill_dir)),
            self._dispatcher,
            self._optimizes,
        )
        self._dispatcher.configure(
            self._core.cores,
            self._core.memory_bytes,
            self._core.spill_directory,
            self.stopped_timeout,
        )
        self.progress = progress
        #: Start time of the last action whose bad lines were reported.
        self.warned_of = 0
        _contexts.add(self)

    @property
    def cores(self) -> int:
        """How many threads, or worker processes, work at once.

        Examples
        --------
        >>> xs.Context(cores=2).cores
        2
        """
        return self._core.cores

    @property
    def memory(self) -> int:
        """The memory budget in bytes; data beyond it goes to the spill directory.

        Examples
        --------
        >>> xs.Context(memory="512MB").memory
        512000000
        """
        return self._core.memory_bytes

    @property
    def spill_dir(self) -> str:
        """The directory for data beyond the budget.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     xs.Context(spill_dir=directory).spill_dir == directory
        True
        """
        return self._core.spill_directory

    @property
    def used_memory(self) -> int:
        """The bytes in use now.

        Examples
        --------
        >>> xs.Context().used_memory
        0
        """
        return self._core.used_bytes

    @property
    def peak_memory(self) -> int:
        """The most bytes that were in use.

        Examples
        --------
        >>> xs.Context().peak_memory
        0
        """
        return self._core.peak_bytes

    def close(self) -> None:
        """End the worker processes. Shards of this context stay usable.

        Examples
        --------
        >>> context = xs.Context(cores=1)
        >>> context.close()
        """
        self._dispatcher.close()
        self._close_pools()

    def __del__(self) -> None:
        if hasattr(self, "_pools"):
            self._close_pools()

    def _close_pools(self) -> None:
        if os.getpid() == self._owner:  # those of a forked copy belong to the parent
            for pool in self._pools.values():
                pool.close()
        self._pools.clear()

    def _pool_for(self, settings: Settings) -> WorkerPool:
        """Return the pool of processes with these settings, to be used by one thread.

        It is kept, so that the next who asks need not wait for a fork server.
        """
        if settings not in self._pools:
            self._pools[settings] = WorkerPool(_MOST_PROCESSES, settings)
        return self._pools[settings]

    def __repr__(self) -> str:
        memory = profile.format_bytes(self.memory)
        return f"Context(cores={self.cores}, memory={memory!r})"


_lock = threading.Lock()  # guards _default
_default: Context | None = None
_contexts: weakref.WeakSet[Context] = weakref.WeakSet()


def init(
    *,
    cores: int | None = None,
    memory: int | str | None = None,
    spill_dir: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
    stopped_timeout: float = 60.0,
) -> Context:
    """Choose the resources of this session. Optional: the defaults suit most machines.

    Shards made before keep the context they were made with.

    Parameters
    ----------
    cores : int, optional
        Threads, and worker processes, that work at once; all there are by default.
    memory : int or str, optional
        The budget in bytes, or as ``"512MB"``, ``"2GB"``, ``"2GiB"`` (``"2g"`` is
        ``"2GiB"``); three fifths of the machine's by default. Data beyond is spilled.
    spill_dir : path, optional
        A directory for data beyond the budget; the system's temporary one by default.
    progress : bool, optional
        Whether actions over a second show a progress bar; by default if stderr is a
        terminal.
    stopped_timeout : float, default 60
        Seconds after which a worker process that was stopped (SIGSTOP) is replaced; a
        warning names it at once. ``math.inf`` for never.

    Returns
    -------
    Context

    Examples
    --------
    >>> xs.init(cores=2, memory="512MB")
    Context(cores=2, memory='512.0 MB')
    >>> xs.stop()
    """
    global _default
    context = Context(
        cores=cores,
        memory=memory,
        spill_dir=spill_dir,
        progress=progress,
        stopped_timeout=stopped_timeout,
    )
    with _lock:
        previous, _default = _default, context
    if previous is not None:
        previous.close()
    return context


def stop() -> None:
    """End the session's worker processes and forget its context. Safe to call twice.

    Examples
    --------
    >>> xs.stop()
    """
    global _default
    with _lock:
        previous, _default = _default, None
    profile.forget()
    if previous is not None:
        previous.close()


def default_context() -> Context:
    """Return the session's context, made on first use."""
    global _default
    with _lock:
        if _default is None:
            _default = Context()
        return _default


def parse_memory(memory: int | str) -> int:
    """Read an amount of memory: bytes, or a number and a unit."""
    if isinstance(memory, str):
        match = re.fullmatch(r"\s*([0-9.]+)\s*([a-zA-Z]*)\s*", memory)
        unit = _UNITS.get(match[2].lower()) if match else None
        try:
            amount = int(float(match[1]) * unit) if match and unit else 0
        except ValueError:
            amount = 0
    else:
        amount = int(memory)
    if amount <= 0:
        msg = (
            f"memory must be bytes or a text such as '512MB' or '2GiB', got {memory!r}"
        )
        raise XShardsValueError(msg)
    return amount


@atexit.register
def _close_all() -> None:
    # Daemon threads may still run plans: what these use is gone after this.
    _core.end_actions()
    stop()
    for context in list(_contexts):
        context.close()


def _forget_after_fork() -> None:
    # A forked child does not inherit the threads and workers of its parent.
    global _default, _lock
    _lock = threading.Lock()
    _default = None
    profile.forget()


os.register_at_fork(after_in_child=_forget_after_fork)
