# SPDX-License-Identifier: Apache-2.0
"""What people look at: repr, html, explain, profile, progress."""

import io
import itertools
import json
import os
import re
import subprocess
import sys

import pandas as pd
import pytest

import xshards as xs
from xshards.profile.progress import ProgressBar, progress_bar


@pytest.fixture
def shards():
    return xs.from_pandas(pd.DataFrame({"a": [1, 2], "name": ["<x>", "é"]}), 2)


def fail(_):
    raise AssertionError("ran")


def test_repr_shows_schema_and_partitions(shards):
    assert repr(shards) == "XShards: 2 partitions\n  a     int64\n  name  string"
    assert repr(shards.repartition(1)).startswith("XShards: 1 partition\n")
    assert repr(shards.with_column("z", 1.5).cache()).startswith(
        "XShards: 2 partitions, cached\n"
    )


def test_repr_never_runs_a_plan(shards):
    later = shards.transform_shard(fail)
    for text in (
        repr(later),
        later._repr_html_(),
        repr(later.group_by([], {"a": "sum"})),
    ):
        assert "known after it has run" in text


def test_html_shows_materialised_rows(shards):
    text = shards._repr_html_()
    assert "<table" in text
    assert "&lt;x&gt;" in text
    computed = shards.with_column("z", xs.col("a") * 1000)
    assert "2000" not in computed._repr_html_()
    assert "int64" in computed._repr_html_()
    assert "2000" in computed.cache()._repr_html_()


def test_explain_shows_plan_before_and_after(shards, capsys):
    plan = shards.filter(xs.col("a") > 1).transform_shard(fail).partition_by("a", 4)
    assert plan.explain() is None
    text = capsys.readouterr().out
    for word in ("Filter", "MapPython fail", "Exchange", "optimized", "stage 1"):
        assert word in text
    assert plan.explain(as_text=True) in text


def test_profile_shows_rows_bytes_and_time(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n" + "1,2\n" * 1000)
    shards = xs.read_csv(path).transform_shard(lambda df: df)
    assert shards.count() == 1000
    profile = xs.last_profile()
    stages = profile.stages
    assert stages[0].runner == "processes"
    assert stages[0].rows_read == 1000
    assert stages[0].bytes_read >= 4000
    assert stages[0].rows_out == 1000
    assert 0 < stages[0].seconds <= profile.seconds
    text = repr(profile)
    assert "1,000" in text
    assert "processes" in text
    assert len({len(line.split("  ")) for line in text.splitlines()[1:]}) >= 1


def test_profile_is_empty_at_first():
    code = "import xshards as xs; print(xs.last_profile().stages)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert out.stdout == b"()\n"


def test_progress_shows_after_a_while(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with ProgressBar(delay=0) as bar:
        bar(1, "Scan csv", 0, 4)
        bar(1, "Scan csv", 2, 4)
        bar(2, "Sort", 1, 2)
    text = sys.stderr.getvalue()
    assert "Scan csv" in text
    assert "2/4" in text
    assert "Sort" in text


def test_progress_in_a_file_has_a_line_for_each_change(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with ProgressBar(delay=0) as bar:
        for done in (0, 0, 0, 1, 1, 1):
            bar(1, "Scan csv", done, 4)
        shown = sys.stderr.getvalue().count("Scan csv")
    assert shown == 2


def test_short_actions_show_no_progress(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with ProgressBar() as bar:
        bar(1, "Scan csv", 1, 4)
    assert sys.stderr.getvalue() == ""


@pytest.mark.parametrize(
    ("wanted", "tty", "shown"),
    [
        (None, True, True),
        (None, False, False),
        (True, False, True),
        (False, True, False),
    ],
)
def test_progress_needs_a_terminal_or_notebook(monkeypatch, wanted, tty, shown):
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: tty)
    monkeypatch.setattr(sys, "stderr", stream)
    assert isinstance(progress_bar(wanted), ProgressBar) is shown


def test_progress_of_a_long_action(capfd):
    code = """
import time, pandas as pd, xshards as xs
xs.init(cores=2, progress=True)
shards = xs.from_pandas(pd.DataFrame({"a": range(8)}), 8)
shards.transform_shard(lambda df: time.sleep(0.4)).collect()
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert b"/8" in out.stderr


def test_repr_shows_dtypes_not_storage_types():
    frame = pd.DataFrame(
        {
            "c": pd.Categorical(["a"]),
            "p": pd.period_range("2024-01", periods=1, freq="M"),
            "o": pd.Series([{1}], dtype=object),
            "s": pd.Series(["a"], dtype=object),
        }
    ).set_axis(["hidden"])
    lines = repr(xs.from_pandas(frame, 1)).splitlines()[1:]
    shown = [tuple(line.split()) for line in lines]
    expected = [("c", "category"), ("p", "period[M]"), ("o", "object"), ("s", "string")]
    assert shown == expected


@pytest.mark.parametrize("where", ["threads", "processes"])
def test_a_profile_becomes_a_chrome_trace(tmp_path, where):
    shards = xs.from_pandas(pd.DataFrame({"a": range(100)}), 4)
    if where == "processes":
        shards = shards.transform_shard(lambda df: df)
    shards.partition_by("a", 3).collect()
    profile = xs.last_profile()
    path = tmp_path / "trace.json"
    profile.to_chrome_trace(path)
    trace = json.loads(path.read_text())
    events = trace["traceEvents"]
    drawn = [event for event in events if event["ph"] == "X"]
    fragments = [event for event in drawn if event["cat"] == "fragment"]
    stages = [event for event in drawn if event["cat"] == "stage"]
    assert [event["name"] for event in stages] == [s.label for s in profile.stages]
    assert len(fragments) == sum(stage.partitions for stage in profile.stages)
    end = profile.seconds * 1e6
    for event in drawn:
        assert 0 <= event["ts"] <= event["ts"] + event["dur"] <= end
    for event in fragments:
        (stage,) = (one for one in stages if one["name"] == event["name"])
        assert stage["ts"] <= event["ts"]
        assert event["ts"] + event["dur"] <= stage["ts"] + stage["dur"]
    first = {event["pid"] for event in fragments if event["name"] == stages[0]["name"]}
    assert (os.getpid() in first) == (where == "threads")
    _assert_lanes_do_not_overlap(fragments)
    named = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
    assert {(event["pid"], event["tid"]) for event in drawn} <= named


def _assert_lanes_do_not_overlap(fragments):
    """A thread runs one fragment at a time."""
    lanes = {}
    for event in fragments:
        lanes.setdefault((event["pid"], event["tid"]), []).append(event)
    for lane in lanes.values():
        lane.sort(key=lambda event: event["ts"])
        for one, following in itertools.pairwise(lane):
            assert one["ts"] + one["dur"] <= following["ts"]


def test_explain_shows_algorithms_and_reasons(shards):
    text = shards.sort_values("a", ascending=False).explain(as_text=True)
    assert "\n      range sort: " in text
    filtered = shards.filter(xs.col("a") > 1).explain(as_text=True)
    assert not re.search("^      ", filtered.partition("Stages")[2], re.MULTILINE)
