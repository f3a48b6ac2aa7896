# SPDX-License-Identifier: Apache-2.0
"""Merging by an index, where rows come from, which keys may repeat, and mistakes."""

import itertools

import numpy as np
import pandas as pd
import pytest
from frames import assert_same, none_as_nan, num_partitions
from hypothesis import given, settings
from hypothesis import strategies as st

import xshards as xs

HOWS = ("inner", "left", "right", "outer")
each_how = pytest.mark.parametrize("how", HOWS)
few = settings(max_examples=25)
labels = st.sampled_from(["", "a", "b", "é", None])


def by_rows(frame, names=("l", "r")):
    """Sort by columns that tell rows apart; the order of a merge is not defined."""
    order = frame[[*names]].reset_index(drop=True).sort_values([*names], kind="stable")
    return none_as_nan(frame.iloc[order.index])


def drawn(draw, cells, dtype, name, **columns):
    """Draw a frame with an index of labels that repeat.

    It is not empty: whose index a merge of pandas then has depends on the sizes.
    """
    values = draw(st.lists(cells, min_size=1, max_size=8))
    index = pd.Index(values, dtype=dtype, name=name)
    return pd.DataFrame({**columns, "same": range(len(values))}, index=index)


def both(left, right, n, *args, **options):
    """Merge by the engine and by pandas."""
    ours = xs.from_pandas(left, n).merge(xs.from_pandas(right, 2), *args, **options)
    return ours.to_pandas(), left.merge(right, *args, **options)


@each_how
@few
@given(draw=st.data(), n=num_partitions, names=st.sampled_from(["ii", "ij", " i"]))
def test_by_both_indexes(how, draw, n, names):
    left = drawn(draw.draw, labels, "str", names[0].strip() or None)
    right = drawn(draw.draw, labels, "str", names[1])
    left, right = (
        frame.assign(**{name: range(len(frame))})
        for name, frame in (("l", left), ("r", right))
    )
    actual, expected = both(left, right, n, how, left_index=True, right_index=True)
    assert actual.index.name == (right if how == "right" else left).index.name
    # Where names differ, the sizes tell which of them pandas takes.
    expected.index.name = actual.index.name
    assert_same(by_rows(actual), by_rows(expected))


@each_how
def test_no_rows_on_a_side(how):
    none, some = LEFT.iloc[:0], RIGHT[["b"]]
    for left, right in ((none, some), (LEFT, some.iloc[:0]), (none, some.iloc[:0])):
        actual, expected = both(left, right, 3, how, left_index=True, right_index=True)
        expected = expected.sort_index()
        assert_same(actual.sort_index(), expected, check_dtype=False)


@each_how
@few
@given(draw=st.data(), n=num_partitions)
def test_a_column_by_the_index_of_the_other(how, draw, n):
    lookup = drawn(draw.draw, st.integers(0, 4), "int64", None)
    lookup = lookup.assign(r=range(len(lookup)))
    rows = drawn(draw.draw, labels, "str", "name")
    rows = rows.assign(
        l=range(len(rows)),
        k=np.array(draw.draw(st.lists(st.integers(0, 4), min_size=8, max_size=8)))[
            : len(rows)
        ],
    )
    actual, expected = both(rows, lookup, n, how, left_on="k", right_index=True)
    assert_same(by_rows(actual), by_rows(expected))
    actual, expected = both(lookup, rows, n, how, left_index=True, right_on="k")
    assert_same(by_rows(actual), by_rows(expected))


@each_how
def test_levels_of_an_index(how):
    index = pd.MultiIndex.from_tuples([("a", 1), ("b", 2), ("c", 3)], names=["x", "y"])
    left = pd.DataFrame({"l": [1, 2, 3]}, index=index)
    right = pd.DataFrame({"p": list("bcd"), "r": [4, 5, 6], "q": [2, 3, 9]})
    actual, expected = both(
        left,
        left.rename(columns={"l": "r"}).iloc[1:],
        2,
        how,
        left_index=True,
        right_index=True,
    )
    assert_same(by_rows(actual), by_rows(expected))
    actual, expected = both(left, right, 2, how, left_index=True, right_on=["p", "q"])
    # A RangeIndex is no data here: rows are counted anew.
    expected = by_rows(expected).reset_index(drop=True)
    assert_same(by_rows(actual).reset_index(drop=True), expected)


