# SPDX-License-Identifier: Apache-2.0
"""The demo with a model of Keras."""

import re
import subprocess
import sys

import pytest

pytestmark = pytest.mark.tensorflow


@pytest.mark.timeout(300)  # reads, trains and starts TensorFlow three times
def test_demo_on_keras():
    done = subprocess.run(
        [sys.executable, "-m", "xshards.demo", "--framework", "keras"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for words in ("336,776 flights", "prediction", "All of it in"):
        assert words in done.stdout
    errors = [float(found) for found in re.findall(r"off by ([\d.]+)", done.stdout)]
    assert len(errors) == 3
    # Always to guess the median, -5, is off by 25.5 minutes.
    assert errors[-1] < 14
