# SPDX-License-Identifier: Apache-2.0
"""What functions start ends with their worker, whatever session it is in."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import psutil
import pytest

import xshards as xs
from xshards.runtime import server as server_module

# Ends by itself, in case the test fails.
SLEEP = [sys.executable, "-c", "import time; time.sleep(120)"]


def session(path):
    """Start a process that leads its own session."""
    child = subprocess.Popen(SLEEP, start_new_session=True)
    path.write_text(str(child.pid))


def daemon(path):
    """Fork twice, so that no parent is left that could be asked for its children."""
    if (first := os.fork()) == 0:
        os.setsid()
        if (second := os.fork()) == 0:
            os.execv(SLEEP[0], SLEEP)
        path.write_text(str(second))
        os._exit(0)
    os.waitpid(first, 0)


def tree(path):
    """Start a session whose leader has started another one."""
    code = (
        "import subprocess, sys, time; "
        "child = subprocess.Popen(sys.argv[2:], start_new_session=True); "
        "open(sys.argv[1], 'w').write(str(child.pid)); time.sleep(120)"
    )
    arguments = [sys.executable, "-c", code, str(path), *SLEEP]
    subprocess.Popen(arguments, start_new_session=True)


STARTS = pytest.mark.parametrize(
    "start", [session, daemon, tree], ids=["session", "daemon", "tree"]
)


@pytest.fixture
def context():
    yield xs.init(cores=2, memory="512MB")
    xs.stop()


def run(start, path, num_partitions=1):
    """Have a worker start a process; gives the process and the worker."""

    def function(df):
        start(path)
        return os.getpid()

    shards = xs.from_pandas(pd.DataFrame({"a": [1]}), num_partitions)
    [worker] = shards.transform_shard(function).collect()
    deadline = time.monotonic() + 10
    while not (path.exists() and path.read_text()) and time.monotonic() < deadline:
        time.sleep(0.01)
    return psutil.Process(int(path.read_text())), worker


def has_ended(process):
    return psutil.wait_procs([process], timeout=10)[1] == []


@STARTS
def test_it_ends_with_a_killed_worker(context, start, tmp_path):
    process, worker = run(start, tmp_path / "pid")
    os.kill(worker, signal.SIGKILL)
    assert has_ended(process)


@STARTS
def test_it_ends_with_the_session(context, start, tmp_path):
    process, _ = run(start, tmp_path / "pid")
    xs.stop()
    assert psutil.wait_procs([process], timeout=1)[1] == []


@STARTS
def test_it_ends_after_a_killed_fork_server(context, start, tmp_path):
    process, worker = run(start, tmp_path / "pid")
    os.kill(psutil.Process(worker).ppid(), signal.SIGKILL)
    xs.stop()
    assert has_ended(process)


@STARTS
def test_it_ends_with_a_worker_that_was_not_forked(
    context, start, tmp_path, monkeypatch
):
    monkeypatch.setattr(server_module, "_START_CODE", "raise SystemExit(1)")
    process, worker = run(start, tmp_path / "pid")
    assert psutil.Process(worker).ppid() == os.getpid()
    os.kill(worker, signal.SIGKILL)
    xs.stop()
    assert has_ended(process)


@STARTS
def test_it_ends_with_a_session_that_is_killed(start, tmp_path):
    code = f"""
import sys, time
sys.path.insert(0, {str(Path(__file__).parent)!r})
import pathlib, xshards as xs, test_grandchildren as here
xs.init(cores=1)
process, _ = here.run(here.{start.__name__}, pathlib.Path({str(tmp_path / "pid")!r}))
print(process.pid, flush=True)
time.sleep(60)
"""
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True
    ) as script:
        process = psutil.Process(int(script.stdout.readline()))
        script.kill()
    assert has_ended(process)


@STARTS
def test_it_outlives_other_workers(context, start, tmp_path):
    def wait(df):
        time.sleep(0.3)
        return os.getpid()

    two = xs.from_pandas(pd.DataFrame({"a": [1, 2]}), 2)
    workers = set(two.transform_shard(wait).collect())
    assert len(workers) == 2
    process, worker = run(start, tmp_path / "pid")
    [other] = workers - {worker}
    os.kill(other, signal.SIGKILL)
    psutil.wait_procs([psutil.Process(other)] if psutil.pid_exists(other) else [], 5)
    assert xs.from_pandas(pd.DataFrame({"a": [1]})).transform_shard(len).collect()
    time.sleep(0.3)
    assert process.is_running()
    assert process.status() != psutil.STATUS_ZOMBIE
    xs.stop()
    assert has_ended(process)
