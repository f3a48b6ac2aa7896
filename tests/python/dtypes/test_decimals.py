# SPDX-License-Identifier: Apache-2.0
"""Aggregates of decimals, which pandas has as objects or in Arrow's own dtype."""

import decimal
import operator

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from frames import none_as_nan, num_partitions
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import xshards as xs

ARROW = pd.ArrowDtype(pa.decimal128(12, 2))
FUNCTIONS = (
    *("sum", "mean", "min", "max", "count", "first", "last", "nunique"),
    *("std", "var", "median"),
)
decimals = st.integers(-(10**6), 10**6).map(lambda n: decimal.Decimal(n).scaleb(-2))


@st.composite
def grouped(draw, dtype):
    """Draw decimals in groups, one of which may have none at all."""
    cells = st.tuples(st.sampled_from("abc"), st.none() | decimals)
    rows = draw(st.lists(cells, min_size=1))  # pandas has other dtypes for no groups
    cells = [value if key != "c" else None for key, value in rows]
    return pd.DataFrame(
        {
            "k": pd.Series([key for key, _ in rows], dtype="str"),
            "v": pd.Series(cells, dtype=dtype),
        }
    )


@pytest.mark.parametrize("dtype", [object, ARROW], ids=["object", "arrow"])
@pytest.mark.parametrize("function", FUNCTIONS)
@settings(max_examples=25)
@given(draw=st.data(), n=num_partitions)
def test_aggregates_of_groups(function, dtype, draw, n):
    df = draw.draw(grouped(dtype))
    assume(df["v"].notna().any())  # else the dtype is anybody's guess
    actual = xs.from_pandas(df, n).group_by("k", {"v": function}).to_pandas()
    actual = actual.sort_values("k", ignore_index=True)
    expected = df.groupby("k")["v"].agg(function).reset_index()
    pd.testing.assert_frame_equal(
        none_as_nan(actual),
        none_as_nan(expected.rename(columns={"v": f"{function}(v)"})),
        rtol=1e-9,
        atol=1e-9,
    )


@pytest.mark.parametrize("text", ["0.3", "0.10", "1e-7", "123456789012345678.123"])
def test_the_mean_is_the_nearest_float(text):
    value = decimal.Decimal(text)
    shards = xs.from_arrow(pa.table({"v": pa.array([value, value, None])}), 2)
    found = shards.group_by([], {"v": ["mean", "median"]}).to_pandas()
    assert found["mean(v)"][0] == pd.Series([value, value]).mean()
    assert found["median(v)"][0] == float(value)


def test_a_mean_of_decimals_is_rounded_half_away_from_zero():
    cents = [decimal.Decimal(n).scaleb(-2) for n in (1, 2, -1, -2, 1, 1, 2)]
    df = pd.DataFrame({"k": [1, 1, 2, 2, 3, 3, 3], "v": pd.Series(cents, dtype=ARROW)})
    actual = xs.from_pandas(df, 3).group_by("k", "mean").sort_values("k").to_pandas()
    expected = df.groupby("k")["v"].mean()
    assert list(actual["mean(v)"]) == list(expected)
    assert list(map(str, expected)) == ["0.02", "-0.02", "0.01"]


def test_functions_for_all_columns_take_decimals_in():
    table = pa.table({"k": [1, 1], "v": pa.array([decimal.Decimal("1.5"), None])})
    shards = xs.from_arrow(table, 2)
    found = shards.group_by("k", ["mean", "std", "sum"]).to_pandas()
    assert list(found.columns) == ["k", "mean(v)", "std(v)", "sum(v)"]
    assert found["mean(v)"][0] == 1.5


@pytest.mark.parametrize("function", ["sum", "mean"])
@pytest.mark.parametrize("rows", [2, 3, 4, 7])
@pytest.mark.parametrize("sign", ["", "-"])
def test_sums_of_too_many_digits_are_an_error(function, rows, sign):
    value = decimal.Decimal(sign + "9" * 38)
    values = pa.array([value] * rows, pa.decimal128(38, 0))
    table = pa.table({"k": [1] * rows, "v": values})
    for n in (1, 2):
        shards = xs.from_arrow(table, n).group_by("k", {"v": function})
        with pytest.raises(ValueError, match="more than 38 digits"):
            shards.to_pandas()


def test_large_decimals_are_cast_before():
    table = pa.table({"v": pa.array([decimal.Decimal(1)], pa.decimal256(50, 2))})
    with pytest.raises(TypeError, match=r"needs numbers.*cast it to float64 first"):
        xs.from_arrow(table).group_by([], {"v": "mean"})


def test_booleans_are_not_decimals():
    decimals = xs.from_arrow(pa.table({"k": pa.array([decimal.Decimal("1.0")])}))
    truths = xs.from_pandas(pd.DataFrame({"k": [True]}))
    for left, right in ((decimals, truths), (truths, decimals)):
        with pytest.raises(TypeError, match=r"Cannot join 'k' .* cast one of them"):
            left.merge(right)


