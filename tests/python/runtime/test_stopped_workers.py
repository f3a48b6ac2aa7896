# SPDX-License-Identifier: Apache-2.0
"""Workers that somebody stopped: they neither work nor die."""

import os
import signal
import threading
import time

import numpy as np
import pandas as pd
import psutil
import pytest

import xshards as xs
from xshards.runtime.channel import Channel

STOPPED = r"worker {} \(process {}\) is stopped"


@pytest.fixture
def make():
    """Make contexts that end with the test."""
    contexts = []

    def make(seconds, cores=1):
        contexts.append(xs.init(cores=cores, memory="512MB", stopped_timeout=seconds))
        return contexts[-1]

    yield make
    xs.stop()


def stop_once(path):
    """Stop this process, at the first call only."""
    if not path.exists():
        path.write_text(str(os.getpid()))
        os.kill(os.getpid(), signal.SIGSTOP)


def test_it_is_named_and_replaced(make, tmp_path):
    make(1.0)

    def work(df):
        stop_once(tmp_path / "pid")
        return df["a"].tolist()

    shards = xs.from_pandas(pd.DataFrame({"a": range(6)}), 3)
    begin = time.monotonic()
    with pytest.warns(RuntimeWarning, match="is stopped") as caught:
        found = shards.transform_shard(work).collect()
    assert found == [[0, 1], [2, 3], [4, 5]]
    assert 1.0 <= time.monotonic() - begin < 20
    pid = int((tmp_path / "pid").read_text())
    [text] = [str(one.message) for one in caught]
    assert text == (
        f"worker 0 (process {pid}) is stopped (SIGSTOP) and holds up this job; it is "
        f"replaced after 1 s, unless it goes on (kill -CONT {pid}); see stopped_timeout"
    )
    assert not psutil.pid_exists(pid)


def test_one_that_goes_on_in_time_is_kept(make, tmp_path):
    make(60.0)

    def work(df):
        stop_once(tmp_path / "pid")
        return os.getpid()

    def go_on():
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
            time.sleep(0.01)
        time.sleep(2.5)
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGCONT)

    thread = threading.Thread(target=go_on)
    thread.start()
    shards = xs.from_pandas(pd.DataFrame({"a": range(6)}), 3)
    with pytest.warns(RuntimeWarning, match="is stopped") as caught:
        [pid] = set(shards.transform_shard(work).collect())
    thread.join()
    assert pid == int((tmp_path / "pid").read_text())
    assert len(caught) == 1


@pytest.mark.parametrize("size", [1, 30_000_000], ids=["small", "large"])
def test_one_stopped_while_idle(make, size):
    """It is sent work, which it cannot take: a large function fills its socket."""
    context = make(1.0)
    shards = xs.from_pandas(pd.DataFrame({"a": range(2)}), 1)
    shards.transform_shard(len).collect()
    [pid] = context._dispatcher.pids
    os.kill(pid, signal.SIGSTOP)
    values = np.arange(size)
    with pytest.warns(RuntimeWarning, match=STOPPED.format(0, pid)):
        found = shards.transform_shard(lambda df: int(values[-1]) + len(df)).collect()
    assert found == [size - 1 + 2]


class Looked(Exception):
    pass


@pytest.mark.parametrize("sent", [b"", b"\1", b"\1\0\0\0\0\0\0\0\0\0\0\0\7"])
def test_the_other_end_is_looked_after_while_a_message_is_half_there(sent):
    ours, theirs = Channel.pair()

    def look():
        raise Looked

    ours.while_waiting = look
    theirs.socket.send(sent)
    with pytest.raises(Looked):
        ours.receive()
    with pytest.raises(Looked):
        ours.send(b"x" * 10_000_000)
    theirs.close()
    with pytest.raises(OSError, match=r"Broken pipe|reset"):
        ours.send(b"x" * 10_000_000)
    ours.close()


def test_a_stopped_fork_server_is_replaced(make):
    context = make(1.0, cores=2)
    shards = xs.from_pandas(pd.DataFrame({"a": range(2)}), 1)
    shards.transform_shard(len).collect()
    [worker] = context._dispatcher.pids
    server = psutil.Process(worker).ppid()
    os.kill(server, signal.SIGSTOP)
    os.kill(worker, signal.SIGKILL)
    with pytest.warns(RuntimeWarning, match=rf"fork server \(process {server}\) is st"):
        assert shards.transform_shard(len).collect() == [2]
    assert not psutil.pid_exists(server)


def test_an_unknown_time_is_refused():
    for wrong in (0, -1, "soon", float("nan")):
        with pytest.raises(ValueError, match="stopped_timeout must be"):
            xs.Context(stopped_timeout=wrong)
