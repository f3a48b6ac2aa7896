# SPDX-License-Identifier: Apache-2.0
"""Conditions written as text give the rows pandas gives."""

import operator

import numpy as np
import pandas as pd
import pytest
from frames import assert_same
from hypothesis import given
from hypothesis import strategies as st

import xshards as xs

DF = pd.DataFrame(
    {
        "a": [1, 2, 3, 4, 5],
        "b": [1.5, np.nan, -2.0, 0.0, 4.0],
        "city": ["Rome", "Oslo", None, "São & Paulo", "it's"],
        "day of": pd.to_datetime(
            ["2024-01-01", "2024-02-29", None, "2023-12-31", "2024-01-01"]
        ),
        "k": [True, False, True, False, True],
    }
)
LEAST = 2
QUERIES = [
    "a > 2",
    "a > 2 & b < 3",
    "a > 2 and b < 3 or k",
    "not k",
    "~k | a == 1",
    "1 < a <= 4",
    "a in [1, 5]",
    "a not in (1, 5)",
    "a == [1, 2]",
    "a != [1, 2]",
    "city == 'Rome'",
    'city == "it\'s"',
    "city == 'São & Paulo'",
    "city != 'Rome'",
    "a + b * 2 > 3",
    "a % 2 == 0 and -a < -1",
    "a ** 2 // 3 >= 3",
    "`day of` == @day",
    "a >= @LEAST",
    "a in @some and city != @here",
    "b != b",
    "b.isna()",
    "city.str.len() > 4",
    "`day of`.dt.year == 2024",
    "b.fillna(9) > 3",
    "b.isnull() or city.notnull()",
    "a > a.mean()",
    "b == b.max() or `day of` == `day of`.min()",
    "sqrt(a) > 1.5 and abs(b) < 3",
    "city.str.contains('o', na=False)",
    "  a > 1\n",
]


@pytest.mark.parametrize("text", QUERIES)
@pytest.mark.parametrize("n", [1, 3])
def test_as_pandas(text, n):
    some, here = [1, 2, 3], "Oslo"  # noqa: F841 - the queries name them
    day = pd.Timestamp("2024-01-01")  # noqa: F841
    actual = xs.from_pandas(DF, n).query(text).to_pandas()
    assert_same(actual, DF.query(text).reset_index(drop=True))


DATES = [
    *["2024", "2024-01", "2024-1", "2024/01", "2024-1-1", "2024/01/01", "20240101"],
    *["2024-01-01 00", "20240101T00", "2024-02-29 5:30", "2024-02-29T05:30"],
    *["2024-02-29 05:30:00.5", " 2024-01 ", "", "NaT", "2024-01-01 00:00:00.000000001"],
]
COMPARISONS = {
    **{"==": operator.eq, "!=": operator.ne, "<": operator.lt},
    **{"<=": operator.le, ">": operator.gt, ">=": operator.ge},
}
OFFSETS = ["2024-01-01T00:00Z", "2024-02-29 05:30:00+01:00", "2024-02-29 05 -0100"]


def moments(unit, zone):
    times = [
        "2024-01-01",
        "2024-02-29 05:30",
        None,
        "2023-12-31 23:59:59",
        "2024-01-01",
    ]
    when = pd.to_datetime(times, format="ISO8601").as_unit(unit).tz_localize(zone)
    return pd.DataFrame({"when": when})


@pytest.mark.parametrize("text", DATES)
@pytest.mark.parametrize("zone", [None, "Europe/Paris"])
@pytest.mark.parametrize("unit", ["s", "us", "ns"])
def test_partial_dates(text, zone, unit):
    df = moments(unit, zone)
    shards = xs.from_pandas(df, 2)
    # Columns compare with text in ways that queries of pandas do not: by equality, and
    # where it has a zone.
    for sign, compare in COMPARISONS.items():
        expected = df[compare(df["when"], text)].reset_index(drop=True)
        assert_same(shards.query(f"when {sign} '{text}'").to_pandas(), expected)
        if zone is None and compare not in (operator.eq, operator.ne):
            query = f"'{text}' {sign} when"
            expected = df.query(query).reset_index(drop=True)
            assert_same(shards.query(query).to_pandas(), expected)


