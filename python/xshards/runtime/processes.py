# SPDX-License-Identifier: Apache-2.0
"""Processes of this machine: who started them, and their end.

A worker leads a process group, which ends with it. What left the group, by setsid, is
found in two ways. Fork server and workers are subreapers: a process whose parent ended
becomes the child of its worker, and after the worker's end the fork server's, which
kills it. If no process is left to inherit it, it is found by the mark in its
environment.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "MARK",
    "adopt_orphans",
    "children_of",
    "end_children",
    "end_marked",
    "kill",
    "kill_group",
    "wait_until_gone",
]

#: The variable that holds the marks of the processes between the session and this one.
MARK = "XSHARDS_PROCESS"
_PR_SET_CHILD_SUBREAPER = 36
# How long a parent may take to reap a process that has ended.
_REAP_SECONDS = 1.0
# During exec a process has no environment.
_EXEC_SECONDS = 0.02
# How often to look for processes that keep starting others.
_MOST_ROUNDS = 20


def kill(pid: int) -> None:
    """End a process that may have ended already."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


def kill_group(leader: int) -> None:
    """End a worker and the processes that functions started in its group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def wait_until_gone(pid: int, seconds: float) -> None:
    """Wait until a process that was killed has ended, and a little for its parent."""
    try:
        process = os.pidfd_open(pid)
    except OSError:
        return
    try:
        poll = select.poll()
        poll.register(process, select.POLLIN)
        poll.poll(seconds * 1000)
    finally:
        os.close(process)
    # The init process of a container may not reap the processes it inherits.
    deadline = time.monotonic() + _REAP_SECONDS
    while time.monotonic() < deadline and Path(f"/proc/{pid}").exists():
        time.sleep(0.005)


def adopt_orphans() -> None:
    """Become the parent of descendants whose parents end."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)


def children_of(pid: int) -> set[int]:
    """Return the children of a process."""
    children: set[int] = set()
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):  # a thread that has just ended
            children.update(map(int, task.read_text().split()))
    return children


def end_children(seconds: float) -> None:
    """End all children of this process, and those it inherits by that."""
    deadline = time.monotonic() + seconds
    while (children := children_of(os.getpid())) and time.monotonic() < deadline:
        for child in children:
            kill(child)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.001)


def end_marked(mark: str) -> None:
    """End all processes whose environment has a mark, but this one."""
    unseen = 0
    for _ in range(_MOST_ROUNDS):
        found = list(_marked(mark))
        unseen = 0 if found else unseen + 1
        if unseen == 2:
            return
        if not found:
            time.sleep(_EXEC_SECONDS)
        for pid in found:
            kill(pid)
        for pid in found:
            wait_until_gone(pid, _REAP_SECONDS)


def _marked(mark: str) -> Iterator[int]:
    name, wanted = f"{MARK}=".encode(), mark.encode()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        # Those of other users cannot be read; zombies have none.
        with contextlib.suppress(OSError):
            variables = (entry / "environ").read_bytes().split(b"\0")
            if any(one.startswith(name) and wanted in one for one in variables):
                yield int(entry.name)
