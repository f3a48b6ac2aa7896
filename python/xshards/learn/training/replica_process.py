# SPDX-License-Identifier: Apache-2.0
"""The process of a replica: receive what the driver asks, answer, end with it."""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from xshards.learn.training.commands import AddSource, DropSource, SetCallbacks, SetUp
from xshards.learn.training.replica import Replica
from xshards.learn.training.replica_optimizer import JobStoppedError
from xshards.runtime.functions import pack_error
from xshards.runtime.output import WorkerSide
from xshards.runtime.process_state import ProcessState, SpoiledError
from xshards.runtime.worker import settle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xshards.runtime.channel import Channel
    from xshards.runtime.worker import Settings

__all__ = ["main"]

# Of glibc's malloc.h.
_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
_MOST_KEPT = 1 << 30
# Ends a replica without a message: the driver knows, or replaces it.
_ENDS = (JobStoppedError, SpoiledError)


def main(channel: Channel, settings: Settings, output: Sequence[int]) -> NoReturn:
    """Run commands until the driver closes its end. Ends the process."""
    status = 0
    try:
        side = WorkerSide(output)
        faulthandler.enable()
        os.register_at_fork(after_in_child=channel.close)
        settle(settings)
        _keep_freed_memory()
        _serve(channel, settings, side)
    except (EOFError, BrokenPipeError, ConnectionResetError, *_ENDS):
        pass
    except BaseException:  # a forked child must never return
        sys.excepthook(*sys.exc_info())
        status = 1
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError, AttributeError):
                stream.flush()
        os._exit(status)


def _keep_freed_memory() -> None:
    """Have malloc keep what a step frees for the next, which needs the same again.

    It would give large tensors back to the system, and every step would wait for pages
    that are new and zeroed.
    """
    with contextlib.suppress(OSError, AttributeError):  # where libc has it
        set_option = ctypes.CDLL(None).mallopt
        set_option(_M_MMAP_THRESHOLD, _MOST_KEPT)
        set_option(_M_TRIM_THRESHOLD, _MOST_KEPT)


def _serve(channel: Channel, settings: Settings, side: WorkerSide) -> NoReturn:
    replica: Replica | None = None
    sources: dict[int, Any] = {}
    state = ProcessState()
    while True:
        command, descriptors = channel.receive()
        try:
            match command:
                case SetUp():
                    if replica is not None:
                        replica.close()
                    state.restore()
                    side.apply(command.surroundings.log_levels)
                    replica = Replica(command, descriptors, channel)
                case AddSource():
                    assert replica is not None
                    sources[command.number] = command.source.open(
                        replica.adapter, descriptors, settings
                    )
                case DropSource():
                    sources.pop(command.number, None)
                case SetCallbacks():
                    assert replica is not None
                    replica.set_callbacks(command)
                case _:
                    assert replica is not None
                    data = sources.get(getattr(command, "source", 0))
                    answer = replica.answer(command, data)
                    side.flush()
                    replica.tell("done", answer)
        except _ENDS:
            raise
        except BaseException as error:  # it belongs to the caller
            side.flush()
            message = ("error", *pack_error(error))
            if replica is None:
                channel.send(message)
            else:
                replica.tell(*message)
