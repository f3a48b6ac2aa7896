# SPDX-License-Identifier: Apache-2.0
"""Aggregates of decimals, which pandas has as objects or in Arrow's own dtype."""

import decimal

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
    with pytest.raises(TypeError, match=r"needs numbers.*cast it to float64 before"):
        xs.from_arrow(table).group_by([], {"v": "mean"})


def test_truth_values_are_no_decimals():
    decimals = xs.from_arrow(pa.table({"k": pa.array([decimal.Decimal("1.0")])}))
    truths = xs.from_pandas(pd.DataFrame({"k": [True]}))
    for left, right in ((decimals, truths), (truths, decimals)):
        with pytest.raises(TypeError, match=r"Cannot join 'k' .* cast one of them"):
            left.merge(right)
