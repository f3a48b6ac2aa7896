# SPDX-License-Identifier: Apache-2.0
"""Operations on columns of every kind, against pandas."""

import hypothesis
import pandas as pd
import pytest
from frames import (
    KINDS,
    TYPED,
    assert_same,
    none_as_nan,
    num_partitions,
    odd_frames,
)
from hypothesis import given
from hypothesis import strategies as st

import xshards as xs

every_kind = pytest.mark.parametrize("kind", KINDS)

data = st.data()

few = hypothesis.settings(max_examples=5)  # of each kind


@every_kind
@few
@given(draw=data, n=num_partitions)
def test_rows_of_every_kind(kind, draw, n):
    df = draw.draw(odd_frames(kind))
    shards = xs.from_pandas(df, n)
    assert_same(shards.to_pandas(), df)
    assert_same(shards.select(["x"]).to_pandas(), df[["x"]])
    positive = df[df["n"] > 0].reset_index(drop=True)
    assert_same(shards.filter(xs.col("n") > 0).to_pandas(), positive)
    there = df[df["x"].notna()].reset_index(drop=True)
    if kind != "object-mixed":  # its NaN is a value like any other
        assert_same(shards.filter(xs.col("x").notna()).to_pandas(), there)
    in_order = df.sort_values("n", kind="stable", ignore_index=True)
    assert_same(shards.sort_values("n").to_pandas(), in_order)
    assert_same(shards.repartition(3).head(4), df.head(4))
    parts = shards.partition_by("n", 3).sort_values("n").to_pandas()
    assert_same(parts[["n"]], in_order[["n"]])
    assert parts["x"].dtype == df["x"].dtype


@every_kind
@few
@given(draw=data, n=num_partitions)
def test_union_of_every_kind(kind, draw, n):
    df, other = draw.draw(odd_frames(kind)), draw.draw(odd_frames(kind))
    actual = xs.from_pandas(df, n).union(xs.from_pandas(other, 2)).to_pandas()
    assert_same(actual, pd.concat([df, other], ignore_index=True))


@every_kind
@few
@given(draw=data)
def test_merge_carries_every_kind(kind, draw):
    df = draw.draw(odd_frames(kind))
    right = draw.draw(odd_frames(kind, max_rows=5))[["n"]].assign(r=1)
    actual = xs.from_pandas(df, 2).merge(xs.from_pandas(right, 2), on="n").to_pandas()
    expected = df.merge(right, on="n")
    by = ["n", "k"]
    assert actual["x"].dtype == expected["x"].dtype
    assert_same(actual[by], expected[by], ignore_order=True)


@every_kind
@pytest.mark.parametrize("how", ["left", "right", "outer"])
@few
@given(draw=data)
def test_outer_merge_of_every_kind(kind, how, draw):
    df = draw.draw(odd_frames(kind)).drop_duplicates("n")
    other = draw.draw(odd_frames(kind, max_rows=5)).drop_duplicates("n")
    actual = xs.from_pandas(df, 2).merge(xs.from_pandas(other, 2), how, "n").to_pandas()
    expected = df.merge(other, how, "n").sort_values("n", ignore_index=True)
    assert_same(
        none_as_nan(actual.sort_values("n", ignore_index=True)), none_as_nan(expected)
    )


@every_kind
@few
@given(draw=data, n=num_partitions)
def test_functions_get_every_kind(kind, draw, n):
    df = draw.draw(odd_frames(kind, min_rows=1))
    parts = xs.from_pandas(df, n).transform_shard(lambda d: d).collect()
    assert_same(pd.concat(parts, ignore_index=True), df)


@pytest.mark.parametrize("kind", TYPED)
@few
@given(draw=data, n=num_partitions)
def test_unique_of_every_kind(kind, draw, n):
    df = draw.draw(odd_frames(kind))
    actual = xs.from_pandas(df, n)["x"].unique()
    expected = df["x"].unique()
    assert actual.dtype == expected.dtype
    pd.testing.assert_series_equal(pd.Series(actual), pd.Series(expected))


# pandas looks for a better dtype of object keys
@pytest.mark.parametrize("kind", [kind for kind in TYPED if "object" not in kind])
@few
@given(draw=data, n=num_partitions)
def test_group_by_every_kind(kind, draw, n):
    df = draw.draw(odd_frames(kind))
    actual = xs.from_pandas(df, n).group_by("x", {"n": "sum"}).to_pandas()
    grouped = df.groupby("x", dropna=False, sort=False, observed=True)["n"]
    expected = grouped.sum().rename("sum(n)").reset_index()
    assert actual["x"].dtype == expected["x"].dtype
    assert_same(actual, expected, ignore_order=True)


@pytest.mark.parametrize("kind", TYPED)
@few
@given(draw=data, n=num_partitions)
def test_sort_by_every_kind(kind, draw, n):
    df = draw.draw(odd_frames(kind))
    actual = xs.from_pandas(df, n).sort_values("x").to_pandas()
    assert_same(actual, df.sort_values("x", kind="stable", ignore_index=True))
