# SPDX-License-Identifier: Apache-2.0
"""Scalars over time in event files, which TensorBoard opens.

An event file is a list of records. A record is the length of its data, a checksum of
the length, the data and its checksum; the data is a protocol-buffer message `Event`.
Of it four fields are used: wall_time (1), step (2), file_version (3) and summary (5),
whose values (1) have a tag (1) and a simple_value (2).
"""

from __future__ import annotations

import itertools
import math
import os
import socket
import struct
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeAlias

from xshards.errors import XShardsRuntimeError, XShardsValueError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import TracebackType

__all__ = ["Scalar", "SummaryWriter", "read_events", "read_scalar"]

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_FILE_PREFIX = "events.out.tfevents."
# Events that wait in memory before they go to the file.
_BUFFER_BYTES = 1 << 16

_numbers = itertools.count()


@dataclass(frozen=True)
class Scalar:
    """One value of a tag.

    Parameters
    ----------
    tag
        The name of the curve.
    step
        Its position on the horizontal axis.
    value
        The number, rounded to float32.
    time
        Seconds since the epoch.

    Examples
    --------
    >>> from xshards.learn.training.summaries.event_files import Scalar
    >>> Scalar("Loss", step=1, value=0.5, time=0.0).value
    0.5
    """

    tag: str
    step: int
    value: float
    time: float


class SummaryWriter:
    """Writes scalars to a new event file in a directory.

    Parameters
    ----------
    log_dir
        Made if it is not there. Files of earlier runs stay, and are shown with it.

    Examples
    --------
    >>> import tempfile
    >>> from xshards.learn.training.summaries.event_files import SummaryWriter
    >>> from xshards.learn.training.summaries.event_files import read_scalar
    >>> folder = tempfile.mkdtemp()
    >>> with SummaryWriter(folder) as writer:
    ...     for step, loss in enumerate([0.5, 0.25]):
    ...         writer.add_scalar("Loss", loss, step)
    >>> [(step, value) for step, value, _ in read_scalar(folder, "Loss")]
    [(0, 0.5), (1, 0.25)]
    """

    def __init__(self, log_dir: str | os.PathLike[str]) -> None:
        self.log_dir = Path(log_dir)
        self.log_dir.mkdir(parents=True, exist_ok=True)
        # TensorBoard reads the files of a directory in the order of their names.
        now = time.time()
        # Padded: the names sort in the order of the writers.
        number = f"{os.getpid()}.{next(_numbers):06d}"
        name = f"{int(now):010d}.{socket.gethostname()}.{number}"
        self.path = self.log_dir / f"{_FILE_PREFIX}{name}"
        self._file: BinaryIO | None = self.path.open("xb", buffering=_BUFFER_BYTES)
        self._write(_double(1, now) + _bytes(3, b"brain.Event:2"))
        self.flush()

    def add_scalar(
        self, tag: str, value: float, step: int, wall_time: float | None = None
    ) -> None:
        """Add one value of a tag; it is stored as a float32.

        Parameters
        ----------
        tag
            The name of the curve.
        value
            The number; beyond float32 it becomes infinite.
        step
            Its position on the horizontal axis.
        wall_time
            Seconds since the epoch; now by default.

        Raises
        ------
        XShardsRuntimeError
            If the writer is closed.

        Examples
        --------
        >>> import tempfile
        >>> from xshards.learn.training.summaries.event_files import SummaryWriter
        >>> from xshards.learn.training.summaries.event_files import read_scalar
        >>> folder = tempfile.mkdtemp()
        >>> with SummaryWriter(folder) as writer:
        ...     writer.add_scalar("Loss", 0.5, 1, wall_time=2.0)
        >>> read_scalar(folder, "Loss")
        [[1, 0.5, 2.0]]
        """
        number = struct.pack("<f", _as_float32(value))
        content = _bytes(1, tag.encode()) + _key(2, _FIXED32) + number
        seconds = time.time() if wall_time is None else wall_time
        summary = _bytes(5, _bytes(1, content))
        self._write(_double(1, seconds) + _key(2, _VARINT) + _varint(step) + summary)

    def flush(self) -> None:
        """Make what was added so far visible to readers.

        Examples
        --------
        >>> import tempfile
        >>> from xshards.learn.training.summaries.event_files import SummaryWriter
        >>> from xshards.learn.training.summaries.event_files import read_scalar
        >>> folder = tempfile.mkdtemp()
        >>> writer = SummaryWriter(folder)
        >>> writer.add_scalar("Loss", 0.5, 1)
        >>> writer.flush()
        >>> len(read_scalar(folder, "Loss"))
        1
        >>> writer.close()
        """
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        """Write pending events; nothing can be added afterwards. Safe to call twice.

        Examples
        --------
        >>> import tempfile
        >>> from xshards.learn.training.summaries.event_files import SummaryWriter
        >>> from xshards.learn.training.summaries.event_files import read_scalar
        >>> folder = tempfile.mkdtemp()
        >>> writer = SummaryWriter(folder)
        >>> writer.close()
        >>> read_scalar(folder, "Loss")
        []
        """
        if self._file is not None:
            self._file.close()
            self._file = None

    def __del__(self) -> None:
        # A failed run may not reach the end, but its events are still useful.
        if getattr(self, "_file", None) is not None:
            self.close()

    def _write(self, event: bytes) -> None:
        if self._file is None:
            msg = f"the event file {self.path} is closed; make another SummaryWriter"
            raise XShardsRuntimeError(msg)
        length = struct.pack("<Q", len(event))
        self._file.write(length + _checksum(length) + event + _checksum(event))

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def read_scalar(log_dir: str | os.PathLike[str], tag: str) -> list[list[int | float]]:
    """Return the values of a tag in all event files of a directory.

    Parameters
    ----------
    log_dir
        The directory.
    tag
        The name of the curve.

    Returns
    -------
    list of [step, value, wall time]
        As they were written; empty if there are none.

    Raises
    ------
    XShardsValueError
        If a file is damaged. A record that is still being written is not damage.

    Examples
    --------
    >>> import tempfile
    >>> from xshards.learn.training.summaries.event_files import SummaryWriter
    >>> from xshards.learn.training.summaries.event_files import read_scalar
    >>> folder = tempfile.mkdtemp()
    >>> with SummaryWriter(folder) as writer:
    ...     writer.add_scalar("Loss", 0.25, 3, wall_time=1.0)
    >>> read_scalar(folder, "Loss")
    [[3, 0.25, 1.0]]
    """
    return [
        [event.step, event.value, event.time]
        for event in read_events(log_dir)
        if event.tag == tag
    ]


