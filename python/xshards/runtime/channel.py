# SPDX-License-Identifier: Apache-2.0
"""Messages and file descriptors between two processes."""

from __future__ import annotations

import array
import errno
import os
import pickle
import select
import socket
import struct
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Channel", "wait_readable"]

_HEAD = struct.Struct("<QI")
# The kernel passes at most 253 descriptors in one message.
_DESCRIPTORS_AT_ONCE = 250


class HasFileno(Protocol):
    """Something with a file descriptor."""

    def fileno(self) -> int:
        """Give the descriptor."""
        ...


Readable = TypeVar("Readable", bound=HasFileno)


def wait_readable(ends: Iterable[Readable], seconds: float) -> list[Readable]:
    """Wait until some of these have something to read, or have ended.

    Unlike ``select.select`` it takes any number of descriptors, of any value: a session
    with many partitions in memory has thousands open.
    """
    poll = select.poll()
    by_descriptor = {}
    for end in ends:
        by_descriptor[end.fileno()] = end
        poll.register(end, select.POLLIN)
    return [by_descriptor[descriptor] for descriptor, _ in poll.poll(seconds * 1000)]


class Channel:
    """One end of a Unix socket that carries pickled messages with descriptors.

    Used by one thread at a time. Both ends are processes of this package, so pickles
    are trusted.
    """

    def __init__(self, end: socket.socket) -> None:
        self.socket = end
        #: What went through it, both ways: a few kilobytes a fragment, since data does
        #: not.
        self.num_bytes = 0

    @classmethod
    def pair(cls) -> tuple[Channel, Channel]:
        """Make two connected ends."""
        left, right = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        return cls(left), cls(right)

    def fileno(self) -> int:
        """Give the descriptor, for selectors."""
        return self.socket.fileno()

    def send(self, message: object, descriptors: Sequence[int] = ()) -> None:
        """Send a message; buffers inside it are not copied before they are written."""
        buffers: list[pickle.PickleBuffer] = []
        body = pickle.dumps(message, protocol=5, buffer_callback=buffers.append)
        parts: list[Any] = [body, *(buffer.raw() for buffer in buffers)]
        sizes = struct.pack(f"<{len(parts)}Q", *(len(part) for part in parts))
        self.socket.sendall(_HEAD.pack(len(parts), len(descriptors)) + sizes)
        for start in range(0, len(descriptors), _DESCRIPTORS_AT_ONCE):
            some = array.array("i", descriptors[start : start + _DESCRIPTORS_AT_ONCE])
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, some)]
            self.socket.sendmsg([b"\0"], rights)
        for part in parts:
            self.socket.sendall(part)
            self.num_bytes += len(part)

    def receive(self) -> tuple[Any, list[int]]:
        """Wait for a message. EOFError if the other end is gone."""
        num_parts, num_descriptors = _HEAD.unpack(self._read(_HEAD.size))
        sizes = struct.unpack(f"<{num_parts}Q", self._read(8 * num_parts))
        descriptors: list[int] = []
        while len(descriptors) < num_descriptors:
            wanted = min(num_descriptors - len(descriptors), _DESCRIPTORS_AT_ONCE)
            descriptors.extend(self._read_descriptors(wanted))
        body, *buffers = [self._read(size) for size in sizes]
        return pickle.loads(body, buffers=buffers), descriptors

    def close(self) -> None:
        """Close this end; the other then receives EOFError."""
        self.socket.close()

    def _read(self, size: int) -> bytearray:
        data = bytearray(size)
        view = memoryview(data)
        while len(view) > 0:
            try:
                count = self.socket.recv_into(view)
            except ConnectionResetError:
                count = 0
            if count == 0:
                raise EOFError
            view = view[count:]
        self.num_bytes += size
        return data

    def _read_descriptors(self, count: int) -> list[int]:
        room = socket.CMSG_SPACE(count * array.array("i").itemsize)
        try:
            data, ancillary, _flags, _address = self.socket.recvmsg(1, room)
        except ConnectionResetError:
            raise EOFError from None
        if not data:
            raise EOFError
        received = array.array("i")
        for level, kind, content in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                received.frombytes(content)
        if len(received) < count:
            for descriptor in received:
                os.close(descriptor)
            msg = (
                "this process may not open more files, so partitions cannot be passed "
                "on; raise the limit (ulimit -n) or use fewer partitions"
            )
            raise OSError(errno.EMFILE, msg)
        return list(received)
