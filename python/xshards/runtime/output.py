# SPDX-License-Identifier: Apache-2.0
"""Forwarding of what functions print and log from workers to the driver."""

from __future__ import annotations

import contextlib
import logging
import os
import pickle
import socket
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TextIO

__all__ = ["OutputEnd", "WorkerOutput", "WorkerSide", "log_levels"]

_CHUNK = 1 << 16
# A longer line is forwarded in parts, so that no line fills the memory.
_LONGEST_LINE = 1 << 15
# A worker that never stops printing must not delay the end of a stage.
_DRAINED_CHUNKS = 16
_LONGEST_RECORD = 1 << 16


class WorkerOutput:
    """The driver's ends of one worker's stdout, stderr and log records.

    They are read by the thread that runs a stage. Between stages nothing is read: a
    worker that goes on printing waits when the pipe is full.
    """

    def __init__(self, number: int) -> None:
        self._prefix = f"[worker {number}] "
        read_out, write_out = os.pipe2(os.O_CLOEXEC)
        read_err, write_err = os.pipe2(os.O_CLOEXEC)
        kind = socket.SOCK_SEQPACKET | socket.SOCK_CLOEXEC
        ours, theirs = socket.socketpair(socket.AF_UNIX, kind)
        ours.setblocking(False)
        self._records = ours
        self._theirs = theirs
        self._write_ends = [write_out, write_err]
        self._partial = {read_out: bytearray(), read_err: bytearray()}
        for descriptor in self._partial:
            os.set_blocking(descriptor, False)
        self._stdout = read_out

    @property
    def worker_ends(self) -> list[int]:
        """The descriptors that the worker gets: stdout, stderr, records."""
        return [*self._write_ends, self._theirs.fileno()]

    def close_worker_ends(self) -> None:
        """Close our copies, once the worker has its own."""
        for descriptor in self._write_ends:
            os.close(descriptor)
        self._write_ends.clear()
        self._theirs.close()

    def ends(self) -> list[OutputEnd]:
        """Return what to watch."""
        ends = [OutputEnd(self, descriptor) for descriptor in self._partial]
        if self._records.fileno() >= 0:
            ends.append(OutputEnd(self, self._records.fileno()))
        return ends

    def drain(self) -> None:
        """Forward the available output."""
        for end in self.ends():
            for _ in range(_DRAINED_CHUNKS):
                if not end.pass_on():
                    break

    def close(self) -> None:
        """Pass on what is left, also a line without end, and close."""
        with contextlib.suppress(OSError, ValueError):
            self.drain()
            for descriptor, partial in self._partial.items():
                if partial:
                    self._write(descriptor, [bytes(partial)])
        self.abandon()

    def abandon(self) -> None:
        """Close all ends, whatever is in them."""
        for descriptor in [*self._partial, *self._write_ends]:
            os.close(descriptor)
        self._partial.clear()
        self._write_ends.clear()
        self._records.close()
        self._theirs.close()

    def pass_on(self, descriptor: int) -> bool:
        """Read one end once, and write complete lines; False if nothing came."""
        if descriptor not in self._partial:
            # Or it was closed after it was found readable.
            return descriptor == self._records.fileno() and self._pass_on_record()
        try:
            chunk = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return False
        partial = self._partial[descriptor]
        if not chunk:  # the worker closed it, or is gone
            if partial:
                self._write(descriptor, [bytes(partial)])
            del self._partial[descriptor]
            os.close(descriptor)
            return False
        *lines, rest = (bytes(partial) + chunk).split(b"\n")
        while len(rest) > _LONGEST_LINE:
            lines.append(rest[:_LONGEST_LINE])
            rest = rest[_LONGEST_LINE:]
        partial[:] = rest
        self._write(descriptor, lines)
        return True

    def _write(self, descriptor: int, lines: Iterable[bytes]) -> None:
        text = "".join(
            f"{self._prefix}{line.decode(errors='replace')}\n" for line in lines
        )
        stream = sys.stdout if descriptor == self._stdout else sys.stderr
        if text and stream is not None:
            with _bars_out_of_the_way(stream):
                stream.write(text)
                stream.flush()

    def _pass_on_record(self) -> bool:
        try:
            content = self._records.recv(2 * _LONGEST_RECORD)
        except BlockingIOError:
            return False
        if not content:
            self._records.close()
            return False
        record = logging.makeLogRecord(pickle.loads(content))
        record.msg = f"{self._prefix}{record.msg}"
        logger = logging.getLogger(record.name)
        if logger.isEnabledFor(record.levelno):
            logger.handle(record)
        return True


