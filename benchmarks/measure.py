# SPDX-License-Identifier: Apache-2.0
"""Measures the memory of a process and all it starts, and describes the machine."""

from __future__ import annotations

import contextlib
import os
import platform
import subprocess
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self


class MemoryWatch:
    """Samples the memory of a process tree until it is left.

    ``pss`` is the largest sum of proportional set sizes seen (from
    /proc/<pid>/smaps_rollup): memory that processes share counts once. ``total`` adds
    the pages of memfds that nobody has mapped just now, which no process's PSS shows.
    Both in bytes. Reading a large process's page tables takes its time and holds the
    process up, so the pauses grow with it.
    """

    def __init__(self, pid: int, interval: float = 0.02) -> None:
        self._process = psutil.Process(pid)
        self._interval = interval
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.pss = 0
        self.total = 0
        self.samples = 0
        self.history: list[tuple[float, int]] = []  # seconds, and `total` then

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join()
        self.sample()

    def sample(self) -> None:
        """Look once."""
        try:
            tree = [self._process, *self._process.children(recursive=True)]
        except psutil.NoSuchProcess:
            return
        pss = shared = 0
        segments: dict[tuple[int, int], int] = {}
        for process in tree:
            sizes = _smaps_rollup(process.pid)
            pss += sizes.get("Pss", 0)
            shared += sizes.get("Pss_Shmem", 0)
            segments |= _memfds(process.pid)
        unmapped = max(0, sum(segments.values()) - shared)
        self.pss = max(self.pss, pss)
        self.total = max(self.total, pss + unmapped)
        self.samples += 1
        self.history.append((time.monotonic(), pss + unmapped))

    def _watch(self) -> None:
        while not self._stop.is_set():
            start = time.monotonic()
            self.sample()
            took = time.monotonic() - start
            self._stop.wait(max(self._interval, 4 * took))


def _smaps_rollup(pid: int) -> dict[str, int]:
    """Read the sizes, in bytes; empty for a process that has ended."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return {}
    lines = (line.split() for line in text.splitlines()[1:])
    return {line[0].rstrip(":"): int(line[1]) * 1024 for line in lines}


def _memfds(pid: int) -> dict[tuple[int, int], int]:
    """Find the memfds a process has open: their identity and the bytes they hold."""
    found = {}
    with contextlib.suppress(OSError):
        for entry in os.scandir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                if Path(entry.path).readlink().as_posix().startswith("/memfd:"):
                    status = entry.stat()
                    found[status.st_dev, status.st_ino] = status.st_blocks * 512
    return found


def machine() -> dict[str, Any]:
    """Describe where the figures come from."""
    cpu = platform.processor()
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                cpu = line.partition(":")[2].strip()
                break
    return {
        "cpu": cpu,
        "cores": len(os.sched_getaffinity(0)),
        "memory_bytes": psutil.virtual_memory().total,
        "system": platform.platform(),
        "python": platform.python_version(),
    }


def load() -> float:
    """Return the load average of the last minute."""
    return round(os.getloadavg()[0], 2)


def commit() -> str:
    """Name the commit that is checked out, if any."""
    command = ["git", "describe", "--always", "--dirty"]
    done = subprocess.run(
        command,
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() or "unknown"
