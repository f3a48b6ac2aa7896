# SPDX-License-Identifier: Apache-2.0
"""The Python code in README.md runs."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parents[3] / "README.md"
BLOCKS = re.findall(
    r"^```python\n(.*?)^```", README.read_text(), re.DOTALL | re.MULTILINE
)


def test_there_is_code():
    assert BLOCKS


@pytest.mark.parametrize("code", BLOCKS, ids=range(len(BLOCKS)))
def test_code_runs(code, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
