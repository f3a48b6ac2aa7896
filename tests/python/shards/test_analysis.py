# SPDX-License-Identifier: Apache-2.0
"""Counting, quantiles and splits, with pandas as the oracle."""

import warnings

import numpy as np
import pandas as pd
import pytest
from frames import frames, odd_frames
from hypothesis import given, settings
from hypothesis import strategies as st

import xshards as xs

num_partitions = st.integers(1, 5)
COUNTED = [
    *("int8", "float32", "Int64", "boolean", "string", "category", "category-ordered"),
    *("datetime64[ns]", "object-str"),
]


@given(df=frames(), n=num_partitions)
def test_nunique(df, n):
    shards = xs.from_pandas(df, n)
    for dropna in (True, False):
        expected = df.nunique(dropna=dropna)
        pd.testing.assert_series_equal(shards.nunique(dropna=dropna), expected)
        column = df.columns[0]
        assert shards[column].nunique(dropna=dropna) == expected[column]


@pytest.mark.parametrize("kind", COUNTED)
@settings(max_examples=10)
@given(
    draw=st.data(),
    n=num_partitions,
    normalize=st.booleans(),
    ascending=st.booleans(),
    dropna=st.booleans(),
)
def test_value_counts(kind, draw, n, **options):
    df = draw.draw(odd_frames(kind))
    actual = xs.from_pandas(df, n)["x"].value_counts(**options)
    expected = df["x"].value_counts(**options)
    pd.testing.assert_series_equal(actual, expected)


values = st.lists(st.floats(-1e6, 1e6) | st.just(np.nan), max_size=30)


@given(
    values=values, q=st.lists(st.floats(0, 1), min_size=1, max_size=4), n=num_partitions
)
def test_quantile(values, q, n):
    df = pd.DataFrame(
        {"a": pd.Series(values, dtype="float64"), "b": range(len(values))}
    )
    shards = xs.from_pandas(df.assign(c="text"), n)
    pd.testing.assert_frame_equal(shards.quantile(q), df.quantile(q))
    one = shards.quantile(q[0])
    pd.testing.assert_series_equal(one, df.quantile(q[0]))
    pd.testing.assert_series_equal(shards["a"].quantile(q), df["a"].quantile(q))
    np.testing.assert_allclose(
        shards["a"].quantile(q[0]), df["a"].quantile(q[0]), rtol=1e-12
    )


def test_quantile_mistakes():
    shards = xs.from_pandas(pd.DataFrame({"a": [1], "b": ["x"]}))
    with pytest.raises(ValueError, match="between 0 and 1"):
        shards.quantile(1.5)
    with pytest.raises(TypeError, match="no numeric column"):
        shards["b"].quantile()


@given(
    rows=st.integers(0, 40),
    share=st.floats(0, 1),
    seed=st.integers(0, 9),
    n=num_partitions,
)
def test_train_test_split(rows, share, seed, n):
    df = pd.DataFrame({"a": range(rows), "b": [str(i) for i in range(rows)]})
    shards = xs.from_pandas(df, n)
    train, test = shards.train_test_split(share, random_state=seed)
    first, second = train.to_pandas(), test.to_pandas()
    both = pd.concat([first, second]).sort_values("a", ignore_index=True)
    pd.testing.assert_frame_equal(both, df)
    assert first["a"].is_monotonic_increasing
    assert second["a"].is_monotonic_increasing
    assert len(second) == round(rows * share)
    again, _ = xs.from_pandas(df, 1).train_test_split(share, random_state=seed)
    pd.testing.assert_frame_equal(again.to_pandas(), first)


def test_splits_are_drawn_anew_without_a_seed():
    shards = xs.from_pandas(pd.DataFrame({"a": range(1000)}), 2)
    one, _ = shards.train_test_split()
    other, _ = shards.train_test_split()
    assert list(one.to_pandas()["a"]) != list(other.to_pandas()["a"])


def test_split_mistakes():
    with pytest.raises(ValueError, match="between 0 and 1, got 2"):
        xs.from_pandas(pd.DataFrame({"a": [1]})).train_test_split(2)


def test_a_split_keeps_the_index_and_dtypes():
    df = pd.DataFrame(
        {"x": pd.Categorical(list("abab")), "y": pd.array([1, None, 3, 4], "Int8")},
        index=list("pqrs"),
    )
    train, test = xs.from_pandas(df, 2).train_test_split(0.5, random_state=1)
    both = pd.concat([train.to_pandas(), test.to_pandas()]).sort_index()
    pd.testing.assert_frame_equal(both, df)


@pytest.mark.parametrize("dtype", ["int8", "int64", "float32"])
def test_quantiles_of_the_widest_range_warn_of_nothing(dtype):
    limits = np.finfo(dtype) if dtype == "float32" else np.iinfo(dtype)
    frame = pd.DataFrame({"a": np.array([limits.min, 0, limits.max], dtype)})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert xs.from_pandas(frame)["a"].quantile(0.5) == 0


def test_quantiles_of_columns_with_labels_of_any_type():
    df = pd.DataFrame({0: [1, 2, 4], 7: [0.5, None, 2.5]})
    shards = xs.from_pandas(df, 2)
    pd.testing.assert_frame_equal(shards.quantile([0.1, 0.5]), df.quantile([0.1, 0.5]))
    pd.testing.assert_frame_equal(shards.describe(), df.describe())
