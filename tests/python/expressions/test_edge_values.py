# SPDX-License-Identifier: Apache-2.0
"""Values at the edge of their type: results are those of pandas."""

import operator

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xshards as xs

EDGE_FLOATS = [0.0, -0.0, 1.0, -1.5, 1.5, np.inf, -np.inf, np.nan, 5e-324, 2.0**64]
EDGE_INTEGERS = [0, 1, -1, 2**63 - 1, -(2**63), 2**63, 2**64 - 1, 2**64, -(2**63) - 1]
COMPARISONS = ["eq", "ne", "lt", "le", "gt", "ge"]


def assigned(frame, value, num_partitions=1):
    shards = xs.from_pandas(frame, num_partitions)
    return shards.with_column("result", value).to_pandas()["result"]


def assert_equal(ours, theirs):
    pd.testing.assert_series_equal(
        ours, theirs, check_names=False, check_index_type=False
    )


@pytest.mark.parametrize("dtype", ["float64", "float32", "Float64"])
@pytest.mark.parametrize("values", [[0.0], [-0.0], [0], [1.5, -0.0], [np.nan, 0.0]])
def test_isin_finds_zero_of_both_signs(dtype, values):
    frame = pd.DataFrame({"a": pd.Series([0.0, -0.0, 1.5, np.nan], dtype=dtype)})
    ours = assigned(frame, xs.col("a").isin(values))
    assert ours.tolist() == frame["a"].isin(values).tolist()


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, -0.0, 1.0, np.nan]), st.integers(0, 3)),
        min_size=1,
        max_size=20,
    ),
    st.booleans(),
    st.integers(1, 4),
)
def test_zeros_of_both_signs_are_one_sort_key(rows, ascending, num_partitions):
    frame = pd.DataFrame(rows, columns=["a", "b"])
    frame["c"] = range(len(frame))
    shards = xs.from_pandas(frame, num_partitions)
    keys = ["a", "b", "c"]
    ours = shards.sort_values(keys, ascending=ascending).to_pandas()
    theirs = frame.sort_values(keys, ascending=ascending, ignore_index=True)
    pd.testing.assert_frame_equal(ours.reset_index(drop=True), theirs)


TIMES = pd.DataFrame(
    {
        "t": pd.to_datetime(["1970-01-01 00:00:00.000005", None], format="ISO8601"),
        "d": pd.to_timedelta([5, None], unit="us"),
        "i": [5, 6],
        "f": [5.0, 6.0],
    }
)


@pytest.mark.parametrize("column", list(TIMES))
@pytest.mark.parametrize("kind", list(TIMES))
def test_isin_does_not_match_numbers_with_times(column, kind):
    value = TIMES[kind].iloc[0]
    if {column, kind} == {"t", "d"}:
        value = value.to_pytimedelta() if kind == "d" else value.to_pydatetime()
    ours = assigned(TIMES, xs.col(column).isin([value]))
    expected = column == kind or {column, kind} == {"i", "f"}
    assert ours.tolist() == [expected, False]


def test_floor_division_at_the_edges():
    pairs = [(a, b) for a in EDGE_FLOATS for b in EDGE_FLOATS]
    frame = pd.DataFrame(pairs, columns=["a", "b"])
    ours = assigned(frame, xs.col("a") // xs.col("b"))
    with np.errstate(all="ignore"):
        theirs = frame["a"] // frame["b"]
    assert_equal(ours, theirs)


@settings(max_examples=100, deadline=None)
@given(st.floats(), st.floats())
def test_floor_division_of_any_floats(a, b):
    frame = pd.DataFrame({"a": [a], "b": [b]})
    ours = assigned(frame, xs.col("a") // xs.col("b"))
    with np.errstate(all="ignore"):
        theirs = frame["a"] // frame["b"]
    assert_equal(ours, theirs)


@pytest.mark.parametrize("dtype", ["uint64", "int64", "int8", "float64", "UInt64"])
@pytest.mark.parametrize("comparison", COMPARISONS)
def test_comparisons_with_integers_beyond_a_column(dtype, comparison):
    limits = np.iinfo(dtype.lower()) if "nt" in dtype else np.finfo(dtype)
    frame = pd.DataFrame({"a": pd.Series([limits.max, limits.min, 1]).astype(dtype)})
    compare = getattr(operator, comparison)
    for value in [*EDGE_INTEGERS, 10**30, -(10**30), 10**40, -(10**40)]:
        ours = assigned(frame, compare(xs.col("a"), value))
        theirs = [bool(compare(one, value)) for one in frame["a"].tolist()]
        assert ours.tolist() == theirs, value


@pytest.mark.parametrize("dtype", ["boolean", "bool"])
@pytest.mark.parametrize("floats", ["float64", "float32"])
def test_nan_as_boolean(dtype, floats):
    frame = pd.DataFrame({"a": [0.0, 1.0, 0.0], "b": [0.0, 1.0, 1.0]}, dtype=floats)
    ours = assigned(frame, (xs.col("a") / xs.col("b")).astype(dtype))
    assert_equal(ours, (frame["a"] / frame["b"]).astype(dtype))


def times(kind):
    rows = {
        "dates": ["2020-01-01", "2020-01-02", None, "1969-12-31"],
        "seconds": ["2020-01-01", "2020-01-02 03:04:05", None, "2020-01-03"],
        "milliseconds": ["2020-01-01", "2020-01-02 03:04:05.678", None, "2020-01-03"],
        "microseconds": [
            "2020-01-01 00:00:00.000001",
            "2020-01-02",
            None,
            "1900-01-01",
        ],
        "missing": [None, None, None, None],
    }
    return pd.to_datetime(pd.Series(rows[kind]), format="ISO8601")


KINDS = ["dates", "seconds", "milliseconds", "microseconds", "missing"]


@pytest.mark.parametrize("num_partitions", [1, 2, 4, 7])
@pytest.mark.parametrize("dtype", ["str", "string"])
@pytest.mark.parametrize("kind", KINDS)
def test_times_as_text_do_not_depend_on_partitions(kind, dtype, num_partitions):
    whole = times(kind)
    frame = pd.DataFrame(
        {
            "t": whole,
            "n": whole.astype("datetime64[ns]"),
            "z": whole.dt.tz_localize("UTC").dt.tz_convert("Europe/Berlin"),
            "l": whole.dt.tz_localize("Europe/Berlin"),
            "d": whole - pd.Timestamp("2020-01-01"),
        }
    )
    shards = xs.from_pandas(frame, num_partitions)
    pd.testing.assert_frame_equal(shards.astype(dtype).to_pandas(), frame.astype(dtype))
    only = shards.astype({"d": dtype}).to_pandas()
    pd.testing.assert_frame_equal(only, frame.astype({"d": dtype}))


def test_durations_as_text_in_an_expression():
    shards = xs.from_pandas(TIMES)
    with pytest.raises(TypeError, match="use astype of the shards"):
        shards.with_column("x", xs.col("d").astype("str")).to_pandas()
