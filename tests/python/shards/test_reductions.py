# SPDX-License-Identifier: Apache-2.0
"""One value for a column, and one for each column of a table, as pandas gives them."""

import numpy as np
import pandas as pd
import pytest
from frames import frames, odd_frames
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reductions import PLAIN, REDUCTIONS, assert_same_scalar, outcome, shards_of
from typed_frames import FLOATS, INTEGERS, MASKED, columns, series_of

num_partitions = st.integers(1, 6)

ARROW = [f"{name}[pyarrow]" for name in ("int8", "uint64", "double", "bool")]

NUMBERS = [*INTEGERS, *FLOATS, *MASKED, *ARROW, "bool"]


@st.composite
def options_of(draw, function):
    options = {"skipna": draw(st.booleans())}
    if function in ("sum", "prod"):
        options["min_count"] = draw(st.integers(0, 4))
    if function in ("std", "var"):
        options["ddof"] = draw(st.integers(0, 3))
    return options


def divides_by_zero(column, options):
    """Tell whether pandas gives an infinite variance, as of nullable dtypes only."""
    few = column.count() <= options.get("ddof", -1)
    return few and not isinstance(column.dtype, np.dtype)


def size_of(column, function):
    """Give how large results may be on the way to a small one."""
    values = column.dropna().to_numpy(float)
    largest = np.abs(values).max(initial=1)
    return largest**2 if function == "var" else largest * max(len(values), 1)


def numbers(dtype, rows):
    if not dtype.endswith("[pyarrow]"):
        return series_of(dtype, rows)
    masked = {"int8": "Int8", "uint64": "UInt8", "double": "Float64", "bool": "boolean"}
    kind = masked[dtype.removesuffix("[pyarrow]")]
    return series_of(kind, rows).map(lambda column: column.astype(dtype))


@pytest.mark.parametrize("function", REDUCTIONS)
@settings(max_examples=60)
@given(draw=st.data(), rows=st.integers(0, 12), n=num_partitions)
def test_columns_of_numbers(function, draw, rows, n):
    dtype = draw.draw(st.sampled_from(NUMBERS))
    column = draw.draw(numbers(dtype, rows))
    options = draw.draw(options_of(function))
    assume(not divides_by_zero(column, options))
    shards = shards_of(column.to_frame("a"), n)
    actual = outcome(getattr(shards["a"], function), **options)
    expected = outcome(getattr(column, function), **options)
    assert_same_scalar(actual, expected, size_of(column, function))


@pytest.mark.parametrize("function", ["skew", "kurt"])
@given(draw=st.data(), rows=st.integers(0, 12), n=num_partitions, skipna=st.booleans())
def test_shapes_of_columns(function, draw, rows, n, skipna):
    dtype = draw.draw(st.sampled_from(["int8", "float32", "float64", "Int64", "bool"]))
    quarters = (
        st.integers(0, 100)
        if dtype[0] in "iI"
        else st.integers(0, 100).map(lambda quarter: quarter / 4)
    )
    cells = draw.draw(st.lists(quarters, min_size=rows, max_size=rows))
    column = pd.Series(cells, dtype=dtype)
    actual = getattr(shards_of(column.to_frame("a"), n)["a"], function)(skipna=skipna)
    assert_same_scalar(actual, getattr(column, function)(skipna=skipna))


@pytest.mark.parametrize("function", REDUCTIONS)
@settings(max_examples=30)
@given(draw=st.data(), rows=st.integers(0, 8), n=num_partitions)
def test_tables_of_numbers(function, draw, rows, n):
    dtypes = draw.draw(st.lists(st.sampled_from(NUMBERS), min_size=1, max_size=3))
    df = pd.DataFrame(
        {f"c{n}": draw.draw(numbers(dtype, rows)) for n, dtype in enumerate(dtypes)}
    )
    options = draw.draw(options_of(function))
    assume(not any(divides_by_zero(df[name], options) for name in df))
    actual = outcome(getattr(shards_of(df, n), function), **options)
    expected = outcome(getattr(df, function), **options)
    if expected is TypeError:
        assert actual is TypeError
        return
    close = 1e-4 if "float32" in dtypes or "Float32" in dtypes else 1e-9
    size = max(size_of(df[name], function) for name in df)
    pd.testing.assert_series_equal(actual, expected, rtol=close, atol=close * size)


