# SPDX-License-Identifier: Apache-2.0
"""XShards is made of themes: classes that know `Base`, and not each other."""

import ast
import sys
from pathlib import Path

import pytest

import xshards as xs
from xshards.shards.base import Base
from xshards.shards.protocol import ShardMethods

THEMES = xs.XShards.__bases__
# `name_methods` gives methods the module of the public class, not the classes.
MODULES = [theme.__module__ for theme in THEMES]


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.__name__)
def test_a_theme_inherits_only_base(theme):
    assert theme.__bases__ == (Base,)


@pytest.mark.parametrize("module", MODULES)
def test_a_theme_imports_no_other(module):
    tree = ast.parse(Path(sys.modules[module].__file__).read_text())
    imported = {
        node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
    }
    assert not imported.intersection(MODULES)


def test_no_two_themes_define_one_method():
    of_every_class = vars(type("Empty", (Base,), {}))
    owners = {}
    for theme in THEMES:
        for name in vars(theme):
            if name not in of_every_class:
                owners.setdefault(name, []).append(theme.__name__)
    assert {name: many for name, many in owners.items() if len(many) > 1} == {}


def test_every_method_that_themes_ask_for_is_defined():
    asked = {name for name, value in vars(ShardMethods).items() if _is_member(value)}
    defined = {name for theme in THEMES for name in vars(theme)}
    assert len(asked) > 20
    assert asked <= defined


def _is_member(value):
    function = getattr(value, "fget", value)
    return callable(function) and hasattr(function, "__code__") and bool(value.__doc__)