def read_events(log_dir: str | os.PathLike[str]) -> Iterator[Scalar]:
    """Iterate over the scalars in all event files of a directory, file by file.

    Parameters
    ----------
    log_dir
        The directory.

    Returns
    -------
    iterator of Scalar
        In the order in which they were written.

    Raises
    ------
    XShardsValueError
        If a file is damaged. A record that is still being written is not damage.

    Examples
    --------
    >>> import tempfile
    >>> from xshards.learn.training.summaries.event_files import SummaryWriter
    >>> from xshards.learn.training.summaries.event_files import read_events
    >>> folder = tempfile.mkdtemp()
    >>> with SummaryWriter(folder) as writer:
    ...     writer.add_scalar("Loss", 0.25, 3)
    >>> [(one.tag, one.step, one.value) for one in read_events(folder)]
    [('Loss', 3, 0.25)]
    """
    for path in sorted(Path(log_dir).glob(f"{_FILE_PREFIX}*")):
        if not path.is_file():
            continue
        with path.open("rb") as file:
            try:
                for event in _records(file):
                    yield from _scalars(event)
            except _DamageError as damage:
                msg = f"{path} is damaged: {damage}"
                raise XShardsValueError(msg) from None


class _DamageError(Exception):
    """What is wrong in a file."""


