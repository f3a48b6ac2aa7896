# SPDX-License-Identifier: Apache-2.0
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
FETCHED = ROOT / "build" / "third_party" / "simdjson-3.12.3"
NAMES = ("simdjson.h", "simdjson.cpp")


def fetch(folder):
    """Run the script where pip may not download anything."""
    return subprocess.run(
        [sys.executable, ROOT / ".ci" / "fetch_simdjson.py", folder],
        env={**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": ""},
        capture_output=True,
        text=True,
    )


@pytest.mark.skipif(not FETCHED.is_dir(), reason="simdjson comes from elsewhere")
def test_existing_files_are_not_downloaded(tmp_path):
    for name in NAMES:
        shutil.copy(FETCHED / name, tmp_path)
    assert fetch(tmp_path).returncode == 0
    with (tmp_path / "simdjson.h").open("a") as header:
        header.write("// another version\n")
    assert fetch(tmp_path).returncode != 0


def test_offline_failure_names_the_folder(tmp_path):
    folder = tmp_path / "simdjson"
    run = fetch(folder)
    assert run.returncode != 0
    for part in (str(folder), "pysimdjson 7.0.2", "-DXSHARDS_SIMDJSON_DIR"):
        assert part in run.stderr
    assert not any((folder / name).exists() for name in NAMES)
