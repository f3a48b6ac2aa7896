# SPDX-License-Identifier: Apache-2.0
"""Expressions on numbers, booleans and text give what pandas gives, dtypes included."""

import operator

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from frames import assert_same
from hypothesis import given
from hypothesis import strategies as st
from typed_frames import (
    ARITHMETIC,
    COMPARISONS,
    FLOATS,
    INTEGERS,
    MASKED,
    check,
    columns,
    computed,
    frame_of,
    num_partitions,
    shards_of,
)

import xshards as xs


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


@pytest.mark.parametrize("dtype", ["int8", "int16", "int64", "Int8", "Int64", "uint8"])
def test_floor_division_of_the_largest_and_smallest_integers(dtype):
    info = np.iinfo(dtype.lower())
    values = sorted({info.min, info.min + 1, 0, 1, 3, info.max - 1, info.max})
    pairs = [(a, b) for a in values for b in values if b != 0]
    df = pd.DataFrame(pairs, columns=["a", "b"]).astype(dtype)
    check(df, lambda c: c("a") // c("b"))
    check(df, lambda c: c("a") % c("b"))


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
def test_scalars_take_the_dtype_of_the_column(dtype, compute):
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
    with pytest.raises(OverflowError, match="300 is out of bounds for int8"):
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
    refused = "unsupported operands for subtract: bool and bool"
    with pytest.raises(TypeError, match=refused):
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
def test_masked_columns_combine_with_any(left, right):
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
    with pytest.raises(ValueError, match=r"1\.5 .*column 'a'.* it has a fraction"):
        computed(df, xs.col("a").astype("Int64"))
    with pytest.raises(NotImplementedError, match="category"):
        xs.col("a").astype("category")
    with pytest.raises(TypeError, match="unknown dtype 'nonsense'"):
        xs.col("a").astype("nonsense")


NOT_FINITE = r"Cannot convert non-finite values \(NA or inf\) to integer"


@pytest.mark.parametrize("dtype", ["int64", int, np.int32, "uint8", np.dtype("int16")])
@pytest.mark.parametrize("n", [1, 3, 7])
@pytest.mark.parametrize(
    "values",
    [
        pd.Series([1.0, np.nan, 3.0]),
        pd.Series([1.0, np.nan, 3.0], dtype="float32"),
        pd.Series([np.nan]),
        pd.Series([None, None], dtype="float64"),
        pd.Series([1, None], dtype="Int64"),
        pd.Series([1.5, None], dtype="Float64"),
        pd.Series(["1", None], dtype="str"),
        pd.Series([True, None], dtype="boolean"),
        pd.Series([1.0, np.inf]),
    ],
)
def test_numpy_integers_are_never_missing(values, dtype, n):
    df = pd.DataFrame({"käse": values, "i": range(len(values))})
    with pytest.raises(ValueError, match=r"(?i)cannot convert"):
        df.astype({"käse": dtype})
    with pytest.raises(ValueError, match=rf"'käse'.*{NOT_FINITE}"):
        shards_of(df, n).astype({"käse": dtype}).to_pandas()
    with pytest.raises(ValueError, match=NOT_FINITE):
        computed(df, xs.col("käse").astype(dtype) + 1)
    # What is filtered away first does not matter, wherever the filter is.
    known = df[df["käse"].notna() & (df["i"] == 0)]
    shards = shards_of(df, n).filter(xs.col("käse").notna()).filter(xs.col("i") == 0)
    made = shards.astype({"käse": dtype}).filter(xs.col("käse") > 0).to_pandas()
    expected = known.astype({"käse": dtype})
    assert_same(made, expected[expected["käse"] > 0].reset_index(drop=True))


@pytest.mark.parametrize("n", [1, 5])
def test_integers_of_a_file_with_gaps_are_missing_too(tmp_path, n):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,x\n,y\n3,z\n")
    with pytest.raises(pd.errors.IntCastingNaNError, match=NOT_FINITE):
        pd.read_csv(path).astype({"a": "int64"})
    shards = xs.read_csv(path, num_partitions=n)
    with pytest.raises(ValueError, match=rf"'a'.*{NOT_FINITE}.*astype\('Int64'\)"):
        shards.astype({"a": "int64"}).to_pandas()
    expected = pd.read_csv(path).astype({"a": "Int64"})
    assert_same(shards.astype({"a": "Int64"}).to_pandas(), expected)
    filled = pd.read_csv(path).fillna({"a": 0}).astype({"a": "int64"})
    assert_same(shards.fillna({"a": 0}).astype({"a": "int64"}).to_pandas(), filled)
    # Arrow's own type says nothing of missing values, so it has them.
    kept = shards.astype({"a": pa.int32()}).to_pandas()["a"]
    assert kept.isna().tolist() == [False, True, False]


@pytest.mark.parametrize("dtype", ["int64", "uint8"])
def test_no_rows_have_no_missing_integers(dtype):
    df = pd.DataFrame({"a": pd.Series([], dtype="float64")})
    check(df, lambda c: c("a").astype(dtype))


INTEGER_TYPES = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]


