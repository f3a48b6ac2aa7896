# SPDX-License-Identifier: Apache-2.0
"""Global operations by keys of every kind, with pandas as the oracle."""

import decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from frames import (
    KINDS,
    TYPED,
    assert_same,
    none_as_nan,
    num_partitions,
    odd_frames,
)
from hypothesis import given, settings
from hypothesis import strategies as st

import xshards as xs

typed = pytest.mark.parametrize("kind", TYPED)
few = settings(max_examples=15)
#: Nested cells, and what makes two of them equal to pandas.
CELLS = {
    "object-list": lambda cell: None if cell is None else tuple(cell),
    "object-dict": lambda cell: None if cell is None else tuple(cell.items()),
    "object-bytes": lambda cell: cell,
}
nested = pytest.mark.parametrize("kind", CELLS)


def merged_in_order(frame, names):
    """Sort by columns of numbers, which tell rows apart."""
    return none_as_nan(frame).sort_values(names, kind="stable", ignore_index=True)


@typed
@few
@given(draw=st.data(), n=num_partitions, m=st.integers(1, 9))
def test_partition_by_brings_equal_keys_together(kind, draw, n, m):
    df = draw.draw(odd_frames(kind)).assign(row=lambda d: range(len(d)))
    parts = xs.from_pandas(df, n).partition_by("x", m).collect()
    assert len(parts) == m
    homes = {}
    for index, part in enumerate(parts):
        assert part["x"].dtype == df["x"].dtype
        for key in part["x"].dropna().unique():
            assert homes.setdefault(key, index) == index
        rows = part.groupby("x", dropna=False, observed=True)["row"]
        assert rows.apply(lambda r: r.is_monotonic_increasing).all()
    with_missing = {i for i, part in enumerate(parts) if part["x"].isna().any()}
    assert len(with_missing) <= 1
    whole = pd.concat(parts).sort_values("row", ignore_index=True)
    assert_same(whole, df)


@typed
@few
@given(draw=st.data(), n=num_partitions, keep=st.sampled_from(["first", "last", False]))
def test_drop_duplicates_by_every_kind(kind, draw, n, keep):
    df = draw.draw(odd_frames(kind))
    df["x"] = df["x"].where(df["n"] % 2 == 0, df["x"].iloc[0] if len(df) else None)
    actual = xs.from_pandas(df, n).drop_duplicates("x", keep=keep).to_pandas()
    assert_same(actual, df.drop_duplicates("x", keep=keep, ignore_index=True))


@typed
@few
@given(
    draw=st.data(), n=num_partitions, how=st.sampled_from(["inner", "left", "outer"])
)
def test_merge_on_every_kind(kind, draw, n, how):
    df = draw.draw(odd_frames(kind)).assign(row=lambda d: range(len(d)))
    picks = draw.draw(st.lists(st.integers(0, 11), max_size=6))
    other = df.iloc[[pick for pick in picks if pick < len(df)]][["x"]]
    other = other.assign(other=range(len(other))).reset_index(drop=True)
    actual = xs.from_pandas(df, n).merge(xs.from_pandas(other, 2), how, "x").to_pandas()
    expected = df.merge(other, how, "x")
    assert actual["x"].dtype == expected["x"].dtype
    by = ["row", "other"]
    assert_same(merged_in_order(actual, by), merged_in_order(expected, by))


@typed
@few
@given(draw=st.data(), n=num_partitions, how=st.sampled_from(["semi", "anti"]))
def test_semi_and_anti_merge_on_every_kind(kind, draw, n, how):
    df = draw.draw(odd_frames(kind)).assign(row=lambda d: range(len(d)))
    picks = draw.draw(st.lists(st.integers(0, 11), max_size=6))
    other = df.iloc[[pick for pick in picks if pick < len(df)]][["x"]]
    other = other.reset_index(drop=True)
    actual = xs.from_pandas(df, n).merge(xs.from_pandas(other, 2), how, "x").to_pandas()
    partners = df.merge(other, on="x")["row"]
    found = df["row"].isin(partners)
    expected = df[found if how == "semi" else ~found].reset_index(drop=True)
    assert_same(actual.sort_values("row", ignore_index=True), expected)


