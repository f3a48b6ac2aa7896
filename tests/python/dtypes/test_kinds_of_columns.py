# SPDX-License-Identifier: Apache-2.0
"""Operations on columns of every kind, with pandas as the oracle."""

import decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from frames import (
    KINDS,
    TYPED,
    assert_same,
    frames,
    none_as_nan,
    num_partitions,
    odd_frames,
)
from hypothesis import given, settings
from hypothesis import strategies as st

import xshards as xs

typed = pytest.mark.parametrize("kind", TYPED)
every = pytest.mark.parametrize("kind", KINDS)
few = settings(max_examples=5)
rows_numbered = {"row": lambda d: range(len(d))}


@typed
@few
@given(
    draw=st.data(),
    n=num_partitions,
    ascending=st.lists(st.booleans(), min_size=2, max_size=2),
    na_position=st.sampled_from(["first", "last"]),
    top=st.integers(0, 6),
)
def test_sorts_and_their_first_rows(kind, draw, n, ascending, na_position, top):
    df = draw.draw(odd_frames(kind)).assign(**rows_numbered)
    by = draw.draw(st.sampled_from([["x", "n"], ["n", "x"]]))
    options = {"ascending": ascending, "na_position": na_position}
    ours = xs.from_pandas(df, n).sort_values(by, **options)
    expected = df.sort_values(by, kind="stable", ignore_index=True, **options)
    assert_same(ours.to_pandas(), expected)
    assert_same(ours.head(top), expected.head(top))


@typed
@few
@given(draw=st.data(), n=num_partitions, m=num_partitions)
def test_ranges_do_not_overlap(kind, draw, n, m):
    df = draw.draw(odd_frames(kind)).assign(**rows_numbered)
    parts = xs.from_pandas(df, n).partition_by_range("x", m).collect()
    assert len(parts) == m
    whole = pd.concat(parts)
    assert sorted(whole["row"]) == list(range(len(df)))
    assert all(part["row"].is_monotonic_increasing for part in parts)
    # Sorted by itself, each range continues the one before.
    joined = pd.concat(
        [part.sort_values("x", kind="stable") for part in parts], ignore_index=True
    )
    assert_same(joined, df.sort_values("x", kind="stable", ignore_index=True))


@typed
@few
@given(draw=st.data(), n=num_partitions)
def test_right_merges(kind, draw, n):
    df = draw.draw(odd_frames(kind)).assign(**rows_numbered)
    picks = draw.draw(st.lists(st.integers(0, 11), max_size=6))
    left = df.iloc[[pick for pick in picks if pick < len(df)]][["x"]]
    left = left.assign(other=range(len(left))).reset_index(drop=True)
    actual = xs.from_pandas(left, 2).merge(xs.from_pandas(df, n), "right", "x")
    by = ["row", "other"]
    expected = none_as_nan(left.merge(df, "right", "x"))
    assert_same(
        none_as_nan(actual.to_pandas()).sort_values(by, ignore_index=True),
        expected.sort_values(by, ignore_index=True),
    )


@typed
@few
@given(draw=st.data(), n=num_partitions)
def test_aggregates_beside_their_rows(kind, draw, n):
    df = draw.draw(odd_frames(kind)).assign(**rows_numbered)
    wanted = {"n": ["sum", "max"]}
    actual = xs.from_pandas(df, n).group_by("x", wanted, join=True).to_pandas()
    groups = df.groupby("x", dropna=False, observed=True)["n"]
    expected = df.assign(
        **{"sum(n)": groups.transform("sum"), "max(n)": groups.transform("max")}
    )
    assert_same(actual.sort_values("row", ignore_index=True), expected)


ORDERED = [kind for kind in TYPED if kind not in ("category", "category-int")]


@pytest.mark.parametrize("kind", ORDERED)
@few
@given(draw=st.data(), n=num_partitions)
def test_least_and_largest(kind, draw, n):
    df = draw.draw(odd_frames(kind)).dropna(subset="k")
    wanted = {"x": ["min", "max"]}
    actual = xs.from_pandas(df, n).group_by("k", wanted).to_pandas()
    actual = actual.sort_values("k", ignore_index=True)
    cells = {key: group.dropna() for key, group in df.groupby("k")["x"]}
    assert list(actual["k"]) == sorted(cells)
    for function in ("min", "max"):
        found = actual[f"{function}(x)"]
        for key, value in zip(actual["k"], found, strict=True):
            if len(cells[key]) == 0:
                assert pd.isna(value)
            else:
                assert value == getattr(cells[key], function)()


