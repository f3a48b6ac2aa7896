# SPDX-License-Identifier: Apache-2.0
"""Mistakes are found early and named."""

import inspect
import pickle

import pandas as pd
import pytest

import xshards as xs
from xshards import errors


@pytest.fixture
def shards():
    return xs.from_pandas(pd.DataFrame({"a": [1, 2], "s": ["x", "y"]}), 2)


@pytest.mark.parametrize("name", errors.__all__)
def test_classes_have_both_parents(name):
    cls = getattr(errors, name)
    assert issubclass(cls, xs.XShardsError)
    assert issubclass(cls, Exception)
    assert cls.__doc__
    assert cls.__module__ == "xshards.errors"
    assert pickle.loads(pickle.dumps(cls)) is cls


def test_type_mismatch_has_its_location():
    place = (b"\xe4", b"a", b"/tmp/\xff.csv", 3, 4)
    error = errors.XShardsTypeMismatchError("the message", place)
    again = pickle.loads(pickle.dumps(error))
    assert isinstance(again, ValueError)
    assert str(again) == "the message"
    assert again.place == place


def test_unknown_error_names_are_attribute_errors():
    with pytest.raises(AttributeError, match=r"xshards\.errors.*XShardsNoError"):
        errors.XShardsNoError  # noqa: B018


@pytest.mark.parametrize(
    "build",
    [
        lambda s: s["nope"],
        lambda s: s.select(["a", "nope"]),
        lambda s: s.filter(xs.col("nope") > 1),
        lambda s: s.with_column("z", xs.col("nope")),
        lambda s: s.drop("nope"),
        lambda s: s.rename({"nope": "x"}),
        lambda s: s.partition_by("nope"),
        lambda s: s.sort_values("nope"),
        lambda s: s.group_by("nope", {"a": "sum"}),
        lambda s: s.group_by("a", {"nope": "sum"}),
        lambda s: s.merge(s, on="nope"),
        lambda s: s.select([("nope", 1)]),
    ],
    ids=range(12),
)
def test_unknown_columns_are_found_at_once(shards, build):
    with pytest.raises(KeyError, match="nope") as caught:
        build(shards)
    assert isinstance(caught.value, xs.XShardsError)
    assert "s" in str(caught.value)


@pytest.mark.parametrize(
    "build",
    [
        lambda s: s.filter(xs.col("s") > 1),
        lambda s: s.filter(xs.col("a")),
        lambda s: s.with_column("z", xs.col("s") - xs.col("a")),
        lambda s: s.group_by([], {"s": "mean"}),
        lambda s: s.filter(lambda df: df),
        lambda s: s.merge("x"),
        lambda s: s.union("x"),
        lambda s: s.unique(),
        lambda s: bool(xs.col("a") > 1),
        lambda s: xs.col(3),
    ],
    ids=range(10),
)
def test_type_mistakes(shards, build):
    with pytest.raises(TypeError):
        build(shards)


@pytest.mark.parametrize(
    "build",
    [
        lambda s: s.group_by("a", {"s": "frobnicate"}),
        lambda s: s.group_by("a", {}),
        lambda s: s.merge(s, how="sideways"),
        lambda s: s.merge(s, left_on="a"),
        lambda s: s.merge(s, on="a", left_on="a", right_on="a"),
        lambda s: s.merge(s, left_on=["a", "s"], right_on="a"),
        lambda s: s.sort_values(["a", "s"], [True]),
        lambda s: s.sort_values("a", na_position="middle"),
        lambda s: s.repartition(0),
        lambda s: s.partition_by("a", -1),
        lambda s: s.partition_by([]),
        lambda s: s.limit(-1),
        lambda s: xs.from_pandas(pd.DataFrame({"a": [1]}), 0),
    ],
    ids=range(13),
)
def test_value_mistakes(shards, build):
    with pytest.raises(ValueError):
        build(shards)


def test_key_error_reads_as_a_sentence(shards):
    with pytest.raises(KeyError) as caught:
        shards.select("nope")
    assert str(caught.value).startswith("There is no column 'nope'")


def methods_of(owner):
    """The public methods, but those that take any keyword."""
    for name in dir(type(owner)):
        method = None if name.startswith("_") else getattr(type(owner), name)
        if not inspect.isfunction(method):
            continue
        kinds = {one.kind for one in inspect.signature(method).parameters.values()}
        if inspect.Parameter.VAR_KEYWORD not in kinds:
            yield getattr(owner, name)


@pytest.mark.parametrize(
    ("owner", "public"),
    [
        (xs.from_pandas(pd.DataFrame({"a": [1]})), "XShards"),
        (xs.col("a"), "Expression"),
        (xs.col("a").str, "Expression.str"),
        (xs.col("a").dt, "Expression.dt"),
        (xs.col("a").str.split("-").str, "Expression.str"),
    ],
    ids=["shards", "expression", "str", "dt", "parts"],
)
def test_unknown_arguments_name_the_public_class(owner, public):
    methods = list(methods_of(owner))
    assert methods
    for method in methods:
        wanted = rf"^{public}\.{method.__name__}\(\) "
        with pytest.raises(TypeError, match=wanted):
            method(no_such_argument=1)


def test_methods_can_still_be_pickled():
    for function in (xs.XShards.merge, xs.XShards.to_pandas, xs.XShards.astype):
        assert pickle.loads(pickle.dumps(function)) is function