@pytest.mark.parametrize("how", [*HOWS, "cross", "left_anti", "right_anti"])
@few
@given(draw=st.data(), n=num_partitions, name=st.sampled_from([True, "from"]))
def test_indicator(how, draw, n, name):
    left, right = (
        pd.DataFrame(
            {"k": pd.Series(draw.draw(st.lists(labels, max_size=8)), dtype="str")}
        )
        for _ in range(2)
    )
    left, right = left.assign(l=range(len(left))), right.assign(r=range(len(right)))
    keys = {} if how == "cross" else {"on": "k"}
    actual, expected = both(left, right, n, how, indicator=name, **keys)
    expected = by_rows(expected).reset_index(drop=True)
    assert_same(by_rows(actual).reset_index(drop=True), expected)


@pytest.mark.parametrize("how", ["left_anti", "right_anti"])
@few
@given(draw=st.data(), n=num_partitions)
def test_rows_of_one_side_alone(how, draw, n):
    numbers = st.lists(st.integers(0, 4), max_size=8)
    left, right = (
        pd.DataFrame({"k": draw.draw(numbers)}, dtype="int64") for _ in range(2)
    )
    left, right = left.assign(l=range(len(left))), right.assign(r=range(len(right)))
    actual, expected = both(left, right, n, how, on="k")
    expected = by_rows(expected).reset_index(drop=True)
    assert_same(by_rows(actual).reset_index(drop=True), expected)


@pytest.mark.parametrize(
    "validate",
    [
        *("one_to_one", "one_to_many", "many_to_one", "many_to_many"),
        *("1:1", "1:m", "m:1", "m:m"),
    ],
)
@few
@given(draw=st.data(), n=num_partitions)
def test_validate(validate, draw, n):
    keys = st.lists(st.sampled_from([1.0, 2.0, 3.0, np.nan]), max_size=4)
    left, right = (
        pd.DataFrame({"k": draw.draw(keys)}, dtype="float64") for _ in range(2)
    )
    left, right = left.assign(l=range(len(left))), right.assign(r=range(len(right)))
    ours, theirs = xs.from_pandas(left, n), xs.from_pandas(right, 2)
    try:
        expected = left.merge(right, on="k", validate=validate)
    except pd.errors.MergeError:
        with pytest.raises(pd.errors.MergeError, match=r"^Merge keys are not unique"):
            ours.merge(theirs, on="k", validate=validate)
        return
    actual = ours.merge(theirs, on="k", validate=validate).to_pandas()
    expected = by_rows(expected).reset_index(drop=True)
    assert_same(by_rows(actual).reset_index(drop=True), expected)


LEFT = pd.DataFrame({"k": [1, 2], "a": [1, 2], "a_x": [1, 2]}, index=["p", "q"])
RIGHT = pd.DataFrame({"k": [2, 3], "a": [3, 4], "b": [3, 4]}, index=["q", "r"])


@pytest.mark.parametrize(
    "options",
    [
        {"on": "k", "left_on": "k"},
        {"on": "k", "left_index": True},
        {"left_on": "k"},
        {"right_on": "k"},
        {"left_index": True},
        {"right_index": True},
        {"left_on": "k", "left_index": True, "right_on": "k"},
        {"left_on": ["k", "a"], "right_on": ["k"]},
        {"left_on": ["k", "a"], "right_index": True},
        {"how": "cross", "on": "k"},
        {"how": "cross", "left_index": True},
        {"how": "sideways", "on": "k"},
        {"on": "gone"},
        {"left_on": "gone", "right_on": "k"},
        {"left_on": "k", "right_on": "gone"},
        {"left_on": "gone", "right_index": True},
        {"on": "k"},  # a would be a_x, which is there
        {"on": "k", "suffixes": (None, None)},
        {"on": "k", "suffixes": ("", "")},
        {"on": "k", "suffixes": ("_l",)},
        {"on": "k", "suffixes": frozenset(["_l"])},
        {"on": "k", "suffixes": ("_l", "_r"), "indicator": "b"},
        {"on": "k", "suffixes": ("_l", "_r"), "indicator": 1.5},
        {"on": "k", "suffixes": ("_l", "_r"), "validate": "2:2"},
    ],
    ids=str,
)
def test_mistakes_raise_what_pandas_raises(options):
    with pytest.raises(Exception) as expected:
        LEFT.merge(RIGHT, **options)
    with pytest.raises(xs.XShardsError) as actual:
        xs.from_pandas(LEFT, 2).merge(xs.from_pandas(RIGHT, 2), **options)
    assert isinstance(actual.value, expected.type)


