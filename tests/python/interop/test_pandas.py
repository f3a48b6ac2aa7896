# SPDX-License-Identifier: Apache-2.0
"""Frames come back as they went in: values, dtypes, index."""

import base64
import json
import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from columns import every_column, objects
from frames import assert_same

import xshards as xs


def test_awkward_frame(awkward):
    assert_same(xs.from_pandas(awkward, 3).to_pandas(), awkward)


COLUMNS = every_column()


@pytest.fixture(params=COLUMNS)
def column(request):
    return COLUMNS[request.param]


def beside_numbers(column):
    return pd.DataFrame({"a": column, "n": range(len(column))})


def test_every_column_round_trips(column):
    df = beside_numbers(column)
    assert_same(xs.from_pandas(df, 3).to_pandas(), df)
    assert_same(pd.concat(xs.from_pandas(df, 1).collect()), df)


def test_every_column_follows_its_rows(column):
    if isinstance(column.dtype, np.dtype) and not column.dtype.isnative:
        pytest.skip("pandas itself does not select rows of these")
    df = beside_numbers(column)
    shards = xs.from_pandas(df, 3)
    kept = df[df["n"] != 2].reset_index(drop=True)
    assert_same(shards.filter(xs.col("n") != 2).to_pandas(), kept)
    back = df.iloc[::-1].reset_index(drop=True)
    assert_same(shards.sort_values("n", ascending=False).to_pandas(), back)
    spread = shards.partition_by("n", 4).repartition(7).sort_values("n")
    assert_same(spread.to_pandas(), df)
    assert_same(shards.filter(xs.col("n") < 0).to_pandas(), df.iloc[:0])


def test_every_column_goes_through_functions(column):
    df = beside_numbers(column)
    assert_same(xs.from_pandas(df, 3).transform_shard(lambda d: d).to_pandas(), df)


def test_every_column_in_a_union(column):
    df = beside_numbers(column)
    shards = xs.from_pandas(df, 2)
    expected = pd.concat([df, df], ignore_index=True)
    if isinstance(column.dtype, np.dtype) and not column.dtype.isnative:
        expected["a"] = expected["a"].astype(column.dtype)  # pandas makes it native
    assert_same(shards.union(shards).to_pandas(), expected)


def test_every_column_as_index(column):
    if column.dtype == np.float16 or isinstance(column.dtype, pd.SparseDtype):
        pytest.skip("pandas has no index of these")
    index = pd.Index(column, dtype=column.dtype, name="level")
    df = pd.DataFrame({"n": range(5)}, index=index)
    assert_same(xs.from_pandas(df, 2).to_pandas(), df)
    assert_same(xs.from_pandas(df[[]], 2).to_pandas(), df[[]])


def test_nan_stays_nan_and_is_not_copied():
    values = np.array([1.0, np.nan])
    column = xs.from_pandas(pd.DataFrame({"a": values}), 1).to_arrow().column("a")
    assert column.null_count == 0
    assert np.isnan(column.to_pylist()[1])


@pytest.mark.parametrize(
    "index",
    [
        pd.RangeIndex(3),
        pd.Index(["x", "y", "z"]),
        pd.Index([10, 20, 30]),
        pd.Index([1.5, 2.5, 3.5], name="key"),
        pd.date_range("2024-01-01", periods=3, name="when"),
        pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)], names=["p", "q"]),
        pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)]),
        pd.CategoricalIndex(["u", "v", "u"]),
    ],
    ids=repr,
)
def test_index(index):
    df = pd.DataFrame({"a": [1, 2, 3], "b": list("pqr")}, index=index)
    shards = xs.from_pandas(df, 2)
    assert shards.columns == ["a", "b"]
    assert shards.to_arrow().column_names == ["a", "b"]
    options = {"check_freq": False}
    assert_same(shards.to_pandas(), df, **options)
    assert_same(shards.select("b").to_pandas(), df[["b"]], **options)
    sliced = shards.filter(xs.col("a") != 2).to_pandas()
    expected = df[df["a"] != 2]
    if isinstance(index, pd.RangeIndex):
        expected = expected.reset_index(drop=True)
    assert_same(sliced, expected, **options)
    down = shards.sort_values("a", ascending=False).to_pandas()
    assert list(down["a"]) == [3, 2, 1]
    seen = shards.transform_shard(lambda d: list(d.index)).collect()
    if not isinstance(index, pd.RangeIndex):
        assert [label for part in seen for label in part] == list(index)
    assert_same(shards.transform_shard(lambda d: d).to_pandas(), df, **options)


