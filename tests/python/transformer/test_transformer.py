# SPDX-License-Identifier: Apache-2.0
"""Indexers and scalers: what they learn and what they make of it."""

import numpy as np
import pandas as pd
import pytest
from frames import frames, num_partitions
from hypothesis import given

import xshards as xs
from xshards.transformer import MinMaxScaler, StandardScaler, StringIndex, StringIndexer


def numbers_by_frequency(values):
    counts = values.dropna().value_counts().reset_index()
    counts.columns = ["value", "count"]
    ordered = counts.sort_values(["count", "value"], ascending=[False, True])["value"]
    return {value: i for i, value in enumerate(ordered, 1)}


@given(frames(), num_partitions)
def test_indexer_numbers_by_frequency_then_value(df, count):
    shards = xs.from_pandas(df, count)
    indexer = StringIndexer(["k", "n"])
    actual = indexer.fit_transform(shards).to_pandas()
    expected = df.copy()
    for name in ("k", "n"):
        numbers = numbers_by_frequency(df[name])
        assert indexer.to_dict()[name] == numbers
        expected[name] = df[name].map(numbers).fillna(0).astype("int64")
    pd.testing.assert_frame_equal(actual, expected)


def test_unknown_and_missing_values_become_zero():
    indexer = StringIndexer("s").fit(
        xs.from_pandas(pd.DataFrame({"s": ["b", "b", "a"]}))
    )
    other = xs.from_pandas(pd.DataFrame({"s": ["a", "zz", None, "b"]}), 2)
    assert indexer.transform(other).to_pandas()["s"].tolist() == [2, 0, 0, 1]


def test_indexer_of_no_rows_gives_zeros():
    shards = xs.from_pandas(
        pd.DataFrame({"s": pd.Series([None, None], dtype="str")}), 2
    )
    found = StringIndexer("s").fit_transform(shards).to_pandas()
    assert found["s"].tolist() == [0, 0]
    assert str(found["s"].dtype) == "int64"


@pytest.mark.parametrize(
    "values",
    [
        np.array([5, 3, 5], np.int8),
        np.array([2**63, 1, 2**63], np.uint64),
        np.array([0.5, -1.0, 0.5]),
        np.array([0.5, -1.0, 0.5], np.float32),
        np.array([True, False, True]),
        np.array(["2024-01-02", "2020-01-01", "2024-01-02"], "M8[ns]"),
    ],
    ids=lambda values: str(values.dtype),
)
def test_indexer_of_values_of_any_type(values):
    shards = xs.from_pandas(pd.DataFrame({"v": values}), 2)
    indexer = StringIndexer("v")
    assert indexer.fit_transform(shards).to_pandas()["v"].tolist() == [1, 2, 1]
    again = StringIndexer.from_dict(indexer.to_dict())
    assert again.transform(shards).to_pandas()["v"].tolist() == [1, 2, 1]


def test_values_of_another_kind_are_not_found():
    shards = xs.from_pandas(pd.DataFrame({"v": [1, 2]}))
    indexer = StringIndexer.from_dict({"v": {"1": 1, "x": 2}})
    assert indexer.transform(shards).to_pandas()["v"].tolist() == [0, 0]


def test_indexer_of_categories():
    df = pd.DataFrame({"s": pd.Series(["y", "x", "y"], dtype="category")})
    found = StringIndexer("s").fit_transform(xs.from_pandas(df, 2)).to_pandas()
    assert found["s"].tolist() == [1, 2, 1]


def test_indexer_values_round_trip():
    learnt = {"s": {"x": 2, "y": 1}}
    indexer = StringIndexer.from_dict(learnt)
    assert indexer.to_dict() == learnt
    shards = xs.from_pandas(pd.DataFrame({"s": ["x", "y", "z"]}))
    assert indexer.transform(shards).to_pandas()["s"].tolist() == [2, 1, 0]
    index = StringIndex.from_dict({"x": 1}, "s")
    assert repr(index) == "StringIndex('s', 1 values)"
    assert index.broadcast() is None


@pytest.mark.parametrize("start", [0, 1])
def test_start_sets_the_first_number(start):
    values = ["x", "y", "y", None, "ä"]
    shards = xs.from_pandas(pd.DataFrame({"s": values}), num_partitions=2)
    indexer = StringIndexer("s", start=start)
    found = indexer.fit_transform(shards).to_pandas()["s"]
    expected = pd.Series(values).map({"y": 0, "x": 1, "ä": 2}).fillna(-1) + start
    assert found.tolist() == expected.tolist()
    again = StringIndexer.from_dict(indexer.to_dict())
    assert again.start == start
    other = xs.from_pandas(pd.DataFrame({"s": ["zz", "x"]}))
    assert again.transform(other).to_pandas()["s"].tolist() == [start - 1, start + 1]
    none = xs.from_pandas(pd.DataFrame({"s": pd.Series([None], dtype="str")}))
    numbers = StringIndexer("s", start=start).fit_transform(none).to_pandas()
    assert numbers["s"].tolist() == [start - 1]


