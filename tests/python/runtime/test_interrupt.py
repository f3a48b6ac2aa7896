# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C stops an action within a second, and no process is left behind."""

import contextlib
import signal
import subprocess
import sys
import time

import psutil
import pytest

PYTHON_FUNCTION = """
import time, pandas as pd, xshards as xs
xs.init(cores=2)
shards = xs.from_pandas(pd.DataFrame({"a": range(8)}), 8)
shards.transform_shard(len).collect()
print("ready", flush=True)
try:
    shards.transform_shard(lambda df: time.sleep(60)).collect()
except KeyboardInterrupt:
    print("interrupted", flush=True)
print(shards.transform_shard(len).collect(), flush=True)
"""

NATIVE = """
import numpy as np, pandas as pd, xshards as xs
xs.init(cores=2)
rows = 4_000_000
keys = np.random.default_rng(0).integers(0, rows, rows)
shards = xs.from_pandas(pd.DataFrame({"a": keys, "b": keys * 0.5}), 8)
print("ready", flush=True)
try:
    while True:
        means = shards.sort_values("a").group_by("a", {"b": "mean"})
        means.merge(shards, on="a").count()
except KeyboardInterrupt:
    print("interrupted", flush=True)
print([len(shards)], flush=True)
"""

#: One operation again and again, in so little memory that it spills.
SPILLING = """
import sys, numpy as np, pandas as pd, xshards as xs
xs.init(cores=2, memory="128MB", spill_dir=sys.argv[1])
rows = 2_000_000
keys = np.random.default_rng(0).integers(0, rows, rows)
shards = xs.from_pandas(pd.DataFrame({"a": keys, "b": keys * 0.5}), 8)
print("ready", flush=True)
try:
    while True:
        OPERATION
except KeyboardInterrupt:
    print("interrupted", flush=True)
print([len(shards)], flush=True)
xs.stop()
"""

OPERATIONS = {
    "sort": 'shards.sort_values("a").count()',
    "group_by": 'shards.group_by("a", {"b": ["mean", "nunique"]}).to_arrow()',
    "group_by-lists": 'shards.group_by("a", {"b": "collect_list"}).to_arrow()',
    "merge": 'shards.merge(shards, on="a").to_arrow()',
    "partition_by": 'shards.partition_by("a", 64).cache()',
    "drop_duplicates": 'shards.drop_duplicates("a").to_arrow()',
    "quantile": "shards.quantile([0.1, 0.5, 0.9])",
    "value_counts": 'shards["a"].value_counts()',
    "sample": "shards.sample(frac=0.5, random_state=1).to_arrow()",
}

GONE = """
import os, pandas as pd, xshards as xs
xs.init(cores=2)
shards = xs.from_pandas(pd.DataFrame({"a": range(8)}), 8)
shards.transform_shard(len).collect()
print("ready", flush=True)
input()
"""


@contextlib.contextmanager
def running(code, *arguments):
    """Start a script and wait until it says that it is ready."""
    with subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "ready\n"
        yield process, psutil.Process(process.pid).children(recursive=True)


def wait_until_gone(children, seconds=5):
    _, alive = psutil.wait_procs(children, timeout=seconds)
    assert alive == []


def interrupt(process, children):
    """Press Ctrl-C well into an action; the session then goes on."""
    time.sleep(1)
    started = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "interrupted\n"
    assert time.monotonic() - started < 1
    assert process.stdout.readline().startswith("[")
    assert process.wait(10) == 0
    wait_until_gone(children)


@pytest.mark.parametrize("code", [PYTHON_FUNCTION, NATIVE], ids=["python", "native"])
def test_interrupt_ends_an_action_within_a_second(code):
    with running(code) as (process, children):
        interrupt(process, children)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_interrupted_operation_leaves_no_files(operation, tmp_path):
    code = SPILLING.replace("OPERATION", OPERATIONS[operation])
    with running(code, tmp_path) as (process, children):
        interrupt(process, children)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "end",
    ["", "raise SystemExit(0)", "os._exit(0)", "os.kill(os.getpid(), 9)", "xs.stop()"],
)
def test_no_process_outlives_its_parent(end):
    with running(GONE + end) as (process, children):
        assert len(children) >= 2
        process.stdin.write("end\n")
        process.stdin.flush()
        process.wait(10)
        wait_until_gone(children)


def test_uncaught_interrupt_leaves_no_process():
    code = PYTHON_FUNCTION.replace("KeyboardInterrupt", "ZeroDivisionError")
    with running(code) as (process, children):
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        assert process.wait(10) != 0
        wait_until_gone(children)
