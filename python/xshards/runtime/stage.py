# SPDX-License-Identifier: Apache-2.0
"""One stage: which fragment runs on which worker, and when."""

from __future__ import annotations

import contextlib
import itertools
import os
import pickle
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from weakref import ref

import pyarrow as pa

from xshards.errors import XShardsWorkerError
from xshards.runtime.assignment import Assignment
from xshards.runtime.channel import wait_readable
from xshards.runtime.functions import find_packed, load_error
from xshards.runtime.output import log_levels
from xshards.runtime.pool import Worker, WorkerPool
from xshards.runtime.request import Item, Request, Surroundings
from xshards.runtime.server import module_path
from xshards.runtime.shipping import worker_setup

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType
    from typing import Self

    from xshards.runtime.output import OutputEnd
    from xshards.runtime.values import SharedSegment

__all__ = ["Encode", "Finish", "LendBlank", "Stage"]

_SLICE_SECONDS = 0.05
_MAX_ATTEMPTS = 3
_KEPT_FUNCTIONS = 8
# A message has work for about this long, and at most this many fragments.
_MESSAGE_SECONDS = 0.004
_MESSAGE_FRAGMENTS = 64
_MESSAGE_DESCRIPTORS = 200
# A message that waits in a worker's socket must fit there, or sending it would block.
_QUEUED_BYTES = 1 << 15
_jobs = itertools.count(1)
_SEND_ERRORS = (BrokenPipeError, ConnectionResetError)

Segments = list[tuple[int, int, int]]
Encoded = tuple[pa.Buffer, Segments, dict[str, pa.Buffer]]
Encode = Callable[[int], Encoded]
LendBlank = Callable[[int, int], tuple[int, int, int] | None]
Finish = Callable[[int, int, pa.Buffer, Segments], None]


