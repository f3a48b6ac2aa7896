# SPDX-License-Identifier: Apache-2.0
"""Graphs that the tests of graph Estimators share, and Estimators that are ended."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for graphs, which imports TensorFlow


@pytest.fixture
def rows():
    """Eight features and a target that a small network can learn."""
    draw = np.random.default_rng(3)
    x = draw.normal(size=(150, 4)).astype("float32")
    y = np.tanh(x @ draw.normal(size=(4, 1))).astype("float32")
    return x, y


@pytest.fixture
def shut_down():
    """Collect Estimators; all are ended after the test."""
    made = []
    yield lambda one: made.append(one) or one
    for one in made:
        one.shutdown()
