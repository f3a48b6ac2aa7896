# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of reductions."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import xshards as xs

PLAIN = ["mean", "median", "min", "max"]

REDUCTIONS = [*PLAIN, "sum", "prod", "std", "var", "any", "all"]


def shards_of(df, n):
    """Partition rows; some partitions are empty, among them the last."""
    return xs.from_pandas(df, n).union(xs.from_pandas(df, 1).limit(0))


def assert_same_scalar(actual, expected, size=1.0):
    """Compare values, which are of columns up to some size, and their types."""
    assert type(actual) is type(expected), (actual, expected)
    if pd.isna(expected):
        assert pd.isna(actual)
    elif isinstance(expected, float | np.floating):
        single = isinstance(expected, np.float32)
        close = 1e-4 if single else 1e-9
        assert actual == pytest.approx(expected, rel=close, abs=close * size)
    else:
        assert actual == expected


def outcome(call, *arguments, **options):
    """Give what a call returns, or that it has no meaning."""
    try:
        with np.errstate(all="ignore"):
            return call(*arguments, **options)
    except (TypeError, pa.ArrowInvalid):  # the latter where Arrow's meet other numbers
        return TypeError
