# SPDX-License-Identifier: Apache-2.0
"""Workers that die, and functions that misbehave."""

import ctypes
import multiprocessing
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import pandas as pd
import psutil
import pytest

import xshards as xs
from xshards.runtime import pool as pool_module
from xshards.runtime import server as server_module


@pytest.fixture
def numbers():
    return xs.from_pandas(pd.DataFrame({"a": range(10)}), 3)


def crash(how):
    match how:
        case "SIGKILL":
            os.kill(os.getpid(), signal.SIGKILL)
        case "SIGSEGV":
            ctypes.string_at(0)
        case "SIGABRT":
            os.abort()
        case "exit code 3":
            os._exit(3)


@pytest.mark.parametrize("how", ["SIGKILL", "SIGSEGV", "SIGABRT", "exit code 3"])
def test_a_worker_that_always_dies(numbers, how, capfd):
    def die(df):
        if 5 in df["a"].to_numpy():
            crash(how)
        return df

    expected = rf"ran die on partition 1 ended .*{how}, 3 times"
    with pytest.raises(xs.XShardsError, match=expected):
        numbers.transform_shard(die).collect()
    # The workers that follow are good.
    assert numbers.transform_shard(len).collect() == [4, 3, 3]


@pytest.mark.parametrize("how", ["SIGKILL", "SIGSEGV", "exit code 3"])
def test_a_worker_that_dies_once(numbers, how, tmp_path, capfd):
    def die_once(df):
        marker = tmp_path / "died"
        if 5 in df["a"].to_numpy() and not marker.exists():
            marker.touch()
            crash(how)
        return df

    assert list(numbers.transform_shard(die_once).to_pandas()["a"]) == list(range(10))


def test_only_what_was_not_reported_runs_again(tmp_path):
    """Of a message with many fragments, those that were reported are not run again."""
    count = 300

    def note(df):
        index = int(df["a"].iloc[0])
        with open(tmp_path / str(index), "a") as file:  # noqa: PTH123
            file.write("x")
        if index == 250 and len((tmp_path / str(index)).read_text()) == 1:
            time.sleep(0.1)  # longer than results are kept back
            os._exit(1)
        return index

    shards = xs.from_pandas(pd.DataFrame({"a": range(count)}), count)
    assert shards.transform_shard(note).collect() == list(range(count))
    runs = [len((tmp_path / str(index)).read_text()) for index in range(count)]
    assert runs[250] == 2
    # Those of its message that were done but not reported, and no others.
    assert sum(runs) <= count + 64


def test_deaths_are_counted_for_the_fragment_that_caused_them(tmp_path):
    """Neighbours in a message of one that kills are not blamed, and are published."""
    count = 200

    def die_twice(df):
        index = int(df["a"].iloc[0])
        marker = tmp_path / str(index)
        if index % 50 == 49:
            with open(marker, "a") as file:  # noqa: PTH123
                file.write("x")
            if len(marker.read_text()) < 3:
                os.kill(os.getpid(), signal.SIGKILL)
        return index

    shards = xs.from_pandas(pd.DataFrame({"a": range(count)}), count)
    assert shards.transform_shard(die_twice).collect() == list(range(count))