def test_mistakes_of_indexers():
    shards = xs.from_pandas(pd.DataFrame({"s": ["x"]}))
    with pytest.raises(RuntimeError, match="this StringIndexer is not fitted"):
        StringIndexer("s").transform(shards)
    with pytest.raises(KeyError, match="no column 'zz'"):
        StringIndexer("zz").fit(shards)
    with pytest.raises(ValueError, match="must have the numbers 1 to 2, each once"):
        StringIndex({"a": 1, "b": 3}, "s")
    with pytest.raises(ValueError, match="start must be 0 or 1, got 2"):
        StringIndexer("s", start=2)
    with pytest.raises(ValueError, match="inputCol must name at least one column"):
        StringIndexer([])
    with pytest.raises(TypeError, match="transformers take XShards, got list"):
        StringIndexer("s").fit([])
    indexer = StringIndexer("s").fit(shards)
    indexer.setInputCol(["s", "t"])
    with pytest.raises(RuntimeError, match="was not fitted on 't'"):
        indexer.transform(xs.from_pandas(pd.DataFrame({"s": ["x"], "t": ["y"]})))


def scaled(df, name, low, high):
    spread = df[name].max() - df[name].min()
    if spread == 0:
        return df[name] * 0.0 + (low + high) / 2
    return (df[name] - df[name].min()) / spread * (high - low) + low


@given(frames(min_rows=1), num_partitions)
def test_min_max_scaler_scales_to_the_range(df, count):
    shards = xs.from_pandas(df, count)
    for name in ("n", "f"):
        actual = MinMaxScaler(-1, 3, name, "out").fit_transform(shards).to_pandas()
        expected = df.assign(out=scaled(df, name, -1, 3))
        pd.testing.assert_frame_equal(actual, expected, rtol=1e-9, atol=1e-9)


@given(frames(min_rows=2), num_partitions)
def test_standard_scaler_scales_to_unit_deviation(df, count):
    shards = xs.from_pandas(df, count)
    values = df["n"].astype(float)
    std = values.std()
    for with_mean in (False, True):
        for with_std in (False, True):
            scaler = StandardScaler(with_mean, with_std, "n", "out")
            actual = scaler.fit_transform(shards).to_pandas()["out"]
            expected = values - values.mean() if with_mean else values
            if with_std:
                expected = expected * (0 if std == 0 else 1 / std)
            np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-9)


@given(frames(min_rows=1), num_partitions)
def test_several_columns_give_vectors(df, count):
    scaler = MinMaxScaler(inputCol=["n", "f"], outputCol="v")
    found = scaler.fit_transform(xs.from_pandas(df, count)).to_pandas()
    expected = np.stack([scaled(df, "n", 0, 1), scaled(df, "f", 0, 1)], axis=1)
    np.testing.assert_allclose(np.stack(found["v"]), expected, rtol=1e-9, atol=1e-9)
    pd.testing.assert_frame_equal(found.drop(columns="v"), df)


def test_scaler_statistics_round_trip():
    shards = xs.from_pandas(pd.DataFrame({"a": [1.0, 3.0]}))
    learnt = MinMaxScaler(inputCol="a", outputCol="b").fit(shards).to_dict()
    assert learnt == {"a": {"min": 1.0, "max": 3.0}}
    again = MinMaxScaler.from_dict(learnt, max=10, inputCol="a", outputCol="b")
    assert again.transform(shards).to_pandas()["b"].tolist() == [0.0, 10.0]
    learnt = StandardScaler(inputCol="a", outputCol="b").fit(shards).to_dict()
    again = StandardScaler.from_dict(learnt, inputCol="a", outputCol="b")
    assert again.to_dict() == {"a": {"mean": 2.0, "std": np.sqrt(2.0)}}
    with pytest.raises(ValueError, match="MinMaxScaler learns"):
        MinMaxScaler.from_dict(learnt)


def test_scaling_in_place_and_reuse():
    shards = xs.from_pandas(pd.DataFrame({"a": [0, 4]}))
    scaler = MinMaxScaler()
    scaler.setInputOutputCol("a", "a")
    assert scaler.fit_transform(shards).to_pandas()["a"].tolist() == [0.0, 1.0]


def test_mistakes_of_scalers():
    shards = xs.from_pandas(pd.DataFrame({"a": [1], "s": ["x"]}))
    with pytest.raises(RuntimeError, match="call setInputOutputCol first"):
        MinMaxScaler().fit(shards)
    with pytest.raises(RuntimeError, match="is not fitted"):
        StandardScaler(inputCol="a", outputCol="b").transform(shards)
    with pytest.raises(TypeError, match="scales numbers; column 's' is"):
        MinMaxScaler(inputCol="s", outputCol="b").fit(shards)
    with pytest.raises(ValueError, match="min must be less than max, got 1 and 1"):
        MinMaxScaler(1, 1)
    with pytest.raises(
        ValueError, match="inputCol and outputCol must be given together"
    ):
        MinMaxScaler(inputCol="a")
    with pytest.raises(KeyError, match="no column 'zz'"):
        MinMaxScaler(inputCol="zz", outputCol="b").fit(shards)
    scaler = MinMaxScaler(inputCol="a", outputCol="b").fit(shards)
    scaler.setInputOutputCol(["a", "c"], "b")
    with pytest.raises(RuntimeError, match=r"was not fitted on \['c'\]"):
        scaler.transform(xs.from_pandas(pd.DataFrame({"a": [1], "c": [2]})))
