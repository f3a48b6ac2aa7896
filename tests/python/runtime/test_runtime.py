# SPDX-License-Identifier: Apache-2.0
"""The parts that worker processes are made of."""

import os
import threading

import numpy as np
import pytest

from xshards.runtime.channel import Channel
from xshards.runtime.functions import Task, load_error, pack_error, pack_task


def exchange(message, descriptors=()):
    left, right = Channel.pair()
    sender = threading.Thread(target=left.send, args=(message, list(descriptors)))
    sender.start()
    received = right.receive()
    sender.join()
    left.close()
    with pytest.raises(EOFError):
        right.receive()
    right.close()
    return received


@pytest.mark.parametrize(
    "message",
    [None, ("a", 1), b"", b"x" * 3_000_000, {"é": [1.5]}],
    ids=lambda m: str(m)[:9],
)
def test_messages(message):
    assert exchange(message) == (message, [])


def test_large_buffers():
    array = np.arange(1_000_000)
    received, _ = exchange(array)
    np.testing.assert_array_equal(received, array)


def test_both_ends_count_transferred_bytes():
    left, right = Channel.pair()
    for message in ("short", b"x" * 100_000):
        sender = threading.Thread(target=left.send, args=(message,))
        sender.start()
        right.receive()
        sender.join()
    assert left.num_bytes == right.num_bytes > 100_000
    left.close()
    right.close()


@pytest.mark.parametrize("count", [1, 250, 251, 600])
def test_descriptors(count):
    read_end, write_end = os.pipe()
    _, received = exchange("hello", [write_end] * count)
    assert len(received) == count
    os.write(received[-1], b"!")
    assert os.read(read_end, 1) == b"!"
    for descriptor in [*received, read_end, write_end]:
        os.close(descriptor)


def test_other_end_gone():
    left, right = Channel.pair()
    left.close()
    with pytest.raises(EOFError):
        right.receive()
    right.close()


def test_same_task_has_the_same_hash():
    one, two = (pack_task(Task(len, (1,), {}, None)) for _ in range(2))
    assert one == two
    assert pack_task(Task(len, (2,), {}, None))[0] != one[0]


class AwkwardError(Exception):
    def __init__(self, first, second):
        super().__init__("only one argument is stored")
        self.parts = (first, second)


class HopelessError(Exception):
    def __reduce__(self):
        raise TypeError("not me")

    def __new__(cls, *args):
        if not args:
            raise TypeError("nor this way")
        return super().__new__(cls, *args)


def raised(error):
    try:
        raise error
    except Exception as caught:
        return load_error(*pack_error(caught), where="partition 3")


def test_errors_can_be_pickled():
    error = raised(KeyError("k"))
    assert type(error) is KeyError
    assert error.args == ("k",)
    assert "partition 3" in error.__notes__[0]
    assert "in raised" in error.__notes__[0]
    awkward = raised(AwkwardError(1, 2))
    assert type(awkward) is AwkwardError
    assert awkward.parts == (1, 2)
    assert type(raised(OSError(2, "gone", "file"))) is FileNotFoundError
    assert "HopelessError" in str(raised(HopelessError("x")))
