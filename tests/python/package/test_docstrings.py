# SPDX-License-Identifier: Apache-2.0
"""The examples in docstrings run and print what they say."""

import doctest
import importlib
import inspect
import pkgutil

import numpy as np
import pandas as pd
import pytest

import xshards as xs

MODULES = [
    module.name
    for module in pkgutil.walk_packages(xs.__path__, "xshards.")
    if not module.name.endswith(("demo", "forkserver", "libxshards"))
    # In tests/python/learn/tf1/test_tensorflow_examples.py.
    and not module.name.startswith(("xshards.learn.tf", "xshards.compat.tfpark."))
]


class Finder(doctest.DocTestFinder):
    """Finds the methods of a theme, which `name_methods` gives another module."""

    def _from_module(self, module, object):
        if inspect.isfunction(object):
            return module.__dict__ is object.__globals__
        return super()._from_module(module, object)


def test_methods_of_themes_are_found():
    module = importlib.import_module("xshards.shards.row_ops")
    found = {test.name for test in Finder().find(module)}
    assert "xshards.shards.row_ops.RowOps.select" in found


@pytest.mark.parametrize("name", ["xshards", *MODULES])
def test_examples(name):
    module = importlib.import_module(name)
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    names = {"xs": xs, "pd": pd, "np": np}
    report = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=flags)
    for test in Finder().find(module, extraglobs=names):
        runner.run(test, out=report.append)
    assert runner.failures == 0, "".join(report)
