# SPDX-License-Identifier: Apache-2.0
"""The examples of learn's methods run, and public callables are documented.

Methods are renamed after the public class, so that doctest, which goes by the name of
their module, does not find those of base classes by itself.
"""

import doctest
import importlib
import inspect

import numpy as np
import pandas as pd
import pytest

import xshards as xs

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

PUBLIC = [
    "xshards.learn.callbacks",
    "xshards.learn.callbacks.main",
    "xshards.learn.checks",
    "xshards.learn.feeder",
    "xshards.learn.history",
    "xshards.learn.metrics",
    "xshards.learn.monitor",
    "xshards.learn.optimizers",
    "xshards.learn.optimizers.schedule",
    "xshards.learn.pytorch",
    "xshards.learn.pytorch.callbacks",
    "xshards.learn.pytorch.metrics",
    "xshards.learn.row_weights",
    "xshards.learn.training.summaries.event_files",
    "xshards.learn.trigger",
]
from xshards.learn.pytorch import Estimator  # noqa: E402

METHODS = {
    name: function
    for name, function in inspect.getmembers(Estimator, inspect.isfunction)
    if not name.startswith("_")
}


@pytest.mark.parametrize("name", METHODS)
def test_methods_of_estimator(name):
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    runner = doctest.DocTestRunner(verbose=False, optionflags=flags)
    names = {"xs": xs, "pd": pd, "np": np}
    (found,) = doctest.DocTestFinder(recurse=False).find(
        METHODS[name], name, globs=names
    )
    assert found.examples
    report = []
    runner.run(found, out=report.append)
    assert runner.failures == 0, "".join(report)


def methods_of(cls):
    """Yield names and functions of a class's public methods, but for C functions."""
    for name in dir(cls):
        member = getattr(cls, name)
        if not name.startswith("_") and inspect.isroutine(member):
            function = getattr(member, "__func__", member)
            if inspect.isfunction(function):
                yield f"{function.__module__}.{function.__qualname__}", member


def public_callables():
    found = {f"Estimator.{name}": function for name, function in METHODS.items()}
    for name in PUBLIC:
        module = importlib.import_module(name)
        for public in module.__all__:
            value = getattr(module, public)
            found[f"{name}.{public}"] = value
            if inspect.isclass(value) and value is not Estimator:
                found.update(methods_of(value))
    return found


def parameters(function):
    found = inspect.signature(function).parameters.values()
    return [one.name for one in found if one.kind is not one.VAR_POSITIONAL]


CALLABLES = public_callables()


@pytest.mark.parametrize("name", CALLABLES)
def test_public_callables_are_documented(name):
    value = CALLABLES[name]
    text = inspect.getdoc(value)
    assert ">>>" in text, "an example"
    takes_some = parameters(value) not in ([], ["self"])
    if takes_some and not getattr(value, "_is_protocol", False):
        assert "Parameters\n----------" in text
    if inspect.isroutine(value):
        returns = inspect.signature(value).return_annotation
        if returns not in (None, "None"):
            assert "Returns\n-------" in text
