# SPDX-License-Identifier: Apache-2.0
"""Reductions of odd values and columns, and mistakes, against pandas."""

import datetime
import decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from columns import every_column
from reductions import REDUCTIONS, assert_same_scalar, outcome, shards_of

import xshards as xs


@pytest.mark.parametrize(
    "cells",
    [
        [np.inf, -np.inf, 1.0],
        [np.inf, 0.0, np.nan],
        [np.inf, np.inf],
        [-np.inf, 2.0, 3.0],
    ],
)
@pytest.mark.parametrize("function", ["sum", "prod", "mean", "min", "max", "median"])
def test_infinite_values(cells, function):
    for dtype in ("float64", "float32", "Float64"):
        column = pd.Series(cells, dtype=dtype)
        expected = outcome(getattr(column, function))
        for n in (1, 3):
            actual = getattr(shards_of(column.to_frame("a"), n)["a"], function)()
            assert_same_scalar(actual, expected)


def test_integers_are_exact_and_wrap_around_as_in_pandas():
    large = pd.DataFrame({"a": [2**62, 1, 2**62 - 3], "b": [2**62] * 3})
    for n in (1, 2, 5):
        found = shards_of(large, n).sum()
        pd.testing.assert_series_equal(found, large.sum())
    assert found["a"] == 2**63 - 2
    assert found["b"] == 3 * 2**62 - 2**64


def test_nulls_and_nan_are_both_missing():
    table = pa.table({"f": pa.array([1.0, None, float("nan"), 4.0])})
    shards = xs.from_arrow(table, num_partitions=3)
    assert shards["f"].sum() == 5.0
    assert shards["f"].count() == 2
    assert np.isnan(shards["f"].max(skipna=False))


def test_integers_with_gaps_stay_integers():
    shards = xs.from_arrow(pa.table({"i": [2**60 + 1, None, 3]}))
    assert shards["i"].sum() == 2**60 + 4
    assert shards["i"].max() == 2**60 + 1
    assert shards["i"].dtypes["i"] == "int64"
    assert np.isnan(shards["i"].min(skipna=False))
    assert shards.limit(0)["i"].sum() == 0


def test_decimals():
    cells = [decimal.Decimal("1.50"), None, decimal.Decimal("-0.25")]
    arrow = pd.ArrowDtype(pa.decimal128(10, 2))
    for dtype in (object, arrow):
        df = pd.DataFrame({"d": pd.Series(cells, dtype=dtype)})
        for function in ("sum", "min", "max", "mean", "std", "median", "any", "all"):
            actual = getattr(shards_of(df, 2)["d"], function)()
            expected = getattr(df["d"], function)()
            assert_same_scalar(actual, expected)


def test_a_table_is_reduced_in_one_run(monkeypatch):
    df = pd.DataFrame({"a": [1, 2], "b": [0.5, None], "s": ["x", "y"]})
    shards = xs.from_pandas(df, 2)
    runs = []
    run = type(shards)._run
    monkeypatch.setattr(
        type(shards), "_run", lambda self, action: runs.append(1) or run(self, action)
    )
    shards.agg(["min", "max", "count", "nunique"])
    shards.std(skipna=False, ddof=2, numeric_only=True)
    assert len(runs) == 2


def test_labels_of_every_kind_and_an_index():
    df = pd.DataFrame([[1, 2.5, 3], [4, None, 6]], columns=[7, ("x", 1), 7])
    df.index = ["p", "q"]
    shards = xs.from_pandas(df, 2)
    for function in ("sum", "median", "max"):
        actual, expected = getattr(shards, function)(), getattr(df, function)()
        pd.testing.assert_series_equal(actual, expected)
    assert shards[[7]].quantile().tolist() == [2.5, 4.5]
    pd.testing.assert_series_equal(
        shards[("x", 1)].agg(["sum", "count"]), df[("x", 1)].agg(["sum", "count"])
    )


