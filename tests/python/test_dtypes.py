# SPDX-License-Identifier: Apache-2.0
"""Operations on columns of every dtype give what pandas gives, dtypes included."""

import datetime
import operator

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
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


@pytest.mark.parametrize("name", COMPARISONS)
@given(df=columns([*INTEGERS, *FLOATS, "bool", *MASKED]), n=num_partitions)
def test_comparisons_of_numbers(name, df, n):
    check(df, lambda c: COMPARISONS[name](c("a"), c("b")), n)


@pytest.mark.parametrize("name", ARITHMETIC)
@given(df=columns([*INTEGERS, *FLOATS, *MASKED[:-1]]), n=num_partitions)
def test_arithmetic_of_numbers(name, df, n):
    check(df, lambda c: ARITHMETIC[name](c("a"), c("b")), n)


@given(df=columns([*INTEGERS, *FLOATS, *MASKED[:-1]]), n=num_partitions)
def test_division(df, n):
    check(df, lambda c: c("a") / c("b"), n)


@pytest.mark.parametrize("name", ["//", "%"])
@given(df=columns([*INTEGERS, *FLOATS]), n=num_partitions)
def test_floor_division(name, df, n):
    op = {"//": operator.floordiv, "%": operator.mod}[name]
    df = df[df["b"] != 0].reset_index(drop=True)
    check(df, lambda c: op(c("a"), c("b")), n)


@pytest.mark.parametrize("name", ["//", "%"])
@given(df=columns(["Int8", "Int64", "UInt8"]), n=num_partitions)
def test_floor_division_of_masked_integers(name, df, n):
    op = {"//": operator.floordiv, "%": operator.mod}[name]
    check(df, lambda c: op(c("a"), c("b")), n)


