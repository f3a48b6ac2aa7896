# SPDX-License-Identifier: Apache-2.0
"""The process that makes workers: what it imports, and when there is a new one."""

import os
import sys
from pathlib import Path

import pandas as pd
import psutil
import pytest

import xshards as xs
from xshards.runtime import server as server_module


@pytest.fixture
def own_context():
    context = xs.init(cores=2, memory="1GB")
    yield context
    xs.stop()


@pytest.fixture
def numbers(own_context):
    return xs.from_pandas(pd.DataFrame({"a": range(4)}), 2)


def server_of(context):
    return psutil.Process(context._dispatcher.pids[0]).parent()


def num_threads(process):
    names = [
        path.read_text() for path in Path(f"/proc/{process.pid}/task").glob("*/comm")
    ]
    return sum("jemalloc" not in name for name in names)


def write_module(folder, name, content=""):
    (folder / f"{name}.py").write_text(content)


@pytest.fixture
def heavy(tmp_path, monkeypatch):
    """A function that makes a module that counts as heavy."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def make(name, content="import os\nPID = os.getpid()\ndef pid(df): return PID\n"):
        write_module(tmp_path, name, content)
        monkeypatch.setattr(server_module, "_HEAVY", (*server_module._HEAVY, name))
        return name

    yield make
    for name in [name for name in sys.modules if name.startswith("heavy_")]:
        del sys.modules[name]


def test_workers_come_from_the_server(numbers, own_context):
    parents = set(numbers.transform_shard(lambda df: os.getppid()).collect())
    assert parents == {server_of(own_context).pid}
    assert server_of(own_context).ppid() == os.getpid()
    assert num_threads(server_of(own_context)) == 1


def test_modules_loaded_here_are_loaded_in_workers(heavy, numbers, own_context):
    __import__(heavy("heavy_one"))

    def loaded_before(df):
        import heavy_one

        return heavy_one.PID, os.getppid()

    for imported_in, server in numbers.transform_shard(loaded_before).collect():
        assert imported_in == server


def test_a_module_imported_later_makes_a_new_server(heavy, numbers, own_context):
    numbers.transform_shard(len).collect()
    first = server_of(own_context)
    heavy_two = __import__(heavy("heavy_two"))
    # Not for functions that do not use it.
    numbers.transform_shard(lambda df: df).collect()
    assert server_of(own_context) == first
    found = numbers.transform_shard(heavy_two.pid).collect()
    assert server_of(own_context) != first
    assert set(found) == {server_of(own_context).pid}
    assert not first.is_running()


def test_a_module_that_starts_threads_is_left_to_workers(heavy, numbers, own_context):
    content = """
import os, threading
PID = os.getpid()
threading.Thread(target=threading.Event().wait, daemon=True).start()
def pid(df): return PID
"""
    heavy_threads = __import__(heavy("heavy_threads", content))
    found = numbers.transform_shard(heavy_threads.pid).collect()
    assert server_of(own_context).pid not in found
    assert num_threads(server_of(own_context)) == 1


@pytest.mark.parametrize(
    "content",
    [
        "import os\nif os.environ.get('OMP_NUM_THREADS') == '1': raise ImportError\n",
        "import os\nif os.environ.get('OMP_NUM_THREADS') == '1': os._exit(3)\n",
    ],
    ids=["raises", "ends the process"],
)
def test_a_module_that_fails_in_the_server_is_survived(
    heavy, numbers, own_context, content, monkeypatch
):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    __import__(heavy("heavy_broken", content))
    assert numbers.transform_shard(len).collect() == [2, 2]
    assert server_of(own_context).ppid() == os.getpid()


def test_threads_of_libraries(numbers):
    def threads(df):
        return [os.environ[name] for name in server_module._THREAD_VARIABLES]

    for found in numbers.transform_shard(threads).collect():
        assert set(found) == {"1"}


@pytest.mark.torch
def test_torch_keeps_to_its_threads(numbers):
    pytest.importorskip("torch")

    def threads(df):
        import torch

        return torch.get_num_threads(), "torch" in Path("/proc/self/maps").read_text()

    assert numbers.transform_shard(threads).collect() == [(1, True)] * 2


@pytest.mark.torch
def test_torch_is_preloaded_without_threads(numbers, own_context):
    pytest.importorskip("torch")  # which this imports
    loaded = numbers.transform_shard(lambda df: "torch" in sys.modules).collect()
    assert loaded == [True, True]
    assert num_threads(server_of(own_context)) == 1


def test_environment_directory_and_path_are_current(numbers, tmp_path, monkeypatch):
    numbers.transform_shard(len).collect()
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path / "lib"))
    found = numbers.transform_shard(lambda df: (str(Path.cwd()), sys.path[0])).collect()
    assert found == [(str(tmp_path), str(tmp_path / "lib"))] * 2
