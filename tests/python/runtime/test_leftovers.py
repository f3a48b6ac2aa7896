# SPDX-License-Identifier: Apache-2.0
"""However a session ends, no process, segment or file is left behind."""

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

PREPARE = """
import os, signal, sys, threading, time
import pandas as pd, numpy as np, xshards as xs
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup it would be ignored
xs.init(cores=2, memory="1GB", spill_dir=os.environ["SPILL"])
shards = xs.from_pandas(pd.DataFrame({"a": range(8)}), 8)
kept = shards.transform_shard(lambda df: df.assign(b=1.5)).cache()
shared = xs.SharedValue(np.ones(1000))
def tell(*what):
    print(*what, flush=True)
def sleep(df):
    open(os.environ["SPILL"] + "/../begun", "a").close()
    shared.value
    time.sleep(100)
def begin():
    thread = threading.Thread(target=collect, daemon=True)
    thread.start()
    while not os.path.exists(os.environ["SPILL"] + "/../begun"):
        time.sleep(0.01)
def collect():
    try:
        shards.transform_shard(sleep).collect()
    except BaseException:
        pass
"""

# How sessions end by themselves; the first word printed is "ready".
ENDINGS = {
    "stop": "tell('ready'); input(); xs.stop(); tell('stopped'); input()",
    "exit without stop": "tell('ready'); input()",
    "sys.exit": "tell('ready'); input(); sys.exit(3)",
    "an error": "tell('ready'); input(); 1 / 0",
    "sys.exit while a stage runs": "begin(); tell('ready'); input(); sys.exit(3)",
    "os._exit while a stage runs": "begin(); tell('ready'); input(); os._exit(3)",
    "exit of a forked child": """
pid = os.fork()
if pid == 0:
    sys.exit(0)
os.waitpid(pid, 0)
assert shards.transform_shard(len).collect() == [1] * 8
tell('ready'); input()
""",
    "a forked child that stays": """
pid = os.fork()
if pid == 0:
    time.sleep(2)
    os._exit(0)
tell('ready'); input(); xs.stop()
""",
    "a forked child that uses the package": """
pid = os.fork()
if pid == 0:
    xs.init(cores=1)
    other = xs.from_pandas(pd.DataFrame({"a": range(4)}), 2)
    sys.exit(other.transform_shard(len).collect() != [2, 2])
assert os.waitpid(pid, 0)[1] == 0
tell('ready'); input()
""",
}

KILLS = {
    "SIGKILL": "tell('ready'); input()",
    "SIGKILL while a stage runs": "begin(); tell('ready'); input()",
    "SIGTERM while a stage runs": "begin(); tell('ready'); input()",
    "SIGHUP while a stage runs": "begin(); tell('ready'); input()",
    "SIGINT while a stage runs": "begin(); tell('ready'); input()",
    "SIGINT in a stage": "tell('ready'); shards.transform_shard(sleep).collect()",
}


@contextlib.contextmanager
def session(code, tmp_path):
    """Start a script and give it, its children and what it may leave."""
    spill = tmp_path / "spill"
    spill.mkdir()
    before = set(Path("/dev/shm").iterdir())
    with subprocess.Popen(
        [sys.executable, "-c", PREPARE + code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "SPILL": str(spill)},
        text=True,
    ) as process:
        assert process.stdout.readline() == "ready\n"
        children = psutil.Process(process.pid).children(recursive=True)
        assert len(children) >= 3  # a fork server and two workers
        yield process, children
        _, alive = psutil.wait_procs(children, timeout=10)
        assert alive == []
        process.kill()
    assert list(spill.iterdir()) == []
    assert set(Path("/dev/shm").iterdir()) <= before


@pytest.mark.parametrize("ending", ENDINGS.values(), ids=ENDINGS)
def test_sessions_that_end(ending, tmp_path):
    with session(ending, tmp_path) as (process, children):
        process.stdin.write("\n")
        process.stdin.flush()
        if "stopped" in ending:
            # The session goes on, with nothing but itself.
            assert process.stdout.readline() == "stopped\n"
            assert psutil.wait_procs(children, timeout=0)[1] == []
            assert psutil.Process(process.pid).children() == []
            process.stdin.write("\n")
            process.stdin.flush()
        process.wait(30)


@pytest.mark.parametrize("ending", KILLS.items(), ids=KILLS)
def test_sessions_that_are_killed(ending, tmp_path):
    name, code = ending
    with session(code, tmp_path) as (process, _):
        process.send_signal(signal.Signals[name.split()[0]])
        process.wait(30)


def test_a_killed_fork_server_leaves_no_processes(tmp_path):
    with session("begin(); tell('ready'); input()", tmp_path) as (process, children):
        [server] = psutil.Process(process.pid).children()
        server.kill()
        process.kill()
        process.wait(30)
        assert server in children


MANY_JOBS = """
import gc, os, sys
import pandas as pd, psutil, xshards as xs
xs.init(cores=2, memory="1GB")
shards = xs.from_pandas(pd.DataFrame({"a": range(20), "s": list("abcdefghij") * 2}), 2)

def tree():
    return [psutil.Process(), *psutil.Process().children(recursive=True)]

def own_memory(process):
    # Pages of libraries are left out: their share of a process grows when another
    # process on the machine that maps them ends.
    with open(f"/proc/{process.pid}/smaps_rollup") as file:
        fields = dict(line.split(":", 1) for line in file.readlines()[1:])
    return sum(int(fields[name].split()[0]) << 10 for name in ("Pss_Anon", "Pss_Shmem"))

def measure():
    gc.collect()
    memory = sum(own_memory(process) for process in tree())
    return memory, [process.num_fds() for process in tree()]

def job(number):
    result = shards.transform_shard(lambda df, n: df.assign(n=n), number).to_pandas()
    assert (result["n"] == number).all()

for number in range(200):
    job(number)
memory, files = measure()
for number in range(1000):
    job(number)
after, files_after = measure()
print(memory, after, files, files_after)
assert files_after == files, (files, files_after)
assert after - memory < 8_000_000, (memory, after)
"""


def test_a_thousand_jobs_leave_memory_and_descriptors_as_they_were():
    done = subprocess.run(
        [sys.executable, "-c", MANY_JOBS], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_there_is_no_resource_tracker():
    code = """
import pandas as pd, psutil, xshards as xs
xs.init(cores=2)
xs.from_pandas(pd.DataFrame({"a": [1, 2]}), 2).transform_shard(len).collect()
print([" ".join(p.cmdline()) for p in psutil.Process().children(recursive=True)])
xs.stop()
print(psutil.Process().children(recursive=True))
"""
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert "forkserver" in out[0]
    assert "resource_tracker" not in out[0]
    assert out[1] == "[]"


def test_work_begun_in_a_daemon_thread_does_not_hold_up_the_exit(tmp_path):
    with session("begin(); tell('ready')", tmp_path) as (process, _):
        process.wait(60)  # raises if it is still there