def test_floor_division_by_zero():
    df = pd.DataFrame({"i": [7, -7, 0], "f": [7.0, -7.0, 0.0], "z": [0, 0, 2]})
    check(df, lambda c: c("i") // 0)
    check(df, lambda c: c("i") % 0)
    check(df, lambda c: c("f") // 0)
    check(df, lambda c: c("f") // c("z"))
    check(df, lambda c: c("i") % c("z"))
    # pandas: infinite, in a column that turns to floats because of it.
    assert computed(df, xs.col("i") // xs.col("z")).isna().tolist() == [
        True,
        True,
        False,
    ]


def test_floor_division_wraps_around_as_numpy_does():
    df = pd.DataFrame({"a": [-(2**63), 5], "b": [-1, -1]})
    check(df, lambda c: c("a") // c("b"))
    check(df, lambda c: c("a") % c("b"))


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8", "float32", "float64"])
def test_power(dtype):
    df = pd.DataFrame({"a": [0, 1, 2, 3], "b": [0, 2, 3, 1]}).astype(dtype)
    check(df, lambda c: c("a") ** c("b"))
    check(df, lambda c: c("a") ** 2)
    check(df, lambda c: c("a") ** 0.5)


def test_power_of_missing():
    df = pd.DataFrame({"a": [1.0, np.nan, np.nan], "b": [np.nan, 0.0, 2.0]})
    check(df, lambda c: c("a") ** c("b"))
    check(df.astype("Float64"), lambda c: c("a") ** c("b"))
    with pytest.raises(ValueError, match="negative integer powers"):
        computed(pd.DataFrame({"a": [2], "b": [-1]}), xs.col("a") ** xs.col("b"))


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS, "bool", *MASKED])
@pytest.mark.parametrize(
    "compute",
    [
        lambda c: c("a") + 1,
        lambda c: 2 - c("a"),
        lambda c: c("a") * 2.5,
        lambda c: c("a") / 3,
        lambda c: c("a") // 2,
        lambda c: c("a") % 2,
        lambda c: c("a") < 1,
        lambda c: c("a") == 1,
        lambda c: c("a") != 0.5,
        lambda c: c("a") >= True,
        lambda c: c("a").isin([1, 7]),
        lambda c: c("a").isna(),
    ],
    ids=["+", "r-", "*", "/", "//", "%", "<", "==", "!=", ">=", "isin", "isna"],
)
def test_plain_numbers_take_the_dtype_of_the_column(dtype, compute):
    df = pd.DataFrame({"a": pd.Series([0, 1, 1, 0]).astype(dtype)})
    check(df, compute)


def test_unsigned_numbers_compare_exactly():
    big = 2**64 - 1
    df = pd.DataFrame(
        {
            "u": pd.Series([0, big, 2**63, 5], dtype="uint64"),
            "i": pd.Series([-1, 2**63 - 1, 2**63 - 1, 5], dtype="int64"),
        }
    )
    for value in (big, 2**63, -1, 2**70, -(2**70), 5):
        for name in COMPARISONS:
            check(df, lambda c, v=value, n=name: COMPARISONS[n](c("u"), v))
            check(df, lambda c, v=value, n=name: COMPARISONS[n](c("i"), v))
    assert list(frame_of(shards_of(df).filter(xs.col("u") == big))["u"]) == [big]


def test_numbers_that_do_not_fit_are_an_error():
    df = pd.DataFrame({"a": pd.Series([1], dtype="int8")})
    with pytest.raises(TypeError, match="300 is out of bounds for int8"):
        computed(df, xs.col("a") + 300)


def test_arithmetic_of_booleans():
    df = pd.DataFrame({"a": [True, False, True], "b": [True, True, False]})
    df["f"], df["i"] = [1.5, np.nan, 0.0], np.array([1, -2, 3], dtype="int8")
    for compute in (
        lambda c: c("a") + c("b"),
        lambda c: c("a") * c("b"),
        lambda c: c("a") + 1,
        lambda c: c("a") * c("f"),
        lambda c: c("a") - c("i"),
        lambda c: c("a") / c("i"),
        lambda c: -c("a"),
        lambda c: abs(c("a")),
        lambda c: ~c("i"),
        lambda c: c("i") & 2,
    ):
        check(df, compute)
    with pytest.raises(TypeError, match="no subtract of bool and bool"):
        computed(df, xs.col("a") - xs.col("b"))


@pytest.mark.parametrize("dtype", ["boolean", "bool"])
def test_logic(dtype):
    values = [True, False, None] if dtype == "boolean" else [True, False]
    rows = [(a, b) for a in values for b in values]
    df = pd.DataFrame(rows, columns=["a", "b"]).astype(dtype)
    for compute in (
        lambda c: c("a") & c("b"),
        lambda c: c("a") | c("b"),
        lambda c: ~c("a"),
        lambda c: c("a") & True,
        lambda c: True | c("a"),
    ):
        check(df, compute)


def test_missing_booleans_count_as_false():
    df = pd.DataFrame({"b": pd.Series([True, None, False], dtype="boolean"), "i": 1})
    assert len(shards_of(df).filter(xs.col("b"))) == 1
    assert len(shards_of(df).filter(~xs.col("b"))) == 1
    objects = pd.DataFrame({"b": pd.Series([True, np.nan, False], dtype=object)})
    check(objects, lambda c: c("b") & True)
    check(objects, lambda c: c("b") | False)


VALUES = {
    "Int64": [1, None, -3],
    "Int8": [1, None, -3],
    "Float64": [1.5, None, 0.0],
    "Float32": [1.5, None, 0.0],
    "boolean": [True, None, False],
    "int64": [1, 0, 2],
    "float64": [1.5, np.nan, 0.25],
    "bool": [True, False, True],
}


@pytest.mark.parametrize("left", ["Int64", "Int8", "Float32", "boolean"])
@pytest.mark.parametrize("right", VALUES)
def test_masked_meets_any(left, right):
    df = pd.DataFrame(
        {
            "a": pd.Series(VALUES[left], dtype=left),
            "b": pd.Series(VALUES[right], dtype=right),
        }
    )
    check(df, lambda c: c("a") == c("b"))
    check(df, lambda c: c("a") < c("b"))
    check(df, lambda c: c("a") + c("b"))
    if {left, right} - {"boolean", "bool"}:
        check(df, lambda c: c("a") / c("b"))


def test_text_dtypes():
    df = pd.DataFrame({"s": pd.Series(["a", None, "Bé"], dtype="string")})
    df["t"] = pd.Series(["a", "b", None], dtype="str")
    for compute in (
        lambda c: c("s") == "a",
        lambda c: c("s") != c("t"),
        lambda c: c("t") != "a",
        lambda c: c("s") + "x",
        lambda c: c("t") + c("s"),
        lambda c: c("s").str.len(),
        lambda c: c("t").str.len(),
        lambda c: c("s").str.contains("a"),
        lambda c: c("t").str.contains("a"),
        lambda c: c("s").str.upper(),
        lambda c: c("s").str.startswith("B"),
        lambda c: c("t").str.endswith("b"),
        lambda c: c("s").str.slice(-2, None),
        lambda c: c("t").str.slice(0, 1),
        lambda c: c("s").str.strip("a"),
        lambda c: c("s").str.lstrip("B"),
        lambda c: c("s").str.rstrip("é"),
        lambda c: c("s").str.replace("a", "b", regex=False),
        lambda c: c("t") == 1,
        lambda c: c("s").isna(),
        lambda c: c("t").isin(["a", None]),
        lambda c: c("t").fillna("?"),
    ):
        check(df, compute)
    with pytest.raises(TypeError, match="no order between"):
        computed(df, xs.col("t") < 1)


@pytest.mark.parametrize("dtype", ["int64", "float64", "float32", "Int64", "Float64"])
def test_choices(dtype):
    missing = None if dtype[0].isupper() else np.nan
    values = [1, 5, 0, 9] if dtype == "int64" else [1, missing, 0, 9]
    df = pd.DataFrame({"a": pd.Series(values, dtype=dtype)})
    df["k"] = [True, False, True, False]
    for compute in (
        lambda c: c("a").fillna(7),
        lambda c: c("a").clip(1, 6),
        lambda c: c("a").clip(upper=3),
        lambda c: c("a").where(c("k")),
        lambda c: c("a").where(c("k"), 4),
        lambda c: c("a").mask(c("k")),
        lambda c: c("a").mask(c("a") > 3, 3),
        lambda c: c("a").between(1, 5),
        lambda c: c("a").between(1, 5, inclusive="neither"),
        lambda c: c("a").round(),
        lambda c: c("a").abs(),
        lambda c: -c("a"),
        lambda c: c("a").notna(),
    ):
        check(df, compute)


def test_choices_that_widen():
    df = pd.DataFrame({"i": [1, 2, 3], "k": [True, False, True]})
    check(df, lambda c: c("i").clip(1.5, 2.5))
    check(df, lambda c: c("i").where(c("k"), 0.5))
    with pytest.raises(TypeError, match="no common type"):
        computed(df, xs.col("k").where(xs.col("k"), 1))


@given(st.lists(st.floats(-1e6, 1e6, width=32), min_size=1), st.integers(-2, 3))
def test_round(values, digits):
    df = pd.DataFrame({"f": values})
    check(df, lambda c: c("f").round(digits), rtol=1e-12)


def test_round_of_integers():
    df = pd.DataFrame({"i": [14, 15, 25, -15]})
    check(df, lambda c: c("i").round(2))
    check(df, lambda c: c("i").round(-1))


@pytest.mark.parametrize(
    ("values", "dtype", "target"),
    [
        ([1.7, -1.7], "float64", "int64"),
        ([300, -1], "int64", "int8"),
        ([300, 0], "int64", "bool"),
        ([0.5, np.nan, 0], "float64", "bool"),
        ([True, False], "bool", "str"),
        ([1, 2], "int64", "str"),
        (["1", "-2"], "str", "int64"),
        (["1.5", "2"], "str", "float64"),
        ([1.0, np.nan], "float64", "Int64"),
        ([1, None], "Int64", "float64"),
        ([1, None], "Int64", "Float32"),
        ([1, None], "Int64", "Int8"),
        ([True, None], "boolean", "Int64"),
        (["a", None], "str", "string"),
        ([1, 2], "int64", "float32"),
    ],
)
def test_astype(values, dtype, target):
    df = pd.DataFrame({"a": pd.Series(values, dtype=dtype)})
    check(df, lambda c: c("a").astype(target))


def test_astype_refuses():
    df = pd.DataFrame({"a": [1.5]})
    with pytest.raises((TypeError, ValueError), match="truncated"):
        computed(df, xs.col("a").astype("Int64"))
    with pytest.raises(NotImplementedError, match="category"):
        xs.col("a").astype("category")
    with pytest.raises(TypeError, match="no dtype 'nonsense'"):
        xs.col("a").astype("nonsense")


def test_isin_is_exact():
    df = pd.DataFrame({"i": [1, 2, 3], "b": [True, False, True]})
    df["u"] = pd.Series([1, 2**64 - 1, 5], dtype="uint64")
    for values in ([1.0, 2.5], [2.5], [2**64 - 1], [], [-1, 3], [True]):
        check(df, lambda c, v=values: c("i").isin(v))
        check(df, lambda c, v=values: c("u").isin(v))
    check(df, lambda c: c("b").isin([1, 2]))
    masked = pd.DataFrame({"i": pd.Series([1, None], dtype="Int64")})
    check(masked, lambda c: c("i").isin([1, None]))


# Times.

TIMES = ["2024-02-29 23:59:58.123456", None, "1969-12-31 01:00:00.5", "2024-07-01"]


def times(unit="us", zone=None):
    series = pd.Series(pd.to_datetime(TIMES, format="ISO8601")).astype(f"M8[{unit}]")
    return series if zone is None else series.dt.tz_localize("UTC").dt.tz_convert(zone)


@pytest.mark.parametrize("zone", [None, "UTC", "America/New_York", "Asia/Kolkata"])
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_time_fields(unit, zone):
    df = pd.DataFrame({"t": times(unit, zone)})
    for name in [
        "year",
        "quarter",
        "month",
        "day",
        "day_of_year",
        "day_of_week",
        "hour",
        "minute",
        "second",
        "microsecond",
    ]:
        check(df, lambda c, n=name: getattr(c("t").dt, n))
    check(df, lambda c: c("t").dt.normalize())
    check(df, lambda c: c("t").dt.floor("D"))
    whole = df.dropna().reset_index(drop=True)
    for name in ("year", "day_of_week", "microsecond", "date"):
        check(whole, lambda c, n=name: getattr(c("t").dt, n))


def test_time_fields_need_times():
    with pytest.raises(TypeError, match="the year is of a time, not of int64"):
        computed(pd.DataFrame({"i": [1]}), xs.col("i").dt.year)
    with pytest.raises(NotImplementedError, match="days only"):
        xs.col("t").dt.floor("h")


@pytest.mark.parametrize("name", COMPARISONS)
def test_times_of_other_zones_and_units_compare(name):
    df = pd.DataFrame({"p": times("us", "Europe/Paris"), "u": times("ms", "UTC")})
    df["n"], df["s"] = times("ns"), times("s")
    compare = COMPARISONS[name]
    check(df, lambda c: compare(c("p"), c("u")))
    check(df, lambda c: compare(c("n"), c("s")))
    check(df, lambda c: compare(c("n"), pd.Timestamp("2024-02-29 23:59:58.123456")))
    check(df, lambda c: compare(c("p"), pd.Timestamp("2024-07-01", tz="Asia/Tokyo")))
    check(df, lambda c: compare(c("n"), "2024-07-01"))
    check(df, lambda c: compare(c("p"), "2024-07-01 02:00:00"))
    if name in ("==", "!="):
        check(df, lambda c: compare(c("n"), c("p")))
        check(df, lambda c: compare(c("n"), 1))
    else:
        with pytest.raises(TypeError, match="no order between"):
            computed(df, compare(xs.col("n"), xs.col("p")))


def test_arithmetic_of_times():
    df = pd.DataFrame({"t": times(), "p": times("us", "Europe/Paris")})
    df["u"], df["s"] = times("us", "UTC"), times("s")
    df["d"] = pd.to_timedelta([1, None, 90, -7], unit="s").astype("m8[us]")
    df["m"] = pd.to_timedelta([1500, 20, None, -7], unit="ms").astype("m8[ms]")
    df["i"], df["f"] = [2, 3, 0, -4], [1.5, np.nan, 0.0, -2.5]
    for compute in (
        lambda c: c("t") - c("s"),
        lambda c: c("p") - c("u"),
        lambda c: c("t") + c("d"),
        lambda c: c("d") + c("p"),
        lambda c: c("s") - c("m"),
        lambda c: c("d") + c("m"),
        lambda c: c("d") - c("m"),
        lambda c: c("d") * 2,
        lambda c: 2 * c("d"),
        lambda c: c("d") * 1.5,
        lambda c: c("d") * c("i"),
        lambda c: c("d") * c("f"),
        lambda c: c("d") / 2,
        lambda c: c("d") / 4.0,
        lambda c: c("d") // 4,
        lambda c: c("d") / c("m"),
        lambda c: c("d") // c("m"),
        lambda c: c("d") % c("m"),
        lambda c: -c("d"),
        lambda c: abs(c("d")),
        lambda c: c("t") + pd.Timedelta("1D"),
        lambda c: c("t") - pd.Timestamp("2024-01-01"),
        lambda c: pd.Timestamp("2025-01-01") - c("t"),
        lambda c: c("d") / pd.Timedelta("1s"),
        lambda c: c("d") > pd.Timedelta("2s"),
        lambda c: c("d") == c("m"),
        lambda c: c("t").fillna(pd.Timestamp("2024-01-01")),
    ):
        check(df, compute)
    with pytest.raises(TypeError, match="zone"):
        computed(df, xs.col("t") - xs.col("p"))


def test_dates_compare():
    days = [datetime.date(2024, 1, 1), None, datetime.date(2025, 5, 5)]
    df = pd.DataFrame({"d": pd.Series(days, dtype=object), "i": [1, 2, 3]})
    kept = shards_of(df).filter(xs.col("d") > datetime.date(2024, 6, 1))
    assert list(frame_of(kept)["i"]) == [3]


# Categories.


def category(values, categories, *, ordered=True):
    return pd.Series(pd.Categorical(values, categories, ordered=ordered))


SIZES = ["small", "big", "Huge"]


@st.composite
def sizes(draw, *, ordered=True):
    rows = draw(st.integers(1, 15))
    draws = [
        draw(st.lists(st.sampled_from([*SIZES, None]), min_size=rows, max_size=rows))
        for _ in "ab"
    ]
    return pd.DataFrame(
        {
            "a": category(draws[0], SIZES, ordered=ordered),
            "b": category(draws[1], SIZES, ordered=ordered),
            "k": [i % 3 for i in range(rows)],
        }
    )


@pytest.mark.parametrize("name", COMPARISONS)
@given(df=sizes(), n=num_partitions)
def test_ordered_categories_compare(name, df, n):
    compare = COMPARISONS[name]
    check(df, lambda c: compare(c("a"), c("b")), n)
    check(df, lambda c: compare(c("a"), "big"), n)
    if name in ("==", "!="):
        check(df, lambda c: compare(c("a"), "other"), n)
        check(df, lambda c: compare(c("a"), 3), n)


def test_category_mistakes():
    df = pd.DataFrame({"a": category(["x", "y"], ["y", "x"], ordered=False)})
    df["o"] = category(["x", "y"], ["y", "x"])
    df["p"] = category(["x", "y"], ["x", "y"])
    df["s"] = ["x", "y"]
    for expression, message in (
        (xs.col("a") < "x", "without an order"),
        (xs.col("o") < "z", "not among the categories"),
        (xs.col("o") == xs.col("p"), "only if they are the same"),
        (xs.col("o") < xs.col("s"), "no order between"),
        (xs.col("a") + "x", "no add of category"),
    ):
        with pytest.raises(TypeError, match=message):
            computed(df, expression)
    for function in ("min", "max"):
        with pytest.raises(TypeError, match="categories that have an order"):
            shards_of(df).group_by("s", {"a": function})
    with pytest.raises(TypeError, match="needs numbers"):
        shards_of(df).group_by("s", {"a": "sum"})


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("ascending", [True, False])
@given(data=st.data(), n=num_partitions)
def test_categories_sort_by_their_order(ordered, ascending, data, n):
    df = data.draw(sizes(ordered=ordered))
    actual = shards_of(df, n).sort_values(["a", "k"], ascending)
    expected = df.sort_values(["a", "k"], ascending=ascending, kind="stable")
    pd.testing.assert_frame_equal(frame_of(actual), expected.reset_index(drop=True))


@pytest.mark.parametrize(
    "function", ["min", "max", "first", "last", "count", "nunique"]
)
@given(df=sizes(), n=num_partitions)
def test_aggregates_of_categories(function, df, n):
    actual = frame_of(shards_of(df, n).group_by("k", {"a": function}))
    expected = getattr(df.groupby("k")["a"], function)()
    expected = expected.rename(f"{function}(a)").reset_index()
    assert_same_rows(actual, expected)


@given(df=sizes(), n=num_partitions)
def test_categories_as_keys(df, n):
    actual = frame_of(shards_of(df, n).group_by("a", {"k": "sum"}))
    grouped = df.groupby("a", dropna=False, observed=True, sort=False)["k"].sum()
    assert_same_rows(actual, grouped.rename("sum(k)").reset_index())
    for how in ("inner", "left", "outer"):
        other = df[["a"]].assign(z=1).drop_duplicates("a")
        merged = shards_of(df, n).merge(shards_of(other, 2), how, "a")
        assert_same_rows(frame_of(merged), df.merge(other, how, "a"))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (category(["b", "a"], ["c", "a", "b"]), category(["a", "c"], ["c", "a", "b"])),
        (category(["b", "a"], ["b", "a"]), category(["a", "c"], ["c", "a"])),
        (
            category(["b", "a"], ["b", "a"], ordered=False),
            category(["a", "b"], ["a", "b"], ordered=False),
        ),
        (category(["b", "a"], ["b", "a"]), pd.Series(["a", "z"], dtype="str")),
    ],
    ids=["same", "other", "reordered", "text"],
)
def test_categories_meet(left, right):
    union = shards_of(left.to_frame("k")).union(shards_of(right.to_frame("k")))
    expected = pd.concat([left, right], ignore_index=True)
    pd.testing.assert_series_equal(frame_of(union)["k"], expected, check_names=False)
    for how in ("inner", "left", "outer"):
        merged = shards_of(left.to_frame("k")).merge(
            shards_of(right.to_frame("k")), how, "k"
        )
        expected = left.to_frame("k").merge(right.to_frame("k"), how, "k")
        assert_same_rows(frame_of(merged), expected)


