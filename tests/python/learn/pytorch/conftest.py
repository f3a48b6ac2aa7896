# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests of the Estimator."""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import training


@pytest.fixture
def make():
    """Make Estimators whose replicas do not outlive the test."""
    made = []

    def make(model, *args, **options):
        made.append(training.estimator_of(model, *args, **options))
        return made[-1]

    yield make
    for estimator in made:
        pids = estimator._job.pids
        estimator.shutdown()
        for pid in pids:
            with pytest.raises(ProcessLookupError):
                os.kill(pid, 0)
