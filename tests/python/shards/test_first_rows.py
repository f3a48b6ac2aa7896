# SPDX-License-Identifier: Apache-2.0
"""nlargest and nsmallest, with pandas as the oracle."""

import pandas as pd
import pytest
from frames import assert_same, frames, num_partitions
from hypothesis import given
from hypothesis import strategies as st

import xshards as xs


@pytest.mark.parametrize("method", ["nlargest", "nsmallest"])
@given(
    df=frames(),
    n=num_partitions,
    count=st.integers(0, 30),
    by=st.sampled_from([["f"], ["n"], ["n", "f"], "i"]),
)
def test_rows_at_an_end(method, df, n, count, by):
    actual = getattr(xs.from_pandas(df, n), method)(count, by).to_pandas()
    expected = getattr(df, method)(count, by).reset_index(drop=True)
    assert_same(actual, expected)


@given(df=frames(min_rows=1), n=num_partitions)
def test_values_of_one_column(df, n):
    actual = xs.from_pandas(df, n)["f"].nlargest(3).to_pandas()
    expected = df["f"].nlargest(3).reset_index(drop=True)
    pd.testing.assert_series_equal(actual, expected)


def test_only_the_first_rows_are_gathered(capsys):
    shards = xs.from_pandas(pd.DataFrame({"a": range(9)}), 3)
    shards.nlargest(2, "a").explain()
    assert (
        "top rows: each partition keeps its first rows in sort order"
        in capsys.readouterr().out
    )


@pytest.mark.parametrize("column", ["s", "c", "o"])
def test_values_without_a_size_are_refused_as_in_pandas(column):
    df = pd.DataFrame({"s": ["x"], "c": pd.Categorical(["x"]), "o": [object()]})
    with pytest.raises(TypeError, match="nlargest"):
        df.nlargest(1, column)
    with pytest.raises(TypeError, match="nlargest compares numbers or times"):
        xs.from_pandas(df).nlargest(1, column)


def test_mistakes():
    shards = xs.from_pandas(pd.DataFrame({"a": [1], "b": [2]}))
    with pytest.raises(TypeError, match=r"needs columns to compare by"):
        shards.nsmallest(1)
    with pytest.raises(KeyError, match="gone"):
        shards.nsmallest(1, "gone")
    with pytest.raises(NotImplementedError, match="keep='all'"):
        shards.nsmallest(1, "a", keep="all")