def test_categories_of_numbers_and_missing_ones():
    df = pd.DataFrame({"c": category([3, 1, None, 2], [2, 3, 1])})
    check(df, lambda c: c("c") < 3)
    check(df, lambda c: c("c") == 1)
    check(df, lambda c: c("c").isna())
    check(df, lambda c: c("c").where(c("c") != 3))
    ordered = frame_of(shards_of(df, 3).sort_values("c"))
    expected = df.sort_values("c").reset_index(drop=True)
    pd.testing.assert_frame_equal(ordered, expected)


# Aggregates, unions and joins.


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64", "bool"])
def test_sums_of_integers_do_not_overflow(dtype):
    df = pd.DataFrame({"k": [1, 1, 2], "v": pd.Series([100, 100, 1]).astype(dtype)})
    actual = frame_of(shards_of(df).group_by("k", {"v": ["sum", "mean"]}))
    unsigned = dtype.startswith("uint")
    assert actual["sum(v)"].dtype == ("uint64" if unsigned else "int64")
    totals = df.astype({"v": "int64"}).groupby("k")["v"].sum()
    assert sorted(actual["sum(v)"]) == sorted(totals)
    assert actual["mean(v)"].dtype == "float64"


@pytest.mark.parametrize("function", ["mean", "std", "var", "min", "max", "count"])
@pytest.mark.parametrize("dtype", ["float32", "bool", "int8", *MASKED])
def test_dtypes_of_aggregates(function, dtype):
    df = pd.DataFrame({"k": [1, 1, 2, 2], "v": pd.Series([1, 0, 1, 1]).astype(dtype)})
    df.loc[3, "v"] = None if dtype in MASKED else df.loc[0, "v"]
    df = df.astype({"v": dtype})
    actual = frame_of(shards_of(df).group_by("k", {"v": function}))
    expected = getattr(df.groupby("k")["v"], function)()
    expected = expected.rename(f"{function}(v)").reset_index()
    assert_same_rows(actual, expected, rtol=1e-6)