@given(df=frames(), n=num_partitions, skipna=st.booleans())
def test_tables_with_text(df, n, skipna):
    shards = shards_of(df, n)
    for function in ("min", "max"):
        if skipna:  # pandas compares text with NaN else
            actual = getattr(shards, function)()
            pd.testing.assert_series_equal(actual, getattr(df, function)())
    for function in ("sum", "mean", "std", "median", "max"):
        options = {"skipna": skipna, "numeric_only": True}
        actual = getattr(shards, function)(**options)
        expected = getattr(df, function)(**options)
        pd.testing.assert_series_equal(actual, expected, atol=1e-6)
    pd.testing.assert_series_equal(shards.any(bool_only=True), df.any(bool_only=True))
    text = df[["k", "s"]].astype(object).where(df[["k", "s"]].notna(), None)
    for function in ("any", "all"):
        expected = getattr(df["s"], function)()
        assert_same_scalar(getattr(shards["s"], function)(), expected)
        assert getattr(shards_of(text, n)["s"], function)() == expected


TIMES = ["datetime64[s]", "datetime64[ns]", "datetime64[us, tz]", "timedelta64[ms]"]


@pytest.mark.parametrize("kind", TIMES)
@settings(max_examples=40)
@given(draw=st.data(), n=num_partitions, skipna=st.booleans())
def test_times(kind, draw, n, skipna):
    df = draw.draw(odd_frames(kind))
    shards = shards_of(df[["x"]], n)
    spans = kind.startswith("timedelta")
    for function in [*PLAIN, *(["sum", "any", "all"] if spans else [])]:
        expected = outcome(getattr(df["x"], function), skipna=skipna)
        assert_same_scalar(getattr(shards["x"], function)(skipna=skipna), expected)
        expected = outcome(getattr(df[["x"]], function), skipna=skipna)
        actual = getattr(shards, function)(skipna=skipna)
        pd.testing.assert_series_equal(actual, expected)
    for ddof in (0, 1):
        actual = shards["x"].std(skipna=skipna, ddof=ddof)
        expected = df["x"].std(skipna=skipna, ddof=ddof)
        assert type(actual) is type(expected)
        if not pd.isna(expected):
            assert actual.unit == expected.unit
            # Of squares of many digits, which each rounds in its own way.
            assert abs(actual - expected) <= expected * 1e-12 + pd.Timedelta(1, "s")


ORDERED = [
    *("string", "category-ordered", "category-time", "period", "object-str"),
    *("object-date", "object-decimal", "object-none", "Float64", "uint64"),
]


@pytest.mark.parametrize("kind", ORDERED)
@settings(max_examples=20)
@given(draw=st.data(), n=num_partitions)
def test_least_and_largest_of_every_kind(kind, draw, n):
    df = draw.draw(odd_frames(kind))
    shards = shards_of(df, n)
    for function in ("min", "max"):
        actual = getattr(shards["x"], function)()
        assert_same_scalar(actual, getattr(df["x"], function)())
        expected = getattr(df[["x", "n"]], function)()
        actual = getattr(shards[["x", "n"]], function)()
        pd.testing.assert_series_equal(actual, expected)


@pytest.mark.parametrize("kind", [*ORDERED, "category", "object-list"])
@settings(max_examples=10)
@given(draw=st.data(), n=num_partitions)
def test_counts(kind, draw, n):
    df = draw.draw(odd_frames(kind))
    shards = shards_of(df, n)
    assert_same_scalar(shards["x"].count(), df["x"].count())
    assert len(shards["x"]) == len(shards) == shards.count() == len(df)
    pd.testing.assert_series_equal(shards.agg("count"), df.agg("count"))


@given(df=columns(["int8", "float64", "Int64", "bool"], min_rows=0), n=num_partitions)
def test_agg(df, n):
    shards = shards_of(df, n)
    functions = ["sum", "max", "mean", "count", "median", "any", "nunique"]
    for function in functions:
        pd.testing.assert_series_equal(shards.agg(function), df.agg(function))
        assert_same_scalar(
            shards["a"].aggregate(function), df["a"].aggregate(function), 100
        )
    for wanted in (["max"], ["min", "count"], ["sum", "mean", "std"]):
        pd.testing.assert_series_equal(shards["a"].agg(wanted), df["a"].agg(wanted))
        pd.testing.assert_frame_equal(shards.agg(wanted), df.agg(wanted))
    for wanted in (
        {"b": "max", "a": "sum"},
        {"a": "median"},
        {"b": ["max"], "a": ["sum", "max"]},
        {"a": ["mean", "min"], "b": ["min", "count"]},
        {"a": "min", "b": ["min", "max"]},
    ):
        actual, expected = shards.agg(wanted), df.agg(wanted)
        if isinstance(expected, pd.Series):
            pd.testing.assert_series_equal(actual, expected)
        else:
            pd.testing.assert_frame_equal(actual, expected)
