# SPDX-License-Identifier: Apache-2.0
"""Summaries of numeric columns, with pandas' results."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa

from xshards._quantiles import quantiles

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["MOMENTS", "is_number", "moments", "quartiles", "table"]

#: What one pass of the engine gives for a summary.
MOMENTS = ("count", "mean", "std", "min", "max")
_QUARTILES = {"25%": 0.25, "50%": 0.5, "75%": 0.75}


def is_number(column: pa.DataType) -> bool:
    """Tell whether values of this type add up; truth values do not count."""
    return bool(pa.types.is_integer(column) or pa.types.is_floating(column))


def moments(found: Mapping[str, Any], name: str) -> dict[str, float]:
    """Pick one column's moments out of what the engine found."""
    values = {function: found[f"{function}({name})"] for function in MOMENTS}
    return {
        function: math.nan if pd.isna(value) else float(value)
        for function, value in values.items()
    }


def quartiles(column: Any, known: Mapping[str, float]) -> dict[str, float]:
    """Find the quartiles of shards of one column whose moments are known."""
    count = int(known["count"])
    wanted = list(_QUARTILES.values())
    found = quantiles(column, wanted, count, known["min"], known["max"])
    return dict(zip(_QUARTILES, found, strict=True))


def table(columns: Mapping[str, Mapping[str, float]]) -> pd.DataFrame:
    """Put the summaries of columns side by side."""
    order = ["count", "mean", "std", "min", *_QUARTILES, "max"]
    return pd.DataFrame(columns, index=order, dtype=np.float64)