def test_no_columns():
    df = pd.DataFrame({"s": ["x"]})
    for function in ("sum", "max", "median"):
        actual = getattr(xs.from_pandas(df), function)(numeric_only=True)
        expected = getattr(df, function)(numeric_only=True)
        pd.testing.assert_series_equal(actual, expected)


def test_results_of_functions():
    shards = xs.from_pandas(pd.DataFrame({"a": [1, 2, 3]}), 2)
    doubled = shards["a"].transform_shard(lambda column: column * 2)
    assert doubled.sum() == 12
    gaps = shards["a"].transform_shard(lambda column: column.where(column > 1))
    assert (gaps.count(), len(gaps)) == (2, 3)
    gaps = shards["a"].transform_shard(lambda column: column.where(column != 2))
    rest = gaps.limit(2)
    assert (rest.count(), len(rest)) == (1, 2)
    frames_of = shards.transform_shard(lambda df: df.assign(b=df["a"] / 2))
    assert frames_of.mean().to_dict() == {"a": 2.0, "b": 1.0}


def test_queries_compare_with_reductions():
    df = pd.DataFrame({"a": pd.Series([1, 2, 9], dtype="float32")})
    for text in ("a > a.mean()", "a == a.median()", "a < a.max() - a.std()"):
        actual = xs.from_pandas(df, 2).query(text).to_pandas()
        expected = df.query(text).reset_index(drop=True)
        pd.testing.assert_frame_equal(actual, expected)


@pytest.mark.parametrize(
    ("function", "column", "match"),
    [
        ("mean", "text", "the mean of column 'text'"),
        ("prod", "text", "the prod of column 'text'"),
        ("sum", "text", "sum of column 'text' needs numbers"),
        ("sum", "time", "the sum of column 'time'"),
        ("any", "time", "the any of column 'time'"),
        ("var", "span", "the var of column 'span'"),
        ("max", "category", "the max of column 'category'"),
        ("max", "object", "max of column 'object' needs ordered values"),
        ("max", "list", "max"),
        ("mean", "moment", "the mean of column 'moment'"),
        ("median", "month", "the median of column 'month'"),
        ("any", "date", "the any of column 'date' needs numbers or text"),
    ],
)
def test_meaningless_operations_are_rejected(function, column, match):
    moment = datetime.datetime(2024, 1, 1)
    df = pd.DataFrame(
        {
            "number": [1],
            "text": ["x"],
            "time": [pd.Timestamp(moment)],
            "span": [pd.Timedelta(1, "s")],
            "category": pd.Categorical(["x"]),
            "object": pd.Series([{1, 2}], dtype=object),
            "list": pd.Series([[1]], dtype=object),
            "moment": pd.Series([moment], dtype=object),
            "month": [pd.Period("2024-01", "M")],
            "date": pd.Series([moment.date()], dtype=object),
        }
    )
    shards = xs.from_pandas(df)
    for part in (shards[column], shards[["number", column]]):
        with pytest.raises((TypeError, NotImplementedError), match=match):
            getattr(part, function)()


def test_mistakes():
    shards = xs.from_pandas(
        pd.DataFrame({"a": [1], "s": ["x"], "t": [pd.Timedelta(1, "s")]})
    )
    with pytest.raises(TypeError, match=r"column 's': .* numeric_only"):
        shards.astype({"s": object})["s"].max(numeric_only=True)
    with pytest.raises(ValueError, match=r"agg supports sum, .*; got 'total'"):
        shards.agg("total")
    with pytest.raises(TypeError, match="agg takes function names, such as 'sum'"):
        shards["a"].agg([max])
    with pytest.raises(TypeError, match="got a dict"):
        shards["a"].agg({"a": "max"})
    with pytest.raises(KeyError, match="no column 'b'"):
        shards.agg({"b": "max"})
    with pytest.raises(NotImplementedError, match="ddof of 0 or 1, got 2"):
        shards["t"].std(ddof=2)
    with pytest.raises(TypeError, match="hold arrays, not DataFrames"):
        xs.partition(np.arange(4), 2).sum()


