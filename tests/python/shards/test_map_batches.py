# SPDX-License-Identifier: Apache-2.0
"""Functions on pieces of partitions."""

import os

import numpy as np
import pandas as pd
import pytest
from frames import assert_same, frames, num_partitions
from hypothesis import given, settings
from hypothesis import strategies as st

import xshards as xs

WORKERS = ["processes", "threads"]


def pieces(lengths, size):
    """The lengths of the pieces that partitions of these lengths are cut to."""
    return [min(size, n - at) for n in lengths for at in range(0, n, size)]


@settings(max_examples=30)
@given(frames(), num_partitions, st.integers(1, 9), st.sampled_from(WORKERS))
def test_identity_keeps_everything(df, n, size, workers):
    shards = xs.from_pandas(df, n)
    mapped = shards.map_batches(lambda d: d, batch_size=size, workers=workers)
    assert_same(mapped.to_pandas(), df)


@pytest.mark.parametrize("workers", WORKERS)
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 100])
@pytest.mark.parametrize("format", ["pandas", "arrow", "polars", "numpy"])
def test_pieces_have_at_most_batch_size_rows(size, workers, format):
    def length(piece):
        return len(piece["a"])

    shards = xs.from_pandas(pd.DataFrame({"a": range(10)}), 3)
    lengths = shards.map_batches(
        length, batch_size=size, workers=workers, format=format
    ).collect()
    assert lengths == pieces([4, 3, 3], size)


def test_pieces_span_batches(tmp_path):
    """A partition of many small batches is not cut where those end."""
    for number in range(3):
        frame = pd.DataFrame({"a": range(number * 10, number * 10 + 7)})
        frame.to_parquet(tmp_path / f"{number}.parquet")
    one = xs.read_parquet(tmp_path).repartition(1)
    assert one.map_batches(len, batch_size=8).collect() == [8, 8, 5]
    firsts = one.map_batches(lambda d: int(d["a"].iloc[0]), batch_size=8).collect()
    assert firsts == [0, 11, 22]


@pytest.mark.parametrize("workers", WORKERS)
def test_arrays_are_joined(workers):
    shards = xs.from_pandas(pd.DataFrame({"a": range(10)}), 3)
    arrays = shards.map_batches(
        lambda d: {"x": d[["a"]].to_numpy(), "y": (d["a"].to_numpy() * 2,)},
        batch_size=2,
        workers=workers,
    )
    found = arrays.collect()
    assert [part["x"].shape for part in found] == [(4, 1), (3, 1), (3, 1)]
    assert np.concatenate([p["y"][0] for p in found]).tolist() == list(range(0, 20, 2))
    # And are cut again.
    sums = arrays.map_batches(lambda v: int(v["x"].sum()), batch_size=3).collect()
    assert sums == [0 + 1 + 2, 3, 4 + 5 + 6, 7 + 8 + 9]


def test_arrays_of_different_shapes_are_not_joined():
    shards = xs.from_pandas(pd.DataFrame({"a": range(4)}), 1)
    found = shards.map_batches(lambda d: np.eye(d["a"].iloc[0] + 1), batch_size=2)
    assert [part.shape for part in found.collect()] == [(1, 1), (3, 3)]
    scalars = shards.map_batches(lambda d: np.array(d["a"].sum()), batch_size=2)
    assert [int(part) for part in scalars.collect()] == [1, 5]


def test_pieces_of_different_types_are_widened():
    def sometimes_float(df):
        return df if df["a"].iloc[0] == 0 else df.assign(a=df["a"] + 0.5, b="x")

    shards = xs.from_pandas(pd.DataFrame({"a": range(4)}), 1)
    mapped = shards.map_batches(sometimes_float, batch_size=2)
    assert list(mapped.to_pandas()["a"]) == [0, 1, 2.5, 3.5]
    [part] = mapped.collect()
    assert list(part["a"]) == [0, 1, 2.5, 3.5]
    assert list(part["b"].isna()) == [True, True, False, False]


def test_empty_partitions_and_results():
    shards = xs.from_pandas(pd.DataFrame({"a": [1, 2]}), 5)
    assert shards.map_batches(len, batch_size=1).collect() == [1, 1]
    none = shards.filter(xs.col("a") > 5)
    for workers in WORKERS:
        widened = none.map_batches(
            lambda d: d.assign(z=0.5), batch_size=3, workers=workers
        ).to_pandas()
        assert list(widened.columns) == ["a", "z"]
        assert len(widened) == 0
    dropped = shards.map_batches(lambda d: d[d["a"] > 1], batch_size=1).to_pandas()
    assert list(dropped["a"]) == [2]


def test_only_a_piece_is_in_memory(tmp_path):
    """A file larger than the worker may use goes through in pieces."""
    rows = 2_000_000
    frame = pd.DataFrame({f"c{i}": np.arange(rows) * 1.0 for i in range(4)})
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=50_000)
    shards = xs.read_parquet(tmp_path / "a.parquet", num_partitions=1)

    def peak(_):
        with open("/proc/self/status") as status:  # noqa: PTH123
            return next(int(x.split()[1]) for x in status if x.startswith("VmHWM"))

    # One process, so that what the first call saw is what there was before.
    peaks = shards.map_batches(lambda d: (peak(d), os.getpid()), batch_size=20_000)
    found = peaks.collect()
    assert len(found) == 100
    assert len({pid for _, pid in found}) == 1
    growth = (found[-1][0] - found[0][0]) * 1024
    assert growth < frame.memory_usage().sum() / 3


def test_errors():
    shards = xs.from_pandas(pd.DataFrame({"a": range(4)}), 1)
    with pytest.raises(ValueError, match="batch_size"):
        shards.map_batches(len, batch_size=0)
    with pytest.raises(TypeError, match="function"):
        shards.map_batches("nope", batch_size=2)
    with pytest.raises(ZeroDivisionError) as caught:
        shards.map_batches(lambda d: 1 // 0, batch_size=2).collect()
    assert "partition 0" in caught.value.__notes__[0]
    objects = shards.transform_shard(len)
    with pytest.raises(TypeError, match="transform_shard"):
        objects.map_batches(str, batch_size=2).collect()
    ragged = shards.transform_shard(lambda d: (np.ones(2), np.ones(3)))
    with pytest.raises(TypeError, match="equal length"):
        ragged.map_batches(len, batch_size=2).collect()
    text = shards.map_batches(len, batch_size=7).explain(as_text=True)
    assert "7 rows at a time" in text
