# SPDX-License-Identifier: Apache-2.0
"""No module of the current folder is run that the session itself would not import."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import os, sys
import numpy as np, pandas as pd, xshards as xs
from xshards.runtime import server
if "spawn" in sys.argv:
    server._START_CODE = "raise SystemExit(1)"
context = xs.init(cores=2, memory="512MB")
shards = xs.from_pandas(pd.DataFrame({"a": range(4)}), 2)
if "preload" in sys.argv:
    server._HEAVY = (*server._HEAVY, "with_thread")
    import with_thread

def flags(df):
    import ast, csv, decimal, json, queue, string
    return sys.flags.isolated, sys.flags.safe_path, sys.flags.ignore_environment

print(shards.transform_shard(flags).collect())
xs.stop()
"""
# A module that starts a thread makes the fork server start itself again.
WITH_THREAD = """
import threading, time
threading.Thread(target=time.sleep, args=(100,), daemon=True).start()
"""
OTHERS = ("numpy", "pandas", "pyarrow", "cloudpickle", "xshards", "torch", "tqdm")
HOSTILE = """
with open({marker!r}, "a") as file:
    file.write({name!r} + " ")
raise SystemExit(9)
"""


@pytest.fixture
def folder(tmp_path):
    """A folder that holds a module of each name that anything might import."""
    folder = tmp_path / "hostile"
    folder.mkdir()
    marker = str(tmp_path / "ran")
    for name in sorted({*sys.stdlib_module_names, *OTHERS, "sitecustomize"}):
        content = HOSTILE.format(marker=marker, name=name)
        (folder / f"{name}.py").write_text(content)
    return folder


@pytest.fixture
def script(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "with_thread.py").write_text(WITH_THREAD)
    path = tmp_path / "elsewhere" / "script.py"
    path.write_text(SCRIPT)
    return path


FLAGS = ["", "-I", "-P", "-E"]
CASES = [(how, flag) for how in ("fork", "spawn") for flag in FLAGS]
CASES += [("preload", ""), ("preload", "-E")]


@pytest.mark.parametrize(("how", "flag"), CASES)
def test_modules_of_the_current_folder_do_not_run(folder, script, how, flag, tmp_path):
    environment = dict(os.environ)
    if flag in {"-I", "-E"}:
        # What the parent ignores must not come in by its workers.
        environment["PYTHONPATH"] = str(folder)
    done = subprocess.run(
        [sys.executable, *flag.split(), str(script), how],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    ran = tmp_path / "ran"
    assert not ran.exists(), ran.read_text()
    assert done.returncode == 0, done.stderr
    isolated = int(flag == "-I")
    ignores = int(flag in {"-I", "-E"})
    assert done.stdout.strip() == str([(isolated, True, ignores)] * 2)


def test_module_path_with_unusual_characters(tmp_path):
    """A folder with a colon, a comma, a newline and bytes that are not UTF-8."""
    name = os.fsencode(tmp_path) + b"/a:b,c\nd\xff"
    os.mkdir(name)  # noqa: PTH102
    folder = Path(os.fsdecode(name))
    (folder / "of_odd_folder.py").write_text("def five(df): return 5\n")
    code = f"""
import sys; sys.path.insert(0, {str(folder)!r})
import pandas as pd, xshards as xs, of_odd_folder
shards = xs.from_pandas(pd.DataFrame({{"a": [1, 2]}}), 2)
print(shards.transform_shard(of_odd_folder.five).collect())
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120
    )
    assert done.stdout == "[5, 5]\n", done.stderr
