# SPDX-License-Identifier: Apache-2.0
"""Processes that were stopped by a signal: they neither work nor end."""

from __future__ import annotations

import math
import time
import warnings
from pathlib import Path

from xshards.errors import XShardsValueError
from xshards.runtime.processes import kill, kill_group

__all__ = ["StoppedWatch", "check_timeout"]

_LOOK_SECONDS = 0.5
# Longer between two looks: this process was stopped itself.
_LONGEST_LOOK_SECONDS = 5.0


class StoppedWatch:
    """Reports stopped processes, and ends them after a time.

    The end shows as any other death, so whoever waits for them needs no more than
    that. Used by one thread at a time.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._looked_at = time.monotonic()
        self._stopped: dict[int, float] = {}  # for how long each has been seen so

    @property
    def due(self) -> bool:
        """Whether it is time to look again."""
        return time.monotonic() >= self._looked_at + _LOOK_SECONDS

    def look(self, processes: dict[int, str]) -> None:
        """Look at processes, given with their names, if it is time."""
        if not self.due:
            return
        now = time.monotonic()
        passed, self._looked_at = now - self._looked_at, now
        found = {pid for pid in processes if _is_stopped(pid)}
        self._stopped = {
            pid: seconds for pid, seconds in self._stopped.items() if pid in found
        }
        for pid in sorted(found):
            if pid not in self._stopped:
                self._stopped[pid] = 0.0
                self._warn(pid, processes[pid])
            else:
                self._stopped[pid] += min(passed, _LONGEST_LOOK_SECONDS)
            if self._stopped[pid] >= self._seconds:
                kill_group(pid)
                kill(pid)

    def _warn(self, pid: int, name: str) -> None:
        what = (
            "it stays so"
            if math.isinf(self._seconds)
            else f"it is replaced after {self._seconds:g} s"
        )
        msg = (
            f"{name} (process {pid}) is stopped (SIGSTOP) and holds up this job; "
            f"{what}, unless it goes on (kill -CONT {pid}); see stopped_timeout"
        )
        warnings.warn(msg, RuntimeWarning, stacklevel=2)


def check_timeout(seconds: float) -> float:
    """Return a time in seconds as the watch needs it."""
    if isinstance(seconds, int | float) and seconds > 0:
        return float(seconds)
    msg = f"stopped_timeout must be a positive number of seconds, got {seconds!r}"
    raise XShardsValueError(msg)


def _is_stopped(pid: int) -> bool:
    """Whether a process was stopped by a signal; not by a debugger, who goes on."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] == "T"
