# SPDX-License-Identifier: Apache-2.0
"""Which CSV files the engine reads, why others are left to pandas, and at what cost."""

import logging
from pathlib import Path

import pandas as pd
import pytest

import xshards as xs
from xshards import _core
from xshards.io.pandas_fallback import PandasNeeded, natively_or
from xshards.io.paths import Scan

TEXT = "a,b,t\n1,x,2020-01-02\n2,y,2020-03-04\n"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(TEXT)
    return path


@pytest.fixture
def looks(monkeypatch):
    """The options of each call of the engine's reader."""
    seen = []
    read = _core.read_csv

    def counted(context, paths, options):
        seen.append(dict(options))
        return read(context, paths, options)

    monkeypatch.setattr(_core, "read_csv", counted)
    return seen


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"sep": None}, "sep=None"),
        ({"float_precision": "high"}, "float_precision='high'"),
        ({"dialect": "excel"}, "option 'dialect'"),
        ({"dtype": {"a": "float16"}}, "dtype={'a': 'float16'}"),
        ({"parse_dates": ["b"]}, "times of b"),
    ],
)
def test_the_reason_for_pandas_is_logged(file, caplog, options, reason):
    with caplog.at_level(logging.DEBUG, "xshards.io"):
        shards = xs.read_csv(file, **options)
    assert "pandas_read_csv" in shards.explain(as_text=True)
    (message,) = caplog.messages
    assert message.startswith("pandas reads these files: ")
    assert reason in message


def test_an_error_of_pandas_does_not_show_the_reason():
    def plan():
        raise PandasNeeded("because")

    def by_pandas():
        raise ValueError("of pandas")

    with pytest.raises(ValueError, match="of pandas") as caught:
        natively_or(plan, by_pandas)
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    ("options", "most"),
    [
        ({}, 1),
        ({"dtype": {"a": "float64"}}, 2),  # an index has no dtype
        ({"usecols": ["a"]}, 1),
        ({"usecols": [0]}, 2),  # names by position
        ({"parse_dates": [2], "date_format": "%Y-%m-%d"}, 3),
        ({"index_col": 0}, 1),
        ({"index_col": 2, "parse_dates": True}, 3),
    ],
)
def test_files_are_planned_again_only_if_options_change(file, looks, options, most):
    result = xs.read_csv(file, **options).to_pandas()
    assert len(looks) <= most
    pd.testing.assert_frame_equal(result, pd.read_csv(file, **options))


def test_a_scan_is_planned_again_if_options_changed():
    core = xs.from_pandas(pd.DataFrame({"a": [1]}))._core
    scan = Scan(lambda _context, _paths, _options: core, ["a"], {"nrows": 1}, None)
    first = scan.shards()
    assert scan.shards() is first
    scan.options["nrows"] = 2
    second = scan.shards()
    assert second is not first
    assert scan.shards(nrows=3) is not second


def test_pandas_metadata_costs_one_stat_a_file(tmp_path, monkeypatch):
    path = tmp_path / "a.parquet"
    pd.DataFrame({"a": [1, 2]}, index=range(3, 5)).to_parquet(path)
    stats = []
    stat = Path.stat

    def counted(self, **options):
        if self == path:
            stats.append(self)
        return stat(self, **options)

    monkeypatch.setattr(Path, "stat", counted)
    shards = xs.read_parquet(path)
    assert len(stats) == 1
    assert list(shards.to_pandas().index) == [3, 4]
