# SPDX-License-Identifier: Apache-2.0
"""Aggregates, unions and joins of every dtype give what pandas gives."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typed_frames import (
    FLOATS,
    INTEGERS,
    MASKED,
    assert_same_rows,
    category,
    columns,
    frame_of,
    num_partitions,
    shards_of,
    times,
)

import xshards as xs


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64", "bool"])
def test_sums_of_integers_do_not_overflow(dtype):
    df = pd.DataFrame({"k": [1, 1, 2], "v": pd.Series([100, 100, 1]).astype(dtype)})
    actual = frame_of(shards_of(df).group_by("k", {"v": ["sum", "mean"]}))
    unsigned = dtype.startswith("uint")
    assert actual["sum(v)"].dtype == ("uint64" if unsigned else "int64")
    totals = df.astype({"v": "int64"}).groupby("k")["v"].sum()
    assert sorted(actual["sum(v)"]) == sorted(totals)
    assert actual["mean(v)"].dtype == "float64"


@pytest.mark.parametrize("function", ["mean", "std", "var", "min", "max", "count"])
@pytest.mark.parametrize("dtype", ["float32", "bool", "int8", *MASKED])
def test_dtypes_of_aggregates(function, dtype):
    df = pd.DataFrame({"k": [1, 1, 2, 2], "v": pd.Series([1, 0, 1, 1]).astype(dtype)})
    df.loc[3, "v"] = None if dtype in MASKED else df.loc[0, "v"]
    df = df.astype({"v": dtype})
    actual = frame_of(shards_of(df).group_by("k", {"v": function}))
    expected = getattr(df.groupby("k")["v"], function)()
    expected = expected.rename(f"{function}(v)").reset_index()
    assert_same_rows(actual, expected, rtol=1e-6)


@pytest.mark.parametrize(
    "function", ["sum", "mean", "std", "min", "max", "count", "first", "nunique"]
)
@pytest.mark.parametrize("unit", ["s", "us"])
def test_aggregates_of_times(function, unit):
    df = pd.DataFrame({"k": [1, 1, 2, 1], "t": times(unit, "Europe/Paris")})
    df["d"] = pd.to_timedelta([1, None, 90, -7], unit="s").astype(f"m8[{unit}]")
    for column in ("t", "d"):
        if (function, column) == ("sum", "t"):
            with pytest.raises(TypeError, match="The sum of column 't' needs numbers"):
                shards_of(df).group_by("k", {"t": "sum"})
            continue
        actual = frame_of(shards_of(df).group_by("k", {column: function}))
        expected = getattr(df.groupby("k")[column], function)()
        expected = expected.rename(f"{function}({column})").reset_index()
        assert_same_rows(actual, expected)


@given(df=columns([*INTEGERS, *FLOATS, *MASKED]), n=num_partitions)
def test_any_dtype_groups_sorts_and_dedupes(df, n):
    shards = shards_of(df, n)
    grouped = df.groupby("a", dropna=False, sort=False)["b"].count()
    actual = frame_of(shards.group_by("a", {"b": "count"}))
    assert_same_rows(actual, grouped.rename("count(b)").reset_index())
    expected = df.sort_values(["a", "b"], kind="stable").reset_index(drop=True)
    pd.testing.assert_frame_equal(frame_of(shards.sort_values(["a", "b"])), expected)
    expected = df.drop_duplicates().reset_index(drop=True)
    pd.testing.assert_frame_equal(frame_of(shards.drop_duplicates()), expected)


@given(df=columns([*INTEGERS, *FLOATS, "bool", *MASKED]), n=num_partitions)
def test_union_widens_as_concat(df, n):
    left = df[["a"]].rename(columns={"a": "x"})
    right = df[["b"]].rename(columns={"b": "x"})
    actual = frame_of(shards_of(left, n).union(shards_of(right, 2)))
    expected = pd.concat([left, right], ignore_index=True)
    pd.testing.assert_frame_equal(actual, expected)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (pd.Series([True]), pd.Series([1.5])),
        (pd.Series(["a"]), pd.Series([1])),
        (times(), times("us", "UTC")),
        (times("us", "Asia/Tokyo"), times("us", "UTC")),
        (pd.Series([True], dtype="boolean"), pd.Series([1], dtype="Int64")),
    ],
    ids=["bool", "text", "naive", "zones", "masked"],
)
def test_union_without_a_common_type_holds_objects(left, right):
    left, right = left.to_frame("x"), right.to_frame("x")
    expected = pd.concat([left, right], ignore_index=True)
    assert expected["x"].dtype == object
    union = shards_of(left).union(shards_of(right))
    pd.testing.assert_frame_equal(frame_of(union), expected)
    assert list(map(type, frame_of(union)["x"])) == list(map(type, expected["x"]))
    twice = frame_of(union.union(shards_of(left)))
    pd.testing.assert_frame_equal(twice, pd.concat([expected, left], ignore_index=True))


def test_union_of_times_takes_the_finer_unit():
    left, right = times("s").to_frame("t"), times("ns").to_frame("t")
    actual = frame_of(shards_of(left).union(shards_of(right)))
    pd.testing.assert_frame_equal(actual, pd.concat([left, right], ignore_index=True))


def test_a_filter_on_a_union_of_masked_and_plain():
    left = pd.DataFrame({"x": pd.Series([1, None, 3], dtype="Int64")})
    right = pd.DataFrame({"x": [2, 4]})
    union = shards_of(left).union(shards_of(right))
    both = pd.concat([left, right], ignore_index=True)
    actual = frame_of(union.with_column("z", xs.col("x") > 2))
    pd.testing.assert_frame_equal(actual, both.assign(z=both["x"] > 2))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("int64", "uint64"),
        ("uint64", "int64"),
        ("int8", "int64"),
        ("Int64", "int64"),
        ("int64", "Int64"),
        ("int64", "float64"),
        ("Int64", "float64"),
        ("float32", "int8"),
    ],
)
@pytest.mark.parametrize("how", ["inner", "left", "right", "outer"])
def test_join_keys_of_two_dtypes(how, left, right):
    one = pd.DataFrame({"k": pd.Series([1, 2, 5], dtype=left), "x": [1, 2, 3]})
    two = pd.DataFrame({"k": pd.Series([2, 3, 1], dtype=right), "y": [1, 2, 3]})
    actual = frame_of(shards_of(one).merge(shards_of(two), how, "k"))
    assert_same_rows(actual, one.merge(two, how, "k"))


def test_join_keys_beyond_the_signed_range():
    one = pd.DataFrame({"k": pd.Series([1, 2**64 - 1, 2**63], dtype="uint64")})
    two = pd.DataFrame({"k": [-1, 1, -(2**63)], "y": [1, 2, 3]})
    actual = frame_of(shards_of(one).merge(shards_of(two), on="k"))
    pd.testing.assert_frame_equal(actual, one.merge(two, on="k"))


def test_join_keys_of_two_zones():
    one = pd.DataFrame({"k": times("us", "UTC"), "x": range(4)})
    two = pd.DataFrame({"k": times("us", "Europe/Paris"), "y": range(4)})
    for how in ("inner", "left"):
        actual = frame_of(shards_of(one).merge(shards_of(two), how, "k"))
        assert_same_rows(actual, one.merge(two, how, "k"))
    with pytest.raises(TypeError, match="Cannot join 'k'"):
        shards_of(one).merge(shards_of(times().to_frame("k")), on="k")


def test_non_key_columns_of_a_join_keep_their_dtypes():
    one = pd.DataFrame({"k": [1, 2], "v": pd.Series([1, None], dtype="Int8")})
    two = pd.DataFrame({"k": [2, 3], "v": category(["x", "y"], ["y", "x"])})
    actual = frame_of(shards_of(one).merge(shards_of(two), "outer", "k"))
    expected = one.merge(two, "outer", "k")
    assert_same_rows(actual, expected, check_dtype=False)
    assert actual["v_x"].dtype == "Int8"
    assert actual["v_y"].dtype == expected["v_y"].dtype


@pytest.mark.parametrize("keep", ["first", "last", False])
@pytest.mark.parametrize("subset", [None, "a", ["b"], ["a", "b"]])
@given(data=st.data(), n=num_partitions)
def test_drop_duplicates(keep, subset, data, n):
    rows = data.draw(st.integers(0, 15))

    def some(values):
        return data.draw(st.lists(values, min_size=rows, max_size=rows))

    df = pd.DataFrame(
        {
            "a": pd.Series(some(st.sampled_from([1.0, 2.0, np.nan])), dtype="float64"),
            "b": pd.Series(some(st.sampled_from(["x", "é", None])), dtype="str"),
            "c": pd.Series(some(st.none() | st.integers(0, 3)), dtype="Int64"),
        }
    )
    actual = frame_of(shards_of(df, n).drop_duplicates(subset, keep=keep))
    expected = df.drop_duplicates(subset, keep=keep).reset_index(drop=True)
    pd.testing.assert_frame_equal(actual, expected)


@pytest.mark.parametrize("keep", ["first", "last", False])
def test_drop_duplicates_keeps_the_index(keep):
    df = pd.DataFrame(
        {"a": [1, 2, 1, 3, 2, 4], "b": list("uvwxyz")}, index=list("pqrstu")
    )
    actual = xs.from_pandas(df, 3).drop_duplicates("a", keep=keep).to_pandas()
    pd.testing.assert_frame_equal(actual, df.drop_duplicates("a", keep=keep))


def test_drop_duplicates_mistakes():
    shards = shards_of(pd.DataFrame({"a": [1]}))
    with pytest.raises(ValueError, match="keep must be"):
        shards.drop_duplicates(keep="any")
    with pytest.raises(KeyError, match="no column 'z'"):
        shards.drop_duplicates("z")


def test_two_columns_of_one_name_are_an_error():
    shards = shards_of(pd.DataFrame({"a": [1], "b": [2]}))
    with pytest.raises(ValueError, match="Two columns would be named 'a'"):
        shards.select(["a", "b", "a"])
    with pytest.raises(ValueError, match="Two columns would be named 'b'"):
        shards.rename({"a": "b"})