class Stage:
    """Gives fragments to workers until each has one result.

    A worker has at most two messages: the one it works on, and the next, so that it
    never waits for this process. A message holds as many fragments as take a few
    milliseconds. A worker that has nothing left gets what others have not begun, so
    a slow fragment holds up none but itself.
    """

    def __init__(
        self,
        pool: WorkerPool,
        encode: Encode,
        lend_blank: LendBlank,
        finish: Finish,
        may_start: Callable[[], bool],
        stop_requested: Callable[[], bool],
    ) -> None:
        self._pool = pool
        self._encode = encode
        self._lend_blank = lend_blank
        self._finish = finish
        self._may_start = may_start
        self._stop_requested = stop_requested
        self._surroundings = Surroundings(
            next(_jobs),
            os.getcwd(),  # noqa: PTH109
            tuple(module_path()),
            log_levels(),
            tuple(worker_setup),
        )
        self._waiting: deque[int] = deque()
        self._workers: list[Worker] = []  # busy workers
        self._encoded: dict[int, Encoded] = {}  # encoded but not sent
        self._seconds: float | None = None  # seconds per fragment, recently
        self._deaths: dict[int, int] = {}
        self._early_deaths = 0  # deaths of workers that had not begun any fragment
        self._call_on_empty = False
        self.skipped: set[int] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for worker in self._workers:
            for assignment in worker.queue:
                assignment.take_back()
            busy = any(worker.queue)
            self._close_queue(worker)
            if worker.lost:
                continue
            if busy:
                self._pool.drop(worker)
            else:
                self._pool.give_back(worker)
        self._workers.clear()
        self._pool.drain_output()

    def run(self, fragments: Iterable[int], *, call_on_empty: bool) -> None:
        """Run fragments, beginning with the first; returns early on a stop request."""
        self._waiting.extend(fragments)
        self._call_on_empty = call_on_empty
        if self._waiting:
            _, _, functions = self._look_at(self._waiting[0])
            self._pool.prepare(memoryview(pickled) for pickled in functions.values())
        while (self._waiting or self._workers) and not self._stop_requested():
            self._hand_out()
            self._collect_lost()
            self._pool.end_stopped()
            watched: list[Worker | OutputEnd] = [*self._workers]
            watched += self._pool.output_ends()
            for end in wait_readable(watched, _SLICE_SECONDS):
                if isinstance(end, Worker):
                    self._receive(end)
                else:
                    end.pass_on()

    def _hand_out(self) -> None:
        """Send every worker work, and the message to run after it."""
        while self._may_begin():
            if not self._waiting:
                self._waiting.extend(self._take_from_others())
            worker = self._pool.take() if self._waiting else None
            if worker is None:
                break
            self._workers.append(worker)
            self._send(worker)
        for worker in self._workers:
            queueable = len(worker.queue) < 2 and not worker.lost
            if self._waiting and queueable and self._may_begin():
                self._send(worker)

    def _may_begin(self) -> bool:
        """Reserve memory for another fragment; if nothing runs, one always may run."""
        return not self._workers or self._may_start()

    def _take_from_others(self) -> list[int]:
        """Take back half of what the worker with the most to do has not begun.

        It keeps one: what was just sent must not go round between idle workers.
        """
        if not self._pool.has_room:
            return []
        for worker in sorted(self._workers, key=lambda w: -sum(map(len, w.queue))):
            to_do = sum(map(len, worker.queue))
            if to_do > 1 and (taken := worker.queue[-1].take_back(to_do // 2)):
                self._close_done(worker)
                return taken
        return []

    def _send(self, worker: Worker) -> None:
        """Send a worker its next message, unless it would not fit in its socket."""
        forget = _must_forget(worker)
        if forget:
            worker.functions.clear()
            worker.values.clear()
        fragments, functions = self._next_message(worker)
        if not fragments:
            return
        encoded = [self._encoded.pop(index) for index in fragments]
        for index, (_, segments, _) in zip(fragments, encoded, strict=True):
            if blank := self._lend_blank(index, worker.pid):
                segments.append(blank)
        values = [v for v in _values_of(functions) if v.name not in worker.values]
        items = [
            Item(index, pickle.PickleBuffer(content), _without_descriptors(segments))
            for index, (content, segments, _) in zip(fragments, encoded, strict=True)
        ]
        request = Request(
            items=items,
            functions={
                name: pickle.PickleBuffer(pickled)
                for name, pickled in functions.items()
            },
            values=[(value.name, value.size) for value in values],
            forget=forget,
            surroundings=None
            if worker.surroundings == self._surroundings
            else self._surroundings,
            call_on_empty=self._call_on_empty,
        )
        assignment = Assignment(fragments)
        worker.queue.append(assignment)
        worker.functions.update(functions)
        worker.values.update({value.name: ref(value) for value in values})
        worker.surroundings = self._surroundings
        descriptors = [assignment.fileno()]
        for _, segments, _ in encoded:
            descriptors += [descriptor for _, descriptor, _ in segments]
        descriptors += [value.fileno() for value in values]
        # A worker that died while idle is detected on the next receive.
        with contextlib.suppress(*_SEND_ERRORS):
            worker.channel.send(request, descriptors)

    def _next_message(self, worker: Worker) -> tuple[list[int], dict[str, pa.Buffer]]:
        """Choose fragments for a message, and the functions it must bring."""
        queued = len(worker.queue) > 0
        wanted = self._message_length()
        fragments: list[int] = []
        functions: dict[str, pa.Buffer] = {}
        num_bytes = num_descriptors = 0
        while self._waiting and len(fragments) < wanted:
            content, segments, needed = self._look_at(self._waiting[0])
            new = {n: f for n, f in needed.items() if n not in worker.functions}
            num_bytes += content.size
            num_descriptors += len(segments)
            if queued and (new or num_bytes > _QUEUED_BYTES):
                break
            if fragments and num_descriptors > _MESSAGE_DESCRIPTORS:
                break
            functions.update(new)
            fragments.append(self._waiting.popleft())
        return fragments, functions

    def _message_length(self) -> int:
        if self._seconds is None:
            return 1
        by_time = int(_MESSAGE_SECONDS / max(self._seconds, 1e-6))
        # A fair share, so that the last ones are spread over all workers.
        share = -(-len(self._waiting) // (2 * max(len(self._workers), 1)))
        return max(1, min(by_time, share, _MESSAGE_FRAGMENTS))

    def _look_at(self, index: int) -> Encoded:
        if index not in self._encoded:
            self._encoded[index] = self._encode(index)
        return self._encoded[index]

    def _receive(self, worker: Worker) -> None:
        """Take a worker's results, or raise its error, or note its death."""
        try:
            reply, descriptors = worker.channel.receive()
        except EOFError:
            self._note_death(worker)
            return
        match reply:
            case ("done", results):
                for result in results:
                    self._take(worker, result, descriptors)
                self._close_done(worker)
            case ("error", index, pickled, text):
                # It may have failed before it received everything: send it all again.
                worker.functions.clear()
                worker.values.clear()
                worker.surroundings = None
                self._report(worker, index)
                raise load_error(pickled, text, f"partition {index}")
            case ("spoiled",):
                self._pool.drop(worker)
                self._recover(worker)

    def _take(
        self,
        worker: Worker,
        result: tuple[int, Any, list[tuple[int, int]], bool, float],
        descriptors: list[int],
    ) -> None:
        index, content, kinds, skipped, seconds = result
        segments = [
            (kind, descriptor, size)
            for (kind, size), descriptor in zip(kinds, descriptors, strict=False)
        ]
        del descriptors[: len(kinds)]
        self._report(worker, index)
        self._finish(index, worker.pid, pa.py_buffer(content), segments)
        if skipped:
            self.skipped.add(index)
        before = seconds if self._seconds is None else self._seconds
        self._seconds = 0.8 * before + 0.2 * seconds
        self._early_deaths = 0

    def _report(self, worker: Worker, index: int) -> None:
        for assignment in worker.queue:
            if index in assignment:
                assignment.report(index)

    def _close_done(self, worker: Worker) -> None:
        """Drop assignments that are done; the worker is idle if none is left."""
        for assignment in [a for a in worker.queue if len(a) == 0]:
            assignment.close()
            worker.queue.remove(assignment)
        if not worker.queue:
            self._workers.remove(worker)
            self._pool.give_back(worker)

    def _close_queue(self, worker: Worker) -> None:
        for assignment in worker.queue:
            assignment.close()
        worker.queue.clear()

    def _collect_lost(self) -> None:
        """Take back what workers had that ended with their fork server."""
        for worker in [worker for worker in self._workers if worker.lost]:
            self._recover(worker)

    def _note_death(self, worker: Worker) -> None:
        how = self._pool.end_of(worker)
        culprit = self._recover(worker)
        if culprit is None:
            self._early_deaths += 1
            if self._early_deaths < _MAX_ATTEMPTS:
                return
            msg = (
                f"a worker process ended {how} before it began any work, "
                f"{_MAX_ATTEMPTS} times in a row; see its message above"
            )
            raise XShardsWorkerError(msg)
        self._deaths[culprit] = self._deaths.get(culprit, 0) + 1
        if self._deaths[culprit] == _MAX_ATTEMPTS:
            _, _, functions = self._look_at(culprit)
            names = [task.name for name in functions if (task := find_packed(name))]
            msg = (
                f"the worker process that ran {', '.join(names)} on partition "
                f"{culprit} ended {how}, {_MAX_ATTEMPTS} times in a row; SIGKILL often "
                "means that the machine ran out of memory: try more partitions or "
                "fewer cores"
            )
            raise XShardsWorkerError(msg)

    def _recover(self, worker: Worker) -> int | None:
        """Take back a dead worker's fragments; returns the one that was running."""
        culprit = None
        lost: list[int] = []
        for assignment in worker.queue:
            fragments, running = assignment.end()
            lost += fragments
            culprit = running if running is not None else culprit
        worker.queue.clear()
        self._workers.remove(worker)
        self._waiting.extendleft(reversed(lost))
        return culprit


def _must_forget(worker: Worker) -> bool:
    # Objects that a function closes over stay in the worker's memory while it is kept.
    if worker.queue:
        return False
    values = [value() for value in worker.values.values()]
    given_up = any(value is None or value.closed for value in values)
    return given_up or len(worker.functions) >= _KEPT_FUNCTIONS


def _without_descriptors(segments: Segments) -> list[tuple[int, int]]:
    return [(kind, size) for kind, _, size in segments]


def _values_of(functions: Iterable[str]) -> list[SharedSegment]:
    """Return the shared values that functions use."""
    values: dict[str, SharedSegment] = {}
    for task in filter(None, map(find_packed, functions)):
        if any(value.closed for value in task.segments):
            msg = f"{task.name} uses a SharedValue that was unpersisted"
            raise XShardsWorkerError(msg)
        values |= {value.name: value for value in task.segments}
    return list(values.values())
