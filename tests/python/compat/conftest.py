# SPDX-License-Identifier: Apache-2.0
"""What the tests of compat share: its module paths, and a session that ends."""

import subprocess
import sys

import pandas as pd
import pytest

import xshards.compat
from xshards.compat.orca import orca_context, session
from xshards.compat.orca.readers import read_csv


@pytest.fixture(autouse=True)
def installed():
    """Install the module paths; nothing a test sets reaches the next one."""
    before = dict(orca_context._settings)
    xshards.compat.install()
    yield
    session.stop_orca_context()
    xshards.compat.uninstall()
    orca_context._settings.update(before)


@pytest.fixture
def sc():
    """A session of two cores, on the engine and the workers that all tests share."""
    yield session.active_context()
    session._active = None  # stopping it would end those workers


@pytest.fixture
def csv_folder(tmp_path):
    """Two files of seven rows, as Orca's own tests have them."""
    for number in range(2):
        frame = pd.DataFrame(
            {
                "ID": range(100 + 10 * number, 107 + 10 * number),
                "sale_price": [float(10 * number + i) for i in range(7)],
                "location": [f"L{(number + i) % 6}" for i in range(7)],
            }
        )
        frame.to_csv(tmp_path / f"part{number}.csv", index=False)
    return tmp_path


@pytest.fixture
def run_script(tmp_path):
    """Run a text as a script under ``python -m xshards.compat``."""

    def run(text, *args, options=(), check=True, timeout=100):
        script = tmp_path / "script.py"
        script.write_text(text)
        command = [sys.executable, "-m", "xshards.compat", *options, str(script), *args]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=timeout, cwd=tmp_path
        )
        if check:
            assert done.returncode == 0, done.stderr
        return done

    return run


@pytest.fixture
def frames(sc, csv_folder):
    """Orca's shards of the two files."""
    return read_csv(str(csv_folder))
