# SPDX-License-Identifier: Apache-2.0
"""Batches that the driver reads one after the other, while replicas train on them.

A thread reads a batch when replicas come near to it, and writes each replica's rows to
an unnamed file; replicas ask for places in it over sockets without a name. The file is
what a replica that takes another's place reads again: of the last batches only, or of
all, where it begins anew. So memory does not grow with the number of batches.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import pickle
import socket
import tempfile
import threading
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xshards.errors import XShardsRuntimeError, XShardsValueError
from xshards.learn.training.inputs import Input
from xshards.learn.training.source import Feed, Share, Source, count_rows
from xshards.runtime.functions import load_error, pack_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from xshards.learn.training.adapter import ModelAdapter
    from xshards.runtime.worker import Settings

__all__ = ["Stream", "StreamBatches", "StreamSource", "map_arrays"]

# How many batches are read before a replica asks for them, and how many are kept after
# all have asked for the next. A replica asks for one while it computes the one before,
# and its successor begins with that or the one before it.
_AHEAD = 4
_KEPT = 4
# Where arrays may begin in the file, so that they can be used where they are read.
_ALIGNMENT = 64
# More than any message: a nonce, and the places of arrays in the file or an error.
_MESSAGE_BYTES = 1 << 17
_ERROR_BYTES = 1 << 14
_NONCE_BYTES = 8
# How long to wait for a thread that is in the user's code.
_END_SECONDS = 30.0
# Of Linux' falloc.h.
_PUNCH_HOLE_AND_KEEP_SIZE = 3


@dataclass(frozen=True)
class _Piece:
    """One replica's rows of a batch, and where they are in the file."""

    #: Rows of the batch and of this piece; the latter 0 if it has one that stands in.
    rows: int
    own_rows: int
    offset: int
    #: Of the pickled structure, then of each array; each begins aligned.
    sizes: list[int]
    #: What went wrong, pickled and as text, in the place of rows.
    failure: tuple[bytes, str] | None = None


class Stream:
    """The batches of one epoch: read here as replicas ask for them.

    Parameters
    ----------
    batches
        Nested arrays with as many rows each; read in a thread of its own.
    num_replicas
        How many share each batch.
    folder
        Where the unnamed file is.
    keep_all
        Whether a replica may begin anew, so that all batches are needed until the end.
    num_batches
        How many there will be, if that is known.
    """

    def __init__(
        self,
        batches: Iterable[Any],
        num_replicas: int,
        folder: str,
        *,
        keep_all: bool,
        num_batches: int | None = None,
    ) -> None:
        kind = (socket.AF_UNIX, socket.SOCK_SEQPACKET)
        pairs = [socket.socketpair(*kind) for _ in range(num_replicas)]
        self._far = [far for _, far in pairs]
        self._server = _Server(
            batches, [near for near, _ in pairs], folder, keep_all=keep_all
        )
        self._num_batches = num_batches
        # Also at the end of the process, or if an error leaves no one to close it.
        self._finalizer = weakref.finalize(self, _close, self._server, self._far)

    def input(self) -> Input:
        """Return what replicas get."""
        sockets = [one.fileno() for one in self._far]
        source = StreamSource(self._num_batches)
        return Input(source, [self._server.file.fileno(), *sockets], self)

    def close(self) -> None:
        """End the reading; waits for the batch that is being read."""
        self._finalizer()


def _close(server: _Server, far: list[socket.socket]) -> None:
    server.close()
    for one in far:
        one.close()