def test_decimals_of_other_scales_are_equal():
    ours = pa.array([decimal.Decimal("1.90"), decimal.Decimal("0.01"), None])
    theirs = pa.array([decimal.Decimal("1.9"), decimal.Decimal("123.5"), None])
    left = xs.from_arrow(pa.table({"x": ours, "row": [0, 1, 2]}), 2)
    right = xs.from_arrow(pa.table({"x": theirs, "other": [0, 1, 2]}), 2)
    for how, rows in (("inner", [0, 2]), ("semi", [0, 2]), ("anti", [1])):
        assert sorted(left.merge(right, how, "x").to_pandas()["row"]) == rows


@typed
@few
@given(
    draw=st.data(),
    other=st.sampled_from(list(TYPED)),
    n=num_partitions,
    keep=st.sampled_from(["first", "last", False]),
)
def test_drop_duplicates_by_two_kinds(kind, draw, other, n, keep):
    df = draw.draw(odd_frames(kind)).assign(row=lambda d: range(len(d)))
    values = draw.draw(odd_frames(other, min_rows=len(df), max_rows=len(df)))["x"]
    # Few different pairs, so that some are equal.
    df = df.assign(y=values).iloc[[row - row % 3 for row in range(len(df))]]
    df = df.assign(row=range(len(df))).reset_index(drop=True)
    actual = xs.from_pandas(df, n).drop_duplicates(["y", "x"], keep=keep)
    assert actual.num_partitions() == n
    assert_same(
        actual.to_pandas(), df.drop_duplicates(["y", "x"], keep=keep, ignore_index=True)
    )


@typed
@few
@given(draw=st.data(), n=num_partitions)
def test_distinct_values_of_every_kind_are_counted(kind, draw, n):
    df = draw.draw(odd_frames(kind))
    shards = xs.from_pandas(df, n)["x"]
    assert shards.nunique() == df["x"].nunique()
    assert shards.nunique(dropna=False) == df["x"].nunique(dropna=False)
    counts = shards.value_counts(dropna=False)
    assert sorted(counts) == sorted(df["x"].value_counts(dropna=False))


AGGREGATES = {
    "count": lambda g: g.count(),
    "first": lambda g: g.first(),
    "last": lambda g: g.last(),
    "nunique": lambda g: g.nunique(),
}


@pytest.mark.parametrize("function", AGGREGATES)
@typed
@settings(max_examples=8)
@given(draw=st.data(), n=num_partitions)
def test_aggregates_of_every_kind(kind, function, draw, n):
    df = draw.draw(odd_frames(kind)).dropna(subset="k")
    actual = xs.from_pandas(df, n).group_by("k", {"x": function}).to_pandas()
    grouped = AGGREGATES[function](df.groupby("k", sort=False, observed=True)["x"])
    expected = grouped.rename(f"{function}(x)").reset_index()
    actual = merged_in_order(actual, ["k"])
    expected = merged_in_order(expected, ["k"])
    found, wanted = actual.iloc[:, 1], expected.iloc[:, 1]
    assert list(actual["k"]) == list(expected["k"])
    assert list(found.isna()) == list(wanted.isna())
    assert list(found.dropna()) == list(wanted.dropna())


@nested
@few
@given(draw=st.data(), n=num_partitions)
def test_nested_keys(kind, draw, n):
    df = draw.draw(odd_frames(kind)).assign(row=lambda d: range(len(d)))
    shards = xs.from_pandas(df, n)
    keys = pd.Series([CELLS[kind](cell) for cell in df["x"]], dtype=object)
    first = df[~keys.duplicated()].reset_index(drop=True)
    assert_same(shards.drop_duplicates("x").to_pandas(), first)
    counts = shards.group_by("x", {"row": ["count", "min"]}).to_pandas()
    counts = counts.sort_values("min(row)", ignore_index=True)
    groups = df["row"].groupby(keys.map(repr), sort=False)
    assert list(counts["count(row)"]) == list(groups.count())
    homes = {}
    for index, part in enumerate(shards.partition_by("x", 4).collect()):
        for cell in part["x"]:
            assert homes.setdefault(repr(CELLS[kind](cell)), index) == index