@pytest.mark.parametrize("function", ["var", "std"])
def test_ddof_is_a_number(function):
    df = pd.DataFrame({"a": [1.0, 2.0, 4.0, None]})
    shards = xs.from_pandas(df, 5)
    for wrong, error in (("x", ValueError), (None, TypeError), ([1], TypeError)):
        for reduced in (shards, shards["a"]):
            with pytest.raises(error, match=r"ddof must be a number.*, got "):
                getattr(reduced, function)(ddof=wrong)
    for ddof in (0, 1.5, True, np.int64(2), -1):
        found = getattr(shards["a"], function)(ddof=ddof)
        assert_same_scalar(found, getattr(df["a"], function)(ddof=ddof))


def test_no_function_gives_nothing_as_in_pandas():
    df = pd.DataFrame({"ä": [1.0, 2.0, None], 7: ["x", "y", "z"]})
    shards = xs.from_pandas(df, 5)
    for wanted in ([], (), {}, {"ä": []}, {7: [], "ä": []}, {7: [], "ä": ["sum"]}):
        pd.testing.assert_frame_equal(shards.agg(wanted), df.agg(wanted))
    pd.testing.assert_series_equal(shards["ä"].agg([]), df["ä"].agg([]))


@pytest.mark.parametrize("n", [1, 5])
@pytest.mark.parametrize("cells", [[1.5, None, 0.0, 2.25], [None], [0.0], []], ids=str)
@pytest.mark.parametrize("function", REDUCTIONS)
def test_half_floats(function, cells, n):
    df = pd.DataFrame({"h": pd.Series(cells, dtype="float16")})
    shards = xs.from_pandas(df, n)
    with np.errstate(all="ignore"):
        expected = getattr(df["h"], function)()
        table = getattr(df, function)()
    found = getattr(shards["h"], function)()
    assert type(found) is type(expected)
    assert found == pytest.approx(expected, rel=1e-3, nan_ok=True)
    pd.testing.assert_series_equal(getattr(shards, function)(), table, rtol=1e-3)


def test_one_true_value_is_enough(monkeypatch):
    asked = []
    grouped = xs.XShards._grouped

    def watched(self, keys, aggregates, **options):
        asked.append([function for function, _, _ in aggregates])
        return grouped(self, keys, aggregates, **options)

    monkeypatch.setattr(xs.XShards, "_grouped", watched)
    shards = xs.from_pandas(pd.DataFrame({"a": [0, 2, 0]}), 2)
    assert (bool(shards["a"].any()), bool(shards["a"].all())) == (True, False)
    assert asked == [["count", "max"], ["count", "min"]]


# Kinds that the engine stores but does not add up or compare as pandas does.
NOT_COMPUTED = (
    *("longdouble", "interval", "cut", "arrow-time", "object-b", "object-d"),
    *("object-mixed", "object-s", "object-t", "object-zoned"),
)

# Those that are of no use to compare: pandas itself fails, or gives anything.
NOT_COMPARED = (
    ">",
    "complex",
    "category-none",
    "ndarray",
    "object-list",
    "object-dict",
)

# What text, decimals and periods have in pandas only.
NOT_GIVEN = {("arrow-string", "sum"), ("arrow-decimal", "prod"), ("period", "median")}

NOT_GIVEN |= {("period-missing", "median")}