class _Server:
    """The threads of a stream: one reads batches, one for each replica answers it."""

    def __init__(
        self,
        batches: Iterable[Any],
        sockets: list[socket.socket],
        folder: str,
        *,
        keep_all: bool,
    ) -> None:
        self.file = tempfile.TemporaryFile(dir=folder or None)  # noqa: SIM115
        self._batches = batches
        self._sockets = sockets
        self._keep_all = keep_all
        self._end = 0  # of what is written
        self._changed = threading.Condition()
        # Guarded by the condition.
        self._pieces: dict[int, list[_Piece]] = {}
        self._first_kept = 0
        self._num_read = 0
        self._complete = False
        self._closed = False
        self._asked = [0] * len(sockets)
        self._reader: threading.Thread | None = None
        self._threads = [
            threading.Thread(target=self._answer, args=(rank,), daemon=True)
            for rank in range(len(sockets))
        ]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            threads = [*self._threads, *([self._reader] if self._reader else [])]
        for one in self._sockets:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            if thread is not threading.current_thread():
                thread.join(_END_SECONDS)
        for one in self._sockets:
            one.close()
        self.file.close()

    # The thread of a replica

    def _answer(self, rank: int) -> None:
        end = self._sockets[rank]
        while True:
            try:
                question = end.recv(_MESSAGE_BYTES)
            except OSError:
                return
            if not question:
                return
            nonce, number = question[:_NONCE_BYTES], question[_NONCE_BYTES:]
            piece = self._wait_for(int.from_bytes(number, "little"), rank)
            try:
                end.sendall(nonce + pickle.dumps(piece))
            except OSError:
                return

    def _wait_for(self, number: int, rank: int) -> _Piece | None:
        """Return a replica's piece of a batch; None if there are less batches."""
        with self._changed:
            if self._reader is None and not self._closed:
                self._reader = threading.Thread(target=self._read, daemon=True)
                self._reader.start()
            self._asked[rank] = number
            self._release()
            self._changed.notify_all()
            while not (self._closed or self._complete or number < self._num_read):
                self._changed.wait()
            if self._closed or number >= self._num_read:
                return None
            return self._pieces[number][rank]

    def _release(self) -> None:
        """Give back the space of batches that no replica can need again."""
        if self._keep_all:
            return
        first = min(min(self._asked) - _KEPT, self._num_read)
        while self._first_kept < first:
            pieces = self._pieces.pop(self._first_kept)
            last = pieces[-1]
            _punch_hole(
                self.file.fileno(),
                pieces[0].offset,
                last.offset + sum(map(_aligned, last.sizes)),
            )
            self._first_kept += 1

    # The thread that reads

    def _read(self) -> None:
        try:
            for batch in self._wanted():
                self._add([*self._written(batch)])
        except BaseException as error:  # it belongs to the caller
            failed = _Piece(0, 0, self._end, [], _described(error))
            self._add([failed] * len(self._sockets))
        finally:
            with self._changed:
                self._complete = True
                self._changed.notify_all()

    def _wanted(self) -> Iterator[Any]:
        iterator = iter(self._batches)
        while True:
            with self._changed:
                while not self._closed and self._num_read > max(self._asked) + _AHEAD:
                    self._changed.wait()
                if self._closed:
                    return
            try:
                batch = next(iterator)
            except StopIteration:
                return
            yield batch

    def _add(self, pieces: list[_Piece]) -> None:
        with self._changed:
            self._pieces[self._num_read] = pieces
            self._num_read += 1
            self._changed.notify_all()

    def _written(self, batch: Any) -> Iterator[_Piece]:
        rows, count = count_rows(batch), len(self._sockets)
        _check_rows(batch, rows)
        for rank in range(count):
            begin, end = rows * rank // count, rows * (rank + 1) // count
            own = _cut(batch, slice(begin, end) if end > begin else slice(0, 1))
            yield self._piece(own, rows, end - begin)

    def _piece(self, content: Any, rows: int, own_rows: int) -> _Piece:
        arrays: list[pickle.PickleBuffer] = []
        head = pickle.dumps(content, protocol=5, buffer_callback=arrays.append)
        parts = [memoryview(head), *(one.raw() for one in arrays)]
        offset = self._end
        for part in parts:
            _write(self.file.fileno(), part, self._end)
            self._end += _aligned(part.nbytes)
        return _Piece(rows, own_rows, offset, [one.nbytes for one in parts])


@dataclass(frozen=True)
class StreamSource(Source):
    """A stream as a replica gets it: a file and sockets travel beside."""

    num_batches: int | None = None  # type: ignore[misc]

    def open(
        self, adapter: ModelAdapter, descriptors: list[int], settings: Settings
    ) -> StreamBatches:
        """Take over the file and the sockets."""
        return StreamBatches(descriptors)