@pytest.mark.parametrize(
    "function", ["sum", "mean", "std", "min", "max", "count", "first", "nunique"]
)
@pytest.mark.parametrize("unit", ["s", "us"])
def test_aggregates_of_times(function, unit):
    df = pd.DataFrame({"k": [1, 1, 2, 1], "t": times(unit, "Europe/Paris")})
    df["d"] = pd.to_timedelta([1, None, 90, -7], unit="s").astype(f"m8[{unit}]")
    for column in ("t", "d"):
        if (function, column) == ("sum", "t"):
            with pytest.raises(TypeError, match="The sum of column 't' needs numbers"):
                shards_of(df).group_by("k", {"t": "sum"})
            continue
        actual = frame_of(shards_of(df).group_by("k", {column: function}))
        expected = getattr(df.groupby("k")[column], function)()
        expected = expected.rename(f"{function}({column})").reset_index()
        assert_same_rows(actual, expected)


@given(df=columns([*INTEGERS, *FLOATS, *MASKED]), n=num_partitions)
def test_any_dtype_groups_sorts_and_dedupes(df, n):
    shards = shards_of(df, n)
    grouped = df.groupby("a", dropna=False, sort=False)["b"].count()
    actual = frame_of(shards.group_by("a", {"b": "count"}))
    assert_same_rows(actual, grouped.rename("count(b)").reset_index())
    expected = df.sort_values(["a", "b"], kind="stable").reset_index(drop=True)
    pd.testing.assert_frame_equal(frame_of(shards.sort_values(["a", "b"])), expected)
    expected = df.drop_duplicates().reset_index(drop=True)
    pd.testing.assert_frame_equal(frame_of(shards.drop_duplicates()), expected)


