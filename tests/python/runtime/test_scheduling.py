# SPDX-License-Identifier: Apache-2.0
"""Which fragment runs on which worker, and when."""

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest

import xshards as xs
from xshards.runtime.assignment import Assignment, claim
from xshards.runtime.channel import Channel


def test_claims_go_to_one_side_each():
    assignment = Assignment([7, 8, 9])
    assert claim(assignment.fileno())  # the worker begins 7
    assert assignment.take_back(1) == [9]
    assert claim(assignment.fileno())  # and 8
    assert not claim(assignment.fileno())
    assert assignment.take_back() == []
    assignment.report(7)
    assert 7 not in assignment
    assert assignment.end() == ([8], 8)
    assert len(assignment) == 0


def test_a_dead_worker_is_blamed_for_the_fragment_it_ran():
    assignment = Assignment([1, 2, 3, 4])
    for _ in range(2):
        claim(assignment.fileno())
    # 1 was done but not reported, 2 ran, the others were not begun.
    assert assignment.end() == ([1, 2, 3, 4], 2)
    untouched = Assignment([5])
    assert untouched.end() == ([5], None)


def test_claims_under_contention():
    assignment = Assignment(range(5_000))
    begun = []

    def work():
        while claim(assignment.fileno()):
            begun.append(len(begun))

    worker = threading.Thread(target=work)
    worker.start()
    taken = []
    while got := assignment.take_back(3):
        taken = got + taken
    worker.join()
    assert begun + taken == list(range(5_000))
    assignment.close()


@pytest.fixture
def messages(monkeypatch):
    """The requests sent to workers, as lists of fragments."""
    sent = []
    send = Channel.send

    def note(self, message, descriptors=()):
        if hasattr(message, "items") and hasattr(message, "call_on_empty"):
            sent.append([item.index for item in message.items])
        send(self, message, descriptors)

    monkeypatch.setattr(Channel, "send", note)
    return sent


def test_many_tiny_partitions_share_messages(messages):
    shards = xs.from_pandas(pd.DataFrame({"a": range(600)}), 600)
    sums = shards.transform_shard(lambda t: t["a"][0].as_py(), format="arrow").collect()
    assert sums == list(range(600))
    assert len(messages) < 300
    assert sorted(index for message in messages for index in message)[0] == 0


def test_largest_first(messages):
    parts = [pd.DataFrame({"a": range(n)}) for n in (10, 5_000, 100, 20_000)]
    shards = xs.from_pandas(parts[0], 1)
    for part in parts[1:]:
        shards = shards.union(xs.from_pandas(part, 1))
    assert shards.transform_shard(len).collect() == [10, 5_000, 100, 20_000]
    assert [index for message in messages for index in message][:2] == [3, 1]


def test_largest_file_first(tmp_path, messages):
    for number, rows in enumerate((5, 3_000, 50)):
        frame = pd.DataFrame({"a": range(rows)})
        frame.to_csv(tmp_path / f"{number}.csv", index=False)
    shards = xs.read_csv([tmp_path / f"{n}.csv" for n in range(3)])
    assert shards.transform_shard(len).collect() == [5, 3_000, 50]
    assert messages[0] == [1]


def test_a_slow_partition_does_not_idle_other_workers(tmp_path):
    """All others are done before the slow one is, though it is in their midst."""
    count = 40

    def work(df):
        index = int(df["a"].iloc[0])
        if index == 10:
            deadline = time.monotonic() + 30
            while len(list(tmp_path.iterdir())) < count - 1:
                assert time.monotonic() < deadline, "others wait for this one"
                time.sleep(0.01)
        (tmp_path / str(index)).touch()
        return index

    shards = xs.from_pandas(pd.DataFrame({"a": range(count)}), count)
    assert shards.transform_shard(work).collect() == list(range(count))


def test_all_workers_are_used(tmp_path):
    def meet(df):
        (tmp_path / str(os.getpid())).touch()
        deadline = time.monotonic() + 30
        while len(list(tmp_path.iterdir())) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        return os.getpid()

    shards = xs.from_pandas(pd.DataFrame({"a": range(2)}), 2)
    assert len(set(shards.transform_shard(meet).collect())) == 2


def test_a_full_budget_delays_fragments(tmp_path, monkeypatch):
    """Workers do not run ahead while the results there are do not fit."""
    context = xs.Context(cores=2, memory="64MB", spill_dir=tmp_path)
    try:
        monkeypatch.setattr("xshards.context._default", context)
        shards = xs.from_pandas(pd.DataFrame({"a": range(24)}), 24)
        grown = shards.transform_shard(
            lambda df: pd.DataFrame({"x": np.full(1_000_000, df["a"].iloc[0])})
        ).cache()
        assert grown.count() == 24_000_000
        # 192 MB in all, spilled as they came.
        assert context.peak_memory < 120_000_000
        means = grown.transform_shard(lambda df: int(df["x"].mean())).collect()
        assert means == list(range(24))
    finally:
        context.close()


def test_stages_from_two_threads_take_turns():
    shards = xs.from_pandas(pd.DataFrame({"a": range(6)}), 6)
    results = {}

    def run(number):
        results[number] = shards.transform_shard(
            lambda df: int(df["a"].iloc[0]) + number
        ).collect()

    threads = [threading.Thread(target=run, args=(n,)) for n in (0, 100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {0: list(range(6)), 100: list(range(100, 106))}


def test_more_partitions_than_open_files_are_usual():
    code = """
import resource
_, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (128, hard))
import pandas as pd, xshards as xs
xs.init(cores=2)
shards = xs.from_pandas(pd.DataFrame({"a": range(300)}), 300)
mapped = shards.transform_shard(lambda t: t, format="arrow").cache()
assert list(mapped.to_pandas()["a"]) == list(range(300))
"""
    subprocess.run([sys.executable, "-c", code], check=True)
