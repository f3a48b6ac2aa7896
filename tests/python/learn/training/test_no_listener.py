# SPDX-License-Identifier: Apache-2.0
"""Nothing can be connected to: processes have socket pairs and shared memory only."""

import contextlib
import os
import re
import sys
import threading
from pathlib import Path

import pandas as pd
import psutil
from child_process import run_in_child
from numpy_adapter import Estimator, Mlp, Sgd
from test_numpy_model import shards

import xshards as xs

_ACCEPTS = 0x10000


def sockets_of(pids):
    """Give the inodes of the sockets that processes have open."""
    found = set()
    for pid in pids:
        for link in Path(f"/proc/{pid}/fd").glob("*"):
            with contextlib.suppress(OSError):
                if match := re.fullmatch(r"socket:\[(\d+)\]", os.readlink(link)):  # noqa: PTH115
                    found.add(match[1])
    return found


def reachable(inodes):
    """Name those that others can reach: of a network, with a name, or listening."""
    found = []
    for kind in ("tcp", "tcp6", "udp", "udp6"):
        rows = Path(f"/proc/net/{kind}").read_text().splitlines()[1:]
        found += [(kind, row) for row in rows if row.split()[9] in inodes]
    for row in Path("/proc/net/unix").read_text().splitlines()[1:]:
        _, _, _, flags, _, _, inode, *name = row.split()
        if inode in inodes and (name or int(flags, 16) & _ACCEPTS):
            found.append(("unix", row))
    return found


class Watch:
    """Looks at a session's processes again and again while something runs."""

    def __init__(self):
        self.found, self.most, self._done = [], 0, threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._before = sockets_of([os.getpid()])

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._done.set()
        self._thread.join()

    def _look(self):
        while not self._done.wait(0.02):
            with contextlib.suppress(psutil.NoSuchProcess):
                children = psutil.Process().children(recursive=True)
                pids = [os.getpid(), *(child.pid for child in children)]
                self.most = max(self.most, len(pids))
                self.found += reachable(sockets_of(pids) - self._before)


def watch_a_session():
    """Transform, sort, fit and predict, and report what could be connected to."""
    xs.init(cores=2, memory="512MB")
    with Watch() as watch:
        frame = xs.from_pandas(pd.DataFrame({"a": range(1_000)}), 8)
        frame = frame.transform_shard(lambda df: df.assign(b=1))
        frame.sort_values("a").to_pandas()
        model = Mlp(3, 4)
        estimator = Estimator.from_numpy(model=model, optimizer=Sgd(model), workers=2)
        estimator.fit(shards(), epochs=2, batch_size=16)
        estimator.predict(shards()).collect()
        estimator.shutdown()
    xs.stop()
    assert watch.most >= 4
    assert watch.found == []


def test_a_session_has_no_listener():
    """The fork server, workers, replicas and the parameter server included.

    In an interpreter of its own: children of other tests, such as Spark's JVM, listen.
    """
    run_in_child(
        """
        import sys
        sys.path[:0] = sys.argv[1:]
        import test_no_listener
        test_no_listener.watch_a_session()
        """,
        *sys.path,
    )
