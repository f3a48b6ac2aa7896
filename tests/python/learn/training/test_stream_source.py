# SPDX-License-Identifier: Apache-2.0
"""Batches that are read in one process while others train on them."""

import os
import threading
from pathlib import Path

import numpy as np
import pytest

from xshards.learn.training.source import Feed
from xshards.learn.training.stream_source import Stream


def numbered(count, rows=5, read=None):
    """Batches of arrays, a dict and strings; `read` notes which were asked for."""
    for number in range(count):
        if read is not None:
            read.append(number)
        x = np.full((rows, 3), number, "float32")
        names = np.array([f"row {row}".encode() for row in range(rows)], object)
        yield {"x": x, "names": names}, np.arange(rows) + number, None


def count_descriptors():
    return len(list(Path("/proc/self/fd").iterdir()))


class Replicas:
    """What replicas do with a stream, in this process."""

    def __init__(self, stream, count):
        self.made = stream.input()
        self.count = count

    def shares(self, rank, first_batch=0, stand_in=False):
        copies = [os.dup(one) for one in self.made.descriptors]
        batches = self.made.source.open(None, copies, None)
        feed = Feed(0, 0, False, 0, rank, self.count, first_batch, stand_in)
        yield from batches.shares(feed)


@pytest.fixture
def make(tmp_path):
    made = []

    def start(batches, count=2, *, keep_all=False):
        made.append(Stream(batches, count, str(tmp_path), keep_all=keep_all))
        return made[-1], Replicas(made[-1], count)

    yield start
    for one in made:
        one.close()


def test_replicas_share_the_rows_of_each_batch(make, tmp_path):
    _, replicas = make(numbered(7))
    pairs = zip(replicas.shares(0), replicas.shares(1), strict=True)
    for number, (first, second) in enumerate(pairs):
        assert [first[:2], second[:2]] == [(2, 5), (3, 5)]
        (x, y, weight), (_, other, _) = first[2], second[2]
        assert x["x"].tolist() == [[number] * 3] * 2
        assert x["names"].tolist() == [b"row 0", b"row 1"]
        assert np.concatenate([y, other]).tolist() == [*range(number, number + 5)]
        assert weight is None
    assert number == 6
    assert not list(tmp_path.iterdir())  # the file has no name


def test_a_replica_without_rows_may_get_one_that_stands_in(make):
    _, replicas = make(numbered(1, rows=1))
    assert next(replicas.shares(0)) == (0, 1, None)
    rows, step_rows, (x, _, _) = next(replicas.shares(0, stand_in=True))
    assert (rows, step_rows, len(x["x"])) == (0, 1, 1)


def test_neither_reading_nor_the_file_runs_ahead(make):
    read = []
    _, replicas = make(numbered(200, rows=5_000, read=read))
    batch_bytes = 5_000 * 40
    pairs = zip(replicas.shares(0), replicas.shares(1), strict=True)
    for number, _ in enumerate(pairs):
        assert len(read) <= number + 7
        used = os.fstat(replicas.made.descriptors[0]).st_blocks * 512
        assert used < 20 * batch_bytes
    assert len(read) == 200


def test_a_successor_gets_the_last_batches_again(make):
    _, replicas = make(numbered(30))
    first, second = replicas.shares(0), replicas.shares(1)
    for _ in range(20):
        expected = [next(first), next(second)][1]
    second.close()  # with a question that was not answered yet
    again = next(replicas.shares(1, first_batch=19))
    np.testing.assert_array_equal(again[2][1], expected[2][1])
    rest = list(replicas.shares(1, first_batch=20))
    assert len(rest) == len(list(first)) == 10


def test_all_batches_are_kept_where_a_replica_may_begin_anew(make):
    _, replicas = make(numbered(30), keep_all=True)
    assert len(list(replicas.shares(0))) == 30
    assert len(list(replicas.shares(1))) == 30
    assert len(list(replicas.shares(0))) == 30


def test_errors_are_those_of_the_reader(make):
    def broken():
        yield from numbered(3)
        msg = "no fourth batch"
        raise LookupError(msg)

    _, replicas = make(broken())
    for rank in (0, 1):
        found = replicas.shares(rank)
        for _ in range(3):
            next(found)
        with pytest.raises(LookupError, match="no fourth batch"):
            next(found)

    def long():
        raise ValueError("x" * 1_000_000)
        yield

    _, replicas = make(long())
    with pytest.raises(RuntimeError, match="ValueError: xxx"):
        next(replicas.shares(0))

    _, replicas = make([(np.zeros(3), np.zeros(2))])
    with pytest.raises(ValueError, match=r"first has 3, another the shape \(2,\)"):
        next(replicas.shares(0))


def test_nothing_is_left_of_a_stream_that_is_closed(make):
    before, descriptors = (
        threading.active_count(),
        len(list(Path("/proc/self/fd").iterdir())),
    )
    stream, replicas = make(numbered(100))
    shares = replicas.shares(0)
    next(shares)
    stream.close()
    shares.close()
    assert threading.active_count() == before
    assert count_descriptors() == descriptors