@pytest.mark.parametrize("text", OFFSETS)
def test_dates_with_an_offset(text):
    df = moments("us", "Europe/Paris")
    query = f"when >= '{text}'"
    actual = xs.from_pandas(df, 2).query(query).to_pandas()
    assert_same(actual, df.query(query).reset_index(drop=True))
    with pytest.raises(TypeError, match=r"expected a date .*without an offset"):
        xs.from_pandas(moments("us", None)).query(query).to_pandas()


@pytest.mark.parametrize("text", ["2024-13", "201302", "x", "2024-02-30", "9" * 1000])
def test_text_that_is_no_date(text):
    df = moments("us", None)
    with pytest.raises((TypeError, ValueError)):
        df.query(f"when >= '{text}'")
    with pytest.raises(TypeError, match=rf"expected a date such as .* got '{text}'"):
        xs.from_pandas(df).query(f"when >= '{text}'").to_pandas()


@given(low=st.integers(-3, 8), high=st.integers(-3, 8), n=st.integers(1, 6))
def test_variables(low, high, n):
    actual = xs.from_pandas(DF, n).query("@low <= a < @high").to_pandas()
    assert_same(actual, DF.query("@low <= a < @high").reset_index(drop=True))


def test_variables_given():
    shards = xs.from_pandas(DF, 2)
    assert len(shards.query("a == @x", local_dict={"x": 3})) == 1


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("a >", ValueError, "cannot be read"),
        ("`a > 1", ValueError, "backtick"),
        ("a == @nowhere", KeyError, "@nowhere, which is not defined"),
        ("nowhere > 1", KeyError, "no column 'nowhere'"),
        ("a._core", ValueError, "is not supported"),
        ("__import__('os').system('true')", ValueError, "is not supported"),
        ("(lambda: 1)()", ValueError, "is not supported"),
        ("@LEAST.bit_length() > 1", ValueError, "is not supported"),
        ("a is None", ValueError, "is not supported"),
        ("a.nothing()", ValueError, r"'\.nothing'"),
    ],
)
def test_mistakes(text, error, message):
    with pytest.raises(error, match=message):
        xs.from_pandas(DF, 2).query(text)


EXTREMES = pd.Series(
    [pd.Timestamp("2020-01-01"), pd.NaT, pd.Timestamp.max, pd.Timestamp.min],
    dtype="M8[ns]",
)


@pytest.mark.parametrize("sign", ["<", "<=", "==", "!=", ">", ">="])
@pytest.mark.parametrize(
    "text",
    [
        "2500-01-01",
        "1500",
        "9999-12-31 23:59:59.999999",
        "2262-04-11 23:47:16.854776",
        "1677-09-21 00:12:43.145224",
    ],
)
def test_dates_out_of_range_of_nanoseconds(text, sign):
    df = pd.DataFrame({"t": EXTREMES, "i": range(len(EXTREMES))})
    condition = f"t {sign} '{text}'"
    expected = df.query(condition).reset_index(drop=True)
    assert_same(xs.from_pandas(df, 2).query(condition).to_pandas(), expected)
    zoned = df.assign(t=df["t"].dt.tz_localize("UTC"))
    there = xs.from_pandas(zoned, 2).query(condition).to_pandas()
    assert list(there["i"]) == list(expected["i"])


def test_digits_beyond_nanoseconds():
    shards = xs.from_pandas(pd.DataFrame({"t": EXTREMES}), 2)
    with pytest.raises(
        TypeError, match=r"six fractional digits.*2262-04-11.*'2500-01-01 0.*9'"
    ):
        shards.query("t < '2500-01-01 00:00:00.123456789'").to_pandas()
