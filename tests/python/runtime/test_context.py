# SPDX-License-Identifier: Apache-2.0
"""Contexts: resources, budget, spill."""

import numpy as np
import pandas as pd
import pytest
from frames import assert_same

import xshards as xs
from xshards.context import parse_memory


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (1024, 1024),
        ("512MB", 512 * 10**6),
        ("2GB", 2 * 10**9),
        ("2GiB", 2 * 2**30),
        ("2g", 2 * 2**30),
        (" 1.5 gb ", 15 * 10**8),
        ("4096", 4096),
    ],
)
def test_memory_sizes(text, expected):
    assert parse_memory(text) == expected


@pytest.mark.parametrize("bad", ["", "lots", "5XB", "1.2.3GB", 0, -1, "-5MB"])
def test_bad_memory_sizes_are_named(bad):
    with pytest.raises(ValueError, match="memory"):
        parse_memory(bad)


def test_init_chooses_resources(tmp_path):
    context = xs.init(cores=1, memory="100MB", spill_dir=tmp_path)
    assert (context.cores, context.memory) == (1, 100_000_000)
    assert context.spill_dir == str(tmp_path)
    assert xs.from_pandas(pd.DataFrame({"a": [1]})).num_partitions() == 1
    xs.stop()
    xs.stop()


def test_default_context_is_made_on_first_use():
    xs.stop()
    assert len(xs.from_pandas(pd.DataFrame({"a": [1, 2]}))) == 2


def test_shards_outlive_stop():
    xs.init(cores=2)
    shards = xs.from_pandas(pd.DataFrame({"a": [1, 2]}), 2)
    xs.stop()
    assert list(shards.to_pandas()["a"]) == [1, 2]
    assert shards.transform_shard(len).collect() == [1, 1]


def test_two_contexts_at_once():
    one, two = xs.Context(cores=1), xs.Context(cores=2)
    df = pd.DataFrame({"a": range(5)})
    for context in (one, two):
        shards = xs.from_pandas(df, context=context)
        assert shards.num_partitions() == context.cores
        assert shards.transform_shard(len).collect() == [
            len(p) for p in shards.collect()
        ]
        context.close()


def test_bad_resources_are_named(tmp_path):
    with pytest.raises(ValueError, match="cores"):
        xs.Context(cores=0)
    with pytest.raises(ValueError, match="memory"):
        xs.Context(memory=1000)
    with pytest.raises(OSError, match="nowhere"):
        xs.Context(spill_dir=tmp_path / "nowhere")


def test_partition_by_and_cache_spill_under_a_small_budget(tmp_path):
    context = xs.Context(cores=2, memory="32MB", spill_dir=tmp_path)
    rows = 2_000_000
    df = pd.DataFrame({"k": np.arange(rows) % 1000, "v": np.arange(rows, dtype=float)})
    shards = xs.from_pandas(df, 16, context=context).with_column("w", xs.col("v") * 2)
    cached = shards.partition_by("k", 8).cache()
    assert sum(stage.spilled_bytes for stage in xs.last_profile().stages) > 0
    totals = cached.group_by("k", {"w": "sum"}).sort_values("k").to_pandas()
    expected = (df["v"] * 2).groupby(df["k"]).sum()
    assert_same(totals[["sum(w)"]], pd.DataFrame({"sum(w)": expected.to_numpy()}))
    # Spill files have no names.
    assert list(tmp_path.iterdir()) == []


def test_cache():
    shards = xs.from_pandas(pd.DataFrame({"a": [1, 2]}), 2).with_column("b", 1)
    assert not shards.is_cached()
    assert shards.cache() is shards
    assert shards.is_cached()
    assert list(shards.to_pandas()["b"]) == [1, 1]
    assert not shards.uncache().is_cached()
    assert list(shards.to_pandas()["b"]) == [1, 1]
