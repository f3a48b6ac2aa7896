# SPDX-License-Identifier: Apache-2.0
"""Column expressions on text, casts and constants."""

import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import xshards as xs

TEXT = pd.Series([" Ab", "éé", "", None, "日本 b", "aBc"], dtype="str")


def compute(expression, frame=None):
    df = pd.DataFrame({"s": TEXT}) if frame is None else frame
    return xs.from_pandas(df, 2).with_column("z", expression).to_pandas()["z"]


@pytest.mark.parametrize(
    "method",
    [
        lambda s: s.str.upper(),
        lambda s: s.str.lower(),
        lambda s: s.str.strip(),
        lambda s: s.str.len(),
        lambda s: s.str.replace("b", "*", regex=False),
        lambda s: s.str.replace("[ab]", "*", regex=True),
    ],
    ids=["upper", "lower", "strip", "len", "replace", "replace_regex"],
)
def test_text(method):
    actual, expected = compute(method(xs.col("s"))), method(TEXT)
    pd.testing.assert_series_equal(actual, expected, check_names=False)


@pytest.mark.parametrize(
    "condition",
    [
        lambda s: s.str.startswith("a"),
        lambda s: s.str.endswith("b"),
        lambda s: s.str.contains("[bB]"),
        lambda s: s.str.contains("AB", case=False),
        lambda s: s.str.contains("b", regex=False),
    ],
    ids=range(5),
)
def test_text_conditions(condition):
    df = pd.DataFrame({"s": TEXT})
    actual = xs.from_pandas(df, 2).filter(condition(xs.col("s"))).to_pandas()
    assert list(actual["s"]) == list(df[condition(TEXT)]["s"])


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [("float32", "float32"), (np.int8, "int8"), ("str", "str"), (pa.bool_(), "bool")],
)
def test_cast(dtype, expected):
    df = pd.DataFrame({"a": [0, 1, 1]})
    assert compute(xs.col("a").cast(dtype), df).dtype == expected


@pytest.mark.parametrize(
    "value",
    [
        1,
        1.5,
        "é",
        True,
        np.int64(3),
        datetime.datetime(2024, 1, 2),
        pd.Timestamp("2024-05-06"),
    ],
    ids=repr,
)
def test_constants(value):
    df = pd.DataFrame({"a": [1, 2]})
    assert list(compute(xs.lit(value), df)) == [value, value]


def test_dates_compare_with_dates():
    df = pd.DataFrame({"t": pd.to_datetime(["2024-01-01", None, "2025-01-01"])})
    kept = xs.from_pandas(df).filter(xs.col("t") > pd.Timestamp("2024-06-01"))
    assert list(kept.to_pandas()["t"]) == [pd.Timestamp("2025-01-01")]


def test_isin_with_missing():
    df = pd.DataFrame({"f": [1.0, np.nan, 2.0]})
    for values in ([1.0], [1.0, None], [np.nan], []):
        actual = xs.from_pandas(df).filter(xs.col("f").isin(values)).to_pandas()
        expected = df[df["f"].isin(values)].reset_index(drop=True)
        pd.testing.assert_frame_equal(actual, expected)


def test_repr_shows_the_expression():
    assert "a" in repr(xs.col("a") + 1)
