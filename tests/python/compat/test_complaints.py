# SPDX-License-Identifier: Apache-2.0
"""What users of Orca complained of, about data, does not happen here."""

import numpy as np
import pandas as pd
import pytest

import xshards as xs
from xshards.compat.exports.bigdl_orca import init_orca_context, stop_orca_context
from xshards.compat.exports.data import SparkXShards, XShards
from xshards.compat.orca.orca_context import OrcaContext
from xshards.compat.orca.readers import read_csv


@pytest.mark.parametrize("backend", ["spark", "pandas"])
def test_no_row_is_lost_beyond_ten_thousand(sc, tmp_path, backend):
    rows = 990_000
    frame = pd.DataFrame({"a": np.arange(rows), "b": np.arange(rows) % 7})
    frame.to_csv(tmp_path / "many.csv", index=False)
    OrcaContext.pandas_read_backend = backend
    shards = read_csv(str(tmp_path))
    assert len(shards) == rows
    assert sum(df["a"].sum() for df in shards.collect()) == rows * (rows - 1) // 2
    doubled = shards.transform_shard(lambda df: df * 2).repartition(3)
    assert len(doubled) == rows


def test_all_frames_of_a_partition_count(sc):
    # to_spark_df used to take the first DataFrame of a partition and drop the others.
    frames = [pd.DataFrame({"k": [i, i], "v": [i, 10 * i]}) for i in range(6)]
    shards = SparkXShards(sc.parallelize(frames, 2)).cache()
    assert [len(part) for part in shards.rdd.glom().collect()] == [3, 3]
    assert len(shards) == 12
    assert len(shards.concat_to_pdf()) == 12
    assert shards.group_by([], {"v": "sum"}).concat_to_pdf().iloc[0, 0] == 165
    assert len(shards.partition_by("k", 4)) == 12
    assert shards.max_values("v") == 50
    assert len(shards.sort_values("v")) == 12


def test_join_with_empty_partitions(sc):
    left = SparkXShards(
        sc.parallelize([pd.DataFrame({"k": [1, 2], "a": ["x", "y"]})], 1)
    )
    right = SparkXShards(sc.parallelize([pd.DataFrame({"k": [2], "b": [2.5]})], 1))
    parted = left.cache().partition_by("k", 8)
    joined = parted.cache().merge(right.cache().partition_by("k", 5), on="k")
    found = joined.concat_to_pdf()
    assert found.to_dict("records") == [{"k": 2, "a": "y", "b": 2.5}]
    none = parted.merge(right.transform_shard(lambda df: df[df["k"] > 99]), on="k")
    assert len(none) == 0
    assert none.get_schema()["columns"] == ["k", "a", "b"]


def test_partitions_and_memory_do_not_grow_with_cores():
    init_orca_context(cores=44, memory="256m")
    frame = pd.DataFrame({"k": np.arange(20_000) % 500, "v": np.arange(20_000)})
    left = XShards.partition(frame)
    for _ in range(3):
        left = left.merge(
            XShards.partition(pd.DataFrame({"k": np.arange(500)})), on="k"
        )
    assert len(left) == 20_000
    assert left.num_partitions() <= 44
    assert xs.context.default_context().memory == 256 * 2**20
    stop_orca_context()


def test_several_joins_do_not_multiply_partitions(sc):
    shards = XShards.partition(pd.DataFrame({"k": np.arange(40)}), 4)
    count = shards.num_partitions()
    for name in "abcd":
        other = XShards.partition(
            pd.DataFrame({"k": np.arange(40), name: np.arange(40)}), 4
        )
        shards = shards.merge(other, on="k")
        assert shards.num_partitions() <= count * 2
    assert len(shards) == 40


@pytest.mark.parametrize("sizes", [[1, 100, 3], [0, 5], [7]])
def test_shards_of_any_size_are_accepted(sc, sizes):
    frames = [pd.DataFrame({"a": np.arange(size)}) for size in sizes]
    shards = SparkXShards(sc.parallelize(frames, len(frames)))
    found = shards.transform_shard(lambda df: df.assign(prediction=df["a"] * 2.0))
    assert [len(df) for df in found.collect()] == sizes


def test_requested_cores_are_used():
    sc = init_orca_context(cluster_mode="local", cores=4)
    assert sc.defaultParallelism == 4
    assert xs.context.default_context().cores <= 4


def test_one_kind_of_shards_transforms_and_goes_on(sc):
    shards = XShards.partition({"x": np.arange(8)}, 4)
    again = shards.transform_shard(lambda d: {"x": d["x"] + 1}).repartition(2)
    assert [d["x"].tolist() for d in again.collect()] == [[1, 2, 3, 4], [5, 6, 7, 8]]


@pytest.mark.parametrize(
    "elements",
    [
        [[1, 2], [3], [4, 5, 6]],
        [np.arange(2), np.arange(3), np.arange(4)],
        [{"x": np.arange(2)}, {"x": np.arange(3)}, {"x": np.arange(1)}],
        [
            pd.DataFrame({"a": [1, 2]}),
            pd.DataFrame({"a": [3]}),
            pd.DataFrame({"a": [4]}),
        ],
    ],
)
@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_partition_has_one_element_after_repartition(sc, elements, count):
    shards = SparkXShards(sc.parallelize(elements, 2)).repartition(count)
    calls = shards.transform_shard(lambda element: ["called", type(element).__name__])
    assert shards.num_partitions() == count
    assert all(len(part) <= 1 for part in calls.rdd.glom().collect())
    assert {name for _, name in calls.collect()} == {type(elements[0]).__name__}
