# SPDX-License-Identifier: Apache-2.0
"""Summaries of numeric columns, with pandas' results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["MOMENTS", "describe", "is_number"]

#: What one pass of the engine gives for a summary.
MOMENTS = ("count", "mean", "std", "min", "max")
_QUARTILES = {"25%": 0.25, "50%": 0.5, "75%": 0.75}


def is_number(column: pa.DataType) -> bool:
    """Tell whether values of this type add up; truth values do not count."""
    return bool(pa.types.is_integer(column) or pa.types.is_floating(column))


def describe(
    names: list[str], moments: Mapping[str, Any], values: pa.Table
) -> pd.DataFrame:
    """Put a summary together: moments from the engine, exact quartiles from values."""
    columns = {}
    for name in names:
        column = {
            function: _number(moments[f"{function}({name})"]) for function in MOMENTS
        }
        column |= _quartiles(values.column(name))
        columns[name] = column
    order = ["count", "mean", "std", "min", *_QUARTILES, "max"]
    return pd.DataFrame(columns, index=order, dtype=np.float64)


def _number(value: Any) -> float:
    return float("nan") if pd.isna(value) else float(value)


def _quartiles(column: pa.ChunkedArray) -> dict[str, float]:
    numbers = column.drop_null().to_numpy().astype(np.float64)
    numbers = numbers[~np.isnan(numbers)]
    if len(numbers) == 0:
        return dict.fromkeys(_QUARTILES, float("nan"))
    found = np.quantile(numbers, list(_QUARTILES.values()), overwrite_input=True)
    return dict(zip(_QUARTILES, map(float, found), strict=True))
