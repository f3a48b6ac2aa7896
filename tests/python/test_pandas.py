# SPDX-License-Identifier: Apache-2.0
"""Frames come back as they went in: values, dtypes, index."""

import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from frames import assert_same

import xshards as xs


def test_awkward_frame(awkward):
    assert_same(xs.from_pandas(awkward, 3).to_pandas(), awkward)


@pytest.mark.parametrize(
    "values",
    [
        pd.Series([1, 2, None], dtype="Int64"),
        pd.Series([1.5, None, 2], dtype="Float32"),
        pd.Series([True, None, False], dtype="boolean"),
        pd.Series(["a", None, "b"], dtype="str"),
        pd.Series(["a", None, "b"], dtype="string"),
        pd.Series(
            pd.Categorical(["a", "b", "a"], categories=["b", "a", "c"], ordered=True)
        ),
        pd.Series(pd.Categorical([3, None, 1])),
        pd.Series(pd.to_datetime(["2024-01-01", None, "2024-03-01"])),
        pd.Series(pd.to_datetime(["2024-01-01", None, "2024-03-01"])).dt.as_unit("ns"),
        pd.Series(pd.to_datetime(["2024-01-01", None, "2024-03-01"], utc=True)),
        pd.Series(pd.to_timedelta(["1h", None, "2h"])),
        pd.Series(pd.period_range("2024-01", periods=3, freq="M")),
        pd.Series(pd.interval_range(0, 3)),
        pd.Series([b"x", None, b"\0"]),
        pd.Series([datetime.date(2024, 1, 1), None, datetime.date(1900, 1, 1)]),
        pd.Series([[1, 2], [], None], dtype=pd.ArrowDtype(pa.list_(pa.int64()))),
        pd.Series(np.array([1, 2, 3], dtype=np.float16)),
        pd.Series([None, None, None], dtype=object),
    ],
    ids=lambda s: str(s.dtype),
)
def test_dtypes(values):
    df = pd.DataFrame({"a": values, "n": range(3)})
    assert_same(xs.from_pandas(df, 2).to_pandas(), df)


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


def test_range_index_is_renumbered():
    df = pd.DataFrame({"a": [1, 2, 3]}, index=pd.RangeIndex(10, 16, 2))
    assert list(xs.from_pandas(df, 2).to_pandas().index) == [0, 1, 2]


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


@pytest.mark.parametrize(
    ("df", "error", "named"),
    [
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), ValueError, "'a'"),
        (pd.DataFrame([[1, 2]]), TypeError, "0"),
        (pd.DataFrame({"mixed": [1, "x"]}), TypeError, "mixed"),
        ([1, 2], TypeError, "list"),
    ],
)
def test_what_cannot_be_held_is_named(df, error, named):
    with pytest.raises(error, match=named) as caught:
        xs.from_pandas(df)
    assert isinstance(caught.value, xs.XShardsError)


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
