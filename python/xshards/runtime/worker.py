# SPDX-License-Identifier: Apache-2.0
"""What a worker process does: run fragments, one after another."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import pickle
import random
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import numpy as np
import pyarrow as pa

from xshards import _core
from xshards.interop.field_metadata import join_session
from xshards.runtime import values
from xshards.runtime.assignment import claim
from xshards.runtime.calling import Caller
from xshards.runtime.functions import Task, pack_error
from xshards.runtime.output import WorkerSide
from xshards.runtime.process_state import ProcessState, SpoiledError
from xshards.runtime.shipping import set_up

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xshards.runtime.channel import Channel
    from xshards.runtime.request import Item, Request

__all__ = ["Settings", "main", "settle"]

# Results of fragments shorter than this are sent together.
_REPORT_SECONDS = 0.004
# When memory runs out, the kernel should kill workers rather than the driver.
_OUT_OF_MEMORY_SCORE = "500"

Segments = list[tuple[int, int, int]]
# Fragment, its result, whether it was skipped because it had no rows, and seconds.
Result = tuple[int, _core.EncodedResult, bool, float]


@dataclass(frozen=True)
class Settings:
    """The settings a worker starts with."""

    spill_directory: str
    memory_bytes: int
    threads: int
    #: What the process runs, as "module:function"; it never returns.
    entry: str = "xshards.runtime.worker:main"
    #: After how many seconds one that is stopped is replaced.
    stopped_timeout: float = 60.0


def main(channel: Channel, settings: Settings, output: Sequence[int]) -> NoReturn:
    """Run fragments until the other end is closed. Ends the process."""
    status = 0
    try:
        side = WorkerSide(output)
        faulthandler.enable()  # print the traceback on a crash
        _Worker(channel, settings, side).serve()
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass
    except BaseException:  # a forked child must never return
        sys.excepthook(*sys.exc_info())
        status = 1
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError, AttributeError):
                stream.flush()
        os._exit(status)


class _Worker:
    def __init__(self, channel: Channel, settings: Settings, side: WorkerSide) -> None:
        self._channel = channel
        self._side = side
        self._pid = os.getpid()
        self._tasks: dict[str, Task] = {}
        self._caller = Caller(
            lambda name: self._tasks[name],
            after_call=self._after_call,
            lend=lambda buffer: self._engine.lend(buffer),
        )
        self._engine = _core.FragmentWorker(
            settings.spill_directory, settings.memory_bytes, self._caller
        )
        os.register_at_fork(after_in_child=channel.close)
        settle(settings)
        self._state = ProcessState()

    def serve(self) -> None:
        while True:
            request, descriptors = self._channel.receive()
            claims, *rest = descriptors
            try:
                self._serve(request, claims, rest)
            except SpoiledError:
                self._channel.send(("spoiled",))
                return
            finally:
                os.close(claims)

    def _serve(self, request: Request, claims: int, descriptors: list[int]) -> None:
        index = request.items[0].index
        results = _Results(self._channel)
        left = [self._own_segments(item, descriptors) for item in request.items]
        try:
            self._prepare(request, descriptors)
            for item in request.items:
                if not claim(claims):
                    break  # the parent has taken the rest back
                index = item.index
                results.add(self._run(item, left.pop(0)))
                self._state.check()
        except SpoiledError:
            results.send()
            raise
        except BaseException as error:  # it belongs to the caller
            results.send()
            self._channel.send(("error", index, *pack_error(error)))
        else:
            results.send()
        for segments in left:
            for _, descriptor, _ in segments:
                os.close(descriptor)

    def _own_segments(self, item: Item, descriptors: list[int]) -> Segments:
        own = [
            (kind, descriptor, size)
            for (kind, size), descriptor in zip(
                item.segments, descriptors, strict=False
            )
        ]
        del descriptors[: len(own)]
        return own

    def _prepare(self, request: Request, descriptors: list[int]) -> None:
        if request.forget:
            self._tasks.clear()
            values.detach_all()
        for (name, size), descriptor in zip(request.values, descriptors, strict=True):
            values.attach(name, descriptor, size)
        self._caller.call_on_empty = request.call_on_empty
        if request.surroundings is not None:
            self._state.restore()
            os.chdir(request.surroundings.directory)
            sys.path[:] = request.surroundings.module_path
            self._side.apply(request.surroundings.log_levels)
            set_up(request.surroundings.setup)
        for name, pickled in request.functions.items():
            self._tasks[name] = pickle.loads(pickled)
            join_session(self._tasks[name].session)

    def _run(self, item: Item, segments: Segments) -> Result:
        begin = time.perf_counter()
        self._caller.skipped = False
        try:
            result = self._engine.run(pa.py_buffer(item.fragment), segments)
        finally:
            self._side.flush()
        seconds = time.perf_counter() - begin
        return item.index, result, self._caller.skipped, seconds

    def _after_call(self) -> None:
        if os.getpid() != self._pid:
            # The function forked, and this is its child: its work ends here.
            self._side.flush()
            os._exit(0)
        self._side.restore()
        self._state.restore_limits()


class _Results:
    """Results on their way to the parent, short ones together."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._kept: list[Result] = []
        self._sent_at = time.perf_counter()

    def add(self, result: Result) -> None:
        self._kept.append(result)
        if time.perf_counter() - self._sent_at > _REPORT_SECONDS:
            self.send()

    def send(self) -> None:
        if not self._kept:
            return
        message, descriptors = [], []
        for index, result, skipped, seconds in self._kept:
            kinds = [(kind, size) for kind, _, size in result.segments]
            descriptors += [descriptor for _, descriptor, _ in result.segments]
            content = pickle.PickleBuffer(result.bytes)
            message.append((index, content, kinds, skipped, seconds))
        self._channel.send(("done", message), descriptors)
        self._kept.clear()
        self._sent_at = time.perf_counter()


def settle(settings: Settings) -> None:
    """Make this process the worker it is, not a copy of the fork server."""
    pa.set_cpu_count(settings.threads)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(settings.threads)
    # Workers are forks of one process: without this they draw the same random numbers.
    random.seed()
    np.random.seed()  # noqa: NPY002 - functions may use the global generator
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(_OUT_OF_MEMORY_SCORE)