def test_random_kills():
    """200 partitions while a random worker is killed every half second."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": np.arange(20_000), "b": rng.random(20_000)})
    context = xs.init(cores=2, memory="1GB")
    shards = xs.from_pandas(frame, 200)

    def work(df):
        time.sleep(0.03)
        return df.assign(c=df["b"] * 2, s=df["a"].astype(str))

    done = threading.Event()
    kills = []

    def kill():
        chooser = random.Random(2)
        while not done.wait(0.5):
            pids = context._dispatcher.pids
            if pids:
                kills.append(chooser.choice(pids))
                os.kill(kills[-1], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        result = shards.transform_shard(work).to_pandas()
    finally:
        done.set()
        killer.join()
    expected = frame.assign(c=frame["b"] * 2, s=frame["a"].astype(str))
    pd.testing.assert_frame_equal(result, expected)
    assert len(kills) >= 4
    processes = [
        process
        for process in psutil.Process().children(recursive=True)
        if process.pid in {*context._dispatcher.pids, *kills}
    ]
    xs.stop()
    assert psutil.wait_procs(processes, timeout=10)[1] == []


def test_memory_error_is_an_exception(numbers):
    with pytest.raises(MemoryError) as caught:
        numbers.transform_shard(lambda df: np.zeros(1 << 46)).collect()
    assert "partition" in caught.value.__notes__[0]


@pytest.mark.parametrize(
    "error", [SystemExit(4), KeyboardInterrupt("stop"), GeneratorExit()], ids=repr
)
def test_exits_in_functions_do_not_end_the_session(numbers, error):
    def leave(df):
        raise error

    with pytest.raises(xs.XShardsError, match=f"leave raised {type(error).__name__}"):
        numbers.transform_shard(leave).collect()
    assert numbers.transform_shard(len).collect() == [4, 3, 3]


def test_an_error_stops_the_others_at_once(numbers, tmp_path):
    def fail(df):
        if 0 in df["a"].to_numpy():
            while not list(tmp_path.iterdir()):
                time.sleep(0.01)
            raise RuntimeError("stop")
        (tmp_path / "begun").touch()
        time.sleep(60)
        (tmp_path / "ended").touch()

    with pytest.raises(RuntimeError, match="stop"):
        numbers.transform_shard(fail).collect()
    assert [path.name for path in tmp_path.iterdir()] == ["begun"]
    assert numbers.transform_shard(len).collect() == [4, 3, 3]


class UnpicklableError(Exception):
    def __init__(self):
        super().__init__("with a lock")
        self.lock = threading.Lock()


def test_exceptions_that_cannot_be_pickled(numbers):
    def fail(df):
        raise UnpicklableError

    with pytest.raises(xs.XShardsError, match="UnpicklableError: with a lock") as error:
        numbers.transform_shard(fail).collect()
    assert "in fail" in error.value.__notes__[0]


def generate(df):
    yield df


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (generate, "generate returned a generator"),
        (lambda df: threading.Lock(), "<lambda> returned a lock"),
        (lambda df: socket.socketpair(), "<lambda> returned a tuple"),
    ],
    ids=["generator", "lock", "sockets"],
)
@pytest.mark.parametrize("workers", ["processes", "threads"])
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_results_that_cannot_be_kept(numbers, function, message, workers):
    with pytest.raises(TypeError, match=message):
        numbers.transform_shard(function, workers=workers).collect()


def test_functions_that_fork(numbers):
    def fork(df):
        pid = os.fork()  # the child returns as well, which must not count
        if pid:
            os.waitpid(pid, 0)
        return len(df)

    def fork_and_stay(df):
        if os.fork() == 0:
            time.sleep(60)
        return os.getpid()

    assert numbers.transform_shard(fork).collect() == [4, 3, 3]
    pids = set(numbers.transform_shard(fork_and_stay).collect())
    # What stays is in the group of its worker, and ends with it.
    strays = [child for pid in pids for child in psutil.Process(pid).children()]
    assert len(strays) == 3
    xs.context.default_context().close()
    _, alive = psutil.wait_procs(strays, timeout=10)
    assert alive == []


def test_children_of_a_killed_worker_end_with_it(numbers, tmp_path):
    def start(df):
        marker = tmp_path / "pid"
        if 5 in df["a"].to_numpy() and not marker.exists():
            child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=-1)
            marker.write_text(str(child.pid))
            os.kill(os.getpid(), signal.SIGKILL)
        return len(df)

    assert numbers.transform_shard(start).collect() == [4, 3, 3]
    pid = int((tmp_path / "pid").read_text())
    deadline = time.monotonic() + 10
    while psutil.pid_exists(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not psutil.pid_exists(pid)


def test_a_forked_child_does_not_keep_a_dead_worker_alive(numbers, tmp_path):
    """The parent must see the end of a worker whose child holds its descriptors."""

    def leave_child(df):
        marker = tmp_path / "died"
        if 5 in df["a"].to_numpy() and not marker.exists():
            marker.touch()
            if os.fork() == 0:
                os.setsid()  # out of the group
                time.sleep(3)
                os._exit(0)
            os._exit(9)
        return len(df)

    assert numbers.transform_shard(leave_child).collect() == [4, 3, 3]


def test_multiprocessing_in_functions(numbers):
    def nested(df):
        with multiprocessing.get_context("fork").Pool(2) as pool:
            return sum(pool.map(abs, df["a"].tolist()))

    assert numbers.transform_shard(nested).collect() == [6, 15, 24]


def test_functions_that_use_the_package(numbers):
    def nested(df):
        return xs.from_pandas(df, 2).transform_shard(len).collect()

    one = numbers.repartition(1)
    assert one.transform_shard(nested).collect() == [[5, 5]]
    [worker] = one.transform_shard(lambda df: os.getpid()).collect()
    context = xs.context.default_context()
    strays = [
        process
        for pid in context._dispatcher.pids
        for process in psutil.Process(pid).children(recursive=True)
    ]
    assert worker in context._dispatcher.pids
    assert len(strays) >= 3  # its own fork server and workers
    context.close()
    assert psutil.wait_procs(strays, timeout=10)[1] == []


def test_signal_handlers_threads_and_directories_of_functions(numbers, tmp_path):
    def meddle(df):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD, signal.SIGUSR1):
            signal.signal(number, signal.SIG_IGN)
        threading.Thread(target=time.sleep, args=(60,)).start()
        os.chdir(tmp_path)
        return len(df)

    assert numbers.transform_shard(meddle).collect() == [4, 3, 3]
    assert numbers.transform_shard(len).collect() == [4, 3, 3]
    context = xs.context.default_context()
    processes = [psutil.Process(pid) for pid in context._dispatcher.pids]
    context.close()
    assert psutil.wait_procs(processes, timeout=10)[1] == []


@pytest.fixture
def own_context():
    context = xs.init(cores=2, memory="1GB")
    yield context
    xs.stop()


def test_spawned_workers_where_the_server_cannot_start(own_context, monkeypatch):
    monkeypatch.setattr(server_module, "_START_CODE", "raise SystemExit(1)")
    shards = xs.from_pandas(pd.DataFrame({"a": range(10)}), 3)
    pids = shards.transform_shard(lambda df: (os.getpid(), os.getppid())).collect()
    assert {parent for _, parent in pids} == {os.getpid()}
    processes = [psutil.Process(pid) for pid in own_context._dispatcher.pids]

    def die(df):
        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(xs.XShardsError, match=r"die on partition .*SIGKILL"):
        shards.transform_shard(die).collect()
    assert shards.transform_shard(len).collect() == [4, 3, 3]
    processes += [psutil.Process(pid) for pid in own_context._dispatcher.pids]
    xs.stop()
    assert psutil.wait_procs(processes, timeout=5)[1] == []


def test_workers_that_cannot_start_at_all(own_context, monkeypatch):
    monkeypatch.setattr(server_module, "_START_CODE", "raise SystemExit(1)")
    monkeypatch.setattr(pool_module, "_SPAWN_CODE", "raise SystemExit(7)")
    shards = xs.from_pandas(pd.DataFrame({"a": range(10)}), 3)
    with pytest.raises(xs.XShardsError, match="exit code 7 before it began any work"):
        shards.transform_shard(len).collect()


def print_forever(df):
    while True:
        print("x" * 1000)


@pytest.mark.parametrize(
    "function", [lambda df: time.sleep(60), print_forever], ids=["sleep", "print"]
)
def test_stop_cancels_what_runs(own_context, function, capsys):
    shards = xs.from_pandas(pd.DataFrame({"a": range(4)}), 4)
    errors = []

    def run():
        try:
            shards.transform_shard(function).collect()
        except xs.XShardsError as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    deadline = time.monotonic() + 30
    while len(own_context._dispatcher.pids) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    xs.stop()
    thread.join(30)
    assert not thread.is_alive()
    assert "stopped" in str(errors[0])