@given(df=columns([*INTEGERS, *FLOATS, *MASKED[:-1]]), n=num_partitions)
def test_union_widens_as_concat(df, n):
    left = df[["a"]].rename(columns={"a": "x"})
    right = df[["b"]].rename(columns={"b": "x"})
    actual = frame_of(shards_of(left, n).union(shards_of(right, 2)))
    expected = pd.concat([left, right], ignore_index=True)
    pd.testing.assert_frame_equal(actual, expected)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (pd.Series([True]), pd.Series([1])),
        (pd.Series(["a"]), pd.Series([1])),
        (times(), times("us", "UTC")),
        (times("us", "Asia/Tokyo"), times("us", "UTC")),
        (pd.Series([True], dtype="boolean"), pd.Series([1], dtype="Int64")),
    ],
    ids=["bool", "text", "naive", "zones", "masked"],
)
def test_union_without_a_common_type_is_an_error(left, right):
    # pandas makes Python objects of these.
    assert pd.concat([left, right]).dtype == object
    with pytest.raises(TypeError, match=r"Column 'x' is .* in one part and"):
        shards_of(left.to_frame("x")).union(shards_of(right.to_frame("x")))


def test_union_of_times_takes_the_finer_unit():
    left, right = times("s").to_frame("t"), times("ns").to_frame("t")
    actual = frame_of(shards_of(left).union(shards_of(right)))
    pd.testing.assert_frame_equal(actual, pd.concat([left, right], ignore_index=True))


