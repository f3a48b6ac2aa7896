# SPDX-License-Identifier: Apache-2.0
"""Columns with nulls in worker processes: given as they lie, and by reference."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from frames import assert_same
from stages import run, written

import xshards as xs

ROWS = 200_000


@pytest.fixture
def with_nulls(tmp_path):
    """Rows of a file, cached, whose nulls have any bits at all below them."""
    random = np.random.default_rng(11)

    def column(values, kind):
        return pa.array(values, kind, mask=random.random(ROWS) < 0.1)

    numbers = random.integers(1, 1000, ROWS)
    table = pa.table(
        {
            "f": column(random.random(ROWS), pa.float64()),
            "g": column(random.random(ROWS).astype("f4"), pa.float32()),
            "t": column(numbers, pa.timestamp("ns")),
            "d": column(numbers, pa.duration("us")),
            "i": column(numbers, pa.int64()),
        }
    )
    pa.parquet.write_table(table, tmp_path / "rows.parquet", row_group_size=20_000)
    return xs.read_parquet(tmp_path, num_partitions=2).cache()


def test_floats_with_nulls_are_forwarded(with_nulls):
    passed = run(with_nulls.transform_shard(lambda df: df[["g", "f"]]))
    assert written() < 1000
    assert_same(passed.to_pandas(), with_nulls.to_pandas()[["g", "f"]])


def test_columns_with_nulls_can_be_changed_in_place(with_nulls):
    def change(df):
        assert df[["t", "d", "f", "g"]].isna().any().all()
        df.loc[df["f"].isna(), "f"] = -1.0
        df.loc[:, "g"] = 2.0
        df.loc[df["t"].isna(), "t"] = pd.Timestamp(0)
        df.loc[df["d"].notna(), "d"] = pd.NaT
        return df

    before = with_nulls.to_pandas()
    expected = before.copy()
    expected["f"] = expected["f"].fillna(-1.0)
    expected["g"] = np.float32(2.0)
    expected["t"] = expected["t"].fillna(pd.Timestamp(0))
    expected["d"] = np.array("NaT", expected["d"].dtype)
    assert_same(with_nulls.transform_shard(change).to_pandas(), expected)
    assert_same(with_nulls.to_pandas(), before)
