# SPDX-License-Identifier: Apache-2.0
"""Every operation that all shards have, on frames, arrays and objects."""

import numpy as np
import pandas as pd
import pytest
from drawn_shards import array_shards
from frames import frames
from hypothesis import given, settings
from hypothesis import strategies as st
from shard_values import (
    array_split,
    arrays,
    assert_equal,
    map_leaves,
    objects,
    shards_of,
)

import xshards as xs

counts = st.lists(st.integers(0, 3), min_size=1, max_size=4)


@st.composite
def object_shards(draw, values=objects):
    """Draw shards of objects, 0 to 3 in a partition, and the objects by partition."""
    per_partition = draw(counts)
    total = sum(per_partition)
    held = draw(st.lists(values, min_size=total, max_size=total))
    return shards_of(held, per_partition), held, per_partition


@given(object_shards())
def test_objects_are_collected_in_order(drawn):
    shards, held, per_partition = drawn
    assert_equal(shards.collect(), held)
    assert shards.num_partitions() == len(per_partition)


@given(object_shards(), st.integers(0, 12))
def test_take_gives_the_first_shards(drawn, n):
    shards, held, _ = drawn
    assert_equal(shards.take(n), held[:n])
    if held:
        assert_equal(shards.first(), held[0])
    else:
        with pytest.raises(IndexError, match="no first shard"):
            shards.first()


@given(array_shards(), st.integers(0, 5))
def test_take_gives_arrays(drawn, n):
    shards, held, _ = drawn
    assert_equal(shards.take(n), held[:n])


def test_take_makes_no_more_partitions_than_it_needs(tmp_path, context):
    for i in range(10):
        (tmp_path / f"{i}.csv").write_text("a\n" + f"{i}\n" * 10)
    shards = xs.read_csv(tmp_path).filter(xs.col("a") >= 0)
    assert shards.first()["a"].tolist() == [0] * 10
    assert xs.last_profile().stages[0].partitions == context.cores
    assert len(shards.take(3)) == 3


def test_take_refuses_negative_numbers():
    with pytest.raises(ValueError, match="non-negative number of shards, got -1"):
        xs.partition(np.zeros(2), 1).take(-1)


@given(object_shards())
def test_len_adds_up_lengths(drawn):
    shards, held, _ = drawn
    assert len(shards) == sum(len(v) if hasattr(v, "__len__") else 1 for v in held)


@given(array_shards())
def test_len_of_arrays_is_the_first_dimension(drawn):
    shards, held, _ = drawn
    assert len(shards) == sum(map(len, held))
    assert bool(shards)


def test_len_of_scalars_and_frames():
    assert len(shards_of([np.array(3), np.float64(2), 7])) == 3
    frame = pd.DataFrame({"a": range(5)})
    assert len(shards_of([frame, frame[:0]])) == 5
    assert len(shards_of([], [0, 0])) == 0


@given(array_shards())
def test_item_takes_from_every_shard(drawn):
    shards, held, _ = drawn
    for key in [0, "é0", slice(0, 2), -1]:
        try:
            expected = [value[key] for value in held]
        except (KeyError, IndexError, TypeError):
            with pytest.raises(KeyError, match="Invalid key for this XShards"):
                shards[key].collect()
            continue
        actual = shards[key].collect()
        for one, other in zip(actual, expected, strict=True):
            np.testing.assert_equal(one, other)


def test_item_of_shards_without_items_is_rejected():
    with pytest.raises(
        TypeError, match=r"No selection operation available.*holds a int"
    ):
        shards_of([3])["a"].collect()
    with pytest.raises(KeyError, match="Invalid key for this XShards: 'b' of a dict"):
        shards_of([{"a": 1}])["b"].collect()


def test_item_after_a_function_selects_columns_of_frames():
    shards = xs.from_pandas(pd.DataFrame({"a": [1, 2, 3]}), 2)
    later = shards.transform_shard(lambda df: df.assign(b=df["a"] * 2))
    assert list(later["b"].unique()) == [2, 4, 6]
    dicts = shards.transform_shard(lambda df: {"x": df["a"].to_numpy()})
    assert_equal(dicts["x"].collect(), [np.array([1, 2]), np.array([3])])


def test_item_of_mixed_shards():
    frame = pd.DataFrame({"a": [1, 2]})
    column, array = shards_of([frame, {"a": np.zeros(1)}])["a"].collect()
    pd.testing.assert_series_equal(column, frame["a"])
    assert_equal(array, np.zeros(1))


@given(array_shards(), st.integers(1, 6))
def test_repartition_spreads_rows_of_arrays(drawn, count):
    shards, _, whole = drawn
    spread = shards.repartition(count)
    assert spread.num_partitions() == count
    assert_equal(spread.collect(), array_split(whole, count))


@given(object_shards(st.lists(objects, max_size=4)), st.integers(1, 6))
def test_repartition_spreads_items_of_lists(drawn, count):
    shards, held, _ = drawn
    items = [item for value in held for item in value]
    spread = shards.repartition(count)
    assert spread.num_partitions() == count
    if not held:
        assert spread.collect() == []
        return
    sizes = [len(part) for part in np.array_split(np.arange(len(items)), count)]
    assert [len(part) for part in spread.collect()] == sizes
    assert_equal([item for part in spread.collect() for item in part], items)


