# SPDX-License-Identifier: Apache-2.0
"""Replicas and whole jobs that are killed, and what their death does not change."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from keras_models import PACKAGES, names
from noisy_models import BATCH, EPOCHS, arrays, noisy

from xshards.learn.tf import Estimator

pytestmark = pytest.mark.tensorflow

OPTIONS = {"epochs": EPOCHS, "batch_size": BATCH, "verbose": 0}
STEP_SECONDS = 0.1
FEWEST = 18
JOB = """
import sys
sys.path.insert(0, {here!r})
from noisy_models import *
from xshards.learn.tf import Estimator
from xshards.learn.trigger import SeveralIteration
config = {{"package": {package!r}, "seconds": 0.02}}
estimator = Estimator.from_keras(
    model_creator=noisy, config=config, workers=2, seed=4, model_dir={directory!r}
)
estimator.fit(
    arrays(),
    {epochs},
    {batch},
    verbose=0,
    checkpoint_trigger=SeveralIteration(4),
)
"""


def estimator_of(package, seconds=0.0):
    config = {"package": package.__name__, "seconds": seconds}
    return Estimator.from_keras(model_creator=noisy, config=config, workers=2, seed=4)


@pytest.fixture(scope="module")
def undisturbed():
    """The history and the weights of a whole fit, by package."""
    made = {}

    def of(package):
        if package not in made:
            estimator = estimator_of(package)
            history = estimator.fit(arrays(), **OPTIONS)
            made[package] = history, estimator._model.keras.get_weights()
            estimator.shutdown()
        return made[package]

    return of


def assert_same(ours, theirs):
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("package", PACKAGES, ids=names)
def test_a_replica_killed_every_two_seconds_changes_nothing(
    undisturbed, estimators, package
):
    expected, theirs = undisturbed(package)
    ours = estimator_of(package, STEP_SECONDS)
    estimators.append(ours)
    done, killed = threading.Event(), []

    def kill():
        """Kill one each 2 seconds, if replicas have time for some steps meanwhile."""
        random = np.random.default_rng(0)
        steps = 0
        while not done.wait(2):
            while ours._job.num_steps < steps + FEWEST and not done.wait(0.05):
                pass
            steps, pids = ours._job.num_steps, ours._job.pids
            if len(pids) == 2:
                killed.append(int(random.choice(pids)))
                with contextlib.suppress(ProcessLookupError):
                    os.kill(killed[-1], signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        history = ours.fit(arrays(), **OPTIONS)
    finally:
        done.set()
        thread.join()
    assert len(killed) >= 3
    assert history == expected
    assert_same(ours._model.keras.get_weights(), theirs)


@pytest.mark.parametrize("package", PACKAGES, ids=names)
def test_a_job_that_is_killed_is_resumed_bitwise(undisturbed, tmp_path, package):
    """In another process, from a checkpoint in the midst of an epoch."""
    here = str(Path(__file__).parent)
    code = JOB.format(
        here=here,
        package=package.__name__,
        directory=str(tmp_path),
        epochs=EPOCHS,
        batch=BATCH,
    )
    job = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
    try:
        while len(list(tmp_path.glob("*/model.*"))) < 12:  # in the second epoch
            assert job.poll() is None
            time.sleep(0.02)
    finally:
        os.killpg(job.pid, signal.SIGKILL)
        job.wait()
    resumed = estimator_of(package)
    resumed.load_orca_checkpoint(tmp_path)
    epoch = resumed._job.epoch
    assert 1 <= epoch < EPOCHS
    assert resumed._job.num_steps % 4 == 0
    history = resumed.fit(arrays(), initial_epoch=epoch, **OPTIONS)
    ours = resumed._model.keras.get_weights()
    resumed.shutdown()
    expected, theirs = undisturbed(package)
    assert_same(ours, theirs)
    for name, values in history.items():  # also of the epoch that was interrupted
        assert values == pytest.approx(expected[name][epoch:], rel=1e-6)
