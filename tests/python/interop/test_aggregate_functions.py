# SPDX-License-Identifier: Apache-2.0
"""The table of aggregate functions, which all of the package reads."""

import re

import pandas as pd
import pytest

import xshards as xs
from xshards.compat.spark import aggregates as spark
from xshards.interop.aggregate_functions import (
    AGGREGATES,
    REDUCTIONS,
    find_aggregate,
)

NAMES = [name for one in AGGREGATES for name in (one.name, *one.aliases)]


@pytest.fixture
def shards():
    return xs.from_pandas(
        pd.DataFrame({"k": ["x", "ö", "x"], "v": [1.0, None, 4.0]}), 2
    )


def test_names_are_found_with_aliases_and_shares():
    assert len(set(NAMES)) == len(NAMES)
    assert find_aggregate("avg").name == "mean"
    assert find_aggregate("std") is find_aggregate("stddev")
    assert find_aggregate("quantile(0.9)").name == "quantile"
    assert find_aggregate("mode") is None


def test_group_by_documents_every_name():
    words = set(re.findall(r"\w+", xs.XShards.group_by.__doc__))
    assert set(NAMES) <= words


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_computed(shards, name):
    frame = shards.group_by("k", {"v": name}).to_pandas()
    assert list(frame.columns) == ["k", f"{name}(v)"]
    assert len(frame) == 2


@pytest.mark.parametrize("name", NAMES)
def test_functions_of_text_are_those_that_need_no_numbers(shards, name):
    if find_aggregate(name).needs_numbers:
        with pytest.raises(TypeError, match="needs numbers"):
            shards.group_by([], {"k": name}).to_pandas()
    else:
        assert len(shards.group_by([], {"k": name}).to_pandas()) == 1


def test_an_unknown_name_lists_all_names(shards):
    with pytest.raises(ValueError, match="There is no aggregate 'mode'") as caught:
        shards.group_by("k", {"v": "mode"}).to_pandas()
    listed = str(caught.value).split("there are: ")[1]
    assert set(NAMES) <= set(re.findall(r"\w+", listed))
    assert "mean (avg), min" in listed


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_are_methods_of_a_series(shards, name):
    series = pd.Series([1.0, None, 4.0])
    assert shards["v"].agg(name) == pytest.approx(getattr(series, name)(), nan_ok=True)
    query = f"v >= v.{name}() or v < v.{name}()"
    expected = pd.DataFrame({"v": series}).query(query)
    assert (
        shards[["v"]].query(query).to_pandas()["v"].tolist() == expected["v"].tolist()
    )


def test_spark_has_names_of_its_own():
    same = "sum avg min max count stddev stddev_pop variance var_pop skewness kurtosis"
    native = {name: name for name in [*same.split(), "first", "last", "sumDistinct"]}
    native |= {"mean": "avg", "approx_count_distinct": "nunique"}
    others = {"min", "max", "count", "first", "last", "approx_count_distinct"}
    assert native == spark._NATIVE
    assert native.keys() - others == spark._NUMERIC


def test_first_value_keeps_what_first_skips():
    df = pd.DataFrame({"k": [1, 1, 2], "v": [None, 2.0, 3.0]})
    frame = (
        xs.from_pandas(df, 2)
        .group_by("k", a=("v", "first"), b=("v", "first_value"), c=("v", "last_value"))
        .sort_values("k")
        .to_pandas()
    )
    groups = df.groupby("k")["v"]
    assert frame["a"].tolist() == groups.first().tolist()
    pd.testing.assert_series_equal(
        frame.set_index("k")["b"], groups.first(skipna=False), check_names=False
    )
    pd.testing.assert_series_equal(
        frame.set_index("k")["c"], groups.last(skipna=False), check_names=False
    )
