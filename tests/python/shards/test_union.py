# SPDX-License-Identifier: Apache-2.0
"""Unions of frames whose columns differ: names, dtypes, categories."""

import datetime
import decimal

import pandas as pd
import pytest
from columns import every_column
from frames import assert_same

import xshards as xs

#: Those of one missing value that is not pandas' (see PANDAS.md).
_KEEP_DTYPE = [
    *("category-str-False", "category-str-True", "category-int-False"),
    *("category-time-True", "string-pyarrow", "Int8", "UInt64", "Float32", "boolean"),
    *("arrow-int32", "datetime64[ns]", "datetime64[UTC]", "timedelta64[s]", "str"),
]


def united(left, right, count=1):
    return xs.from_pandas(left, count).union(xs.from_pandas(right, 1))


@pytest.mark.parametrize("kind", _KEEP_DTYPE)
@pytest.mark.parametrize("rows", [0, 5])
def test_a_column_that_one_side_lacks_keeps_its_dtype(kind, rows):
    left = pd.DataFrame({"k": range(rows)})
    right = pd.DataFrame({"k": range(5), "x": every_column()[kind]})
    for one, other in ((left, right), (right, left)):
        expected = pd.concat([one, other], ignore_index=True)
        assert_same(united(one, other).to_pandas(), expected)


def test_a_column_that_one_side_lacks_keeps_its_missing_logic():
    left = pd.DataFrame({"k": [1]})
    right = pd.DataFrame({"k": [2], "x": pd.Series([1.5], dtype="Float64")})
    kept = united(left, right).filter(xs.col("x") != 2.0)
    assert kept.to_pandas()["k"].tolist() == [2]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_the_number_of_partitions_decides_no_dtype(count):
    nothing = pd.DataFrame({"a": pd.Series([None], dtype=object)})
    numbers = pd.DataFrame({"a": [1.5, 2.5]})
    both = xs.from_pandas(nothing, 1).union(xs.from_pandas(numbers, count))
    expected = pd.concat([nothing, numbers], ignore_index=True)
    assert both.to_pandas()["a"].dtype == expected["a"].dtype == object


def test_large_integers_beside_a_fraction_are_rounded():
    large = pd.DataFrame({"k": [1], "a": [2**63 - 1]})
    both = united(pd.DataFrame({"k": [0]}), large).fillna({"a": -0.5}).to_pandas()
    assert both["a"].tolist() == [-0.5, 2.0**63]


def test_objects_of_a_union_are_united_again():
    texts = pd.DataFrame({"a": ["x"]})
    numbers = pd.DataFrame({"a": [1]})
    twice = united(texts, numbers).union(xs.from_pandas(numbers, 1))
    expected = pd.concat([texts, numbers, numbers], ignore_index=True)
    assert_same(twice.to_pandas(), expected)


def test_astype_leaves_the_objects_of_a_union_alone():
    days = pd.DataFrame({"a": [datetime.date(2024, 2, 29)], "t": [1.5]})
    numbers = pd.DataFrame({"a": [decimal.Decimal("1.5")], "t": [2.5]})
    times = united(days, numbers).with_column("t", pd.Timestamp("2024-01-01"))
    cast = times.astype({"t": "datetime64[ns]"}).dropna(subset=["a"])
    assert cast.to_pandas()["a"].tolist() == [days["a"][0], numbers["a"][0]]
    assert cast["t"].max() == pd.Timestamp("2024-01-01")
