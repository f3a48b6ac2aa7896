# SPDX-License-Identifier: Apache-2.0
"""Planning that is linear: expressions built by loops, long chains, wide tables.

Each of these took minutes, or did not end, when parts were written out or looked up one
by one; the time limit of tests is the measure.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import xshards as xs
from xshards import col


@pytest.fixture
def frame():
    return pd.DataFrame({"x": [0.1, 0.5, np.nan, 0.9], "n": [1, 2, 3, 4]})


@pytest.mark.parametrize("partitions", [1, 3, 9])
def test_expression_that_uses_itself_twice_in_a_loop(frame, partitions):
    value, expected = col("x"), frame["x"]
    for _ in range(60):
        value = 3.7 * value * (1 - value)
        expected = 3.7 * expected * (1 - expected)
    shards = xs.from_pandas(frame, num_partitions=partitions)
    result = shards.with_column("x", value).to_pandas()
    pd.testing.assert_frame_equal(result, frame.assign(x=expected))


@pytest.mark.parametrize("loops", [1, 18, 400])
def test_column_that_is_replaced_in_a_loop(frame, loops):
    shards, expected = xs.from_pandas(frame, num_partitions=2), frame.copy()
    for _ in range(loops):
        shards = shards.with_column("x", 3.7 * col("x") * (1 - col("x")))
        expected["x"] = 3.7 * expected["x"] * (1 - expected["x"])
    pd.testing.assert_frame_equal(shards.to_pandas(), expected)


def test_filter_above_a_column_that_is_replaced_in_a_loop(frame):
    shards, expected = xs.from_pandas(frame, num_partitions=2), frame.copy()
    for _ in range(40):
        shards = shards.with_column("x", 3.7 * col("x") * (1 - col("x")))
        expected["x"] = 3.7 * expected["x"] * (1 - expected["x"])
    result = shards.filter(col("x") > 0.5).to_pandas()
    pd.testing.assert_frame_equal(
        result.reset_index(drop=True),
        expected[expected["x"] > 0.5].reset_index(drop=True),
    )


def test_conditions_and_choices_in_a_loop(frame):
    value, expected = col("n"), frame["n"]
    for i in range(40):
        value = (value // 2).where(value % 3 == 0, value + i)
        expected = (expected // 2).where(expected % 3 == 0, expected + i)
    shards = xs.from_pandas(frame, num_partitions=2)
    result = shards.with_column("n", value).to_pandas()
    pd.testing.assert_frame_equal(result, frame.assign(n=expected))


def test_columns_that_are_added_in_a_loop_each_from_the_one_before(frame):
    shards, expected = xs.from_pandas(frame, num_partitions=2), frame.copy()
    for i in range(300):
        before = "n" if i == 0 else f"c{i - 1}"
        shards = shards.with_column(f"c{i}", col(before) + i)
        expected = pd.concat([expected, (expected[before] + i).rename(f"c{i}")], axis=1)
    pd.testing.assert_frame_equal(shards.to_pandas(), expected)


def test_a_function_that_reads_each_column_of_a_wide_table():
    names = [f"c{i}" for i in range(3000)]
    shards = xs.from_pandas(pd.DataFrame({name: [1, 2] for name in names}), 1)

    def last(columns):
        by_label = [columns[name] for name in names]
        return by_label[-1] + columns.c7

    assert shards.assign(c=last).select(["c"]).to_pandas()["c"].tolist() == [2, 4]


def test_loop_travels_to_worker_processes(frame):
    value, expected = col("x"), frame["x"]
    for _ in range(60):
        value = 3.7 * value * (1 - value)
        expected = 3.7 * expected * (1 - expected)
    shards = xs.from_pandas(frame, num_partitions=2).with_column("x", value)
    result = shards.transform_shard(lambda df: df).to_pandas()
    pd.testing.assert_frame_equal(
        result.reset_index(drop=True), frame.assign(x=expected)
    )


def test_with_columns_computes_all_from_the_columns_before():
    frame = pd.DataFrame({"a": [1, 2], "b": [3, 4]})
    shards = xs.from_pandas(frame)
    result = shards.with_columns({"a": col("b")}, b=col("a"), c=7).to_pandas()
    pd.testing.assert_frame_equal(
        result, pd.DataFrame({"a": [3, 4], "b": [1, 2], "c": [7, 7]})
    )
    assert shards.with_columns() is shards
    with pytest.raises(TypeError, match="name must be a string"):
        shards.with_columns({1: col("a")})
    with pytest.raises(TypeError, match="computed by an expression"):
        shards.with_columns(a=[1, 2])


def test_assign_lets_a_later_column_use_an_earlier_one():
    frame = pd.DataFrame({"a": [1, 2], "b": [3, 4]})
    result = xs.from_pandas(frame).assign(
        a=col("b") * 2, c=col("a") + 1, b=0, d=lambda d: d["b"] + d["c"]
    )
    expected = frame.assign(
        a=lambda d: d["b"] * 2,
        c=lambda d: d["a"] + 1,
        b=0,
        d=lambda d: d["b"] + d["c"],
    )
    pd.testing.assert_frame_equal(result.to_pandas(), expected)


@pytest.fixture(scope="module")
def wide():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 9, (64, 2_000)).astype("float64")
    values[values == 0] = np.nan
    return pd.DataFrame(values, columns=[f"c{i}" for i in range(2_000)])


@pytest.mark.parametrize(
    "operation",
    [
        lambda d: d[list(d.columns)[::-1]],
        lambda d: d.fillna(0),
        lambda d: d.fillna(0).astype("int64"),
        lambda d: d.dropna(),
        lambda d: d.drop(["c7"] if isinstance(d, xs.XShards) else "c7", **_axis(d)),
    ],
    ids=["select", "fillna", "astype", "dropna", "drop"],
)
def test_wide_table(wide, operation):
    result = operation(xs.from_pandas(wide, num_partitions=3)).to_pandas()
    expected = operation(wide)
    pd.testing.assert_frame_equal(
        result.reset_index(drop=True), expected.reset_index(drop=True)
    )


def _axis(data):
    return {} if isinstance(data, xs.XShards) else {"axis": 1}


def test_reductions_of_a_wide_table(wide):
    shards = xs.from_pandas(wide, num_partitions=3)
    pd.testing.assert_series_equal(shards.nunique(), wide.nunique())
    pd.testing.assert_series_equal(shards.sum(), wide.sum())
