# SPDX-License-Identifier: Apache-2.0
"""Rows of extreme values and most frequent values, with pandas as the oracle."""

import numpy as np
import pandas as pd
import pytest
from frames import TYPED, frames, num_partitions, odd_frames
from hypothesis import given, settings
from hypothesis import strategies as st

import xshards as xs

FUNCTIONS = ("idxmin", "idxmax")
few = settings(max_examples=8)


def outcome(function):
    try:
        return function()
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("kind", TYPED)
@few
@given(draw=st.data(), n=num_partitions, skipna=st.booleans())
def test_rows_of_extreme_values(kind, function, draw, n, skipna):
    df = draw.draw(odd_frames(kind))
    shards = xs.from_pandas(df, n)
    ours = outcome(lambda: getattr(shards["x"], function)(skipna=skipna))
    expected = outcome(lambda: getattr(df["x"], function)(skipna=skipna))
    assert ours == expected
    assert type(ours) is type(expected)


@pytest.mark.parametrize("function", FUNCTIONS)
@few
@given(df=frames(min_rows=1), n=num_partitions)
def test_labels_of_each_column(function, df, n):
    numbers = df[["n", "i", "f"]].assign(f=df["f"].fillna(0.0))
    shards = xs.from_pandas(numbers, n)
    pd.testing.assert_series_equal(
        getattr(shards, function)(), getattr(numbers, function)()
    )
    beside = numbers.assign(s="x")
    pd.testing.assert_series_equal(
        getattr(xs.from_pandas(beside, n), function)(numeric_only=True),
        getattr(beside, function)(numeric_only=True),
    )


def test_labels_of_other_indexes():
    df = pd.DataFrame({"a": [3, 1, 1, 5], "b": list("wxyz")}, index=list("äöüß"))
    shards = xs.from_pandas(df, 3)
    assert shards["a"].idxmin() == "ö"
    pd.testing.assert_series_equal(shards.idxmax(), df.idxmax())
    numbered = df.set_index(pd.RangeIndex(10, 2, -2))
    assert xs.from_pandas(numbered, 3)["a"].idxmax() == numbered["a"].idxmax() == 4
    late = xs.from_pandas(df, 2).transform_shard(lambda d: d[["a"]] * 2)
    assert late["a"].idxmax() == "ß"


@pytest.mark.parametrize("cells", [[], [None, None], [1.0, None]], ids=str)
def test_missing_labels(cells):
    df = pd.DataFrame({"a": pd.Series(cells, dtype="float64")})
    shards = xs.from_pandas(df, 4)
    for options in ({}, {"skipna": False}):
        expected = outcome(lambda options=options: df["a"].idxmin(**options))
        assert (
            outcome(lambda options=options: shards["a"].idxmin(**options)) == expected
        )


@pytest.mark.parametrize("kind", TYPED)
@few
@given(draw=st.data(), n=num_partitions, dropna=st.booleans())
def test_most_frequent_values(kind, draw, n, dropna):
    df = draw.draw(odd_frames(kind))
    if not dropna and kind == "boolean":
        return  # which pandas fails to give
    actual = xs.from_pandas(df, n)["x"].mode(dropna=dropna)
    pd.testing.assert_series_equal(actual, df["x"].mode(dropna=dropna))


def test_most_frequent_values_of_each_column():
    df = pd.DataFrame(
        {"a": [2, 1, 1, 2, 3], "ß": list("xxyzz"), "n": [np.nan] * 5, "*": 1}
    )
    shards = xs.from_pandas(df, 7)
    pd.testing.assert_frame_equal(shards.mode(), df.mode())
    pd.testing.assert_frame_equal(
        shards.mode(numeric_only=True), df.mode(numeric_only=True)
    )
    mixed = pd.Series([1, "a", True, "a", 1.0, (1,)], dtype=object, name="m")
    assert list(xs.from_pandas(mixed.to_frame(), 3)["m"].mode()) == [1]
