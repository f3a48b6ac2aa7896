# SPDX-License-Identifier: Apache-2.0
"""Training in which the process that makes replicas dies, or many files are open."""

import contextlib
import os
import resource
import signal
import threading
import time

import numpy as np
import psutil
import pytest
from numpy_adapter import Mlp, Sgd
from test_numpy_model import assert_bitwise, noisy, shards, weights_of

import xshards as xs


def server_of(estimator):
    return psutil.Process(estimator._job.pids[0]).ppid()


def train(make, workers, disturb=None):
    model = noisy()
    estimator = make(model, Sgd(model, 0.05, 0.9), workers=workers)
    thread = threading.Thread(target=disturb, args=(estimator,))
    if disturb is not None:
        thread.start()
    history = estimator.fit(shards(12_000), epochs=2, batch_size=16)
    if disturb is not None:
        thread.join()
    return estimator.get_model(), history


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_a_killed_fork_server_changes_nothing(make, workers):
    killed = []

    def kill(estimator):
        job, steps = estimator._job, 0
        while len(killed) < 3:
            time.sleep(0.01)
            if len(job.pids) == workers and job.num_steps > steps + 100:
                with contextlib.suppress(psutil.NoSuchProcess):
                    server = server_of(estimator)
                    if server in {os.getpid(), 1, *killed}:
                        continue
                    steps = job.num_steps
                    os.kill(server, signal.SIGKILL)
                    killed.append(server)

    expected, history = train(make, workers)
    model, disturbed = train(make, workers, kill)
    assert len(killed) == 3
    assert disturbed == history
    assert_bitwise(weights_of(model), weights_of(expected))


def test_a_fork_server_killed_between_fits(make):
    model = Mlp(3, 4)
    estimator = make(model, Sgd(model), workers=2)
    estimator.fit(shards(), batch_size=16)
    os.kill(server_of(estimator), signal.SIGKILL)
    estimator.evaluate(shards())
    os.kill(server_of(estimator), signal.SIGKILL)
    assert estimator.fit(shards(), batch_size=16)[0]["num_samples"] == 96
    assert all(psutil.pid_exists(pid) for pid in estimator._job.pids)


def test_a_server_killed_while_two_estimators_use_it(make):
    """Both have the same settings, so their replicas come from one server."""
    first, second = (make(model, Sgd(model), workers=2) for model in (Mlp(3, 4),) * 2)
    first.fit(shards(), batch_size=16)
    second.fit(shards(), batch_size=16)
    assert server_of(first) == server_of(second)
    os.kill(server_of(first), signal.SIGKILL)
    assert second.fit(shards(), batch_size=16)[0]["num_samples"] == 96
    assert first.fit(shards(), batch_size=16)[0]["num_samples"] == 96


@pytest.fixture
def many_files():
    """More open files than select() can name, so that new ones have high numbers."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 1 << 16), hard))
    opened = [os.open(os.devnull, os.O_RDONLY) for _ in range(1_500)]
    yield max(opened)
    for descriptor in opened:
        os.close(descriptor)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_more_open_files_than_select_can_name(make, many_files):
    assert many_files > 1_024
    context = xs.init(cores=2, memory="512MB")
    model, expected = Mlp(3, 4), Mlp(3, 4)
    estimator = make(model, Sgd(model), workers=2)
    estimator.fit(shards(), batch_size=16)
    # Replicas that come from a server: the way out, a plain process, is not taken.
    assert server_of(estimator) != os.getpid()
    found = shards().transform_shard(lambda arrays: os.getppid()).collect()
    assert set(found) != {os.getpid()}
    make(expected, Sgd(expected), workers=1).fit(shards(), batch_size=16)
    for name, value in weights_of(estimator.get_model()).items():
        theirs = weights_of(expected)[name]
        np.testing.assert_allclose(value, theirs, rtol=1e-11, atol=1e-13)
    context.close()
