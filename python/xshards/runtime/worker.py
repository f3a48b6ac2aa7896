# SPDX-License-Identifier: Apache-2.0
"""What a worker process does: run fragments, one after another."""

from __future__ import annotations

import os
import pickle
import random
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

import numpy as np
import pyarrow as pa

from xshards import _core
from xshards.runtime import convert
from xshards.runtime.functions import Task, pack_error

if TYPE_CHECKING:
    from xshards.runtime.channel import Channel
    from xshards.runtime.request import Request

__all__ = ["Settings", "main"]


@dataclass(frozen=True)
class Settings:
    """What a worker is told when it starts."""

    spill_directory: str
    memory_bytes: int
    threads: int


def main(channel: Channel, settings: Settings) -> NoReturn:
    """Run fragments until the other end is closed."""
    status = 0
    try:
        _Worker(settings).serve(channel)
    except (EOFError, BrokenPipeError):
        pass
    except BaseException:  # a forked child must never return
        sys.excepthook(*sys.exc_info())
        status = 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


class _Worker:
    def __init__(self, settings: Settings) -> None:
        pa.set_cpu_count(settings.threads)
        # Workers are copies of one process: without this they draw the same numbers.
        random.seed()
        np.random.seed()  # noqa: NPY002 - functions may use the global generator
        self._engine = _core.FragmentWorker(
            settings.spill_directory, settings.memory_bytes, self._call
        )
        self._tasks: dict[str, Task] = {}
        self._call_on_empty = False
        self._skipped = False

    def serve(self, channel: Channel) -> None:
        while True:
            request, descriptors = channel.receive()
            segments = [
                (kind, descriptor, size)
                for (kind, size), descriptor in zip(
                    request.segments, descriptors, strict=True
                )
            ]
            self._answer(channel, request, segments)

    def _answer(
        self, channel: Channel, request: Request, segments: list[tuple[int, int, int]]
    ) -> None:
        try:
            self._prepare(request)
            result = self._engine.run(pa.py_buffer(request.fragment), segments)
        except BaseException as error:  # it belongs to the caller
            channel.send(("error", *pack_error(error)))
            return
        finally:
            sys.stdout.flush()
        kinds = [(kind, size) for kind, _, size in result.segments]
        content = pickle.PickleBuffer(result.bytes)
        descriptors = [descriptor for _, descriptor, _ in result.segments]
        channel.send(("done", content, kinds, self._skipped), descriptors)

    def _prepare(self, request: Request) -> None:
        self._call_on_empty = request.call_on_empty
        self._skipped = False
        if request.surroundings is not None:
            directory, path = request.surroundings
            os.chdir(directory)
            sys.path[:] = path
        if request.forget:
            self._tasks.clear()
        for name, pickled in request.functions.items():
            self._tasks[name] = pickle.loads(pickled)

    def _call(
        self, name: str, form: str, partition: int, inputs: list[list[_core.Payload]]
    ) -> list[_core.Payload]:
        task = self._tasks[name]
        if task.by_payloads:
            results = task.function(partition, *inputs, *task.args, **task.kwargs)
            return list(results)
        # All before the first call: two payloads may show the same memory.
        values = []
        for payload in inputs[0]:
            if (
                payload.kind == "Table"
                and payload.num_rows == 0
                and not self._call_on_empty
            ):
                self._skipped = True
                continue
            values.append(
                convert.to_value(payload, form, task.info, lend=self._engine.lend)
            )
        inputs.clear()
        results = []
        while values:
            result = task.function(values.pop(0), *task.args, **task.kwargs)
            results.append(convert.to_payload(result, task.info))
        return results
