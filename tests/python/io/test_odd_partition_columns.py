# SPDX-License-Identifier: Apache-2.0
"""Columns that name folders, whatever their names and values are."""

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xshards as xs

NAMES = ["k", "_k", ".k", "__k", "..", "a/b", "a=b", "%5Fk", "ä", "k k"]
VALUES = [
    ["a", "b"],
    ["", "b"],
    ["a\0b", "a"],
    ["\0", ""],
    ["_a", ".b"],
    ["a/b", "c=d"],
    ["..", "."],
    ["%00", "\0"],
    ["__HIVE_DEFAULT_PARTITION__", "x"],
    ["ä", "\n"],
]


def written(frame, column, folder, kind):
    shards = xs.from_pandas(frame, 2)
    getattr(shards, f"to_{kind}")(str(folder), partition_cols=[column])
    back = getattr(xs, f"read_{kind}")(str(folder)).to_pandas()
    return sorted(zip(back["v"], back[column], strict=True))


@pytest.mark.parametrize("kind", ["parquet", "csv", "ipc"])
@pytest.mark.parametrize("name", NAMES)
def test_names_come_back(tmp_path, name, kind):
    frame = pd.DataFrame({name: ["x", "y", "x"], "v": [1, 2, 3]})
    expected = [(1, "x"), (2, "y"), (3, "x")]
    assert written(frame, name, tmp_path / "out", kind) == expected


@pytest.mark.parametrize("values", VALUES, ids=repr)
def test_values_come_back(tmp_path, values):
    frame = pd.DataFrame({"k": values, "v": [1, 2]})
    expected = sorted(zip([1, 2], values, strict=True))
    assert written(frame, "k", tmp_path / "out", "parquet") == expected


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=20), st.text(max_size=20))
def test_any_text_comes_back(tmp_path_factory, first, second):
    folder = tmp_path_factory.mktemp("hive") / "out"
    values = [f"{first}-", f"{second}-"]  # no numbers, which are read as such
    frame = pd.DataFrame({"k": values, "v": [1, 2]})
    expected = sorted(zip([1, 2], values, strict=True))
    assert written(frame, "k", folder, "parquet") == expected


def test_missing_differs_from_its_marker_text(tmp_path):
    text = "__HIVE_DEFAULT_PARTITION__"
    frame = pd.DataFrame({"k": [text, None, "x"], "v": [1, 2, 3]})
    xs.from_pandas(frame).to_parquet(str(tmp_path / "out"), partition_cols=["k"])
    back = xs.read_parquet(str(tmp_path / "out")).to_pandas().sort_values("v")
    assert back["k"].fillna("missing").tolist() == [text, "missing", "x"]
