# SPDX-License-Identifier: Apache-2.0
"""Fixtures that all tests of the package share."""

import sys
from pathlib import Path
from types import ModuleType

import hypothesis
import numpy as np
import pandas as pd
import pytest

import xshards as xs

# Tests share the modules of support/, which are not part of any package.
sys.path.insert(0, str(Path(__file__).parent / "support"))

# Property tests run plans, and now and then a worker process starts: slow examples are
# not a failure. Derandomised, so that a run says something about the commit, not luck.
hypothesis.settings.register_profile(
    "xshards",
    deadline=None,
    derandomize=True,
    max_examples=40,
    suppress_health_check=[
        hypothesis.HealthCheck.too_slow,
        hypothesis.HealthCheck.function_scoped_fixture,
    ],
)
hypothesis.settings.load_profile("xshards")


# TensorBoard reads event files by TensorFlow wherever that is installed; a module of
# this name forbids it.
sys.modules["tensorboard.compat.notf"] = ModuleType("tensorboard.compat.notf")


def pytest_ignore_collect(collection_path, config):
    """Import test modules that need TensorFlow only where their mark is selected."""
    if collection_path.suffix != ".py" or _selects_tensorflow(config):
        return None
    marked = b"pytestmark = pytest.mark.tensorflow" in collection_path.read_bytes()
    return True if marked else None


def _selects_tensorflow(config):
    words = config.option.markexpr.replace("not tensorflow", "").split()
    return "tensorflow" in words


@pytest.fixture(scope="session", autouse=True)
def context(pytestconfig):
    """One small context for all tests: two cores, so that work really is split."""
    made = xs.init(cores=2, memory="1GB")
    yield made
    xs.stop()
    assert _selects_tensorflow(pytestconfig) or "tensorflow" not in sys.modules


@pytest.fixture(autouse=True)
def default_context(context):
    """Give tests that called xs.init() or xs.stop() no way to disturb others."""
    from xshards import context as module

    module._default = context
    yield
    if module._default is not None and module._default is not context:
        xs.stop()
    module._default = context


@pytest.fixture
def awkward():
    """A frame with one of everything: missing values, unicode, every common dtype."""
    return pd.DataFrame(
        {
            "i": [3, 1, 2, -7, 0, 3, 3],
            "f": [1.5, np.nan, -0.0, np.inf, 2.5, 1.5, np.nan],
            "s": ["x", None, "", "Zürich", "日本", "x", '🙂 \n,"'],
            "b": [True, False, True, True, False, False, True],
            "t": pd.to_datetime(
                ["2024-01-01", None, "1969-12-31 23:59:59.5", *["2030-06-01"] * 4],
                format="ISO8601",
            ),
            "i8": np.array([1, 2, 3, -128, 127, 0, 5], dtype=np.int8),
            "u": np.array([0, 2**64 - 1, 3, 4, 5, 6, 7], dtype=np.uint64),
        }
    )