def test_range_index_numbers_rows():
    df = pd.DataFrame({"a": [3, 2, 1], "b": 0}, index=pd.RangeIndex(10, 16, 2))
    shards = xs.from_pandas(df, 2)
    assert_same(shards.to_pandas(), df)
    assert_same(shards.select("a").repartition(3).to_pandas(), df[["a"]])
    assert_same(shards.drop("a").head(2), df[["b"]].head(2))
    computed = shards.with_column("b", xs.col("a") + 1).to_pandas()
    assert_same(computed, df.assign(b=df["a"] + 1))
    pd.testing.assert_series_equal(shards["a"].to_pandas(), df["a"])
    assert [list(part.index) for part in shards.collect()] == [[0, 1], [0]]
    seen = shards.transform_shard(lambda d: list(d.index)).collect()
    assert seen == [[0, 1], [0]]
    for changed in (
        shards.filter(xs.col("a") > 1),
        shards.sort_values("a"),
        shards.union(shards),
        shards.drop_duplicates(),
        shards.transform_shard(lambda d: d),
    ):
        assert list(changed.to_pandas().index) == list(range(len(changed)))


def test_rows_without_columns():
    for index in (pd.RangeIndex(3), pd.Index(list("xyz"), name="k"), pd.Index([5, 7])):
        df = pd.DataFrame(index=index)
        assert_same(xs.from_pandas(df, 2).to_pandas(), df, check_column_type=False)
    empty = pd.DataFrame(
        {"a": pd.Series([], dtype="int64"), "s": pd.Series(dtype="str")}
    )
    assert_same(xs.from_pandas(empty, 2).to_pandas(), empty)
    assert xs.from_pandas(pd.DataFrame(), 2).to_pandas().shape == (0, 0)


def test_index_of_the_name_of_a_column():
    df = pd.DataFrame({"a": [1, 2]}, index=pd.Index(["x", "y"], name="key"))
    shards = xs.from_pandas(df, 1)
    added = shards.with_column("key", xs.col("a") * 2)
    assert_same(added.to_pandas(), df.assign(key=df["a"] * 2))
    renamed = shards.rename({"a": "key"}).to_pandas()
    assert_same(renamed, df.rename(columns={"a": "key"}))
    assert list(shards.sort_values("key", ascending=False).to_pandas()["a"]) == [2, 1]
    for build in (lambda: shards["key"], lambda: shards.drop("key")):
        with pytest.raises(KeyError, match="'key' is the index"):
            build()


def test_index_is_kept_by_functions_in_a_row():
    df = pd.DataFrame({"a": range(4)}, index=[7, 5, 3, 1])
    shards = xs.from_pandas(df, 2).transform_shard(lambda d: d)
    assert_same(
        shards.transform_shard(lambda d: d[d["a"] > 0]).to_pandas(), df.iloc[1:]
    )


def test_functions_that_drop_rows_leave_no_index():
    shards = xs.from_pandas(pd.DataFrame({"a": range(6)}), 2)
    result = shards.transform_shard(lambda df: df[df["a"] % 2 == 1]).to_pandas()
    assert_same(result, pd.DataFrame({"a": [1, 3, 5]}))


def test_functions_that_group_keep_their_index():
    df = pd.DataFrame({"k": ["x", "y", "x"], "v": [1, 2, 3]})
    result = xs.from_pandas(df, 1).transform_shard(lambda d: d.groupby("k").sum())
    assert_same(result.to_pandas(), df.groupby("k").sum())


def test_series():
    series = pd.Series([3, 1, 2], name="v")
    shards = xs.from_pandas(series, 2)
    pd.testing.assert_series_equal(shards.to_pandas(), series)
    pd.testing.assert_series_equal(shards.collect()[1], pd.Series([2], name="v"))
    unnamed = pd.Series([1.5, 2.5])
    pd.testing.assert_series_equal(xs.from_pandas(unnamed).to_pandas(), unnamed)