@settings(max_examples=20)
@given(draw=st.data(), n=num_partitions)
def test_sums_of_decimals_are_exact(draw, n):
    df = draw.draw(odd_frames("object-decimal")).dropna(subset="k")
    actual = xs.from_pandas(df, n).group_by("k", {"x": "sum"}).to_pandas()
    expected = {key: sum(cells.dropna()) for key, cells in df.groupby("k")["x"]}
    assert dict(zip(actual["k"], actual["sum(x)"], strict=True)) == expected
    shards = xs.from_arrow(pa.table({"d": pa.array([decimal.Decimal("1.5"), None])}), 2)
    assert shards.group_by([], "sum").to_pandas()["sum(d)"][0] == decimal.Decimal("1.5")


@pytest.mark.parametrize(
    "kind", ["int8", "uint64", "float32", "Int64", "string", "object-str", "boolean"]
)
@pytest.mark.parametrize("dtype", ["float64", "str", "object", "category", "Int64"])
@few
@given(draw=st.data(), n=num_partitions)
def test_astype(kind, dtype, draw, n):
    df = draw.draw(odd_frames(kind)).dropna()[["x", "n"]].reset_index(drop=True)
    try:
        expected = df.astype({"x": dtype})
    except (TypeError, ValueError):
        return  # texts that are no numbers
    assert_same(xs.from_pandas(df, n).astype({"x": dtype}).to_pandas(), expected)


@pytest.mark.parametrize("dtype", ["float32", "Float64", "str", "string", "bool"])
@few
@given(df=frames(), n=num_partitions)
def test_astype_of_all_columns(dtype, df, n):
    numbers = df[["n", "i", "f"]]
    if dtype == "bool":
        numbers = numbers.dropna().reset_index(drop=True)
    assert_same(
        xs.from_pandas(numbers, n).astype(dtype).to_pandas(), numbers.astype(dtype)
    )


@every
@few
@given(draw=st.data(), n=num_partitions)
def test_columns_are_renamed_dropped_and_added(kind, draw, n):
    df = draw.draw(odd_frames(kind))
    shards = xs.from_pandas(df, n)
    assert_same(shards.rename({"x": "y"}).to_pandas(), df.rename(columns={"x": "y"}))
    assert_same(shards.rename(str.upper).to_pandas(), df.rename(columns=str.upper))
    assert_same(shards.drop(["k", "n"]).to_pandas(), df.drop(columns=["k", "n"]))
    added = shards.assign(m=lambda d: d["n"] * 2, y=lambda d: d.m - 1)
    assert_same(added.to_pandas(), df.assign(m=df["n"] * 2, y=df["n"] * 2 - 1))


@typed
@few
@given(draw=st.data(), n=num_partitions)
def test_fillna(kind, draw, n):
    df = draw.draw(odd_frames(kind))
    there = df["x"].dropna()
    if len(there) == 0 or kind == "period":
        return
    fill = there.iloc[0]
    actual = xs.from_pandas(df, n).fillna({"x": fill}).to_pandas()
    expected = df.assign(x=df["x"].fillna(fill))
    assert_same(actual, expected)


@every
@few
@given(draw=st.data(), n=num_partitions)
def test_dropna(kind, draw, n):
    if kind == "object-mixed":
        return  # its NaN is a value like any other
    df = draw.draw(odd_frames(kind))
    shards = xs.from_pandas(df, n)
    for options in ({}, {"how": "all"}, {"subset": ["x"]}, {"thresh": 3}):
        expected = df.dropna(**options).reset_index(drop=True)
        assert_same(shards.dropna(**options).to_pandas(), expected)
    if len(df):
        assert shards.dropna(axis=1).columns == list(df.dropna(axis=1))
        few_gone = shards.dropna(axis="columns", thresh=2)
        assert few_gone.columns == list(df.dropna(axis=1, thresh=2))


DESCRIBED = [
    *("int8", "float32", "Int64", "Float64", "boolean", "string", "object-str"),
    *("datetime64[s]", "datetime64[us, tz]", "timedelta64[ms]", "category"),
    *("category-int", "object-decimal", "object-date"),
]


