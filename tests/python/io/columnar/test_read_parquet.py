# SPDX-License-Identifier: Apache-2.0
"""Rows and columns of Parquet files, against pandas."""

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
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


def test_bloom_filters_skip_row_groups(tmp_path):
    df = pd.DataFrame({"n": [2 * i for i in range(4000)], "s": ["x", "zz"] * 2000})
    df = df.sample(frac=1, random_state=0).reset_index(drop=True)
    df["t"] = df["n"].map(lambda n: f"t{n}")
    file = tmp_path / "a.parquet"
    pq.write_table(
        pa.Table.from_pandas(df),
        file,
        row_group_size=500,
        bloom_filter_options=dict.fromkeys(df, True),
    )
    for column, value, count in [
        ("n", 1001, 0),
        ("t", "t1001", 0),
        ("n", 1000, 1),
        ("t", "t1000", 1),
        ("s", "y", 0),
    ]:
        shards = xs.read_parquet(file, filters=[(column, "==", value)])
        assert len(shards.to_pandas()) == count
        # Of eight row groups, all of which have these values between their smallest and
        # largest, a filter may take one or two for such that hold them.
        stages = xs.last_profile().stages
        assert sum(stage.row_groups_skipped for stage in stages) >= 5
