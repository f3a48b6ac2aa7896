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
    "xshards/execution/runner.h",
    "xshards/export.h",
    "io/csv_reader.h",
    "io/csv/options.h",
    "io/json/options.h",
    "io/text/text_input.h",
    "ops/join.h",
    "learn/estimator.h",
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
        ("xshards/execution/thread_runner.cc", "<tbb/task_arena.h>"),
        ("learn/replica/a.cc", "<torch/torch.h>"),
        ("python/src/a.cpp", "<pybind11/pybind11.h>"),
        ("ops/a.cc", "<arrow/api.h>"),
        ("io/csv/a.cc", '"io/text/text_input.h"'),
        ("io/csv/parse/a.cc", '"io/csv/options.h"'),
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
            '"xshards/execution/runner.h"',
            "xshards/plan/ may not include xshards/execution/",
        ),
        ("io/csv/a.cc", '"io/csv_reader.h"', "io/csv/ may not include io/"),
        ("io/new/a.cc", '"io/csv/options.h"', "io/new/ has no place in FOLDER_ORDER"),
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
