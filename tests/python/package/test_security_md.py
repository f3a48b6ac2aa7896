# SPDX-License-Identifier: Apache-2.0
"""SECURITY.md: each promise names its tests, and these exist."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "SECURITY.md").read_text()
PROMISES = TEXT.partition("## What we promise")[2].partition("## What we do not")[0]
NAMED = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PROMISES)


def test_every_promise_names_tests():
    promises = re.split(r"^### ", PROMISES, flags=re.MULTILINE)[1:]
    assert len(promises) >= 5
    for promise in promises:
        assert re.search(r"^- `tests/[\w/]+\.py::\w+`$", promise, re.MULTILINE), promise


@pytest.mark.parametrize(("file", "name"), NAMED, ids=[name for _, name in NAMED])
def test_named_tests_exist_and_are_run(file, name):
    functions = {
        node.name: node
        for node in ast.parse((ROOT / file).read_text()).body
        if isinstance(node, ast.FunctionDef)
    }
    assert name in functions, f"{file} has no test {name}"
    marks = [ast.unparse(mark) for mark in functions[name].decorator_list]
    assert not any("skip" in mark or "xfail" in mark for mark in marks)
