# SPDX-License-Identifier: Apache-2.0
"""Messages and file descriptors between two processes."""

from __future__ import annotations

import array
import errno
import functools
import itertools
import os
import pickle
import select
import socket
import struct
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = ["Channel", "wait_readable"]

_HEAD = struct.Struct("<QI")
# The kernel passes at most 253 descriptors in one message.
_DESCRIPTORS_AT_ONCE = 250
# Up to this many bytes, copying parts together is cheaper than separate writes.
_ONE_WRITE = 1 << 16
_WAIT_MILLISECONDS = 500


class HasFileno(Protocol):
    """Something with a file descriptor."""

    def fileno(self) -> int:
        """Return the descriptor."""
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
        #: Called now and then while the other end takes nothing, or sends the rest of
        #: nothing. Without it, waiting has no end but that of the other end.
        self.while_waiting: Callable[[], None] | None = None

    @classmethod
    def pair(cls) -> tuple[Channel, Channel]:
        """Make two connected ends."""
        left, right = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        return cls(left), cls(right)

    def fileno(self) -> int:
        """Return the descriptor, for selectors."""
        return self.socket.fileno()

    def send(self, message: object, descriptors: Sequence[int] = ()) -> None:
        """Send a message; large buffers inside it are not copied before.

        A small message is one write, so that the other end, once it sees the first
        byte, has it all and does not wait for a sender that lost its core.
        """
        buffers: list[pickle.PickleBuffer] = []
        body = pickle.dumps(message, protocol=5, buffer_callback=buffers.append)
        parts: list[Any] = [body, *(buffer.raw() for buffer in buffers)]
        sizes = struct.pack(f"<{len(parts)}Q", *(len(part) for part in parts))
        head = _HEAD.pack(len(parts), len(descriptors)) + sizes
        chunks = [
            descriptors[start : start + _DESCRIPTORS_AT_ONCE]
            for start in range(0, len(descriptors), _DESCRIPTORS_AT_ONCE)
        ]
        if len(chunks) <= 1 and sum(map(len, parts)) <= _ONE_WRITE:
            self._write(b"".join([head, *parts]), *chunks)
            return
        self._write(head, *chunks[:1])
        for chunk in chunks[1:]:
            self._write(b"\0", chunk)
        for part in parts:
            self._write_all(part)

    def receive(self) -> tuple[Any, list[int]]:
        """Wait for a message. EOFError if the other end is gone."""
        head, descriptors = self._read_with_descriptors(_HEAD.size)
        if len(head) < _HEAD.size:
            head += self._read(_HEAD.size - len(head))
        num_parts, num_descriptors = _HEAD.unpack(head)
        sizes = struct.unpack(f"<{num_parts}Q", self._read(8 * num_parts))
        _check_all_came(descriptors, min(num_descriptors, _DESCRIPTORS_AT_ONCE))
        while len(descriptors) < num_descriptors:
            wanted = min(num_descriptors - len(descriptors), _DESCRIPTORS_AT_ONCE)
            _, more = self._read_with_descriptors(1)
            _check_all_came(more, wanted)
            descriptors += more
        content = memoryview(self._read(sum(sizes)))
        ends = list(itertools.accumulate(sizes, initial=0))
        body, *buffers = [content[begin:end] for begin, end in itertools.pairwise(ends)]
        return pickle.loads(body, buffers=buffers), descriptors

    def close(self) -> None:
        """Close this end; the other then receives EOFError."""
        self.socket.close()

    def _write(self, content: bytes, descriptors: Sequence[int] = ()) -> None:
        rights = array.array("i", descriptors)
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)] if rights else []
        flags = self._flags()
        sent = self._retried(
            select.POLLOUT, lambda: self.socket.sendmsg([content], ancillary, flags)
        )
        self.num_bytes += sent
        self._write_all(memoryview(content)[sent:])

    def _write_all(self, part: Any) -> None:
        flags = self._flags()
        left = memoryview(part)
        while len(left) > 0:
            send = functools.partial(self.socket.send, left, flags)
            sent = self._retried(select.POLLOUT, send)
            self.num_bytes += sent
            left = left[sent:]

    def _flags(self) -> int:
        return 0 if self.while_waiting is None else socket.MSG_DONTWAIT

    def _retried(self, event: int, call: Callable[[], Any]) -> Any:
        """Call until it need not wait, checking the other end meanwhile."""
        while True:
            try:
                return call()
            except BlockingIOError:
                poll = select.poll()
                poll.register(self.socket, event)
                if not poll.poll(_WAIT_MILLISECONDS) and self.while_waiting:
                    self.while_waiting()

    def _read(self, size: int) -> bytearray:
        flags = self._flags()
        data = bytearray(size)
        left = memoryview(data)
        while len(left) > 0:
            receive = functools.partial(self.socket.recv_into, left, 0, flags)
            try:
                count = self._retried(select.POLLIN, receive)
            except ConnectionResetError:
                count = 0
            if count == 0:
                raise EOFError
            left = left[count:]
        self.num_bytes += size
        return data

    def _read_with_descriptors(self, size: int) -> tuple[bytearray, list[int]]:
        room = socket.CMSG_SPACE(_DESCRIPTORS_AT_ONCE * array.array("i").itemsize)
        flags = self._flags()
        try:
            data, ancillary, _flags, _address = self._retried(
                select.POLLIN, lambda: self.socket.recvmsg(size, room, flags)
            )
        except ConnectionResetError:
            raise EOFError from None
        if not data:
            raise EOFError
        self.num_bytes += len(data)
        received = array.array("i")
        for level, kind, content in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                received.frombytes(content)
        return bytearray(data), list(received)


def _check_all_came(descriptors: list[int], expected: int) -> None:
    if len(descriptors) == expected:
        return
    for descriptor in descriptors:
        os.close(descriptor)
    msg = (
        "this process may not open more files, so partitions cannot be passed on; "
        "raise the limit (ulimit -n) or use fewer partitions"
    )
    raise OSError(errno.EMFILE, msg)
