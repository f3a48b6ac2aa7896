# SPDX-License-Identifier: Apache-2.0
"""What Orca's shards keep in memory, and when they let it go."""

import numpy as np
import pandas as pd
import pytest

from xshards.compat.exports.data import SparkXShards, XShards
from xshards.compat.orca.orca_context import OrcaContext


def same(value):
    return value


def test_construction_computes_and_keeps(sc, tmp_path):
    def mark(x):
        (tmp_path / f"{x}").touch()
        return x

    shards = SparkXShards(sc.parallelize([1, 2], 2).map(mark))
    assert shards.is_cached()
    assert len(list(tmp_path.iterdir())) == 2


def test_deriving_keeps_the_child_and_drops_the_parent(frames):
    assert frames.is_cached()
    child = frames.transform_shard(same)
    assert child.is_cached()
    assert not frames.is_cached()
    assert len(frames.collect()) == 2


@pytest.mark.parametrize(
    "derive",
    [
        lambda shards: shards.transform_shard(same),
        lambda shards: shards.repartition(3),
        lambda shards: shards.partition_by("location", 3),
        lambda shards: shards.assembleFeatureLabelCols(["ID"], ["sale_price"]),
        lambda shards: shards.drop_missing_value(),
    ],
)
def test_shards_cached_by_the_user_stay(frames, derive):
    frames.cache()
    assert derive(frames).is_cached()
    assert frames.is_cached()
    frames.uncache()
    assert not frames.is_cached()
    derive(frames)
    assert not frames.is_cached()


@pytest.mark.parametrize(
    "derive",
    [
        lambda shards: shards.transform_shard(same),
        lambda shards: shards.repartition(3),
        lambda shards: shards.partition_by("location", 3),
        lambda shards: shards.assembleFeatureLabelCols(["ID"], ["sale_price"]),
    ],
)
def test_uncached_shards_are_dropped(frames, derive):
    child = derive(frames)
    assert child.is_cached()
    assert not frames.is_cached()


def test_split_and_zip_drop_their_parents(frames):
    pairs = frames.transform_shard(lambda df: (df[:-1], df[-1:]))
    assert pairs.is_cached()
    left, right = pairs.split()
    assert not pairs.is_cached()
    assert left.is_cached()
    assert right.is_cached()
    zipped = left.zip(right)
    assert zipped.is_cached()
    assert not left.is_cached()
    assert not right.is_cached()


def test_selection_is_transient(frames, tmp_path):
    selected = frames["ID"]
    assert not selected.is_cached()
    assert frames.is_cached()
    assert selected.collect()[0].tolist() == list(range(100, 107))
    assert not selected.is_cached()


def test_function_runs_once_in_eager_mode(sc, tmp_path):
    def mark(x):
        (tmp_path / f"{x}-{np.random.default_rng().integers(1 << 60)}").touch()
        return x

    shards = SparkXShards(sc.parallelize([1, 2, 3], 2)).transform_shard(mark)
    shards.collect()
    shards.transform_shard(same).collect()
    assert len(shards.cache().collect()) == 3
    # Once when made; once more, as it was dropped when the child was made.
    assert len(list(tmp_path.iterdir())) == 6


def test_nothing_is_kept_without_eager_mode(sc, tmp_path):
    OrcaContext._eager_mode = False

    def mark(x):
        (tmp_path / f"{x}").touch()
        return x

    shards = SparkXShards(sc.parallelize([1, 2], 2)).transform_shard(mark)
    assert not list(tmp_path.iterdir())
    assert shards.is_lazy
    assert shards.collect() == [1, 2]


def test_lazy_shards_stay_lazy(sc, tmp_path):
    def mark(x):
        (tmp_path / f"{x}").touch()
        return x

    lazy = SparkXShards.lazy(sc.parallelize([1, 2], 2)).transform_shard(mark)
    assert not lazy.is_cached()
    assert not list(tmp_path.iterdir())
    assert lazy.collect() == [1, 2]
    assert not lazy.is_cached()


def test_to_lazy_keeps_what_is_kept(frames):
    lazy = frames.to_lazy()
    assert lazy is frames
    child = frames.transform_shard(same)
    assert frames.is_cached()
    assert not child.is_cached()


def test_compute_and_cache_return_the_shards(frames):
    assert frames.compute() is frames
    assert frames.cache() is frames
    assert frames.uncache() is frames


def test_deleting_shards_drops_their_data(sc):
    shards = SparkXShards(sc.parallelize([1, 2], 2))
    rdd = shards.rdd
    assert rdd.is_cached
    del shards
    assert not rdd.is_cached
    assert rdd.collect() == [1, 2]


def test_an_rdd_that_was_cached_counts_as_cached_by_the_user(sc):
    shards = SparkXShards(sc.parallelize([1, 2], 2).cache())
    shards.transform_shard(same)
    assert shards.is_cached()


def used_memory(sc):
    """Bytes in use, without pages that are kept warm for the next segment."""
    sc._engine._core.release_idle()
    return sc._engine.used_memory


def test_dropped_shards_free_their_memory(sc):
    def again(array):
        return array + 1

    size = 8 * 2**20
    shards = XShards.partition(np.zeros(size // 8), 2).transform_shard(again)
    before = used_memory(sc)
    child = shards.transform_shard(again)
    assert used_memory(sc) < before + size // 2
    assert shards.collect()[0][0] == 1.0
    assert used_memory(sc) < before + size // 2
    del child
    assert used_memory(sc) < before - size // 2
    assert shards.collect()[0][0] == 1.0


def test_results_of_the_engine_do_not_keep_their_parent(sc):
    frame = pd.DataFrame({"a": np.arange(2**20), "b": np.zeros(2**20)})
    size = 16 * 2**20
    shards = XShards.partition(frame, 2).transform_shard(same)
    before = used_memory(sc)
    ordered = shards.repartition(3)
    assert not shards.is_cached()
    assert used_memory(sc) < before + size // 2
    ordered.uncache()
    assert len(ordered) == 2**20
    assert used_memory(sc) < before - size // 2
