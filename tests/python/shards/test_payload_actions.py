# SPDX-License-Identifier: Apache-2.0
"""Actions on shards of every kind: run, cache, show, put together."""

import numpy as np
import pandas as pd
import pytest
from drawn_shards import array_shards
from frames import frames
from hypothesis import given, settings
from hypothesis import strategies as st
from shard_values import (
    assert_equal,
    shards_of,
)

import xshards as xs


def test_foreach_runs_at_once(tmp_path):
    def touch(value, directory, suffix):
        (directory / f"{value}{suffix}").touch()
        return np.zeros(10)

    assert shards_of([1, 2, 3], [2, 0, 1]).foreach(touch, tmp_path, suffix=".x") is None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1.x", "2.x", "3.x"]


def test_foreach_raises_what_the_function_raises():
    with pytest.raises(ZeroDivisionError):
        shards_of([1, 0]).foreach(lambda v: 1 / v)


@pytest.mark.parametrize(
    "value",
    [np.arange(3), {"x": np.zeros((2, 2))}, {"a", "b"}, pd.DataFrame({"a": [1]})],
)
def test_cache_and_compute_of_every_kind(value, tmp_path):
    def count(shard):
        (tmp_path / str(len(list(tmp_path.iterdir())))).touch()
        return shard

    shards = shards_of([value]).transform_shard(count)
    assert shards.compute() is shards
    assert shards.to_lazy() is shards
    assert len(list(tmp_path.iterdir())) == 1
    assert_equal(shards.collect(), [value])
    assert len(list(tmp_path.iterdir())) == 1
    cached = shards.repartition(1)
    assert cached.cache() is cached
    assert cached.is_cached()
    assert_equal(cached.collect(), [value])
    cached.uncache()
    assert not cached.is_cached()
    assert_equal(cached.collect(), [value])


@pytest.mark.parametrize("held", [[np.arange(3)], [{"a"}]])
def test_shards_of_every_kind_spill(held, context):
    shards = shards_of(held).compute()
    context._core.spill_all()
    assert_equal(shards.collect(), held)


ROW_METHODS = {
    "columns": lambda s: s.columns,
    "dtypes": lambda s: s.dtypes,
    "schema": lambda s: s.schema,
    "unique": lambda s: s.unique(),
    "idxmin": lambda s: s.idxmin(),
    "mode": lambda s: s.mode(),
    "select": lambda s: s.select("a").collect(),
    "filter": lambda s: s.filter(xs.col("a") > 1).collect(),
    "with_column": lambda s: s.with_column("a", 1).collect(),
    "drop": lambda s: s.drop("a").collect(),
    "rename": lambda s: s.rename({"a": "b"}),
    "partition_by": lambda s: s.partition_by("a").collect(),
    "group_by": lambda s: s.group_by("a").collect(),
    "merge": lambda s: s.merge(s, on="a").collect(),
    "sort_values": lambda s: s.sort_values("a").collect(),
    "limit": lambda s: s.limit(1).collect(),
    "head": lambda s: s.head(),
    "drop_duplicates": lambda s: s.drop_duplicates().collect(),
    "to_pandas": lambda s: s.to_pandas(),
    "to_arrow": lambda s: s.to_arrow(),
    "to_polars": lambda s: s.to_polars(),
    "to_csv": lambda s: s.to_csv("nowhere"),
    "describe": lambda s: s.describe(),
    "max_values": lambda s: s.max_values("a"),
    "get_null_sum": lambda s: s.get_null_sum(),
    "dropna": lambda s: s.dropna(),
    "drop_missing_value": lambda s: s.drop_missing_value(),
    "fillna": lambda s: s.fillna(0),
    "astype": lambda s: s.astype("int8"),
    "sample": lambda s: s.sample(0.5).collect(),
    "query": lambda s: s.query("a > 1").collect(),
    "nunique": lambda s: s.nunique(),
    "value_counts": lambda s: s.value_counts(),
    "quantile": lambda s: s.quantile(),
    "sum": lambda s: s.sum(),
    "any": lambda s: s.any(),
    "agg": lambda s: s.agg(["min", "max"]),
    "train_test_split": lambda s: s.train_test_split()[0].collect(),
    "concat_to_pdf": lambda s: s.concat_to_pdf(),
    "sample_to_pdf": lambda s: s.sample_to_pdf(0.5),
    "assembleFeatureLabelCols": lambda s: s.assembleFeatureLabelCols(["a"], ["b"]),
}


