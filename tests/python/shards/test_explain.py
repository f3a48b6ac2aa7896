# SPDX-License-Identifier: Apache-2.0
"""explain() shows the stages that run."""

import re

import numpy as np
import pandas as pd
import pytest

import xshards as xs
from xshards import col

FRAME = pd.DataFrame(
    {
        "k": ["a", "b", "c", "a", None] * 40,
        "i": np.arange(200) % 17,
        "n": np.arange(200),
        "x": np.random.default_rng(0).random(200),
    }
)
SMALL = pd.DataFrame({"k": ["a", "b"], "w": [1, 2]})


def doubled(df):
    return df.assign(x=df["x"] * 2)


def memory():
    return xs.from_pandas(FRAME, num_partitions=4)


def files(folder):
    for part in range(3):
        FRAME.iloc[part::3].to_csv(folder / f"{part}.csv", index=False)
    return xs.read_csv(str(folder / "*.csv"))


PLANS = {
    "filter": lambda folder: memory().filter(col("n") > 3),
    "files": files,
    "files, filter": lambda folder: files(folder).filter(col("n") > 3),
    "partition_by": lambda folder: files(folder).partition_by("k", 3),
    "partition_by twice": lambda folder: (
        memory().partition_by("k", 3).partition_by("k", 3).select("n")
    ),
    "repartition": lambda folder: memory().filter(col("n") > 3).repartition(5),
    "group_by": lambda folder: files(folder).group_by("k", {"x": "mean"}),
    "group_by after partition_by": lambda folder: (
        memory().partition_by("k", 3).group_by("k", {"x": "mean"})
    ),
    "drop_duplicates": lambda folder: memory().drop_duplicates(["i"]),
    "sort_values": lambda folder: memory().sort_values("x"),
    "sort_values of files": lambda folder: files(folder).sort_values("x"),
    "sort_values of sorted rows": lambda folder: memory().sort_values("n"),
    "nlargest": lambda folder: files(folder).nlargest(3, "x"),
    "limit": lambda folder: memory().filter(col("n") >= 0).limit(100),
    "merge with a small table": lambda folder: memory().merge(
        xs.from_pandas(SMALL), on="k"
    ),
    "outer merge": lambda folder: memory().merge(
        xs.from_pandas(SMALL), on="k", how="outer"
    ),
    "sample": lambda folder: memory().sample(n=5, random_state=1),
    "concat, group_by": lambda folder: (
        memory().union(memory()).group_by("i", {"x": "sum"})
    ),
    "function": lambda folder: files(folder).transform_shard(doubled),
    "function, filter": lambda folder: (
        memory().transform_shard(doubled).filter(col("n") > 3)
    ),
    "function, partition_by": lambda folder: (
        memory().transform_shard(doubled).partition_by("k", 3)
    ),
    "function, group_by": lambda folder: (
        memory().transform_shard(doubled).group_by("k", {"x": "max"})
    ),
    "partition_by, function": lambda folder: (
        memory().partition_by("k", 3).transform_shard(doubled)
    ),
}


def stages_of(text):
    return re.findall(r"^  stage \d+: (.*?)   \[(\d+) fragments?, ", text, re.MULTILINE)


@pytest.mark.parametrize("name", PLANS)
def test_explain_shows_the_stages_that_run(name, tmp_path):
    shards = PLANS[name](tmp_path)
    planned = stages_of(shards.explain(as_text=True))
    shards.to_pandas()
    ran = [(s.label, str(s.partitions)) for s in xs.last_profile().stages]
    assert planned == ran
    assert planned


def test_explain_runs_nothing(tmp_path):
    calls = tmp_path / "calls"

    def noted(df):
        calls.touch()
        return df

    shards = memory().transform_shard(noted).sort_values("x")
    shards.explain(as_text=True)
    assert not calls.exists()


def test_a_function_and_its_exchange_are_one_stage():
    shards = memory().transform_shard(doubled).partition_by("k", 3)
    text = shards.explain(as_text=True)
    assert "stage 1: Read partitions → MapPython doubled → partition into 3" in text
    assert "hash exchange in the workers" in text


def test_explain_shows_what_output_decides(tmp_path):
    text = files(tmp_path).sort_values("x").explain(as_text=True)
    assert "its output decides whether the rows are already sorted" in text


def test_analyze_shows_what_each_stage_did(tmp_path):
    shards = files(tmp_path).group_by("k", {"x": "mean"})
    text = shards.explain(analyze=True, as_text=True)
    assert stages_of(text) == [
        (s.label, str(s.partitions)) for s in xs.last_profile().stages
    ]
    # Three keys and the missing one.
    assert re.search(r"^      4 rows, .* s, spilled 0 B$", text, re.MULTILINE)