def _records(file: BinaryIO) -> Iterator[bytes]:
    while True:
        begin = file.read(12)
        if len(begin) < 12:
            # The end, or a record that is still being written.
            return
        (size,) = struct.unpack("<Q", begin[:8])
        if _checksum(begin[:8]) != begin[8:]:
            msg = "the length of a record has a wrong checksum"
            raise _DamageError(msg)
        # No more is allocated than the file has, whatever the record says.
        if size + 4 > os.fstat(file.fileno()).st_size - file.tell():
            return
        rest = file.read(size + 4)
        if len(rest) < size + 4:
            return
        if _checksum(rest[:size]) != rest[size:]:
            msg = "the data of a record has a wrong checksum"
            raise _DamageError(msg)
        yield rest[:size]


def _scalars(event: bytes) -> Iterator[Scalar]:
    fields = list(_fields(event))
    seconds = _last(fields, 1, _FIXED64)
    step = _last(fields, 2, _VARINT)
    for summary in _all(fields, 5):
        for value in _all(_fields(summary), 1):
            parts = list(_fields(value))
            tag, number = _last(parts, 1, _BYTES), _last(parts, 2, _FIXED32)
            if tag is None or number is None:
                continue
            try:
                name = tag.decode()
            except UnicodeDecodeError:
                msg = f"the tag {tag!r} is not UTF-8"
                raise _DamageError(msg) from None
            yield Scalar(
                name,
                0 if step is None else int.from_bytes(step, "little", signed=True),
                struct.unpack("<f", number)[0],
                0.0 if seconds is None else struct.unpack("<d", seconds)[0],
            )


# Protocol buffers: a field is a key (its number and how it is written) and its content.
# A field that is written in another way than its number should be is ignored.

_Fields: TypeAlias = "Iterable[tuple[int, int, bytes]]"


def _all(fields: _Fields, wanted: int) -> Iterator[bytes]:
    for number, kind, content in fields:
        if number == wanted and kind == _BYTES:
            yield content


def _last(fields: _Fields, wanted: int, wanted_kind: int) -> bytes | None:
    last = None
    for number, kind, content in fields:
        if number == wanted and kind == wanted_kind:
            last = content
    return last


def _fields(message: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Cut a message into fields: number, kind and content, a varint as 8 bytes."""
    at = 0
    while at < len(message):
        key, at = _read_varint(message, at)
        number, kind = key >> 3, key & 7
        if kind == _VARINT:
            value, at = _read_varint(message, at)
            yield number, kind, value.to_bytes(8, "little")
            continue
        if kind == _BYTES:
            size, at = _read_varint(message, at)
        elif kind in (_FIXED32, _FIXED64):
            size = 4 if kind == _FIXED32 else 8
        else:
            msg = f"an event has a field of the unknown kind {kind}"
            raise _DamageError(msg)
        if size > len(message) - at:
            msg = f"a field of {size} bytes goes beyond the end of its event"
            raise _DamageError(msg)
        yield number, kind, message[at : at + size]
        at += size


def _read_varint(message: bytes, at: int) -> tuple[int, int]:
    value = 0
    # Ten bytes hold the 64 bits that a number may have.
    for place in range(10):
        if at + place == len(message):
            break
        byte = message[at + place]
        value |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return value & (1 << 64) - 1, at + place + 1
    msg = "a number in an event has no end"
    raise _DamageError(msg)


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)


def _key(number: int, kind: int) -> bytes:
    return _varint(number << 3 | kind)


def _bytes(number: int, content: bytes) -> bytes:
    return _key(number, _BYTES) + _varint(len(content)) + content


def _double(number: int, value: float) -> bytes:
    return _key(number, _FIXED64) + struct.pack("<d", value)


def _as_float32(value: float) -> float:
    """Let values beyond float32 become infinite, as numpy does; struct refuses them."""
    value = float(value)
    if not math.isnan(value) and abs(value) > 3.4028235677973366e38:
        return float("inf") if value > 0 else float("-inf")
    return value


# CRC-32C, with the masking that the format requires.


def _crc_table() -> list[int]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


_CRC_TABLE = _crc_table()


def _checksum(data: bytes) -> bytes:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _CRC_TABLE[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    masked = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
    return struct.pack("<I", masked)
