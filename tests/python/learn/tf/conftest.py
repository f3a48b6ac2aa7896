# SPDX-License-Identifier: Apache-2.0
"""Data and models that the tests of Keras share."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
# Notes of TensorFlow's C++ side say nothing of the tests.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")


@pytest.fixture(scope="session")
def rows():
    """Features and a target that depends on them, in float32."""
    draw = np.random.default_rng(5)
    x = draw.normal(size=(150, 4)).astype("float32")
    y = (x @ [1.0, -2.0, 0.5, 0.0] + 0.3)[:, None].astype("float32")
    return x, y


@pytest.fixture
def estimators():
    """A list; the Estimators put into it are shut down after the test."""
    made = []
    yield made
    for one in made:
        one.shutdown()
