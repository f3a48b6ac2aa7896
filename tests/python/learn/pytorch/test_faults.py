# SPDX-License-Identifier: Apache-2.0
"""Replicas that die, and what the death of one does not change."""

import contextlib
import gc
import os
import signal
import threading
import time

import numpy as np
import pytest
import torch
from training import adam, assert_same, mlp, shards, weights_of

import xshards as xs
from xshards.errors import XShardsWorkerError


class Noisy(torch.nn.Module):
    """Statistics and random numbers: all that a replica has of its own."""

    def __init__(self, directory=None):
        super().__init__()
        with torch.random.fork_rng():
            torch.manual_seed(0)
            self.layers = torch.nn.Sequential(
                torch.nn.Linear(4, 6),
                torch.nn.BatchNorm1d(6),
                torch.nn.Dropout(0.3),
                torch.nn.Linear(6, 1),
            ).double()
        self.directory = directory
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        if self.directory and self.training:
            self._die_once(x)
        noise = np.random.normal() + torch.rand(1).double()  # noqa: NPY002
        return self.layers(x + 0.01 * noise)

    def _die_once(self, x):
        """Die in the fifth batch of a process, one process after the other."""
        for number in range(3):
            path = self.directory / f"died-{number}"
            if self.calls == 5 and not path.exists():
                path.touch()
                os.kill(os.getpid(), signal.SIGKILL)


def step_lr(optimizer, config):
    return torch.optim.lr_scheduler.StepLR(optimizer, step_size=3, gamma=0.8)


def train(make, directory=None, disturb=None, rows=400):
    estimator = make(Noisy(directory), adam, scheduler_creator=step_lr)
    data = shards(rows)
    if disturb is not None:
        thread = threading.Thread(target=disturb, args=(estimator,))
        thread.start()
    history = estimator.fit(data, epochs=3, batch_size=16, validation_data=shards(50))
    if disturb is not None:
        thread.join()
    return estimator, history


def test_a_replica_that_dies_changes_nothing(make, tmp_path):
    undisturbed, expected = train(make)
    disturbed, history = train(make, tmp_path)
    assert len(list(tmp_path.iterdir())) == 3
    assert history == expected
    assert [one["num_samples"] for one in history] == [400] * 3
    theirs = weights_of(undisturbed.get_model())
    assert_same(weights_of(disturbed.get_model()), theirs, rtol=0, atol=0)


def test_replicas_killed_at_random_change_nothing(make):
    undisturbed, expected = train(make, rows=20_000)
    killed = []

    def disturb(estimator):
        random = np.random.default_rng(0)
        steps = 0
        while len(killed) < 4:
            time.sleep(0.05)
            pids = estimator._job.pids
            if len(pids) == 2 and estimator._job.num_steps > steps + 100:
                steps = estimator._job.num_steps
                killed.append(int(random.choice(pids)))
                os.kill(killed[-1], signal.SIGKILL)

    disturbed, history = train(make, disturb=disturb, rows=20_000)
    assert len(killed) == 4
    assert history == expected
    theirs = weights_of(undisturbed.get_model())
    assert_same(weights_of(disturbed.get_model()), theirs, rtol=0, atol=0)


@pytest.mark.slow
def test_a_replica_killed_every_two_seconds_changes_nothing(make):
    """A fit of 15 s or more; nothing of it is left behind."""
    rows, epochs = 20_000, 3

    def fit(disturb):
        estimator = make(Slow(), adam, scheduler_creator=step_lr)
        estimator.fit(shards(100), batch_size=16)  # replicas are up
        done = threading.Event()
        killed = []

        def kill():
            random = np.random.default_rng(0)
            while not done.wait(2):
                pids = estimator._job.pids
                killed.append(int(random.choice(pids)))
                with contextlib.suppress(ProcessLookupError):
                    os.kill(killed[-1], signal.SIGKILL)

        thread = threading.Thread(target=kill)
        if disturb:
            thread.start()
        history = estimator.fit(shards(rows), epochs=epochs, batch_size=16)
        done.set()
        if disturb:
            thread.join()
        weights = weights_of(estimator.get_model())
        pids = [*killed, *estimator._job.pids]
        estimator.shutdown()
        return history, weights, pids

    files = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    expected, theirs, _ = fit(disturb=False)
    history, ours, pids = fit(disturb=True)
    assert len(pids) >= 2 + 5
    assert history == expected
    assert [one["num_samples"] for one in history] == [rows] * epochs
    assert_same(ours, theirs, rtol=0, atol=0)
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) <= files + FEW  # noqa: PTH208


#: Descriptors of the pool of processes that a context keeps.
FEW = 8


class Slow(Noisy):
    def forward(self, x):
        time.sleep(0.002)
        return super().forward(x)


def test_a_replica_that_always_dies_is_an_error(make):
    class Dies(torch.nn.Linear):
        def forward(self, x):
            os.kill(os.getpid(), signal.SIGKILL)

    estimator = make(Dies(4, 1))
    with pytest.raises(XShardsWorkerError, match=r"died by signal SIGKILL, 4 times"):
        estimator.fit(shards())
    assert estimator._job.pids == []


def test_replicas_killed_between_fits_are_replaced(make):
    estimator = make(mlp())
    estimator.fit(shards())
    for pid in estimator._job.pids:
        os.kill(pid, signal.SIGKILL)
    assert estimator.fit(shards())[0]["num_samples"] == 100
    for pid in estimator._job.pids:
        os.kill(pid, signal.SIGKILL)
    assert estimator.evaluate(shards())["num_samples"] == 100


def test_ctrl_c_ends_training_and_leaves_a_usable_estimator(make):
    estimator = make(mlp())
    estimator.fit(shards())
    pids = estimator._job.pids
    # Where tests are a shell's background job, it would be ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(shards(20_000), epochs=10_000, batch_size=2)
    timer.join()
    signal.signal(signal.SIGINT, before)
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    assert estimator.fit(shards())[0]["num_samples"] == 100


def test_data_larger_than_memory_is_trained_on(make):
    context = xs.Context(cores=2, memory="24MB")
    rows = 400_000
    x = np.random.default_rng(0).normal(size=(rows, 8)).astype("float32")
    data = xs.XShards.partition(
        {"x": x, "y": x.sum(1, keepdims=True)}, num_shards=16, context=context
    ).transform_shard(lambda shard: {name: part * 1 for name, part in shard.items()})
    estimator = make(torch.nn.Linear(8, 1), workers=2, context=context)
    (stats,) = estimator.fit(data, batch_size=4096)
    assert stats["num_samples"] == rows
    estimator.shutdown()
    context.close()