@pytest.mark.parametrize("method", ROW_METHODS)
@pytest.mark.parametrize(
    ("held", "kind"),
    [([np.zeros(2)], "arrays|Tensors|tensors"), ([{1}], "objects|Object")],
    ids=["arrays", "objects"],
)
def test_frame_methods_name_the_payload_kind(method, held, kind):
    with pytest.raises(TypeError, match=kind) as caught:
        ROW_METHODS[method](shards_of(held))
    assert "DataFrame" in str(caught.value)


@pytest.mark.parametrize("method", ["to_numpy", "to_torch"])
def test_objects_cannot_be_concatenated(method):
    if method == "to_torch":
        pytest.importorskip("torch")
    with pytest.raises(TypeError, match="Python objects; only arrays and DataFrames"):
        getattr(shards_of([{1}]), method)()


def test_get_schema_of_others_is_none():
    assert xs.partition(np.zeros(3), 2).get_schema() is None
    assert shards_of([1]).get_schema() is None


@given(array_shards())
def test_to_numpy_concatenates_arrays(drawn):
    shards, _, whole = drawn
    assert_equal(shards.to_numpy(), whole)


def test_to_numpy_refuses_different_nests():
    with pytest.raises(ValueError, match="differ in their nesting"):
        shards_of([[np.zeros(1)], (np.zeros(1),)]).to_numpy()


@pytest.mark.torch
def test_to_torch_concatenates_arrays():
    torch = pytest.importorskip("torch")
    found = xs.partition({"x": np.arange(6).reshape(3, 2)}, 2).to_torch()
    assert torch.equal(found["x"], torch.arange(6).reshape(3, 2))
    frame = pd.DataFrame(
        {"a": [1, 2, 3], "f": np.float32([1, 2, np.nan]), "b": [True, False, True]}
    )
    found = xs.from_pandas(frame, 2).to_torch()
    assert [str(t.dtype) for t in found.values()] == [
        "torch.int64",
        "torch.float32",
        "torch.bool",
    ]
    found["a"] += 1
    assert found["a"].tolist() == [2, 3, 4]
    with pytest.raises(TypeError, match="column 's' holds str; a tensor needs numbers"):
        xs.from_pandas(pd.DataFrame({"s": ["x"]})).to_torch()


def test_repr_shows_what_shards_hold():
    nest = {"x": np.zeros((4, 3), np.float32), "y": [np.zeros(4, np.int64)]}
    shards = xs.partition(nest, 2)
    assert repr(shards) == (
        "XShards: 2 partitions\n  arrays, in the first shard:\n"
        "  ['x']     float32 (2, 3)\n  ['y'][0]  int64 (2,)"
    )
    assert "[&#x27;x&#x27;]" in shards._repr_html_()
    assert repr(xs.partition(np.zeros(4), 2)).endswith("float64 (2,)")
    assert repr(xs.partition([1, 2], 2)) == "XShards: 2 partitions\n  Python objects"
    assert "Python objects" in xs.partition([1, 2], 2)._repr_html_()
    assert repr(shards_of([1])).endswith("known after it has run")


@given(frames(), st.integers(1, 5), st.integers(0, 6))
@settings(max_examples=20)
def test_frames_have_what_all_shards_have(df, count, n):
    shards = xs.from_pandas(df, count)
    parts = [
        df.iloc[rows].reset_index(drop=True)
        for rows in np.array_split(np.arange(len(df)), count)
    ]
    assert_equal(shards.take(n), parts[:n])
    assert_equal(shards.first(), parts[0])
    assert len(shards) == len(df)
    later = shards.transform_shard(lambda frame: frame)
    assert len(later) == len(df)
    assert_equal(later.union(shards).take(1), parts[:1])
    assert later.split() == [later]
    assert_equal(shards.zip(shards["n"]).split()[1].collect(), [p["n"] for p in parts])


def test_rows_below_a_function_stay_lazy():
    def fail(_):
        raise AssertionError("ran")

    shards = xs.from_pandas(pd.DataFrame({"a": [1, 2]}), 2).transform_shard(fail)
    later = shards.filter(xs.col("a") > 1)["a"].repartition(3)
    assert later.num_partitions() == 3
    with pytest.raises(AssertionError, match="ran"):
        later.collect()
