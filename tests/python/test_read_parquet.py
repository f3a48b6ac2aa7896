# SPDX-License-Identifier: Apache-2.0
"""Rows and columns of Parquet files, against pandas."""

import pandas as pd
import pytest
from frames import assert_same

import xshards as xs


@pytest.fixture
def path(tmp_path):
    df = pd.DataFrame(
        {
            "a": range(100),
            "b": [None if i % 7 == 0 else i / 3 for i in range(100)],
            "s": ["x", "y", None, "z"] * 25,
        }
    )
    file = tmp_path / "a.parquet"
    df.to_parquet(file, row_group_size=10)
    return file


@pytest.mark.parametrize("columns", [None, ["s"], ["b", "a"]])
@pytest.mark.parametrize(
    "filters",
    [
        [("a", ">", 37)],
        [("a", ">=", 10), ("a", "<", 20), ("s", "!=", "x")],
        [[("a", "<=", 3)], [("s", "==", "z"), ("b", ">", 30)]],
        [("s", "in", ["x", "z"]), ("a", "not in", [0, 3])],
        [("s", "not in", ["x"])],
        [("a", "=", -1)],
    ],
)
def test_filters_are_those_of_pandas(path, filters, columns):
    expected = pd.read_parquet(path, filters=filters, columns=columns)
    actual = xs.read_parquet(path, filters=filters, columns=columns, block_size=1)
    assert_same(actual.to_pandas(), expected.reset_index(drop=True))


def test_filters_may_be_expressions(path):
    shards = xs.read_parquet(path, filters=xs.col("a") > 90, columns=["s"])
    expected = pd.read_parquet(path, filters=[("a", ">", 90)], columns=["s"])
    assert_same(shards.to_pandas(), expected)


def test_wrong_filters_are_named(path):
    with pytest.raises(ValueError, match="'~'"):
        xs.read_parquet(path, filters=[("a", "~", 1)])
    with pytest.raises(TypeError, match="column, operator, value"):
        xs.read_parquet(path, filters=[("a", 1)])