def test_a_filter_on_a_union_of_masked_and_plain():
    left = pd.DataFrame({"x": pd.Series([1, None, 3], dtype="Int64")})
    right = pd.DataFrame({"x": [2, 4]})
    union = shards_of(left).union(shards_of(right))
    both = pd.concat([left, right], ignore_index=True)
    actual = frame_of(union.with_column("z", xs.col("x") > 2))
    pd.testing.assert_frame_equal(actual, both.assign(z=both["x"] > 2))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("int64", "uint64"),
        ("uint64", "int64"),
        ("int8", "int64"),
        ("Int64", "int64"),
        ("int64", "Int64"),
        ("int64", "float64"),
        ("Int64", "float64"),
        ("float32", "int8"),
    ],
)
@pytest.mark.parametrize("how", ["inner", "left", "right", "outer"])
def test_join_keys_of_two_dtypes(how, left, right):
    one = pd.DataFrame({"k": pd.Series([1, 2, 5], dtype=left), "x": [1, 2, 3]})
    two = pd.DataFrame({"k": pd.Series([2, 3, 1], dtype=right), "y": [1, 2, 3]})
    actual = frame_of(shards_of(one).merge(shards_of(two), how, "k"))
    assert_same_rows(actual, one.merge(two, how, "k"))


def test_join_keys_beyond_the_signed_range():
    one = pd.DataFrame({"k": pd.Series([1, 2**64 - 1, 2**63], dtype="uint64")})
    two = pd.DataFrame({"k": [-1, 1, -(2**63)], "y": [1, 2, 3]})
    actual = frame_of(shards_of(one).merge(shards_of(two), on="k"))
    pd.testing.assert_frame_equal(actual, one.merge(two, on="k"))


