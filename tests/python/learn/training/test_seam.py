# SPDX-License-Identifier: Apache-2.0
"""The training core knows no framework: neither by import nor by name."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import xshards.learn.callbacks
import xshards.learn.training

FRAMEWORKS = ("torch", "tensorflow", "keras", "mxnet", "openvino")
FOLDERS = [
    Path(one.__path__[0]) for one in (xshards.learn.training, xshards.learn.callbacks)
]
SOURCES = sorted(file for folder in FOLDERS for file in folder.rglob("*.py"))

IMPORT_ALL = """
import importlib, pkgutil, sys
import xshards.learn.callbacks, xshards.learn.training
for package in (xshards.learn.callbacks, xshards.learn.training):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)
import xshards.learn.feeder, xshards.learn.metrics, xshards.learn.optimizers
import xshards.learn.trigger
print(*sorted({"torch", "tensorflow", "keras", "mxnet", "openvino"} & set(sys.modules)))
"""


def test_importing_the_core_loads_no_framework():
    result = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL], capture_output=True, text=True, check=True
    )
    assert result.stdout.split() == []


@pytest.mark.parametrize(
    "file", SOURCES, ids=lambda file: f"{file.parent.name}/{file.stem}"
)
def test_sources_name_no_framework(file):
    """Examples in docstrings may use one: nothing can be trained without."""
    lines = [
        line
        for line in file.read_text().splitlines()
        if not line.lstrip().startswith((">>>", "..."))
    ]
    found = [line for line in lines if re.search("|".join(FRAMEWORKS), line, re.I)]
    assert found == []


# Runs tests in a process that cannot import a framework.
RUN_WITHOUT = """
import sys

class Refuses:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {frameworks}:
            raise ImportError(name + " is not to be imported here")

sys.meta_path.insert(0, Refuses())
import pytest

status = pytest.main(["-q", "-x", "-p", "no:xdist", "-o", {cache!r}, {file!r}])
assert not set(sys.modules) & set({frameworks}), sorted(sys.modules)
sys.exit(status)
"""


def test_a_numpy_model_trains_where_no_framework_can_be_imported(tmp_path):
    file = str(Path(__file__).with_name("test_numpy_model.py"))
    cache = f"cache_dir={tmp_path}"
    code = RUN_WITHOUT.format(frameworks=FRAMEWORKS, cache=cache, file=file)
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