@nested
@few
@given(
    draw=st.data(), n=num_partitions, how=st.sampled_from(["inner", "left", "outer"])
)
def test_merge_on_nested_keys(kind, draw, n, how):
    df = draw.draw(odd_frames(kind)).assign(row=lambda d: range(len(d)))
    picks = draw.draw(st.lists(st.integers(0, 11), max_size=6))
    other = df.iloc[[pick for pick in picks if pick < len(df)]][["x"]]
    other = other.assign(other=range(len(other))).reset_index(drop=True)
    actual = xs.from_pandas(df, n).merge(xs.from_pandas(other, 2), how, "x").to_pandas()
    # The same by what pandas can compare.
    frames = [f.assign(x=f["x"].map(CELLS[kind]).map(repr)) for f in (df, other)]
    expected = frames[0].merge(frames[1], how, "x")
    by = ["row", "other"]
    assert_same(
        merged_in_order(actual[by], by),
        merged_in_order(expected[by], by),
        check_dtype=False,
    )


@pytest.mark.parametrize("kind", KINDS)
@few
@given(draw=st.data(), n=num_partitions, seed=st.integers(0, 5))
def test_samples_and_splits_of_every_kind(kind, draw, n, seed):
    df = draw.draw(odd_frames(kind)).assign(row=lambda d: range(len(d)))
    shards = xs.from_pandas(df, n)
    found = shards.sample(0.5, random_state=seed).to_pandas()
    assert_same(found, df.iloc[found["row"]].reset_index(drop=True))
    train, test = shards.train_test_split(0.5, random_state=seed)
    both = pd.concat([train.to_pandas(), test.to_pandas()])
    assert sorted(both["row"]) == list(range(len(df)))
    assert both["x"].dtype == df["x"].dtype


@given(
    st.lists(st.sampled_from(["a", "é", "", None]), max_size=10),
    num_partitions,
)
def test_dictionaries_are_their_values(values, n):
    plain = pa.table({"x": pa.array(values, pa.string()), "n": range(len(values))})
    encoded = plain.set_column(0, "x", plain["x"].dictionary_encode())
    one, other = xs.from_arrow(plain, n), xs.from_arrow(encoded, n)
    sums = [
        shards.group_by("x", {"n": ["sum", "count"]}).to_pandas().astype({"x": "str"})
        for shards in (one, other)
    ]
    assert_same(sums[0], sums[1], ignore_order=True)
    joined = one.merge(other, on="x").to_pandas()
    frame = plain.to_pandas().astype({"x": "str"})
    expected = frame.merge(frame, on="x")
    by = ["n_x", "n_y"]
    assert_same(merged_in_order(joined[by], by), merged_in_order(expected[by], by))
    parts = zip(
        one.partition_by("x", 3).collect(),
        other.partition_by("x", 3).collect(),
        strict=True,
    )
    assert all(list(a["n"]) == list(b["n"]) for a, b in parts)


@given(rows=st.integers(0, 30), n=st.integers(1, 6), m=st.integers(1, 6))
def test_one_key_for_all_rows(rows, n, m):
    df = pd.DataFrame({"k": ["same"] * rows, "v": np.arange(rows)})
    shards = xs.from_pandas(df, n)
    parts = shards.partition_by("k", m).collect()
    assert sorted(len(part) for part in parts) == [0] * (m - 1) + [rows]
    assert_same(shards.sort_values("k").to_pandas(), df)
    assert_same(shards.drop_duplicates("k").to_pandas(), df.head(1))
    grouped = shards.group_by("k", {"v": ["sum", "median"]}).to_pandas()
    expected = df.groupby("k").agg(s=("v", "sum"), m=("v", "median")).reset_index()
    assert_same(grouped, expected.set_axis(grouped.columns, axis=1))
    assert len(shards.merge(shards, on="k")) == rows * rows
