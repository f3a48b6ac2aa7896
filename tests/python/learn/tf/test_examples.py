# SPDX-License-Identifier: Apache-2.0
"""The examples of the Keras Estimator run, and its public methods are documented."""

import doctest
import importlib
import inspect

import numpy as np
import pandas as pd
import pytest

import xshards as xs
from xshards.learn.tf import Estimator

pytestmark = pytest.mark.tensorflow


@pytest.mark.parametrize("name", ["estimator", "file_methods"])
def test_examples(name):
    module = importlib.import_module(f"xshards.learn.tf.{name}")
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    names = {"xs": xs, "pd": pd, "np": np}
    report = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=flags)
    for test in doctest.DocTestFinder().find(module, extraglobs=names):
        runner.run(test, out=report.append)
    assert runner.failures == 0, "".join(report)


def test_methods_say_what_they_take_and_return():
    for name, function in inspect.getmembers(Estimator, inspect.isfunction):
        if name.startswith("_"):
            continue
        text = inspect.getdoc(function)
        parameters = list(inspect.signature(function).parameters)
        assert text, name
        assert len(parameters) <= 1 or "Parameters" in text, name
