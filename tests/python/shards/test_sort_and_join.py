# SPDX-License-Identifier: Apache-2.0
"""Sorting and joining, in memory and beyond it, give what pandas gives."""

import numpy as np
import pandas as pd
import pytest
from frames import TYPED, assert_same, frames, num_partitions, odd_frames
from hypothesis import given, settings
from hypothesis import strategies as st

import xshards as xs

HOW = ["inner", "left", "right", "outer"]


@pytest.fixture(scope="module")
def tight():
    """Give a context in which nothing fits at once."""
    made = xs.Context(cores=2, memory="16MB")
    yield made
    made.close()


def keyed(rows, seed=3):
    """Make rows with keys that repeat, in many widths and with missing values."""
    rng = np.random.default_rng(seed)
    text = [f"a beginning that all share {v:04d}" for v in rng.integers(0, 500, rows)]
    return pd.DataFrame(
        {
            "text": pd.Series(text, dtype="str").mask(rng.random(rows) < 0.05),
            "number": rng.integers(-(2**62), 2**62, rows),
            "few": rng.integers(0, 9, rows),
            "real": np.where(rng.random(rows) < 0.1, np.nan, rng.normal(size=rows)),
            "row": np.arange(rows),
        }
    )


@pytest.mark.parametrize("far_apart", [1, 1_000_003])
@pytest.mark.parametrize("repeats", [1, 2])
def test_partitions_larger_than_the_cache_are_joined_in_parts(far_apart, repeats):
    rng = np.random.default_rng(5)
    rows = 100_000
    left = pd.DataFrame({"k": rng.permutation(rows) // repeats * far_apart})
    right = pd.DataFrame({"k": (rng.permutation(rows) + rows // 2) * far_apart})
    left["a"], right["b"] = np.arange(rows), np.arange(rows) * 1.5
    joined = xs.from_pandas(left, 1).merge(xs.from_pandas(right, 1), "outer", on="k")
    actual = joined.to_pandas().sort_values(["k", "a"], ignore_index=True)
    stages = [stage.label for stage in xs.last_profile().stages]
    assert sum("partition into 2" in stage for stage in stages) == 2, stages
    assert joined.num_partitions() == 1
    expected = left.merge(right, "outer", on="k")
    assert_same(actual, expected.sort_values(["k", "a"], ignore_index=True))


@pytest.mark.parametrize("n", [0, 1, 3, 100])
@given(
    df=frames(),
    parts=num_partitions,
    by=st.lists(st.sampled_from("knifsb"), min_size=1, max_size=3, unique=True),
    ascending=st.lists(st.booleans(), min_size=3, max_size=3),
    na_position=st.sampled_from(["first", "last"]),
)
def test_first_rows_of_a_sort(n, df, parts, by, ascending, na_position):
    order = {"ascending": ascending[: len(by)], "na_position": na_position}
    actual = xs.from_pandas(df, parts).sort_values(by, **order).head(n)
    expected = df.sort_values(by, kind="stable", **order).head(n)
    assert_same(actual, expected.reset_index(drop=True))


def test_first_rows_are_a_plan_of_their_own():
    shards = xs.from_pandas(keyed(100), 3).sort_values("number").limit(5)
    assert "Top → partition into 1" in shards.explain(as_text=True)
    assert shards.num_partitions() == 1


@pytest.mark.parametrize("rows", [1, 1000, 70_000])
@pytest.mark.parametrize(
    "by", [["text", "number"], ["few", "real"], ["real"], ["number"], ["few"]]
)
def test_sort_is_stable(by, rows):
    df = keyed(rows)
    for ascending in (True, False):
        actual = xs.from_pandas(df, 4).sort_values(by, ascending).to_pandas()
        expected = df.sort_values(by, ascending=ascending, kind="stable")
        assert_same(actual, expected.reset_index(drop=True))


def test_rows_in_order_are_not_moved():
    df = keyed(20_000).sort_values(["few", "row"], ignore_index=True)
    shards = xs.from_pandas(df, 4).sort_values(["few", "row"])
    assert [len(part) for part in shards.collect()] == [5000] * 4
    assert_same(shards.to_pandas(), df)
    # Each partition is in order, but not all of them together.
    turned = pd.concat([df[10_000:], df[:10_000]], ignore_index=True)
    assert_same(xs.from_pandas(turned, 4).sort_values(["few", "row"]).to_pandas(), df)


@pytest.mark.parametrize("by", [["text", "few"], ["number"], ["skewed"]])
def test_sort_beyond_memory(by, tight):
    df = keyed(400_000)
    df["skewed"] = df["few"].where(df["row"] % 10 == 0, 7)
    actual = xs.from_pandas(df, 3, context=tight).sort_values(by).to_pandas()
    spilled = sum(stage.spilled_bytes for stage in xs.last_profile().stages)
    assert_same(actual, df.sort_values(by, kind="stable").reset_index(drop=True))
    assert spilled > 0


@pytest.mark.parametrize("how", [*HOW, "semi", "anti"])
@pytest.mark.parametrize("key", ["number", "text", "both"])
def test_join_beyond_memory(how, key, tight):
    rng = np.random.default_rng(5)
    left, right = keyed(150_000), keyed(120_000, seed=4)
    # Few enough partners a row, and one key that nine of ten rows of the left have.
    left["number"] = np.where(
        rng.random(150_000) < 0.9, 1, rng.integers(0, 180_000, 150_000)
    )
    right["number"] = rng.permutation(120_000)
    right["text"] = right["number"].map(lambda v: f"unique {v}")
    left["text"] = left["number"].map(lambda v: f"unique {v}")
    right = right.rename(columns={"row": "other"})
    on = ["number", "text"] if key == "both" else [key]
    theirs = xs.from_pandas(right, 2, context=tight)
    actual = xs.from_pandas(left, 3, context=tight).merge(theirs, how, on).to_pandas()
    if how in ("semi", "anti"):
        found = left["number"].isin(right["number"])
        expected = left[found if how == "semi" else ~found]
    else:
        expected = left.merge(right, how, on)
    order = [name for name in ("row", "other") if name in expected]
    assert_same(
        actual.sort_values(order, ignore_index=True),
        expected.sort_values(order, ignore_index=True),
    )


def test_a_key_that_both_sides_repeat_beyond_memory(tight):
    left = pd.DataFrame({"k": [1] * 30 + [2], "v": range(31)})
    right = pd.DataFrame({"k": np.repeat([1, 3], [20_000, 10]), "w": range(20_010)})
    right["pad"] = [f"{w:0100d}" for w in right["w"]]
    for how in HOW:
        theirs = xs.from_pandas(right, 3, context=tight)
        joined = xs.from_pandas(left, 2, context=tight).merge(theirs, how, "k")
        actual = joined.select(["k", "v", "w"]).to_pandas()
        expected = left.merge(right.drop(columns="pad"), how, "k")
        assert_same(
            actual.sort_values(["v", "w"], ignore_index=True),
            expected.sort_values(["v", "w"], ignore_index=True),
        )


@pytest.mark.parametrize("kind", TYPED)
@pytest.mark.parametrize("how", HOW)
@settings(max_examples=3)
@given(data=st.data())
def test_merge_by_every_kind(kind, how, data):
    df = data.draw(odd_frames(kind))
    other = data.draw(odd_frames(kind))[["x", "n"]].rename(columns={"n": "m"})
    left = xs.from_pandas(df, data.draw(num_partitions))
    right = xs.from_pandas(other, data.draw(num_partitions))
    actual = left.merge(right, how, "x").to_pandas()
    expected = df.merge(other, how, "x")
    assert len(actual) == len(expected)
    for name in ("n", "m", "k"):
        assert_same(actual[[name]], expected[[name]], ignore_order=True)


def test_merges_in_a_row_keep_the_partitions_of_the_large_side():
    shards = xs.from_pandas(keyed(1000), 3)
    names = xs.from_pandas(
        pd.DataFrame({"few": range(9), "name": list("abcdefghi")}), 5
    )
    joined = shards.merge(names, on="few")
    again = joined.merge(names.rename({"name": "again"}), on="few")
    third = again.merge(names.rename({"name": "third"}), on="few", how="left")
    assert third.num_partitions() == 3
    assert_same(third.select(["row"]).to_pandas(), keyed(1000)[["row"]])


def test_a_join_is_passed_to_functions_in_worker_processes():
    shards = xs.from_pandas(keyed(1000), 3)
    names = xs.from_pandas(
        pd.DataFrame({"few": range(9), "name": list("abcdefghi")}), 2
    )
    sizes = shards.merge(names, on="few").transform_shard(len).collect()
    assert sum(sizes) == 1000