def test_join_keys_of_two_zones():
    one = pd.DataFrame({"k": times("us", "UTC"), "x": range(4)})
    two = pd.DataFrame({"k": times("us", "Europe/Paris"), "y": range(4)})
    for how in ("inner", "left"):
        actual = frame_of(shards_of(one).merge(shards_of(two), how, "k"))
        assert_same_rows(actual, one.merge(two, how, "k"))
    with pytest.raises(TypeError, match="Cannot join 'k'"):
        shards_of(one).merge(shards_of(times().to_frame("k")), on="k")


def test_other_columns_of_a_join_keep_their_dtypes():
    one = pd.DataFrame({"k": [1, 2], "v": pd.Series([1, None], dtype="Int8")})
    two = pd.DataFrame({"k": [2, 3], "v": category(["x", "y"], ["y", "x"])})
    actual = frame_of(shards_of(one).merge(shards_of(two), "outer", "k"))
    expected = one.merge(two, "outer", "k")
    assert_same_rows(actual, expected, check_dtype=False)
    assert actual["v_x"].dtype == "Int8"
    assert actual["v_y"].dtype == expected["v_y"].dtype


@pytest.mark.parametrize("keep", ["first", "last", False])
@pytest.mark.parametrize("subset", [None, "a", ["b"], ["a", "b"]])
@given(data=st.data(), n=num_partitions)
def test_drop_duplicates(keep, subset, data, n):
    rows = data.draw(st.integers(0, 15))

    def some(values):
        return data.draw(st.lists(values, min_size=rows, max_size=rows))

    df = pd.DataFrame(
        {
            "a": pd.Series(some(st.sampled_from([1.0, 2.0, np.nan])), dtype="float64"),
            "b": pd.Series(some(st.sampled_from(["x", "é", None])), dtype="str"),
            "c": pd.Series(some(st.none() | st.integers(0, 3)), dtype="Int64"),
        }
    )
    actual = frame_of(shards_of(df, n).drop_duplicates(subset, keep=keep))
    expected = df.drop_duplicates(subset, keep=keep).reset_index(drop=True)
    pd.testing.assert_frame_equal(actual, expected)


@pytest.mark.parametrize("keep", ["first", "last", False])
def test_drop_duplicates_keeps_the_index(keep):
    df = pd.DataFrame(
        {"a": [1, 2, 1, 3, 2, 4], "b": list("uvwxyz")}, index=list("pqrstu")
    )
    actual = xs.from_pandas(df, 3).drop_duplicates("a", keep=keep).to_pandas()
    pd.testing.assert_frame_equal(actual, df.drop_duplicates("a", keep=keep))


def test_drop_duplicates_mistakes():
    shards = shards_of(pd.DataFrame({"a": [1]}))
    with pytest.raises(ValueError, match="keep must be"):
        shards.drop_duplicates(keep="any")
    with pytest.raises(KeyError, match="no column 'z'"):
        shards.drop_duplicates("z")


def test_two_columns_of_one_name_are_an_error():
    shards = shards_of(pd.DataFrame({"a": [1], "b": [2]}))
    with pytest.raises(ValueError, match="Two columns would be named 'a'"):
        shards.select(["a", "b", "a"])
    with pytest.raises(ValueError, match="Two columns would be named 'b'"):
        shards.rename({"a": "b"})
