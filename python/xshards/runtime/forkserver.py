# SPDX-License-Identifier: Apache-2.0
"""The process that makes workers.

It is started fresh, imports what workers need, and then only forks: it runs no thread
and no kernel, so its children start from a clean state in milliseconds.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import os
import pkgutil
import select
import signal
import socket
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from xshards.runtime import worker  # noqa: TC001 - workers are to have it
from xshards.runtime.channel import Channel
from xshards.runtime.processes import (
    adopt_orphans,
    children_of,
    end_children,
    kill,
    kill_group,
)

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["main", "spawned"]

_PR_SET_PDEATHSIG = 1
_LOOK_FOR_PARENT_SECONDS = 1.0
_END_SECONDS = 2.0
# The package itself imports these when they are used: here, once for all workers.
_FOR_FUNCTIONS = ("pandas", "pyarrow.compute")


def main() -> NoReturn:
    """Serve fork requests until the parent says so, closes its end or is gone.

    The arguments of the process are the descriptor of the control channel, the parent's
    process id, the modules to import beforehand, and the parent's module path.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    descriptor, parent = int(sys.argv[1]), int(sys.argv[2])
    for name in _FOR_FUNCTIONS:
        importlib.import_module(name)
    _preload(sys.argv[3].split(",") if sys.argv[3] else [])
    control = Channel(socket.socket(fileno=descriptor))
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    poll = select.poll()  # descriptors have the numbers they have in the parent
    poll.register(control.fileno(), select.POLLIN)
    poll.register(wake_read, select.POLLIN)
    gc.collect()
    gc.freeze()
    adopt_orphans()
    own = children_of(os.getpid())  # of modules that start a process when imported
    children: set[int] = set()
    with contextlib.suppress(EOFError, OSError):
        while os.getppid() == parent:
            ready = {end for end, _ in poll.poll(_LOOK_FOR_PARENT_SECONDS * 1000)}
            if wake_read in ready:
                os.read(wake_read, 4096)
                _report_exits(control, children)
                _end_orphans(children | own)
            if control.fileno() in ready:
                _fork(control, children, (wake_read, wake_write))
    for child in children:
        kill_group(child)
    end_children(_END_SECONDS)
    os._exit(0)


def spawned() -> NoReturn:
    """Be a worker that was not forked but started: the way where forking fails."""
    descriptor, parent = int(sys.argv[1]), int(sys.argv[2])
    output = [int(number) for number in sys.argv[3].split(",")]
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    adopt_orphans()
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    channel = Channel(socket.socket(fileno=descriptor))
    settings, _ = channel.receive()
    _enter(channel, settings, output)


def _enter(channel: Channel, settings: worker.Settings, output: list[int]) -> NoReturn:
    main: Callable[..., NoReturn] = pkgutil.resolve_name(settings.entry)
    main(channel, settings, output)


def _end_with(parent: int) -> NoReturn:
    # PR_SET_PDEATHSIG would act on the end of the thread that started this process.
    while os.getppid() == parent:
        time.sleep(_LOOK_FOR_PARENT_SECONDS)
    end_children(_END_SECONDS)
    kill_group(os.getpid())
    os._exit(1)


def _preload(modules: list[str]) -> None:
    for name in modules:
        with contextlib.suppress(Exception):  # the function will say what is wrong
            importlib.import_module(name)
        if _num_threads() > 1:
            # A thread does not survive a fork, and what it held stays locked: workers
            # import this one themselves.
            others = ",".join(other for other in modules if other != name)
            start = sys.orig_argv[: -len(sys.argv[1:])]
            arguments = [*sys.argv[1:3], others, *sys.argv[4:]]
            os.execv(sys.executable, [*start, *arguments])


def _num_threads() -> int:
    names = [path.read_text() for path in Path("/proc/self/task").glob("*/comm")]
    # The allocator's own threads stand still while it forks.
    return sum(not name.startswith("jemalloc") for name in names)


def _fork(control: Channel, children: set[int], wake: tuple[int, int]) -> None:
    settings, descriptors = control.receive()
    if settings is None:
        raise EOFError
    end, *output = descriptors
    server = os.getpid()
    child = os.fork()
    if child == 0:
        control.close()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for descriptor in wake:
            os.close(descriptor)
        _die_with(server)
        adopt_orphans()
        _enter(Channel(socket.socket(fileno=end)), settings, output)
    # What a function starts is in the worker's group, and ends with it.
    with contextlib.suppress(ProcessLookupError, PermissionError):  # dead already
        os.setpgid(child, child)
    for descriptor in descriptors:
        os.close(descriptor)
    children.add(child)
    control.send(("forked", child))


def _report_exits(control: Channel, children: set[int]) -> None:
    while True:
        try:
            child, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if child == 0:
            return
        if child in children:
            children.discard(child)
            kill_group(child)
            control.send(("exited", child, os.waitstatus_to_exitcode(status)))


def _end_orphans(known: set[int]) -> None:
    """End the processes that workers left; their own children are seen later."""
    for orphan in children_of(os.getpid()) - known:
        kill(orphan)


def _die_with(server: int) -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != server:
        os._exit(1)
