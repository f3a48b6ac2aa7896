# SPDX-License-Identifier: Apache-2.0
"""The process that makes workers.

It is started fresh, imports what workers need, and then only forks: it runs no thread
and no kernel, so its children start from a clean state in milliseconds.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import select
import signal
import socket
import sys
from typing import NoReturn

from xshards.runtime import worker
from xshards.runtime.channel import Channel

__all__ = ["main"]

_PR_SET_PDEATHSIG = 1
_LOOK_FOR_PARENT_SECONDS = 1.0


def main(descriptor: int, parent: int) -> NoReturn:
    """Serve fork requests until the parent closes its end or is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    control = Channel(socket.socket(fileno=descriptor))
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    gc.collect()
    gc.freeze()
    children: set[int] = set()
    with contextlib.suppress(EOFError, OSError):
        while os.getppid() == parent:
            watched = [control.fileno(), wake_read]
            ready, _, _ = select.select(watched, [], [], _LOOK_FOR_PARENT_SECONDS)
            if wake_read in ready:
                os.read(wake_read, 4096)
                _report_exits(control, children)
            if control.fileno() in ready:
                _fork(control, children, (wake_read, wake_write))
    for child in children:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    for child in children:
        os.waitpid(child, 0)
    os._exit(0)


def _fork(control: Channel, children: set[int], wake: tuple[int, int]) -> None:
    settings, (end,) = control.receive()
    server = os.getpid()
    child = os.fork()
    if child == 0:
        control.close()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for descriptor in wake:
            os.close(descriptor)
        _die_with(server)
        worker.main(Channel(socket.socket(fileno=end)), settings)
    os.close(end)
    children.add(child)
    control.send(("forked", child))


def _report_exits(control: Channel, children: set[int]) -> None:
    while children:
        child, status = os.waitpid(-1, os.WNOHANG)
        if child == 0:
            return
        children.discard(child)
        control.send(("exited", child, os.waitstatus_to_exitcode(status)))


def _die_with(server: int) -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != server:
        sys.exit(1)
