# SPDX-License-Identifier: Apache-2.0
"""Sums and means of floats are those of exact arithmetic, rounded, however parted."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typed_frames import num_partitions, shards_of

import xshards as xs

FUNCTIONS = ["sum", "mean"]
tenths = st.integers(-(10**6), 10**6).map(lambda tenth: tenth / 10)


def aggregates(df, partitions):
    """Sums and means of column v by k."""
    groups = shards_of(df, partitions).group_by("k", {"v": FUNCTIONS}).to_pandas()
    return groups.sort_values("k", ignore_index=True)


@pytest.mark.parametrize("partitions", [1, 2, 7, 64])
def test_sums_of_many_floats_do_not_drift(partitions):
    values = np.random.default_rng(3).random(300_000) * 1e6
    df = pd.DataFrame({"k": np.arange(len(values)) % 3, "v": values})
    actual = aggregates(df, partitions)
    exact = df.groupby("k")["v"].agg(math.fsum)
    np.testing.assert_array_max_ulp(actual["sum(v)"], exact, 1)
    np.testing.assert_array_max_ulp(actual["mean(v)"], exact / 100_000, 1)
    theirs = df.groupby("k")["v"].agg(FUNCTIONS)
    for function in FUNCTIONS:
        np.testing.assert_array_max_ulp(actual[f"{function}(v)"], theirs[function], 2)
    whole = shards_of(df, partitions).group_by([], {"v": "sum"}).to_pandas()
    np.testing.assert_array_max_ulp(
        whole["sum(v)"].to_numpy(), np.array([math.fsum(values)]), 1
    )


@given(
    rows=st.lists(st.tuples(st.integers(0, 2), tenths), min_size=1, max_size=60),
    n=num_partitions,
)
def test_sums_of_floats_of_both_signs(rows, n):
    df = pd.DataFrame(rows, columns=["k", "v"])
    actual = aggregates(df, n)
    for key, values in df.groupby("k")["v"]:
        exact = math.fsum(values)
        # A rounding of the result, and one of the largest value for each that is larger
        # than the sum before it.
        close = np.spacing(abs(exact)) + 2 * np.spacing(values.abs().sum())
        found = actual.loc[actual["k"] == key, "sum(v)"].item()
        assert abs(found - exact) <= close


@pytest.mark.parametrize("partitions", [1, 2, 5])
def test_infinite_and_missing_values(partitions):
    nan, inf = np.nan, np.inf
    df = pd.DataFrame(
        {
            "k": [1, 1, 1, 2, 2, 3, 3, 3, 4, 4, 5],
            "v": [1, inf, 2, -inf, 1, inf, 1, -inf, nan, 3.5, nan],
        }
    )
    expected = df.groupby("k")["v"].agg(FUNCTIONS).reset_index()
    expected.columns = ["k", "sum(v)", "mean(v)"]
    pd.testing.assert_frame_equal(aggregates(df, partitions), expected)


@pytest.mark.parametrize("dtype", ["int64", "uint64", "Int64", "M8[ns]", "m8[us]"])
def test_means_of_large_integers_and_times(dtype):
    numbers = np.random.default_rng(5).integers(2**60, 2**62, 3000)
    values = pd.Series(numbers).astype(dtype)
    df = pd.DataFrame({"k": np.arange(3000) % 2, "v": values})
    means = [
        shards_of(df, n).group_by("k", {"v": "mean"}).sort_values("k").to_pandas()
        for n in (1, 3, 11)
    ]
    exact = [sum(map(int, numbers[key::2])) / 1500 for key in (0, 1)]
    for found in means:
        mean = found["mean(v)"]
        if mean.dtype.kind in "mM":
            mean = mean.astype("int64")
        np.testing.assert_array_max_ulp(mean.to_numpy(float), np.array(exact), 1)
    assert means[0]["mean(v)"].dtype == df.groupby("k")["v"].mean().dtype


def test_describe_gives_the_mean_of_exact_sums():
    df = pd.DataFrame({"v": np.full(100_000, 0.1)})
    assert xs.from_pandas(df, 3).describe().loc["mean", "v"] == 0.1
