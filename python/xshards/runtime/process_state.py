# SPDX-License-Identifier: Apache-2.0
"""What functions can do to the process they run in, and how it is undone."""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import locale
import os
import resource
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ProcessState", "SpoiledError"]

_TIMERS = (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)
_LIMITS = sorted(
    {value for name, value in vars(resource).items() if name.startswith("RLIMIT_")}
)


class SpoiledError(BaseException):
    """A function did to its process what cannot be undone; the process is replaced."""


class ProcessState:
    """The state of a worker process before the first function ran in it.

    Used by the main thread, but for `restore_limits`. The module path and the current
    folder are not part of it: those of the session are taken over by every job.
    """

    def __init__(self) -> None:
        self._limits = [resource.getrlimit(number) for number in _LIMITS]
        self._niceness = os.getpriority(os.PRIO_PROCESS, 0)
        self._environment = dict(os.environ)
        self._handlers = dict(_handlers())
        self._blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())
        self._cores = os.sched_getaffinity(0)
        self._mask = _file_mask()
        self._recursion = sys.getrecursionlimit()
        self._collects = gc.isenabled()
        self._locale = locale.setlocale(locale.LC_ALL)
        self._identity = _identity()
        self._spoiled = ""

    def restore_limits(self) -> None:
        """Undo what a call did to resource limits; cheap if it did nothing.

        Its result needs memory, files and descriptors, and so does the next request.
        """
        for number, (soft, hard) in zip(_LIMITS, self._limits, strict=True):
            if resource.getrlimit(number) == (soft, hard):
                continue
            try:
                resource.setrlimit(number, (soft, hard))
            except (OSError, ValueError) as error:
                self._spoiled = f"resource limit {number} is lowered for good: {error}"
                most = resource.getrlimit(number)[1]
                resource.setrlimit(number, (most, most))

    def check(self) -> None:
        """Raise SpoiledError if something could not be undone."""
        if self._spoiled:
            raise SpoiledError(self._spoiled)

    def restore(self) -> None:
        """Undo what functions did, before another job begins.

        SpoiledError if it cannot be undone.
        """
        self.restore_limits()
        self.check()
        try:
            self._restore_process()
        except (OSError, ValueError) as error:
            raise SpoiledError(str(error)) from error
        if _identity() != self._identity:
            msg = "a function changed the user or the root of its process"
            raise SpoiledError(msg)
        self._restore_interpreter()
        self._restore_signals()

    def _restore_process(self) -> None:
        os.umask(self._mask)
        if os.sched_getaffinity(0) != self._cores:
            os.sched_setaffinity(0, self._cores)
        if os.getpriority(os.PRIO_PROCESS, 0) != self._niceness:
            os.setpriority(os.PRIO_PROCESS, 0, self._niceness)

    def _restore_interpreter(self) -> None:
        if dict(os.environ) != self._environment:
            os.environ.clear()
            os.environ.update(self._environment)
            time.tzset()
        sys.setrecursionlimit(self._recursion)
        if self._collects != gc.isenabled():
            (gc.enable if self._collects else gc.disable)()
        if locale.setlocale(locale.LC_ALL) != self._locale:
            locale.setlocale(locale.LC_ALL, self._locale)

    def _restore_signals(self) -> None:
        for timer in _TIMERS:
            signal.setitimer(timer, 0)
        changed = [
            (number, handler)
            for number, handler in _handlers()
            if handler != self._handlers[number]
        ]
        for number, _ in changed:
            wanted = self._handlers[number]
            # None is a handler that is not Python's: that of faulthandler.
            signal.signal(number, signal.SIG_DFL if wanted is None else wanted)
        if any(self._handlers[number] is None for number, _ in changed):
            faulthandler.disable()
            faulthandler.enable()
        signal.pthread_sigmask(signal.SIG_SETMASK, self._blocked)


def _handlers() -> Iterator[tuple[int, Any]]:
    for number in signal.valid_signals():
        with contextlib.suppress(ValueError):
            yield number, signal.getsignal(number)


def _file_mask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _identity() -> tuple[object, ...]:
    root = Path("/").stat()
    users = os.getresuid(), os.getresgid(), sorted(os.getgroups())
    return (*users, root.st_dev, root.st_ino)
