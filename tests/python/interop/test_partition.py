# SPDX-License-Identifier: Apache-2.0
"""xs.partition: data in memory becomes shards, cut as numpy.array_split cuts."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shard_values import array_split, assert_equal, nests

import xshards as xs


@given(st.data())
def test_nested_arrays_are_cut_as_array_split_cuts(data):
    rows = data.draw(st.integers(1, 12))
    value = data.draw(nests(rows))
    count = data.draw(st.integers(1, rows))
    shards = xs.partition(value, count)
    assert shards.num_partitions() == count
    assert_equal(shards.collect(), array_split(value, count))


@given(st.lists(st.integers() | st.text(max_size=2) | st.none(), min_size=1), st.data())
def test_plain_lists_are_cut_into_lists(items, data):
    count = data.draw(st.integers(1, len(items)))
    bounds = [list(part) for part in np.array_split(np.arange(len(items)), count)]
    expected = [[items[i] for i in part] for part in bounds]
    assert xs.partition(items, count).collect() == expected


def test_default_is_one_nonempty_shard_per_core(context):
    assert xs.partition(np.arange(10)).num_partitions() == context.cores
    assert xs.partition(np.arange(1)).num_partitions() == 1
    assert_equal(xs.partition(np.empty((0, 2))).collect(), [np.empty((0, 2))])
    assert xs.XShards.partition(np.arange(3), 3).num_partitions() == 3


def test_a_record_of_lists_without_arrays_is_a_plain_list():
    records = [{"a": 1}, {"a": 2}, {"b": [3]}]
    assert xs.partition(records, 2).collect() == [records[:2], records[2:]]


def test_views_and_fortran_order_keep_their_values():
    grid = np.arange(24).reshape(4, 6)
    for view in (grid[::2], grid[:, 1:3], grid[::-1], np.asfortranarray(grid), grid.T):
        assert_equal(xs.partition(view, 2).collect(), np.array_split(view, 2))


def test_later_changes_of_the_data_do_not_reach_the_shards():
    data = np.arange(6)
    shards = xs.partition({"x": data}, 2)
    data[:] = -1
    assert_equal(shards["x"].collect(), [np.arange(3), np.arange(3, 6)])


def test_frames_and_tables_give_frame_shards():
    frame = pd.DataFrame({"a": range(5), "s": list("abcde")}, index=[9, 8, 7, 6, 5])
    shards = xs.partition(frame, 2)
    assert [len(part) for part in shards.collect()] == [3, 2]
    pd.testing.assert_frame_equal(shards.to_pandas(), frame)
    pd.testing.assert_series_equal(xs.partition(frame["a"], 3).to_pandas(), frame["a"])
    table = pa.table({"a": [1, 2, 3]})
    assert xs.partition(table, 2).to_arrow() == table
    assert xs.partition(table.to_batches()[0], 2).to_arrow() == table


def test_frames_may_be_leaves():
    frame = pd.DataFrame({"a": range(5)})
    parts = xs.partition({"df": frame, "y": np.arange(5)}, 2).collect()
    pd.testing.assert_frame_equal(parts[1]["df"], frame.iloc[3:])
    assert_equal([part["y"] for part in parts], np.array_split(np.arange(5), 2))


@pytest.mark.torch
def test_tensors_come_back_as_arrays():
    torch = pytest.importorskip("torch")
    leaf = torch.arange(4.0, requires_grad=True)
    parts = xs.partition({"x": leaf, "y": torch.ones(4, 2).t().t()}, 2).collect()
    assert_equal(parts[0], {"x": np.float32([0, 1]), "y": np.ones((2, 2), np.float32)})
    with pytest.raises(TypeError, match=r"no type for a tensor of torch\.bfloat16"):
        xs.partition(torch.zeros(2, dtype=torch.bfloat16))


def test_arrays_of_different_length_are_rejected():
    message = (
        "the ndarrays in data must all have the same size in first dimension, "
        "got first ndarray of size 3 and another 4"
    )
    with pytest.raises(ValueError, match=message):
        xs.partition({"x": np.zeros(3), "y": [np.zeros(3), np.zeros(4)]}, 2)


@pytest.mark.parametrize(
    "data",
    [
        np.zeros(2),
        (np.zeros(2),),
        pd.DataFrame({"a": [1, 2]}),
        [1, 2],
        pa.table({"a": [1, 2]}),
    ],
)
def test_more_shards_than_rows_are_refused(data):
    message = "The length of data 2 is smaller than the total number of shards 3"
    with pytest.raises(ValueError, match=message):
        xs.partition(data, 3)


@pytest.mark.parametrize(
    "data",
    [3, "text", None, {1, 2}, {}, (), {"a": 1}, (np.zeros(2), 1), [[np.zeros(2)], []]],
)
def test_other_types_are_rejected(data):
    message = "The types supported in XShards.partition are 1. ndarray"
    with pytest.raises(TypeError, match=message):
        xs.partition(data, 1)


def test_faults_inside_are_named():
    with pytest.raises(TypeError, match="data of type dict, with a str inside"):
        xs.partition({"x": np.zeros(2), "y": "no"}, 1)
    with pytest.raises(ValueError, match="0-d ndarray"):
        xs.partition(np.array(3), 1)
    with pytest.raises(ValueError, match="num_shards must be at least 1, got 0"):
        xs.partition(np.zeros(3), 0)


def test_many_shards_take_few_segments():
    before = len(_descriptors())
    shards = xs.partition(np.arange(1000), 500)
    assert shards.num_partitions() == 500
    assert len(_descriptors()) <= before + 10
    assert sum(map(len, shards.collect())) == 1000


def _descriptors():
    from pathlib import Path

    return list(Path("/proc/self/fd").iterdir())
