# SPDX-License-Identifier: Apache-2.0
import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
spec = importlib.util.spec_from_file_location(
    "check_layers", ROOT / "tests" / "check_layers.py"
)
check_layers = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_layers)

HEADERS = (
    "xshards/plan/plan.h",
    "xshards/execution/fragments/runner.h",
    "xshards/export.h",
    "io/csv_reader.h",
    "io/csv/options.h",
    "io/csv/reader.h",
    "io/csv/parse/rows.h",
    "io/json/options.h",
    "io/text/text_input.h",
    "ops/join.h",
    "learn/estimator.h",
    "learn/ps/update/sgd.h",
    "xshards/execution/stages/executor.h",
)


@pytest.fixture
def tree(tmp_path):
    for name in HEADERS:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()

    def check(name, text):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
        return check_layers.check_tree(tmp_path)

    return check


def test_this_repository_keeps_the_layers():
    assert check_layers.check_tree(ROOT) == []


@pytest.mark.parametrize(
    ("name", "include"),
    [
        ("ops/a.cc", '"xshards/plan/plan.h"'),
        ("io/a.cc", '"xshards/plan/plan.h"'),
        ("learn/a.cc", '"ops/join.h"'),
        ("python/src/a.cpp", '"learn/estimator.h"'),
        ("xshards/xshards.h", '"io/csv_reader.h"'),
        ("xshards/default_operators.cc", '"ops/join.h"'),
        ("io/json/a.cc", "<simdjson.h>"),
        ("io/a.cc", "<libfccp/csv.h>"),
        ("xshards/execution/fragments/thread_runner.cc", "<tbb/task_arena.h>"),
        ("python/src/a.cpp", "<pybind11/pybind11.h>"),
        ("ops/a.cc", "<arrow/api.h>"),
        ("io/csv/a.cc", '"io/text/text_input.h"'),
        ("io/csv/parse/a.cc", '"io/csv/options.h"'),
        ("io/csv/plan/a.cc", '"io/csv/parse/rows.h"'),
        ("io/csv/a.cc", '"io/csv/parse/rows.h"'),
        ("xshards/execution/stages/a.cc", '"xshards/execution/fragments/runner.h"'),
        ("io/a.cc", '"io/csv/options.h"'),
        ("xshards/execution/a.cc", '"xshards/plan/plan.h"'),
        ("xshards/types/a.cc", '"xshards/export.h"'),
    ],
)
def test_allowed_include(tree, name, include):
    assert tree(name, f"#include {include}\n") == []


@pytest.mark.parametrize(
    ("name", "include", "expected"),
    [
        ("xshards/a.cc", '"io/csv_reader.h"', "xshards/ may not include io/"),
        ("io/a.cc", '"ops/join.h"', "io/ may not include ops/"),
        ("ops/a.h", '"io/csv_reader.h"', "ops/ may not include io/"),
        ("ops/a.cc", '"learn/estimator.h"', "ops/ may not include learn/"),
        ("ops/a.cc", '"join.h"', "not a file seen from the repository root"),
        ("ops/a.cc", "<xshards/plan/plan.h>", "project includes are written"),
        ("xshards/a.h", "<tbb/task_arena.h>", "oneTBB"),
        ("ops/a.cc", "<oneapi/tbb/task_arena.h>", "oneTBB"),
        ("ops/a.cc", "<simdjson.h>", "simdjson"),
        ("io/csv/a.cc", "<simdjson.h>", "simdjson"),
        ("io/csv/a.cc", '"io/json/options.h"', "io/csv/ may not include io/json/"),
        ("io/text/a.cc", '"io/csv/options.h"', "io/text/ may not include io/csv/"),
        (
            "xshards/plan/a.cc",
            '"xshards/execution/fragments/runner.h"',
            "xshards/plan/ may not include xshards/execution/",
        ),
        ("io/csv/a.cc", '"io/csv_reader.h"', "io/csv/ may not include io/"),
        ("io/new/a.cc", '"io/csv/options.h"', "io/new/ has no place in FOLDER_ORDER"),
        (
            "xshards/execution/fragments/a.cc",
            '"xshards/execution/stages/executor.h"',
            "fragments/ may not include xshards/execution/stages/",
        ),
        (
            "io/csv/parse/a.cc",
            '"io/csv/reader.h"',
            "io/csv/parse/ may not include io/csv/",
        ),
        (
            "learn/ps/region/a.cc",
            '"learn/ps/update/sgd.h"',
            "learn/ps/region/ may not include learn/ps/update/",
        ),
        (
            "io/json/new/a.cc",
            '"io/json/options.h"',
            "io/json/ has no order of its folders in FOLDER_ORDER",
        ),
        ("learn/a.cc", "<torch/torch.h>", "LibTorch"),
        ("learn/a.cc", "<tensorflow/c/c_api.h>", "TensorFlow"),
        ("xshards/a.cc", "<pybind11/pybind11.h>", "pybind11"),
    ],
)
def test_forbidden_include_is_named(tree, name, include, expected):
    (problem,) = tree(name, f"\n#include {include}\n")
    assert problem.startswith(f"{name}:2: ")
    assert expected in problem


def test_init_file_in_a_cpp_folder_is_refused(tree):
    assert tree("io/__init__.py", "") == [
        "io/__init__.py:1: would shadow the Python package"
    ]


def python_problems(root, name, text):
    file = root / "python" / "xshards" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return check_layers.check_python(root)


def test_this_repository_keeps_the_order_of_python_packages():
    assert check_layers.check_python(ROOT) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("shards/base.py", "from xshards.interop.labels import label_of"),
        ("shards/base.py", "from xshards import _core, profile"),
        ("io/paths.py", "from xshards.shards import XShards"),
        ("compute/reduce.py", "import os\nimport xshards.expressions"),
        ("learn/pytorch/job.py", "from xshards.learn.training.job import Job"),
        ("interop/frames.py", "def f():\n    from xshards.shards import XShards"),
        (
            "interop/frames.py",
            "if TYPE_CHECKING:\n    from xshards.shards import XShards",
        ),
        ("interop/frames.py", "from pandas import DataFrame"),
    ],
)
def test_allowed_import(tmp_path, name, text):
    assert python_problems(tmp_path, name, text) == []


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "compute/reduce.py",
            "from xshards.shards.exchange_ops import engine_name",
            "compute may not import shards",
        ),
        (
            "interop/frames.py",
            "try:\n    from xshards import shards\nexcept ImportError:\n    pass",
            "interop may not import shards",
        ),
        ("shards/base.py", "import xshards", "shards may not import xshards"),
        (
            "learn/training/job.py",
            "from xshards.learn.tf import Estimator",
            "learn.training may not import learn.tf",
        ),
        (
            "learn/training/job.py",
            "from xshards.learn.pytorch import Estimator",
            "learn.training may not import learn.pytorch",
        ),
        (
            "learn/tf/job.py",
            "from xshards.learn.pytorch import Estimator",
            "frameworks stay apart",
        ),
        ("new/thing.py", "from xshards import errors", "new has no row"),
    ],
)
def test_forbidden_import_is_named(tmp_path, name, text, expected):
    (problem,) = python_problems(tmp_path, name, text)
    assert problem.startswith(f"python/xshards/{name}:")
    assert expected in problem