def test_result_is_writable():
    df = pd.DataFrame(
        {"a": [1, 2], "f": [1.0, 2.0], "t": pd.to_datetime(["2024", "2025"])}
    )
    result = xs.from_pandas(df, 1).to_pandas()
    result.loc[0, "a"] = 5
    result.iloc[1, 1] = 7.0
    result.loc[0, "t"] = pd.Timestamp("2000-01-01")
    assert list(df["a"]) == [1, 2]
    assert list(result["a"]) == [5, 2]


def test_missing_integers_and_booleans_become_what_pandas_makes_them():
    table = pa.table({"i": pa.array([1, None]), "b": pa.array([True, None])})
    result = xs.from_arrow(table).to_pandas()
    assert result["i"].dtype == np.float64
    assert result["b"].dtype == object


def test_other_types_than_frames_are_named():
    with pytest.raises(TypeError, match="list") as caught:
        xs.from_pandas([1, 2])
    assert isinstance(caught.value, xs.XShardsError)


LABELS = {
    "integers": [0, 1, 2],
    "mixed": [0, "0", 1.5],
    "text": ["a", "a.1", "é"],
    "tuples": pd.Index([("a", 1), ("b",), ()], tupleize_cols=False),
    "none": [None, "None", "x"],
    "booleans": pd.Index([True, 1, "True"], dtype=object),
    "times": pd.date_range("2024-01-01", periods=3),
    "periods": pd.period_range("2024-01", periods=3, freq="M"),
    "twice": ["a", "b", "a"],
    "thrice": ["a", "a", "a"],
    "clash": ["a", "a", "a.1"],
    "named": pd.Index(["a", "b", "c"], name="letters"),
    "levels": pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)]),
    "named levels": pd.MultiIndex.from_product([["a"], [1, 2, 3]], names=["l", None]),
    "index name": ["__index_level_0__", "k", "c"],
}


@pytest.fixture(params=LABELS)
def labelled(request):
    df = pd.DataFrame([[1, 2.5, "x"], [4, 5.5, "y"], [7, 8.5, None]])
    df.columns = LABELS[request.param]
    return df


def assert_labels(shards, expected):
    labels = pd.Series(shards.columns, dtype=object)
    pd.testing.assert_series_equal(labels, pd.Series(list(expected), dtype=object))


def test_labels(labelled):
    shards = xs.from_pandas(labelled, 2)
    options = {"check_freq": False}
    assert_same(shards.to_pandas(), labelled, **options)
    assert_labels(shards, labelled.columns)
    assert len(set(shards.schema.names)) == 3
    assert_same(shards.transform_shard(lambda d: d).to_pandas(), labelled, **options)
    indexed = labelled.set_index(pd.Index(list("pqr"), name="k"))
    assert_same(xs.from_pandas(indexed, 2).to_pandas(), indexed, **options)
    assert_same(shards.union(shards).head(3), labelled, **options)


def test_columns_are_addressed_by_label(labelled):
    shards = xs.from_pandas(labelled, 2)
    label = labelled.columns[2]
    expected = labelled[label]
    actual = shards[label].to_pandas()
    if expected.ndim == 1:
        pd.testing.assert_series_equal(actual, expected)
        first = shards.sort_values([label], ascending=False).head(1)
        assert first.iloc[0, 2] == "y"
    else:
        assert_same(actual, expected)
        with pytest.raises(ValueError, match="'a'"):
            shards.sort_values(label)
    chosen = shards.select([label]).to_pandas()
    options = {"check_column_type": False, "check_freq": False}
    assert_same(chosen, labelled[[label]], **options)
    assert_labels(shards.drop([label]), labelled.columns.drop(label))


def test_unknown_labels_are_named():
    shards = xs.from_pandas(pd.DataFrame([[1, 2]]))
    for build in (
        lambda: shards[5],
        lambda: shards.select([0, 5]),
        lambda: shards.group_by(5),
        lambda: shards.sort_values([5]),
    ):
        with pytest.raises(KeyError, match=r"5.*0, 1") as caught:
            build()
        assert isinstance(caught.value, xs.XShardsError)


def test_labels_in_wide_operations():
    df = pd.DataFrame([[1, 10], [2, 20], [1, 30]])
    shards = xs.from_pandas(df, 2)
    grouped = shards.group_by(0, {1: "sum"}).sort_values(0).to_pandas()
    assert_same(grouped, pd.DataFrame({0: [1, 2], "sum(1)": [40, 20]}))
    assert shards.rename({0: "k"}).columns == ["k", 1]
    assert shards.filter(xs.col("0") == 1).count() == 2