class OutputEnd:
    """One descriptor of a `WorkerOutput`, for selectors."""

    def __init__(self, output: WorkerOutput, descriptor: int) -> None:
        self._output = output
        self._descriptor = descriptor

    def fileno(self) -> int:
        """Return the descriptor."""
        return self._descriptor

    def pass_on(self) -> bool:
        """Read once and pass on; False if nothing came."""
        return self._output.pass_on(self._descriptor)


def _bars_out_of_the_way(stream: TextIO) -> Any:
    tqdm = sys.modules.get("tqdm")
    if tqdm is None:
        return contextlib.nullcontext()
    return tqdm.tqdm.external_write_mode(file=stream)


def log_levels() -> tuple[tuple[str, int], ...]:
    """Return the levels that loggers of this process have been given."""
    loggers = logging.root.manager.loggerDict.items()
    levels = [
        (name, logger.level)
        for name, logger in loggers
        if isinstance(logger, logging.Logger) and logger.level
    ]
    return (("", logging.root.level), *sorted(levels))


class WorkerSide:
    """The worker's ends: everything written to descriptors 1 and 2, and log records."""

    def __init__(self, ends: Sequence[int]) -> None:
        self._saved = list(ends[:2])
        self._stats = [os.fstat(descriptor) for descriptor in self._saved]
        self._records = _RecordSender(socket.socket(fileno=ends[2]))
        logging.root.handlers[:] = [self._records]
        sys.stdout, sys.stderr = _line_writer(1), _line_writer(2)
        self.restore()

    def restore(self) -> None:
        """Undo what a function did to stdout and stderr; cheap if it did nothing.

        A function that closed descriptor 1 would otherwise have the next file that is
        opened get all that is printed.
        """
        for number, saved in enumerate(self._saved, start=1):
            if not self._is_ours(number):
                os.dup2(saved, number)
        if getattr(sys.stdout, "closed", True):
            sys.stdout = _line_writer(1)
        if getattr(sys.stderr, "closed", True):
            sys.stderr = _line_writer(2)

    def flush(self) -> None:
        """Write out what print has buffered."""
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError, AttributeError):
                stream.flush()

    def apply(self, levels: Iterable[tuple[str, int]]) -> None:
        """Set the levels of loggers as in the driver."""
        wanted = dict(levels)
        for name, logger in logging.root.manager.loggerDict.items():
            if isinstance(logger, logging.Logger) and logger.level:
                wanted.setdefault(name, logging.NOTSET)
        for name, level in wanted.items():
            logging.getLogger(name or None).setLevel(level)

    def _is_ours(self, number: int) -> bool:
        try:
            found = os.fstat(number)
        except OSError:
            return False
        ours = self._stats[number - 1]
        return (found.st_dev, found.st_ino) == (ours.st_dev, ours.st_ino)


def _line_writer(number: int) -> TextIO:
    return open(
        number,
        "w",
        buffering=1,
        encoding="utf-8",
        errors="backslashreplace",
        closefd=False,
    )


class _RecordSender(logging.Handler):
    """Sends log records to the driver."""

    def __init__(self, end: socket.socket) -> None:
        super().__init__()
        self._end = end

    def emit(self, record: logging.LogRecord) -> None:
        """Send a record with its formatted text, without what cannot be pickled."""
        try:
            content = {
                name: value
                for name, value in record.__dict__.items()
                if isinstance(value, str | int | float | None)
            }
            content["msg"] = self._shorten(record.getMessage())
            content["args"] = None
            content["exc_info"] = None
            if record.exc_info:
                formatter = logging.Formatter()
                text = formatter.formatException(record.exc_info)
                content["exc_text"] = self._shorten(text)
            self._end.send(pickle.dumps(content, protocol=5))
        except OSError:
            pass  # the driver is gone, and this worker soon too
        except Exception:
            self.handleError(record)

    def _shorten(self, text: str) -> str:
        if len(text) <= _LONGEST_RECORD // 4:
            return text
        cut = text[: _LONGEST_RECORD // 4]
        return f"{cut}... ({len(text) - len(cut)} more characters)"