class StreamBatches:
    """A replica's end of a stream."""

    #: The stream forgets a batch when a later one is asked for: a batch may be taken
    #: only after the update of the one before.
    one_by_one = True

    def __init__(self, descriptors: list[int]) -> None:
        self._file, *self._sockets = descriptors

    def __del__(self) -> None:
        for descriptor in (self._file, *self._sockets):
            with contextlib.suppress(OSError):
                os.close(descriptor)

    def shares(self, feed: Feed) -> Iterator[Share]:
        """Return this replica's share of each batch of an epoch."""
        end, number = self._sockets[feed.rank], feed.first_batch
        # Answers to another are still there if a replica died before it read them.
        nonce = os.urandom(_NONCE_BYTES)
        _ask(end, nonce, number)
        while (piece := _answer_to(end, nonce)) is not None:
            if piece.failure is not None:
                raise load_error(*piece.failure, "the thread that reads the data")
            content = self._load(piece)
            number += 1
            _ask(end, nonce, number)
            share = content if piece.own_rows or feed.stand_in else None
            yield piece.own_rows, piece.rows, share

    def _load(self, piece: _Piece) -> Any:
        length = sum(map(_aligned, piece.sizes))
        content = memoryview(bytearray(length))
        done = 0
        while done < length:
            found = os.preadv(self._file, [content[done:]], piece.offset + done)
            if found == 0:
                break  # the last array does not fill its place
            done += found
        parts, begin = [], 0
        for size in piece.sizes:
            parts.append(content[begin : begin + size])
            begin += _aligned(size)
        return pickle.loads(parts[0], buffers=parts[1:])


def _described(error: BaseException) -> tuple[bytes, str]:
    """Pack an error so that it fits into a message."""
    pickled, text = pack_error(error)
    if len(pickled) > _ERROR_BYTES:
        short = f"{type(error).__name__}: {str(error)[:1000]}"
        pickled, _ = pack_error(XShardsRuntimeError(short))
    return pickled, text[-_ERROR_BYTES:]


def _ask(end: int, nonce: bytes, number: int) -> None:
    os.write(end, nonce + number.to_bytes(8, "little"))


def _answer_to(end: int, nonce: bytes) -> _Piece | None:
    while True:
        answer = os.read(end, _MESSAGE_BYTES)
        if not answer:
            raise EOFError
        if answer[:_NONCE_BYTES] == nonce:
            piece: _Piece | None = pickle.loads(answer[_NONCE_BYTES:])
            return piece


def map_arrays(function: Callable[[Any], Any], nested: Any) -> Any:
    """Apply a function to each array of nested ones; None stays."""
    if isinstance(nested, dict):
        return {name: map_arrays(function, part) for name, part in nested.items()}
    if isinstance(nested, (list, tuple)):
        return tuple(map_arrays(function, part) for part in nested)
    return None if nested is None else function(nested)


def _cut(batch: Any, rows: slice) -> Any:
    return map_arrays(lambda array: array[rows], batch)


def _check_rows(batch: Any, rows: int) -> None:
    def check(array: Any) -> None:
        if array.ndim == 0 or len(array) != rows:
            msg = (
                "all arrays of a batch have as many rows; the first has "
                f"{rows}, another the shape {array.shape}"
            )
            raise XShardsValueError(msg)

    map_arrays(check, batch)


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def _write(file: int, content: memoryview, offset: int) -> None:
    done = 0
    while done < content.nbytes:
        done += os.pwrite(file, content[done:], offset + done)


def _punch_hole(file: int, begin: int, end: int) -> None:
    """Give the space of a range back; where that cannot be done, it stays used."""
    with contextlib.suppress(OSError, AttributeError):
        allocate = ctypes.CDLL(None).fallocate64
        allocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]
        allocate(file, _PUNCH_HOLE_AND_KEEP_SIZE, begin, end - begin)
