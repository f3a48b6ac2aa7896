# SPDX-License-Identifier: Apache-2.0
"""Text in parts, and the parts of dates by ISO 8601, with pandas as the oracle."""

import datetime

import pandas as pd
import pytest
from frames import num_partitions
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import xshards as xs

some = settings(max_examples=40)
texts = st.lists(st.none() | st.text("ab-é1 ", max_size=8), min_size=1, max_size=9)


def computed(values, n, expression):
    """Give what an expression of column s gives, as a Series."""
    shards = xs.from_pandas(pd.DataFrame({"s": values}), n)
    return shards.with_column("s", expression).to_pandas()["s"]


def as_texts(values):
    return pd.Series(values, dtype="str", name="s")


@some
@given(
    values=texts.map(as_texts),
    n=num_partitions,
    at=st.sampled_from(["-", "a", "--", "é", " "]),
    most=st.sampled_from([-1, 0, 1, 2]),
)
def test_split(values, n, at, most):
    assume(values.notna().any())  # else pandas gives floats
    for method in ("split", "rsplit"):
        expected = getattr(values.str, method)(at, n=most)
        parts = getattr(xs.col("s").str, method)(at, n=most)
        pd.testing.assert_series_equal(computed(values, n, parts), expected)
        for place in (0, 1, 5, -1, -2, -7):
            actual = computed(values, n, parts.str[place])
            # Where none is there, it is of floats to pandas.
            wanted = expected.str[place].astype(object)
            pd.testing.assert_series_equal(actual, wanted)
        actual = computed(values, n, parts.str.len())
        assert list(actual.dropna()) == list(expected.str.len().dropna())


def test_parts_have_string_methods():
    values = as_texts(["a-b", None, "c"])
    first = xs.col("s").str.split("-").str.get(0).str.upper()
    assert list(computed(values, 2, first).dropna()) == ["A", "C"]


@pytest.mark.parametrize(
    "pattern",
    [
        *("(a)", "-(a+)", "(?P<x>b)a", "(?:a|b)(1)", r"(\d)", "([ab-]+)1", "(a*)b"),
        *("a(b)?", "(a)|b", "(?:(a)-)*b", "(?:x(a)){0,2}b", r"\((a)", "[(](a)|b"),
        *("(?:b|(a))1", "(^a)", "(é)$"),
    ],
)
@some
@given(values=texts.map(as_texts), n=num_partitions)
def test_extract(pattern, values, n):
    expected = values.str.extract(pattern, expand=False).rename("s")
    actual = computed(values, n, xs.col("s").str.extract(pattern))
    pd.testing.assert_series_equal(actual, expected)


def test_extract_with_flags():
    values = as_texts(["Ab", "bA"])
    expression = xs.col("s").str.extract("(a)b", flags=2)
    expected = values.str.extract("(a)b", flags=2, expand=False).rename("s")
    pd.testing.assert_series_equal(computed(values, 1, expression), expected)


@some
@given(values=texts.map(as_texts), n=num_partitions, na=st.sampled_from([None, "?"]))
def test_cat(values, n, na):
    turned = values.str.upper()
    text = xs.col("s").str
    actual = computed(values, n, text.cat([text.upper(), xs.col("s")], "_", na_rep=na))
    expected = values.str.cat([turned, values], sep="_", na_rep=na)
    pd.testing.assert_series_equal(actual, expected)


@pytest.mark.parametrize(
    ("wrong", "error", "match"),
    [
        (lambda text: text.split(r"\s+"), NotImplementedError, r"plain text only"),
        (lambda text: text.split("a", regex=True), NotImplementedError, "plain text"),
        (lambda text: text.split(""), ValueError, "needs a text to split at"),
        (
            lambda text: text.split("a").str[:2],
            NotImplementedError,
            "only single parts",
        ),
        (
            lambda text: text.split("a", n=99).str[-1],
            NotImplementedError,
            "counting from the end",
        ),
        (lambda text: text.extract("a"), ValueError, "one group .* with no groups"),
        (lambda text: text.extract("(a)(b)"), ValueError, "with 2 groups"),
        (lambda text: text.extract("(a)", expand=True), NotImplementedError, "expand"),
        (lambda text: text.extract("a(b*)?"), NotImplementedError, "unmatched one"),
    ],
)
def test_mistakes(wrong, error, match):
    with pytest.raises(error, match=match):
        wrong(xs.col("s").str)


def test_plain_text_that_looks_like_a_pattern():
    values = as_texts(["a||b", "a.|b"])
    parts = xs.col("s").str.split("||", regex=False).str[0]
    expected = values.str.split("||", regex=False).str[0]
    pd.testing.assert_series_equal(computed(values, 1, parts), expected)


@pytest.mark.parametrize("zone", [None, "Asia/Tokyo"])
@some
@given(
    days=st.lists(st.none() | st.datetimes(datetime.datetime(1900, 1, 1)), min_size=1),
    n=num_partitions,
)
def test_isocalendar(zone, days, n):
    values = pd.Series(pd.to_datetime(days), name="s").astype("datetime64[us]")
    if zone is not None:
        values = values.dt.tz_localize("UTC").dt.tz_convert(zone)
    expected = values.dt.isocalendar()
    for part in ("year", "week", "day"):
        actual = computed(values, n, getattr(xs.col("s").dt.isocalendar(), part))
        pd.testing.assert_series_equal(actual, expected[part].rename("s"))