CENTS = ["1.50", "-2.25", "0.00", "7.00", "0.10", None, "-0.01", "123456789.99"]
COMPARISONS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
BESIDE = [
    *(7, -2, 0, True, np.int8(7), 2**62, 1.5, -2.25, 0.1, 0.0, -0.0, -0.01, 1e300),
    *(-1e300, 5e-324, float("inf"), float("-inf"), 123456789.99),
    *(decimal.Decimal(d) for d in ("1.5", "1.5000", "1.5001", "7", "1e20", "-0.010")),
]


def cents(dtype, cells=CENTS):
    numbers = [None if cell is None else decimal.Decimal(cell) for cell in cells]
    return pd.DataFrame({"d": pd.Series(numbers, dtype=dtype), "i": range(len(cells))})


def truths(column):
    return [None if pd.isna(cell) else bool(cell) for cell in column]


@pytest.mark.parametrize("n", [1, 3, 20])
@pytest.mark.parametrize("function", COMPARISONS)
@pytest.mark.parametrize("dtype", [object, ARROW], ids=["object", "arrow"])
def test_compared_with_numbers(dtype, function, n):
    df, compare = cents(dtype), COMPARISONS[function]
    shards = xs.from_pandas(df, n)
    for other in BESIDE:
        if isinstance(other, bool | np.integer) and dtype is object:
            other = int(other)  # which pandas fails to compare, or takes for another
        columns = {
            "right": compare(xs.col("d"), other),
            "left": compare(xs.lit(other), xs.col("d")),
        }
        found = shards.assign(**columns).to_pandas()
        assert truths(found["right"]) == truths(compare(df["d"], other)), other
        assert truths(found["left"]) == truths(compare(other, df["d"])), other
        kept = shards.filter(compare(xs.col("d"), other)).to_pandas()["i"]
        assert list(kept) == list(df["i"][compare(df["d"], other).fillna(False)])


@settings(max_examples=50)
@given(st.lists(decimals, max_size=6), st.floats(-2e4, 2e4) | decimals, st.data())
def test_floats_are_compared_exactly(cells, other, data):
    near = data.draw(st.sampled_from([other, *map(float, cells)]))
    df = pd.DataFrame({"d": pd.Series(cells, dtype=object)})
    shards = xs.from_pandas(df, 2)
    if not cells:
        return
    for compare in COMPARISONS.values():
        found = shards.filter(compare(xs.col("d"), near)).to_pandas()["d"]
        assert list(found) == [cell for cell in cells if compare(cell, near)]


@pytest.mark.parametrize("dtype", [object, ARROW], ids=["object", "arrow"])
def test_compared_with_columns_and_text(dtype):
    df = cents(dtype).assign(f=[1.5, -2.25, None, 7.0, 0.0, 1.0, 2.0, 3.0])
    df["other"] = pd.Series([decimal.Decimal("1.500")] * len(df), dtype=object)
    shards = xs.from_pandas(df, 3)
    for name in ("i", "f", "other"):
        for compare in (operator.eq, operator.lt, operator.ge):
            column = shards.assign(t=compare(xs.col("d"), xs.col(name))).to_pandas()[
                "t"
            ]
            expected = compare(df["d"], df[name])
            assert truths(column) == truths(expected), (name, compare)
    assert len(shards.filter(xs.col("d") == "abc").to_pandas()) == 0
    with pytest.raises(TypeError, match=r"there is no order between .*decimal.*string"):
        shards.filter(xs.col("d") < "abc")
    with pytest.raises(
        TypeError, match=r"unsupported operands for add: .*decimal.*string"
    ):
        shards.assign(t=xs.col("d") + "abc")
    assert list(shards.query("d > 1 and d < 10").to_pandas()["i"]) == [0, 3]
    assert list(shards.query("d == 1.5 or d == -2").to_pandas()["i"]) == [0]


@pytest.mark.parametrize("dtype", [object, ARROW], ids=["object", "arrow"])
def test_is_in(dtype):
    df = cents(dtype)
    shards = xs.from_pandas(df, 3)
    for values in ([7, 0], [1.5, -2.25], [decimal.Decimal("1.5000")], [2**62], [], [1]):
        kept = shards.filter(xs.col("d").isin(values)).to_pandas()["i"]
        # Of Arrow's decimals pandas takes only those of their scale.
        expected = df["d"].astype(object).isin(values)
        assert list(kept) == list(df["i"][expected]), values
    assert len(shards.filter(xs.col("d").isin([decimal.Decimal("1.5001")]))) == 0


ARITHMETIC = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
}


def outcome(function):
    try:
        return function()
    except (TypeError, NotImplementedError, ArithmeticError) as error:
        return type(error)


def assert_same_numbers(actual, expected):
    assert list(actual.isna()) == list(expected.isna())
    for one, other in zip(actual.dropna(), expected.dropna(), strict=True):
        assert isinstance(one, decimal.Decimal)
        # Python rounds quotients to 28 digits.
        assert abs(one - other) <= abs(other) * decimal.Decimal("1e-20"), (one, other)


