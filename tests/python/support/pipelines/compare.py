# SPDX-License-Identifier: Apache-2.0
"""Comparison of results: values and dtypes; rows in order only where it is defined."""

import re
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pandas as pd

from pipelines.known_differences import comparable


@dataclass(frozen=True)
class Difference:
    """How two results differ; a smaller program must differ in the same way."""

    kind: str
    detail: str

    @property
    def sort(self):
        """What two programs that differ in the same way have in common."""
        if self.kind not in ("error", "dtype"):
            return self.kind
        return self.kind, re.sub(r"'[^']*'|\(.*\)|\d+", "_", self.detail)[:80]

    def __str__(self):
        return f"{self.kind}: {self.detail}"


def difference(actual, expected, program):
    """Find how a result differs from the expected one; None if it does not."""
    actual, expected = comparable(actual, expected, program)
    if isinstance(expected, pd.DataFrame):
        return _of_frames(actual, expected, program.order, program.inexact)
    if isinstance(expected, pd.Series):
        if not isinstance(actual, pd.Series):
            return Difference("type", f"{type(actual)} and {type(expected)}")
        frames = [one.rename("values").reset_index() for one in (actual, expected)]
        return _of_frames(*frames, program.order, program.inexact)
    return _of_scalars(actual, expected, bool(program.inexact))


def _of_scalars(actual, expected, inexact):
    pairs = [pd.Series([value]) for value in (actual, expected)]
    if np.isscalar(actual) and isinstance(actual, np.generic):
        pairs = [pd.Series(np.asarray([value])) for value in (actual, expected)]
    return _of_columns("result", *pairs, inexact)


def _of_frames(actual, expected, order, inexact):
    if list(actual) != list(expected):
        return Difference("columns", f"{list(actual)} and {list(expected)}")
    if len(actual) != len(expected):
        return Difference("rows", f"{len(actual)} and {len(expected)}")
    for name in expected:
        dtypes = actual[name].dtype, expected[name].dtype
        if dtypes[0] != dtypes[1]:
            return Difference(
                "dtype", f"column {name!r} is {dtypes[0]}, not {dtypes[1]}"
            )
    if isinstance(order, list):
        for name in order:
            found = _of_columns(name, actual[name], expected[name], name in inexact)
            if found is not None:
                return Difference("order", found.detail)
    exact = [name for name in expected if name not in inexact]
    in_order = actual, expected
    found = _of_columns_by_name(
        _sorted(actual, exact), _sorted(expected, exact), inexact
    )
    if found is None and order == "all":
        found = _of_columns_by_name(*in_order, inexact)
        return found and Difference("order", found.detail)
    return found


def _of_columns_by_name(actual, expected, inexact):
    for name in expected:
        found = _of_columns(name, actual[name], expected[name], name in inexact)
        if found is not None:
            near = _of_columns(name, actual[name], expected[name], inexact=True)
            return found if near else Difference("last digits", found.detail)
    return None


def _sorted(df, exact):
    """Sort rows by all columns, those of exact values first."""
    rest = [name for name in df if name not in exact]
    keys = pd.DataFrame({n: df[n].map(_key) for n in [*exact, *rest]}, index=df.index)
    order = sorted(range(len(df)), key=lambda row: tuple(keys.iloc[row]))
    return df.iloc[order].reset_index(drop=True)


def _key(cell):
    if pd.api.types.is_scalar(cell) and pd.isna(cell):
        return "missing"
    if isinstance(cell, int | np.integer) and not isinstance(cell, bool):
        return f"{int(cell) + 2**64:030d}"
    if isinstance(cell, Decimal):  # 3 and 3.00 are equal
        return str(cell.normalize())
    if isinstance(cell, float | np.floating):
        return f"{float(cell) + 0.0:+.8e}"
    return repr(cell)


def _of_columns(name, actual, expected, inexact):
    options = {"rtol": 1e-9, "atol": 1e-9} if inexact else {"check_exact": True}
    try:
        pd.testing.assert_series_equal(
            actual, expected, check_names=False, check_index=False, **options
        )
    except AssertionError as error:
        # pandas tells -0.0 from 0.0 nowhere; nor does it NaN from None in objects.
        if _equal_cells(actual, expected):
            return None
        return Difference("values", f"column {name!r}: {error}")
    return None


def _equal_cells(actual, expected):
    """Tell whether columns of objects differ in no value."""
    if actual.dtype != object or expected.dtype != object:
        return False
    return all(
        (type(one) is type(other) and one == other)
        for one, other in zip(actual, expected, strict=True)
        if not (pd.isna(one) and type(one) is type(other))
    )
