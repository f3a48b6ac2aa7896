# SPDX-License-Identifier: Apache-2.0
"""The examples in docstrings run and print what they say."""

import doctest
import importlib
import pkgutil

import numpy as np
import pandas as pd
import pytest

import xshards as xs

MODULES = [
    module.name
    for module in pkgutil.walk_packages(xs.__path__, "xshards.")
    if not module.name.endswith(("demo", "forkserver", "libxshards"))
]


@pytest.mark.parametrize("name", ["xshards", *MODULES])
def test_examples(name):
    module = importlib.import_module(name)
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    names = {"xs": xs, "pd": pd, "np": np}
    report = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=flags)
    for test in doctest.DocTestFinder().find(module, extraglobs=names):
        runner.run(test, out=report.append)
    assert runner.failures == 0, "".join(report)