@pytest.mark.parametrize("function", ARITHMETIC)
@pytest.mark.parametrize("dtype", [object, ARROW], ids=["object", "arrow"])
def test_arithmetic_with_integers(dtype, function):
    df, compute = cents(dtype), ARITHMETIC[function]
    shards = xs.from_pandas(df, 3)
    for other in (3, -7, 10**17, decimal.Decimal("1.1")):
        expected = outcome(lambda other=other: compute(df["d"], other))
        if expected is NotImplementedError:
            with pytest.raises(TypeError, match="unsupported operands for modulo"):
                shards.assign(t=compute(xs.col("d"), other))
            continue
        found = shards.assign(t=compute(xs.col("d"), other)).to_pandas()["t"]
        assert_same_numbers(found, expected)
        if function in "+-*":
            assert found.dtype == expected.dtype
            back = shards.assign(t=compute(other, xs.col("d"))).to_pandas()["t"]
            assert_same_numbers(back, compute(other, df["d"]))
    if function in "+-*":
        beside = shards.assign(t=compute(xs.col("d"), xs.col("i"))).to_pandas()["t"]
        assert_same_numbers(beside, compute(df["d"], df["i"]))


def test_arithmetic_keeps_all_digits():
    value = decimal.Decimal("9" * 36 + ".99")
    table = pa.table({"d": pa.array([value, None], pa.decimal128(38, 2))})
    shards = xs.from_arrow(table, 3)
    found = shards.assign(a=xs.col("d") * 100, b=xs.col("d") + 1).to_pandas()
    with decimal.localcontext(prec=60):
        assert found["a"][0] == value * 100
        assert found["b"][0] == value + 1
    total = shards.assign(t=xs.col("d") > 10**18).to_pandas()["t"]
    assert list(total) == [True, False]
    with pytest.raises(TypeError, match=r"more than 76 digits: cast one of them"):
        shards.assign(a=xs.col("d") * xs.col("d"))
    flags = shards.assign(t=xs.col("d") + True).to_pandas()["t"]
    with decimal.localcontext(prec=60):
        assert flags[0] == value + 1


@pytest.mark.parametrize("cells", [[], [None], ["1.50"]], ids=str)
def test_few_decimals(cells):
    df = cents(ARROW, cells)
    shards = xs.from_pandas(df, 4)
    assert list(shards.filter(xs.col("d") >= 1).to_pandas()["i"]) == [
        n for n, cell in enumerate(cells) if cell
    ]
    found = shards.assign(t=xs.col("d") * 2).to_pandas()["t"]
    pd.testing.assert_series_equal(found, (df["d"] * 2).rename("t"))


def test_filters_of_parquet_files(tmp_path):
    table = pa.table({"d": pa.array([decimal.Decimal(n) / 4 for n in range(40)])})
    xs.from_arrow(table, 4).to_parquet(str(tmp_path / "d"))
    shards = xs.read_parquet(str(tmp_path / "d"))
    assert len(shards.filter(xs.col("d") > 9)) == 3
    assert len(shards.filter(xs.col("d") >= 9.25)) == 3
    assert len(shards.filter(xs.col("d") == decimal.Decimal("2.500"))) == 1


@pytest.mark.parametrize("function", COMPARISONS)
def test_statistics_of_parquet_files_drop_no_row(tmp_path, function):
    # As floats, each of these is the float beside it; as numbers, it is not.
    cells = [decimal.Decimal(d) for d in ("0.10", "0.30", "0.70")]
    for place, cell in enumerate(cells):
        path = str(tmp_path / f"{place}.parquet")
        xs.from_arrow(pa.table({"d": pa.array([cell, cell])})).to_parquet(path)
        for other in (0.1, 0.3, 0.7, 1, decimal.Decimal("0.300")):
            compare = COMPARISONS[function]
            found = xs.read_parquet(path).filter(compare(xs.col("d"), other))
            assert len(found) == 2 * compare(cell, other), other


def test_decimals_of_few_digits():
    # Fewer digits than are behind the point, and none before it.
    small = pa.array([decimal.Decimal("0.00123"), None], pa.decimal128(9, 5))
    small = small.cast(pa.decimal128(3, 5))
    unit = pa.array(
        [decimal.Decimal("1.00"), decimal.Decimal("0.50")], pa.decimal128(3, 2)
    )
    shards = xs.from_arrow(pa.table({"small": small, "unit": unit}))
    found = shards.assign(
        more=xs.col("small") + 1,
        same=xs.col("small") == decimal.Decimal("0.001230"),
        below=xs.col("small") < 1,
        true=xs.col("unit") == True,  # noqa: E712 - the constant is meant
    ).to_arrow()
    assert found["more"].to_pylist() == [decimal.Decimal("1.00123"), None]
    assert found["same"].to_pylist()[0] is True
    assert found["below"].to_pylist()[0] is True
    assert found["true"].to_pylist() == [True, False]
    joined = shards.merge(
        xs.from_arrow(
            pa.table({"small": small.cast(pa.decimal128(9, 6)), "n": [1, 2]})
        ),
        on="small",
    )
    assert len(joined) == 2