def test_series_names():
    for name in (None, "v", 0, ("a", 1), "0"):
        series = pd.Series([1.5, 2.5], name=name)
        pd.testing.assert_series_equal(xs.from_pandas(series).to_pandas(), series)


PARTS = {
    "none and numbers": [objects(None, None), pd.Series([1, 2])],
    "text and numbers": [pd.Series(["a"]), pd.Series([1, 2])],
    "text and objects": [objects("a", "b"), objects(1, "b", None)],
    "bytes and objects": [objects(b"a", b"b"), objects({1}, "b", None)],
    "categories": [
        pd.Series(["a"], dtype="category"),
        pd.Series(["b"], dtype="category"),
    ],
    "same categories": [
        pd.Series(pd.Categorical(["a"], categories=["a", "b"])),
        pd.Series(pd.Categorical(["b", "b"], categories=["a", "b"])),
    ],
    "numbers and floats": [pd.Series([1, 2]), pd.Series([1.5])],
    "nullable": [pd.Series([1, 2], dtype="Int64"), pd.Series([3, None], dtype="Int64")],
    "booleans": [pd.Series([True]), objects(True, np.nan)],
    "shapes": [objects(np.ones(2), np.ones(2)), objects(np.ones(3))],
    "ragged": [objects(np.ones(2), np.ones(1)), objects(np.ones(3))],
    "matrices": [objects(np.ones((2, 2))), objects(np.ones((3, 3)), np.ones((1, 3)))],
    "dicts": [objects({"a": 1}), objects({"b": 2}, {"c": 2})],
    "times and objects": [pd.Series(pd.to_datetime(["2024-01-01"])), objects("a", 1)],
}


@pytest.mark.parametrize("name", PARTS)
def test_partitions_of_different_types_are_combined_as_by_concat(name):
    parts = [part.to_frame("a") for part in PARTS[name]]
    shards = xs.from_pandas(pd.DataFrame({"i": [0, 1]}), 2)
    result = shards.transform_shard(lambda df: parts[df["i"].iloc[0]])
    expected = pd.concat(parts, ignore_index=True)
    for part, wanted in zip(result.collect(), parts, strict=True):
        assert_same(part, wanted)
    assert_same(result.to_pandas(), expected)


def test_objects_are_only_unpickled_if_this_session_pickled_them(tmp_path):
    class Trap:
        def __reduce__(self):
            return (tmp_path.joinpath("sprung").touch, ())

    held = pickle.dumps(Trap())
    marks = {"xshards.opaque": "pickle", "pandas.dtype": "object"}
    label = {
        "pandas.label": json.dumps(["b", {"pickle": base64.b64encode(held).decode()}])
    }
    table = pa.table(
        [pa.array([held], pa.large_binary()), pa.array([1])],
        schema=pa.schema(
            [
                pa.field("a", pa.large_binary(), metadata=marks),
                pa.field("b", pa.int64(), metadata=label),
            ]
        ),
    )
    pq.write_table(table, tmp_path / "trap.parquet")
    path = str(tmp_path / "trap.parquet")
    for shards in (xs.from_arrow(table), xs.read_parquet(path)):
        assert list(shards.to_pandas()["a"]) == [held]
    planted = xs.from_pandas(pd.DataFrame({"x": [1]}), 1).transform_shard(
        lambda df: pq.read_table(path), format="arrow"
    )
    assert planted.columns == ["a", "b"]
    assert list(planted.to_pandas()["a"]) == [held]
    assert not tmp_path.joinpath("sprung").exists()


def test_many_columns_with_notes_come_back_without_a_warning():
    df = pd.DataFrame({f"c{n}": pd.array([n, None], dtype="Int64") for n in range(150)})
    df["plain"] = 1
    assert_same(xs.from_pandas(df, 2).to_pandas(), df)


def test_tensors_are_views_of_one_block_and_writable():
    df = pd.DataFrame({"a": objects(*np.arange(12.0).reshape(4, 3))})
    cells = xs.from_pandas(df, 1).to_pandas()["a"]
    assert cells[0].base is not None
    assert cells[0].base is cells[1].base
    cells[0][0] = 99.0
    assert df["a"][0][0] == 0.0
    schema = xs.from_pandas(df, 1).to_arrow().schema
    assert schema.field("a").type == pa.list_(pa.float64(), 3)
