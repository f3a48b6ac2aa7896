# SPDX-License-Identifier: Apache-2.0
"""One value for a column, and one for each column of a table, as pandas gives them."""

import datetime
import decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from columns import every_column
from frames import frames, odd_frames
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from typed_frames import FLOATS, INTEGERS, MASKED, columns, series_of

import xshards as xs

num_partitions = st.integers(1, 6)
ARROW = [f"{name}[pyarrow]" for name in ("int8", "uint64", "double", "bool")]
NUMBERS = [*INTEGERS, *FLOATS, *MASKED, *ARROW, "bool"]
PLAIN = ["mean", "median", "min", "max"]
REDUCTIONS = [*PLAIN, "sum", "prod", "std", "var", "any", "all"]


@st.composite
def options_of(draw, function):
    options = {"skipna": draw(st.booleans())}
    if function in ("sum", "prod"):
        options["min_count"] = draw(st.integers(0, 4))
    if function in ("std", "var"):
        options["ddof"] = draw(st.integers(0, 3))
    return options


def shards_of(df, n):
    """Partition rows; some partitions are empty, among them the last."""
    return xs.from_pandas(df, n).union(xs.from_pandas(df, 1).limit(0))


def assert_same_scalar(actual, expected, size=1.0):
    """Compare values, which are of columns up to some size, and their types."""
    assert type(actual) is type(expected), (actual, expected)
    if pd.isna(expected):
        assert pd.isna(actual)
    elif isinstance(expected, float | np.floating):
        single = isinstance(expected, np.float32)
        close = 1e-4 if single else 1e-9
        assert actual == pytest.approx(expected, rel=close, abs=close * size)
    else:
        assert actual == expected


def outcome(call, *arguments, **options):
    """Give what a call returns, or that it has no meaning."""
    try:
        with np.errstate(all="ignore"):
            return call(*arguments, **options)
    except (TypeError, pa.ArrowInvalid):  # the latter where Arrow's meet other numbers
        return TypeError


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


def test_nulls_and_nan_are_missing_alike():
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
        ("max", "object", "max of column 'object' needs values that have an order"),
        ("max", "list", "max"),
        ("mean", "moment", "the mean of column 'moment'"),
        ("median", "month", "the median of column 'month'"),
        ("any", "date", "the any of column 'date' needs numbers or text"),
    ],
)
def test_what_has_no_meaning_is_refused(function, column, match):
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
    with pytest.raises(ValueError, match=r"agg knows sum, .*; got 'total'"):
        shards.agg("total")
    with pytest.raises(TypeError, match="agg names functions"):
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


def test_one_truth_is_enough(monkeypatch):
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
def test_every_kind_gives_what_pandas_does_or_is_refused(kind):
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


def test_names_that_stand_for_something_else():
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


def test_agg_keeps_what_the_labels_are():
    df = pd.DataFrame([[1, 2.5]], columns=pd.Index(["a", "b"], name="cc"))
    shards = xs.from_pandas(df)
    pd.testing.assert_frame_equal(shards.agg(["sum", "max"]), df.agg(["sum", "max"]))
    df.columns = pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["k", "l"])
    shards = xs.from_pandas(df)
    pd.testing.assert_frame_equal(shards.agg(["sum", "max"]), df.agg(["sum", "max"]))
