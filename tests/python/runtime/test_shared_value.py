# SPDX-License-Identifier: Apache-2.0
"""Values that all workers read from one place."""

import contextlib
import gc
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import xshards as xs


@pytest.fixture
def shards():
    return xs.from_pandas(pd.DataFrame({"a": range(6)}), 6)


def values_open():
    links = Path("/proc/self/fd").iterdir()
    names = []
    for link in links:
        with contextlib.suppress(FileNotFoundError):
            names.append(str(link.readlink()))
    return sum("xshards-value" in name for name in names)


@pytest.mark.parametrize(
    "data",
    [
        {"rome": 1, "osló": [2, None]},
        np.arange(10),
        pd.DataFrame({"x": [1.5, None], "s": ["a", "é"]}),
        pa.table({"x": [1, 2], "s": ["a", None]}),
        None,
        [],
    ],
    ids=lambda data: type(data).__name__,
)
def test_values_arrive(shards, data):
    shared = xs.SharedValue(data)
    kinds = shards.transform_shard(
        lambda df, s: (type(s.value).__name__, repr(s.value)), shared
    ).collect()
    assert kinds == [(type(data).__name__, repr(data))] * 6
    assert repr(shared.value) == repr(data)


def test_arguments_keywords_and_closures(shards):
    shared = xs.SharedValue(np.arange(3))

    def add(df, first, *, second):
        return int(first.value[1] + second["deep"].value[2] + shared.value[2])

    assert shards.transform_shard(add, shared, second={"deep": shared}).collect() == (
        [5] * 6
    )
    on_threads = shards.transform_shard(
        add, shared, second={"deep": shared}, workers="threads"
    )
    assert on_threads.collect() == [5] * 6


def test_there_is_one_copy_and_it_is_read_only(shards):
    shared = xs.SharedValue(np.zeros(4_000_000))

    def look(df):
        array = shared.value
        with open("/proc/self/maps") as maps:  # noqa: PTH123
            mapped = sum("xshards-value" in line and "r--s" in line for line in maps)
        return mapped, array.flags.writeable, array.flags.owndata, array.size

    found = shards.transform_shard(look).collect()
    assert set(found) == {(1, False, False, 4_000_000)}
    assert shared.value.flags.writeable is False
    with pytest.raises(ValueError, match="read-only"):
        shards.transform_shard(lambda df: shared.value.fill(1)).collect()


@pytest.mark.parametrize("workers", ["processes", "threads"])
def test_frames_and_tables_are_not_copied(shards, workers):
    rows = 1_000_000
    frame = xs.SharedValue(pd.DataFrame({"x": np.arange(rows), "y": np.ones(rows)}))
    table = xs.SharedValue(pa.table({"x": np.arange(rows)}))

    def look(df):
        column = frame.value["x"].to_numpy()
        where = table.value["x"].chunk(0).buffers()[1].address
        ranges = []
        with open("/proc/self/maps") as maps:  # noqa: PTH123
            for line in maps:
                if "xshards-value" in line:
                    ranges.append([int(x, 16) for x in line.split()[0].split("-")])
        inside = [
            any(begin <= address < end for begin, end in ranges)
            for address in (column.__array_interface__["data"][0], where)
        ]
        return inside, column.flags.writeable

    mapped = shards.transform_shard(look, workers=workers)
    assert mapped.collect() == [([True, True], False)] * 6


def test_it_outlives_its_name(shards):
    """The plan that uses it keeps it, and nothing else does."""
    gc.collect()
    before = values_open()
    mapped = shards.transform_shard(
        lambda df, s: int(s.value.sum()), xs.SharedValue(np.ones(5))
    )
    gc.collect()
    assert values_open() == before + 1
    assert mapped.collect() == [5] * 6
    del mapped
    gc.collect()
    assert values_open() == before


def test_unpersist(shards):
    shared = xs.SharedValue(np.ones(1000))
    mapped = shards.transform_shard(lambda df: float(shared.value.sum()))
    used = xs.context.default_context().used_memory
    shared.unpersist()
    shared.unpersist()
    assert xs.context.default_context().used_memory <= used - 8000
    with pytest.raises(ValueError, match="unpersisted"):
        _ = shared.value
    with pytest.raises(xs.XShardsError, match="unpersisted"):
        mapped.collect()
    with pytest.raises(ValueError, match="unpersisted"):
        shards.transform_shard(lambda df: shared.value)
    assert "unpersisted" in repr(shared)


def test_workers_release_it(shards):
    shared = xs.SharedValue(np.ones(1000))
    assert shards.transform_shard(lambda df: shared.value.size).collect() == [1000] * 6
    shared.unpersist()

    def mapped(_):
        gc.collect()
        with open("/proc/self/maps") as maps:  # noqa: PTH123
            return sum("xshards-value" in line for line in maps)

    # One message to forget, the next to look.
    shards.transform_shard(len).collect()
    assert set(shards.transform_shard(mapped).collect()) == {0}


def test_it_travels_only_with_functions():
    with pytest.raises(TypeError, match="transform_shard"):
        pickle.dumps(xs.SharedValue(1))
    with pytest.raises(ValueError, match="cannot be shared"):
        xs.SharedValue(x for x in [1])
