# SPDX-License-Identifier: Apache-2.0
"""Exchanges right after a function: the workers that run it write them too."""

import numpy as np
import pandas as pd
import pytest
from frames import assert_same

import xshards as xs


def keyed(df):
    df["key"] = df["i"] % 7
    return df


def test_the_exchange_after_a_function_is_written_by_its_worker():
    frame = pd.DataFrame({"i": np.arange(10_000) % 1000, "s": "日本"})
    calls = xs.from_pandas(frame, 2).transform_shard(keyed)
    parts = calls.partition_by("key", 3)
    out = parts.to_pandas()
    labels = [(s.label, s.runner) for s in xs.last_profile().stages]
    assert labels == [
        ("Read partitions → MapPython keyed → partition into 3", "processes")
    ]
    expected = keyed(frame.copy())
    assert_same(out, expected, ignore_order=True)
    for part in parts.transform_shard(lambda df: set(df["key"])).collect():
        for other in parts.transform_shard(lambda df: set(df["key"])).collect():
            assert part == other or not part & other
    # The function's own output is kept, in its order.
    assert_same(calls.to_pandas(), expected)


def test_a_function_before_an_exchange_runs_once(tmp_path):
    def note(df, directory):
        import uuid
        from pathlib import Path

        Path(directory, uuid.uuid4().hex).touch()
        return df.assign(key=df["a"] % 3)

    shards = xs.from_pandas(pd.DataFrame({"a": range(100)}), 4)
    noted = shards.transform_shard(note, str(tmp_path))
    parts = noted.partition_by("key", 2)
    assert len(parts) == len(parts.to_pandas()) == len(noted.to_pandas()) == 100
    assert len(list(tmp_path.iterdir())) == 4


def test_keys_of_different_types_match_after_a_function():
    """Whole numbers and floats hash apart, so equal ones must first be made alike."""

    def some_as_floats(df):
        return df.astype("float64") if df["a"].iloc[0] == 0 else df

    shards = xs.from_pandas(pd.DataFrame({"a": [0, 1, 2, 1, 2, 0]}), 2)
    parts = shards.transform_shard(some_as_floats).partition_by("a", 3)
    found = parts.transform_shard(lambda df: sorted(set(df["a"]))).collect()
    assert sorted(value for part in found for value in part) == [0.0, 1.0, 2.0]
    assert len(parts) == 6


def test_an_exchange_after_a_function_reports_its_error():
    shards = xs.from_pandas(pd.DataFrame({"a": range(10)}), 2)
    with pytest.raises(KeyError, match="nothing"):
        shards.transform_shard(lambda df: df).partition_by("nothing", 2).to_pandas()
    with pytest.raises(TypeError, match="DataFrame shards"):
        shards.transform_shard(len).partition_by("a", 2).collect()
