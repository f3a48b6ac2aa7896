# SPDX-License-Identifier: Apache-2.0
"""Columns of chosen dtypes, and what compares results on them with pandas."""

import operator

import numpy as np
import pandas as pd
from hypothesis import strategies as st

import xshards as xs

num_partitions = st.integers(1, 4)
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float32", "float64"]
MASKED = ["Int8", "Int64", "UInt8", "Float32", "Float64", "boolean"]


def shards_of(df, n=2):
    return xs.from_pandas(df, n)


def frame_of(shards):
    return shards.to_pandas()


def computed(df, expression, n=2):
    return frame_of(shards_of(df, n).with_column("z", expression))["z"]


def check(df, compute, n=2, **options):
    """Compare a computed column with pandas, dtype included."""
    expected = compute(df.__getitem__)
    actual = computed(df, compute(xs.col), n)
    pd.testing.assert_series_equal(actual, expected, check_names=False, **options)


def in_order(df):
    order = sorted(range(len(df)), key=lambda i: [repr(v) for v in df.iloc[i]])
    return df.iloc[order].reset_index(drop=True)


def assert_same_rows(actual, expected, **options):
    pd.testing.assert_frame_equal(in_order(actual), in_order(expected), **options)


@st.composite
def columns(draw, dtypes, min_rows=1, max_rows=12):
    """Draw a frame of two columns, "a" and "b", of dtypes with and without missing."""
    rows = draw(st.integers(min_rows, max_rows))
    frame = {}
    for name in "ab":
        dtype = draw(st.sampled_from(dtypes))
        frame[name] = draw(series_of(dtype, rows))
    return pd.DataFrame(frame)


@st.composite
def series_of(draw, dtype, rows):
    kind = dtype.lower()
    if kind.startswith(("int", "uint")):
        info = np.iinfo(kind)
        values = st.one_of(
            st.integers(max(info.min, -5), 5), st.integers(info.min, info.max)
        )
    elif kind.startswith("float"):
        values = st.one_of(
            st.sampled_from([0.0, -0.0, 1.0, -2.5]), st.floats(-100, 100, width=32)
        )
    else:
        values = st.booleans()
    if dtype[0].isupper() or dtype == "boolean":
        values = st.none() | values
    elif kind.startswith("float"):
        values = st.just(np.nan) | values
    return pd.Series(draw(st.lists(values, min_size=rows, max_size=rows)), dtype=dtype)


COMPARISONS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
ARITHMETIC = {"+": operator.add, "-": operator.sub, "*": operator.mul}


TIMES = ["2024-02-29 23:59:58.123456", None, "1969-12-31 01:00:00.5", "2024-07-01"]


def times(unit="us", zone=None):
    series = pd.Series(pd.to_datetime(TIMES, format="ISO8601")).astype(f"M8[{unit}]")
    return series if zone is None else series.dt.tz_localize("UTC").dt.tz_convert(zone)


def category(values, categories, *, ordered=True):
    return pd.Series(pd.Categorical(values, categories, ordered=ordered))