@pytest.mark.parametrize("dtype", INTEGER_TYPES)
@pytest.mark.parametrize("source", ["float32", "float64"])
@given(draw=st.data(), n=num_partitions)
def test_floats_become_integers_or_an_error(dtype, source, draw, n):
    width = int(source.removeprefix("float"))
    values = draw.draw(st.lists(st.floats(width=width, allow_nan=False), min_size=1))
    df = pd.DataFrame({"a": np.array(values, dtype=source)})
    limits = np.iinfo(dtype)
    least = limits.min - 1 if limits.min else np.nextafter(0, -1)
    if all(least < v and np.isfinite(v) and int(v) <= limits.max for v in values):
        check(df, lambda c: c("a").astype(dtype), n)
        assert_same(shards_of(df, n).astype(dtype).to_pandas(), df.astype(dtype))
        return
    with pytest.raises(
        ValueError, match=rf"column 'a'\) cannot be converted to {dtype}: "
    ):
        shards_of(df, n).astype(dtype).to_pandas()
    with pytest.raises(
        ValueError, match=rf"column 'a'\) cannot be converted to {dtype}: "
    ):
        shards_of(df, n).filter(xs.col("a").astype(dtype) > 0).to_pandas()
    with pytest.raises(
        ValueError, match=rf"column 'a'\) cannot be converted to {dtype}: "
    ):
        computed(df, xs.col("a").cast(dtype))


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(2.0**63, "int64"), (2.0**64, "uint64"), (256.0, "uint8"), (-129.0, "int8")],
)
def test_floats_at_the_borders_of_integers(value, dtype):
    check(pd.DataFrame({"a": [np.nextafter(value, 0)]}), lambda c: c("a").astype(dtype))
    with pytest.raises(ValueError, match=r"it is out of range; clip\(\) values"):
        computed(pd.DataFrame({"a": [value]}), xs.col("a").astype(dtype))


@pytest.mark.parametrize("dtype", ["int64", "int8", "uint16"])
def test_half_floats_become_integers(dtype):
    frame = pd.DataFrame({"v": np.array([1.5, 2.5, 0.0], "f2")})
    made = xs.from_pandas(frame, 2).astype({"v": dtype}).to_pandas()
    pd.testing.assert_frame_equal(made, frame.astype({"v": dtype}))


def test_unsigned_integers_reject_negative_values():
    df = pd.DataFrame({"a": [0.5, -0.5]})
    with pytest.raises(ValueError, match="Cannot losslessly cast"):
        df.astype("uint8")
    with pytest.raises(
        ValueError, match=r"-0\.5 \(from column 'a'\) cannot be converted to uint8"
    ):
        computed(df, xs.col("a").astype("uint8"))


@pytest.mark.parametrize("kind", ["f4", "f8"])
@pytest.mark.parametrize("value", [-0.5, -3.75, 256.5])
def test_casts_to_unsigned_types_name_the_value(value, kind):
    df = pd.DataFrame({"a": np.array([0.5, value], kind)})
    message = (
        rf"{value} \(from column 'a'\) cannot be converted to uint8: it is out of range"
    )
    with pytest.raises(ValueError, match=message):
        computed(df, xs.col("a").astype("uint8"))
    fits = pd.DataFrame({"a": np.array([-0.0, 0.5, 255.75, 1.0], kind)})
    check(fits, lambda c: c("a").astype("uint8"))


def test_isin_is_exact():
    df = pd.DataFrame({"i": [1, 2, 3], "b": [True, False, True]})
    df["u"] = pd.Series([1, 2**64 - 1, 5], dtype="uint64")
    for values in ([1.0, 2.5], [2.5], [2**64 - 1], [], [-1, 3], [True]):
        check(df, lambda c, v=values: c("i").isin(v))
        check(df, lambda c, v=values: c("u").isin(v))
    check(df, lambda c: c("b").isin([1, 2]))
    masked = pd.DataFrame({"i": pd.Series([1, None], dtype="Int64")})
    check(masked, lambda c: c("i").isin([1, None]))
