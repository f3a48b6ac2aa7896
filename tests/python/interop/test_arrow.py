# SPDX-License-Identifier: Apache-2.0
"""Arrow data in and out of XShards, of every type."""

import datetime
import decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from frames import assert_same

import xshards as xs


def test_arrow_capsules_in_and_out():
    table = pa.table({"a": [1, 2, 3], "s": ["x", None, "é"]})
    shards = xs.from_arrow(table, 2)
    assert pa.table(shards).to_pydict() == table.to_pydict()

    class Stream:
        def __arrow_c_stream__(self, requested_schema=None):
            return table.__arrow_c_stream__(requested_schema)

    class Batch:
        def __arrow_c_array__(self, requested_schema=None):
            return table.to_batches()[0].__arrow_c_array__(requested_schema)

    for data in (table, table.to_batches()[0], Stream(), Batch(), table.to_pandas()):
        assert xs.from_arrow(data).to_arrow().to_pydict() == table.to_pydict()
    with pytest.raises(TypeError, match="int"):
        xs.from_arrow(3)


def _foreign():
    D = decimal.Decimal
    views = pa.list_view(pa.int8())
    yield pa.array(["a", None, "é"], pa.string_view()), "str", ["a", np.nan, "é"]
    yield pa.array([b"a", None, b""], pa.binary_view()), object, [b"a", None, b""]
    codes = pa.array([0, None, 1], pa.int8())
    words = pa.DictionaryArray.from_arrays(codes, pa.array(["x", "y"]))
    yield words, "str", ["x", np.nan, "y"]
    numbers = pa.DictionaryArray.from_arrays(codes, pa.array([5, 6]))
    yield numbers, "float64", [5, np.nan, 6]
    runs = pa.compute.run_end_encode(pa.array([1, 1, 2]))
    yield runs, "int64", [1, 1, 2]
    lists = [[1], None, [2, 3]]
    for kind in (views, pa.large_list_view(pa.int8()), pa.list_(pa.int8())):
        yield pa.array(lists, kind), object, lists
    nested = [[[1]], None, [[2], []]]
    yield pa.array(nested, pa.list_(views)), object, nested
    yield pa.array(nested, pa.list_view(views)), object, nested
    fixed = [[1, 2], None, [3, 4]]
    yield pa.array(fixed, pa.list_(pa.int8(), 2)), object, fixed
    records = [{"a": 1, "l": [1]}, None, {"a": None, "l": None}]
    kind = pa.struct([("a", pa.int8()), ("l", views)])
    yield pa.array(records, kind), object, records
    pairs = [[("k", 1)], None, []]
    yield pa.array(pairs, pa.map_(pa.string(), pa.int8())), object, pairs
    for kind in (pa.decimal32(5, 2), pa.decimal128(9, 2), pa.decimal256(50, 2)):
        yield (
            pa.array([D("1.50"), None, D("2")], kind),
            object,
            [D("1.50"), None, D("2")],
        )
    mixed = pa.UnionArray.from_sparse(
        pa.array([0, 1, 0], pa.int8()), [pa.array([1, 2, 3]), pa.array(["a", "b", "c"])]
    )
    yield mixed, object, [1, "b", 3]
    noon = datetime.time(12)
    yield pa.array([noon, None, noon], pa.time32("s")), object, [noon, None, noon]


def _plain_cell(cell):
    return list(map(_plain_cell, cell)) if isinstance(cell, np.ndarray) else cell


@pytest.mark.parametrize(
    ("array", "dtype", "expected"),
    list(_foreign()),
    ids=lambda a: str(getattr(a, "type", "")),
)
def test_arrow_data_of_every_type(array, dtype, expected):
    shards = xs.from_arrow(pa.table({"a": array, "n": range(3)}), 2)
    for same in (
        shards,
        shards.repartition(3),
        shards.transform_shard(lambda table: table, format="arrow"),
        shards.transform_shard(lambda df: df),
    ):
        column = same.to_pandas()["a"]
        assert column.dtype == dtype
        pd.testing.assert_series_equal(
            column.map(_plain_cell), pd.Series(expected, dtype=dtype, name="a")
        )


def test_arrow_types_without_pandas_conversion_are_named():
    table = pa.table({"t": pa.array([0], pa.timestamp("s", "Nowhere/Land"))})
    with pytest.raises(TypeError, match="'t'") as caught:
        xs.from_arrow(table).to_pandas()
    assert isinstance(caught.value, xs.XShardsError)


def test_arrow_names_that_repeat():
    table = pa.table([[1], [2]], names=["a", "a"])
    shards = xs.from_arrow(table)
    assert shards.columns == ["a", "a"]
    assert shards.schema.names == ["a", "a.1"]


def test_tensors_of_arrow_in_another_order():
    kind = pa.fixed_shape_tensor(pa.int32(), [2, 3], permutation=[1, 0])
    stored = pa.array([range(6), range(6, 12)], pa.list_(pa.int32(), 6))
    array = pa.ExtensionArray.from_storage(kind, stored)
    cells = xs.from_arrow(pa.table({"a": array}), 1).to_pandas()["a"]
    assert np.array_equal(np.stack(list(cells)), array.to_numpy_ndarray())


def test_lists_of_text_are_lists_after_functions(tmp_path):
    table = pa.table({"tags": [["a", "é"], [], None, ["b"]]})
    shards = xs.from_arrow(table, 2).transform_shard(lambda df: df)
    assert shards.to_arrow().to_pydict() == table.to_pydict()
    shards.to_json(tmp_path)
    assert xs.read_json(tmp_path).to_arrow().to_pydict() == table.to_pydict()


def test_polars_categories_are_text():
    polars = pytest.importorskip("polars")
    kinds = {"c": polars.Categorical, "e": polars.Enum(["b", "a"])}
    frame = polars.DataFrame({name: ["a", None, "b"] for name in kinds}, schema=kinds)
    shards = xs.from_arrow(frame, 2)
    expected = pd.DataFrame({name: ["a", None, "b"] for name in kinds})
    assert_same(shards.to_pandas(), expected)
    assert len(shards.filter(xs.col("e") == "a")) == 1
    back = shards.transform_shard(lambda f: f, format="polars")
    assert_same(back.to_pandas(), expected)


def test_dictionaries_are_invisible():
    table = pa.table({"s": pa.array(["a", "b", "a"]).dictionary_encode()})
    result = xs.from_arrow(table, 2).to_pandas()
    assert result["s"].dtype == "str"
    assert list(result["s"]) == ["a", "b", "a"]


def test_data_outlives_its_context():
    context = xs.Context(cores=2, memory="64MB")
    df = pd.DataFrame({"a": range(1000)})
    shards = xs.from_pandas(df, 4, context=context).with_column("b", xs.col("a") + 1)
    table = shards.sort_values("b").to_arrow()
    context.close()
    del shards, context
    assert table.column("b").to_pylist() == list(range(1, 1001))


def test_union_of_other_categories_keeps_every_value():
    left = pd.DataFrame({"a": pd.Categorical(["a", "b"])})
    right = pd.DataFrame({"a": pd.Categorical(["c", "b"])})
    both = xs.from_pandas(left, 1).union(xs.from_pandas(right, 1))
    assert both.to_pandas()["a"].tolist() == ["a", "b", "c", "b"]