KINDS = {
    kind: column
    for kind, column in every_column().items()
    if not kind.startswith(NOT_COMPARED)
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_agrees_with_pandas_or_is_rejected(kind):
    df = pd.DataFrame({"x": KINDS[kind]})
    shards = xs.from_pandas(df, 3)["x"]
    for function in (*REDUCTIONS, "skew", "kurt"):
        expected = outcome(getattr(df["x"], function))
        try:
            actual = getattr(shards, function)()
        except (xs.errors.XShardsTypeError, xs.errors.XShardsNotImplementedError):
            is_text = "str" in kind and function in ("sum", "prod")
            expects = not (is_text or (kind, function) in NOT_GIVEN)
            assert kind.startswith(NOT_COMPUTED) or expected is TypeError or not expects
        else:
            is_number = isinstance(expected, int | float | np.floating)
            if kind.startswith("object") and is_number:
                # The sum of objects is a number of numpy's.
                assert actual == pytest.approx(expected, rel=1e-9, nan_ok=True)
            elif pd.isna(expected):
                assert pd.isna(actual)
            else:
                assert_same_scalar(actual, expected)


def test_columns_named_like_internal_ones():
    df = pd.DataFrame({"x": [1, 0], "truth 0": [5, 7], "truth 1": [0, 0]})
    shards = xs.from_pandas(df, 2)
    pd.testing.assert_series_equal(shards.all(), df.all())
    pd.testing.assert_series_equal(shards.any(), df.any())
    wanted = {"x": "all", "truth 0": "max"}
    assert shards.agg(wanted).to_dict() == df.agg(wanted).to_dict()


def test_a_column_named_star_is_a_column():
    df = pd.DataFrame({"*": [1.0, None, 2.0], "b": [1, 1, 2]})
    shards = xs.from_pandas(df, 5)
    for function in REDUCTIONS:
        found = getattr(shards["*"], function)()
        assert_same_scalar(found, getattr(df["*"], function)())
    pd.testing.assert_series_equal(shards.sum(), df.sum())
    assert int(shards["*"].count()) == 2
    assert shards["*"].quantile() == df["*"].quantile()
    wanted = ["count", "sum", "nunique"]
    pd.testing.assert_frame_equal(shards.agg(wanted), df.agg(wanted))
    pd.testing.assert_frame_equal(shards.describe(), df.describe())
    grouped = shards.group_by("b", {"*": ["count", "sum"]}).to_pandas()
    grouped = grouped.sort_values("b").set_index("b")
    assert list(grouped.columns) == ["count(*)", "sum(*)"]
    assert grouped.to_numpy().tolist() == [[1, 1.0], [1, 2.0]]
    named = shards.group_by("b", there=("*", "count")).to_pandas()
    assert sorted(named["there"]) == [1, 1]
    counts = shards.group_by("*", {"b": "count"}).to_pandas()
    assert len(counts) == 3
    assert shards["*"].value_counts(dropna=False).tolist() == [1, 1, 1]


def test_star_stands_for_rows_where_no_column_has_that_name():
    df = pd.DataFrame({"a": [1, 1, 2], "b": [None, 1.0, None]})
    found = xs.from_pandas(df, 5).group_by("a", {"*": "count", "b": "count"})
    rows = found.to_pandas().sort_values("a")
    assert list(rows.columns) == ["a", "count(1)", "count(b)"]
    assert rows["count(1)"].tolist() == [2, 1]
    with pytest.raises(KeyError, match=r"no column '\*'"):
        xs.from_pandas(df).group_by("a", {"*": "sum"})
    none = xs.from_pandas(df.iloc[:0], 2).group_by([], {"*": "count"}).to_pandas()
    assert none["count(1)"].tolist() == [0]


@pytest.mark.parametrize("n", [1, 3])
def test_products_and_shapes_of_many_values(n):
    large = np.tile([1e60] * 4 + [1e-60] * 4, 9)
    equal = np.full(72, 0.1)
    equal[11] = np.nan
    df = pd.DataFrame({"large": large, "equal": equal})
    shards = xs.from_pandas(df, n)
    assert shards["large"].prod() == pytest.approx(df["large"].prod())
    for function in ("skew", "kurt", "std", "mean"):
        found = getattr(shards["equal"], function)()
        expected = getattr(df["equal"], function)()
        assert found == pytest.approx(expected, nan_ok=True, abs=1e-12), function


def test_agg_keeps_labels():
    df = pd.DataFrame([[1, 2.5]], columns=pd.Index(["a", "b"], name="cc"))
    shards = xs.from_pandas(df)
    pd.testing.assert_frame_equal(shards.agg(["sum", "max"]), df.agg(["sum", "max"]))
    df.columns = pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["k", "l"])
    shards = xs.from_pandas(df)
    pd.testing.assert_frame_equal(shards.agg(["sum", "max"]), df.agg(["sum", "max"]))