@pytest.mark.parametrize("kind", DESCRIBED)
@few
@given(
    draw=st.data(),
    n=num_partitions,
    percentiles=st.none()
    | st.lists(st.sampled_from([0, 0.1, 0.5, 0.9, 1]), unique=True, max_size=3),
)
def test_describe(kind, draw, n, percentiles):
    df = draw.draw(odd_frames(kind))
    shards = xs.from_pandas(df, n)
    options = {"percentiles": percentiles}
    close = {"rtol": 1e-6, "check_exact": False}
    assert_same(shards.describe(**options), df.describe(**options), **close)
    every_one = options | {"include": "all"}
    assert_same(shards.describe(**every_one), df.describe(**every_one), **close)
    one = shards["x"].describe(**options)
    pd.testing.assert_series_equal(one, df["x"].describe(**options), **close)


@settings(max_examples=15)
@given(df=frames(max_rows=12), n=num_partitions, dropna=st.booleans())
def test_rows_are_counted(df, n, dropna):
    few_columns = df[["k", "b", "n"]]
    actual = xs.from_pandas(few_columns, n).value_counts(dropna=dropna)
    expected = few_columns.value_counts(dropna=dropna)
    pd.testing.assert_series_equal(actual, expected)


@pytest.mark.parametrize(
    "interpolation", ["linear", "lower", "higher", "nearest", "midpoint"]
)
@settings(max_examples=10)
@given(
    df=frames(),
    n=num_partitions,
    q=st.lists(st.sampled_from([0, 0.25, 0.3, 0.5, 0.75, 1]), min_size=1, max_size=3),
)
def test_quantiles(interpolation, df, n, q):
    numbers = df[["n", "i", "f"]]
    options = {"interpolation": interpolation}
    actual = xs.from_pandas(numbers, n).quantile(q, **options)
    assert_same(actual, numbers.quantile(q, **options))
    for name in numbers:
        one = xs.from_pandas(numbers, n)[name].quantile(q[0], **options)
        expected = numbers[name].quantile(q[0], **options)
        assert type(one) is type(expected)
        np.testing.assert_allclose(one, expected, rtol=1e-12)


def test_labels_stay_where_columns_are_replaced():
    df = pd.DataFrame([[1.5, None, "x"], [2.5, 1.0, None]], columns=["a", "a", 0])
    shards = xs.from_pandas(df, 2)
    assert_same(
        shards.astype({"a": "float32"}).to_pandas(), df.astype({"a": "float32"})
    )
    assert_same(shards.fillna({0: "?"}).to_pandas(), df.fillna({0: "?"}))
    assert_same(
        shards.drop("zz", errors="ignore").to_pandas(),
        df.drop(columns="zz", errors="ignore"),
    )


def test_the_index_is_left_out_on_demand():
    df = pd.DataFrame({"a": [2, 1, None, 1.5]}, index=list("wxyz"))
    shards = xs.from_pandas(df, 2)
    for ours, theirs in (
        (
            shards.sort_values("a", ignore_index=True),
            df.sort_values("a", kind="stable"),
        ),
        (shards.drop_duplicates(ignore_index=True), df.drop_duplicates()),
        (shards.dropna(ignore_index=True), df.dropna()),
    ):
        assert_same(ours.to_pandas(), theirs.reset_index(drop=True))
    assert_same(shards.dropna().to_pandas(), df.dropna())


def test_mistakes_are_named():
    df = pd.DataFrame({"c": pd.Categorical(["x", None]), "s": ["a", None], "n": [1, 2]})
    shards = xs.from_pandas(df)
    with pytest.raises(TypeError, match="column 'c' has no category 'new'"):
        shards.fillna({"c": "new"})
    with pytest.raises(TypeError, match=r"computed by an expression.*got list"):
        shards.assign(z=[1, 2])
    with pytest.raises(TypeError, match="not a constant that a column can hold"):
        shards.assign(z=object())
    with pytest.raises(AttributeError, match="expressions of columns"):
        shards.assign(z=lambda d: d.rolling(2))
    with pytest.raises(
        TypeError, match="agg of 'n' takes function names, such as 'sum'"
    ):
        shards.group_by("s", {"n": max})
    with pytest.raises(TypeError, match="astype: unknown dtype 'nonsense'"):
        shards.astype("nonsense")
    with pytest.raises(TypeError, match="must be an integer, got float"):
        shards.repartition(1.5)
    with pytest.raises(ValueError, match="interpolation must be one of linear"):
        shards["n"].quantile(interpolation="sideways")
    with pytest.raises(ValueError, match="another name of test_size"):
        shards.train_test_split(0.5, frac=0.5)