@given(object_shards(st.integers() | st.text(max_size=3)), st.integers(1, 6))
def test_repartition_moves_other_shards_whole(drawn, count):
    shards, held, _ = drawn
    spread = shards.repartition(count)
    assert spread.num_partitions() == count
    assert_equal(spread.collect(), held)
    sizes = [len(partition) for partition in spread._core.collect(None)]
    assert sizes == [len(part) for part in np.array_split(np.arange(len(held)), count)]


def test_repartition_of_arrays_that_do_not_fit_moves_them_whole():
    for held in (
        [np.zeros((2, 3)), np.zeros((2, 4))],
        [np.zeros(2), np.zeros(2, np.float32)],
        [{"x": np.zeros(2)}, {"y": np.zeros(2)}],
        [{"x": np.zeros(2), "y": np.zeros(3)}, {"x": np.zeros(2), "y": np.zeros(3)}],
        [np.array(1), np.array(2)],
        [np.zeros(2), pd.DataFrame({"a": [1]})],
    ):
        assert_equal(shards_of(held).repartition(1).collect(), held)


def test_repartition_after_a_function():
    shards = xs.from_pandas(pd.DataFrame({"a": range(5)}), 2)
    frames = shards.transform_shard(lambda df: df + 1).repartition(3)
    assert [len(part) for part in frames.collect()] == [2, 2, 1]
    arrays = shards.transform_shard(lambda df: df["a"].to_numpy()).repartition(3)
    assert_equal(arrays.collect(), np.array_split(np.arange(5), 3))
    with pytest.raises(ValueError, match="num_partitions must be at least 1, got 0"):
        arrays.repartition(0)


@given(array_shards(), st.data())
def test_zip_pairs_shards(drawn, data):
    shards, held, _ = drawn
    others = data.draw(st.lists(objects, min_size=len(held), max_size=len(held)))
    zipped = shards.zip(shards_of(others))
    assert_equal(zipped.collect(), list(zip(held, others, strict=True)))


@given(frames(), st.integers(1, 4))
@settings(max_examples=15)
def test_zip_pairs_frames(df, count):
    shards = xs.from_pandas(df, count)
    for left, right in shards.zip(shards["n"]).collect():
        pd.testing.assert_series_equal(left["n"], right)
    back = pd.concat([left for left, _ in shards.zip(shards).collect()])
    pd.testing.assert_frame_equal(back.reset_index(drop=True), df)


def test_zip_rejects_other_types_and_counts():
    shards = xs.partition(np.arange(4), 2)
    with pytest.raises(TypeError, match="other should be a SparkXShards"):
        shards.zip([1, 2])
    with pytest.raises(ValueError, match="the same number of partitions, got 2 and 4"):
        shards.zip(xs.partition(np.arange(4), 4))
    message = "same number of elements in each partition, but partition 1 has 1 and 2"
    with pytest.raises(ValueError, match=message):
        shards.zip(shards_of([1, 2, 3], [1, 2])).collect()


@given(st.data())
def test_split_takes_tuples_apart(data):
    rows = data.draw(st.integers(1, 6))
    parts = data.draw(st.lists(arrays(rows), min_size=1, max_size=3))
    kind = data.draw(st.sampled_from([list, tuple]))
    count = data.draw(st.integers(1, rows))
    split = xs.partition(kind(parts), count).split()
    for one, part in zip(split, parts, strict=True):
        assert_equal(one.collect(), np.array_split(part, count))


def test_split_of_other_shards_returns_them():
    frame = pd.DataFrame({"a": [1]})
    for shards in (
        xs.from_pandas(frame),
        xs.partition({"x": np.zeros(2)}, 2),
        shards_of([3, "ab"]),
        shards_of([], [0]),
    ):
        assert shards.split() == [shards]
    frame_part, text_part = shards_of([(frame, "x"), (frame, "y")]).split()
    assert text_part.collect() == ["x", "y"]
    pd.testing.assert_frame_equal(frame_part.first(), frame)


def test_split_refuses_different_lengths():
    message = (
        "Cannot split this XShards because its partitions have different split length"
    )
    for held in ([(1, 2), (1,)], [(1, 2), 3]):
        with pytest.raises(ValueError, match=message):
            shards_of(held).split()


@given(object_shards(), array_shards())
def test_union_concatenates_shards(left, right):
    union = left[0].union(right[0])
    assert_equal(union.collect(), left[1] + right[1])
    assert union.num_partitions() == left[0].num_partitions() + len(right[1])


@given(object_shards())
def test_functions_get_every_shard(drawn):
    shards, held, _ = drawn
    assert_equal(
        shards.transform_shard(lambda v: (v, 1)).collect(), [(v, 1) for v in held]
    )


@given(array_shards())
@settings(max_examples=15)
def test_functions_change_copies_of_arrays(drawn):
    shards, held, _ = drawn

    def clear(value):
        map_leaves(lambda a: a.fill(0) if a.dtype.kind in "fiu" else None, value)
        return value

    clear.__module__ = "__main__"
    assert len(shards.transform_shard(clear).collect()) == len(held)
    assert_equal(shards.collect(), held)
