# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests of the training core."""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import numpy_adapter


@pytest.fixture
def make():
    """Make Estimators of numpy models whose replicas do not outlive the test."""
    made = []

    def make(model, optimizer=None, **options):
        made.append(
            numpy_adapter.Estimator.from_numpy(
                model=model, optimizer=optimizer, **options
            )
        )
        return made[-1]

    yield make
    for estimator in made:
        pids = estimator._job.pids
        estimator.shutdown()
        for pid in pids:
            with pytest.raises(ProcessLookupError):
                os.kill(pid, 0)
