# SPDX-License-Identifier: Apache-2.0
"""The examples in docstrings of modules that need TensorFlow."""

import doctest
import importlib
import pkgutil

import numpy as np
import pandas as pd
import pytest

pytestmark = pytest.mark.tensorflow

import xshards as xs  # noqa: E402
import xshards.learn.tf1  # noqa: E402

MODULES = [
    module.name
    for module in pkgutil.walk_packages(xs.learn.tf1.__path__, "xshards.learn.tf1.")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    module = importlib.import_module(name)
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    names = {"xs": xs, "pd": pd, "np": np}
    report = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=flags)
    for test in doctest.DocTestFinder().find(module, extraglobs=names):
        runner.run(test, out=report.append)
    assert runner.failures == 0, "".join(report)
