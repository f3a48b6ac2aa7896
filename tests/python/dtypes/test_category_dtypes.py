# SPDX-License-Identifier: Apache-2.0
"""Operations on categories give what pandas gives."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typed_frames import (
    COMPARISONS,
    assert_same_rows,
    category,
    check,
    computed,
    frame_of,
    num_partitions,
    shards_of,
)

import xshards as xs

SIZES = ["small", "big", "Huge"]


@st.composite
def sizes(draw, *, ordered=True):
    rows = draw(st.integers(1, 15))
    draws = [
        draw(st.lists(st.sampled_from([*SIZES, None]), min_size=rows, max_size=rows))
        for _ in "ab"
    ]
    return pd.DataFrame(
        {
            "a": category(draws[0], SIZES, ordered=ordered),
            "b": category(draws[1], SIZES, ordered=ordered),
            "k": [i % 3 for i in range(rows)],
        }
    )


@pytest.mark.parametrize("name", COMPARISONS)
@given(df=sizes(), n=num_partitions)
def test_ordered_categories_compare(name, df, n):
    compare = COMPARISONS[name]
    check(df, lambda c: compare(c("a"), c("b")), n)
    check(df, lambda c: compare(c("a"), "big"), n)
    if name in ("==", "!="):
        check(df, lambda c: compare(c("a"), "other"), n)
        check(df, lambda c: compare(c("a"), 3), n)


def test_category_mistakes():
    df = pd.DataFrame({"a": category(["x", "y"], ["y", "x"], ordered=False)})
    df["o"] = category(["x", "y"], ["y", "x"])
    df["p"] = category(["x", "y"], ["x", "y"])
    df["s"] = ["x", "y"]
    for expression, message in (
        (xs.col("a") < "x", "unordered categories can be compared by == and != only"),
        (xs.col("o") < "z", "not among the categories"),
        (xs.col("o") == xs.col("p"), "only if they have the same categories"),
        (xs.col("o") < xs.col("s"), "no order between"),
        (xs.col("a") + "x", "unsupported operands for add: category"),
    ):
        with pytest.raises(TypeError, match=message):
            computed(df, expression)
    for function in ("min", "max"):
        with pytest.raises(TypeError, match="needs ordered categories"):
            shards_of(df).group_by("s", {"a": function})
    with pytest.raises(TypeError, match="needs numbers"):
        shards_of(df).group_by("s", {"a": "sum"})


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("ascending", [True, False])
@given(data=st.data(), n=num_partitions)
def test_categories_sort_by_their_order(ordered, ascending, data, n):
    df = data.draw(sizes(ordered=ordered))
    actual = shards_of(df, n).sort_values(["a", "k"], ascending)
    expected = df.sort_values(["a", "k"], ascending=ascending, kind="stable")
    pd.testing.assert_frame_equal(frame_of(actual), expected.reset_index(drop=True))


@pytest.mark.parametrize(
    "function", ["min", "max", "first", "last", "count", "nunique"]
)
@given(df=sizes(), n=num_partitions)
def test_aggregates_of_categories(function, df, n):
    actual = frame_of(shards_of(df, n).group_by("k", {"a": function}))
    expected = getattr(df.groupby("k")["a"], function)()
    expected = expected.rename(f"{function}(a)").reset_index()
    assert_same_rows(actual, expected)


@given(df=sizes(), n=num_partitions)
def test_categories_as_keys(df, n):
    actual = frame_of(shards_of(df, n).group_by("a", {"k": "sum"}))
    grouped = df.groupby("a", dropna=False, observed=True, sort=False)["k"].sum()
    assert_same_rows(actual, grouped.rename("sum(k)").reset_index())
    for how in ("inner", "left", "outer"):
        other = df[["a"]].assign(z=1).drop_duplicates("a")
        merged = shards_of(df, n).merge(shards_of(other, 2), how, "a")
        assert_same_rows(frame_of(merged), df.merge(other, how, "a"))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (category(["b", "a"], ["c", "a", "b"]), category(["a", "c"], ["c", "a", "b"])),
        (category(["b", "a"], ["b", "a"]), category(["a", "c"], ["c", "a"])),
        (
            category(["b", "a"], ["b", "a"], ordered=False),
            category(["a", "b"], ["a", "b"], ordered=False),
        ),
        (category(["b", "a"], ["b", "a"]), pd.Series(["a", "z"], dtype="str")),
    ],
    ids=["same", "other", "reordered", "text"],
)
def test_categories_are_combined(left, right):
    union = shards_of(left.to_frame("k")).union(shards_of(right.to_frame("k")))
    expected = pd.concat([left, right], ignore_index=True)
    pd.testing.assert_series_equal(frame_of(union)["k"], expected, check_names=False)
    for how in ("inner", "left", "outer"):
        merged = shards_of(left.to_frame("k")).merge(
            shards_of(right.to_frame("k")), how, "k"
        )
        expected = left.to_frame("k").merge(right.to_frame("k"), how, "k")
        assert_same_rows(frame_of(merged), expected)


def test_categories_of_numbers_and_missing_ones():
    df = pd.DataFrame({"c": category([3, 1, None, 2], [2, 3, 1])})
    check(df, lambda c: c("c") < 3)
    check(df, lambda c: c("c") == 1)
    check(df, lambda c: c("c").isna())
    check(df, lambda c: c("c").where(c("c") != 3))
    ordered = frame_of(shards_of(df, 3).sort_values("c"))
    expected = df.sort_values("c").reset_index(drop=True)
    pd.testing.assert_frame_equal(ordered, expected)
