# SPDX-License-Identifier: Apache-2.0
"""Values that all processes of a host read from one segment."""

from __future__ import annotations

import contextlib
import mmap
import os
import pickle
import struct
import uuid
import weakref
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import cloudpickle

from xshards.errors import XShardsTypeError, XShardsValueError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["SharedSegment", "attach", "collect_segments", "detach_all", "find_segment"]

_ALIGNMENT = 64
_COUNT = struct.Struct("<Q")
_MEMFD_FLAGS = os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING


class SharedSegment:
    """A pickled value in a memory segment, followed by its buffers.

    Loading it copies none of the buffers: arrays in it are read-only views of the
    segment, in whichever process.
    """

    def __init__(self, name: str, descriptor: int, size: int) -> None:
        self.name = name
        self.size = size
        self._descriptor = descriptor
        self._close = weakref.finalize(self, os.close, descriptor)

    @classmethod
    def write(cls, value: object) -> SharedSegment:
        """Put a value in a new segment."""
        buffers: list[pickle.PickleBuffer] = []
        try:
            body = cloudpickle.dumps(value, protocol=5, buffer_callback=buffers.append)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            msg = f"a {type(value).__name__} cannot be shared: {error}"
            raise XShardsValueError(msg) from error
        parts = [memoryview(body), *(buffer.raw() for buffer in buffers)]
        sizes = [len(part) for part in parts]
        head = _COUNT.pack(len(parts)) + struct.pack(f"<{len(parts)}Q", *sizes)
        descriptor = os.memfd_create("xshards-value", _MEMFD_FLAGS)
        position = 0
        for part in (memoryview(head), *parts):
            _write_all(descriptor, part, position)
            position = _align(position + len(part))
        os.ftruncate(descriptor, position)
        return cls(uuid.uuid4().hex, descriptor, position)

    @property
    def closed(self) -> bool:
        """Whether it was unpersisted."""
        return not self._close.alive

    def fileno(self) -> int:
        """Return the descriptor."""
        return self._descriptor

    def load(self) -> Any:
        """Build the value over a read-only mapping."""
        mapping = memoryview(
            mmap.mmap(self._descriptor, self.size, mmap.MAP_SHARED, mmap.PROT_READ)
        )
        [count] = _COUNT.unpack_from(mapping)
        sizes = struct.unpack_from(f"<{count}Q", mapping, _COUNT.size)
        position = _align(_COUNT.size + 8 * count)
        parts = []
        for size in sizes:
            parts.append(mapping[position : position + size])
            position = _align(position + size)
        return pickle.loads(parts[0], buffers=parts[1:])

    def close(self) -> None:
        """Close the descriptor. Mappings there are stay valid."""
        self._close()


def _align(position: int) -> int:
    return -(-position // _ALIGNMENT) * _ALIGNMENT


def _write_all(descriptor: int, part: memoryview, position: int) -> None:
    while len(part) > 0:
        written = os.pwrite(descriptor, part, position)
        part = part[written:]
        position += written


# The segments a worker was sent; and, while a task is pickled, those it uses.
_attached: dict[str, SharedSegment] = {}
_collected: ContextVar[list[SharedSegment] | None] = ContextVar(
    "collected", default=None
)


def attach(name: str, descriptor: int, size: int) -> None:
    """Take over a segment that the parent sent."""
    _attached[name] = SharedSegment(name, descriptor, size)


def detach_all() -> None:
    """Let go of the segments that the parent sent."""
    _attached.clear()


def find_segment(name: str) -> SharedSegment:
    """Return the segment of a name, in a worker."""
    return _attached[name]


@contextlib.contextmanager
def collect_segments() -> Iterator[list[SharedSegment]]:
    """Note the segments of shared values pickled meanwhile."""
    segments: list[SharedSegment] = []
    reset = _collected.set(segments)
    try:
        yield segments
    finally:
        _collected.reset(reset)


def note_segment(segment: SharedSegment) -> None:
    """Note that a segment's value is being pickled."""
    collected = _collected.get()
    if collected is None:
        msg = (
            "a SharedValue travels only with a function: pass it to transform_shard as "
            "an argument or use it in the function"
        )
        raise XShardsTypeError(msg)
    if segment not in collected:
        collected.append(segment)