def test_mistakes_that_pandas_does_not_have():
    left, right = xs.from_pandas(LEFT), xs.from_pandas(RIGHT)
    counted = xs.from_pandas(RIGHT.reset_index(drop=True))
    with pytest.raises(
        ValueError, match=r"right_index: the right side has a RangeIndex.* use zip"
    ):
        left.merge(counted, left_on="k", right_index=True)
    with pytest.raises(
        ValueError, match=r"semi merge keeps rows of the left side only"
    ):
        left.merge(right, "semi", "k", indicator=True)
    with pytest.raises(
        pd.errors.MergeError,
        match=r"the right has a column 'k' in addition to its index",
    ):
        left.merge(right, left_on="k", right_index=True)
    others = RIGHT.set_axis(["x", "y", "z"], axis=1)
    with pytest.raises(pd.errors.MergeError, match="no common column to merge on"):
        left.merge(xs.from_pandas(others))


@pytest.mark.parametrize(
    ("suffixes", "columns"),
    [
        (("_l", "_r"), ["k", "a_l", "a_x", "a_r", "b"]),
        ((None, "_r"), ["k", "a", "a_x", "a_r", "b"]),
        (("_l", None), ["k", "a_l", "a_x", "a", "b"]),
        (["", "_r"], ["k", "a", "a_x", "a_r", "b"]),
    ],
)
def test_suffixes(suffixes, columns):
    actual, expected = both(LEFT, RIGHT, 2, on="k", suffixes=suffixes)
    assert list(actual.columns) == columns
    assert_same(actual, expected)


NUMBERS = ("int64", "int8", "uint8", "uint64", "float64", "float32")


@pytest.mark.parametrize(
    ("left", "right"),
    [
        *(("bool", number) for number in NUMBERS),
        *((number, "bool") for number in NUMBERS),
    ],
)
@each_how
def test_booleans_match_numbers(left, right, how):
    cells = {"bool": [True, False, True]}
    one = pd.DataFrame({"k": pd.Series(cells.get(left, [0, 1, 2]), dtype=left)})
    other = pd.DataFrame({"k": pd.Series(cells.get(right, [0, 1, 2]), dtype=right)})
    one, other = one.assign(l=range(3)), other.assign(r=range(3))
    actual, expected = both(one, other, 2, how, "k")
    assert_same(
        by_rows(actual).reset_index(drop=True), by_rows(expected).reset_index(drop=True)
    )


def test_boolean_keys_of_other_names_stay_booleans():
    left = pd.DataFrame({"p": [True, False], "l": [0, 1]})
    right = pd.DataFrame({"q": [1, 2], "r": [0, 1]})
    for how in HOWS:
        actual, expected = both(left, right, 2, how, left_on="p", right_on="q")
        expected = by_rows(expected).reset_index(drop=True)
        # pandas has objects also where none is missing.
        expected["p"] = expected["p"].infer_objects()
        assert_same(by_rows(actual).reset_index(drop=True), expected)


def test_every_how_has_every_option_of_keys():
    shards = xs.from_pandas(LEFT, 2)
    for how, by in itertools.product(("semi", "anti"), ({"on": "k"}, {})):
        options = by or {"left_index": True, "right_index": True}
        other = xs.from_pandas(RIGHT, 2)
        found = shards.merge(other, how, **options).to_pandas()
        assert list(found["k"]) == ([2] if how == "semi" else [1])


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (["a"], [1]),
        ([1.5], ["a"]),
        (pd.to_datetime(["2020"]), [1]),
        (pd.to_timedelta(["1h"]), pd.to_datetime(["2020"])),
        (pd.to_datetime(["2020"]), pd.to_datetime(["2020"]).tz_localize("UTC")),
    ],
)
def test_keys_that_are_never_equal(left, right):
    frames = pd.DataFrame({"k": left}), pd.DataFrame({"k": right})
    with pytest.raises(ValueError, match="You are trying to merge on"):
        frames[0].merge(frames[1])
    with pytest.raises(ValueError, match=r"Cannot join 'k' .* cast one of them"):
        xs.from_pandas(frames[0]).merge(xs.from_pandas(frames[1]))


@pytest.mark.parametrize("units", [*itertools.product(["s", "us", "ns"], repeat=2)])
@pytest.mark.parametrize("zone", [None, "Europe/Paris"])
@each_how
def test_times_in_two_units(how, zone, units):
    times = pd.to_datetime(["2020-01-01", "2021-02-03 04:05", None], format="ISO8601")
    times = times.tz_localize(zone)
    left = pd.DataFrame({"k": times.as_unit(units[0]), "l": range(3)})
    right = pd.DataFrame({"k": times[1:].as_unit(units[1]), "r": range(2)})
    actual, expected = both(left, right, 2, how, "k")
    expected = by_rows(expected).reset_index(drop=True)
    assert_same(by_rows(actual).reset_index(drop=True), expected)
