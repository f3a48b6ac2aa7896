# SPDX-License-Identifier: Apache-2.0
"""Summaries of numeric columns, with pandas' results."""

from __future__ import annotations

import math
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from xshards._deferred import pd
from xshards._quantiles import Extent, quantiles

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


def quartiles(
    shards: Any,
    columns: Mapping[str, dict[str, float]],
    num_rows: int | None,
    cores: int,
) -> None:
    """Add the quartiles to columns whose moments are known.

    What numpy does for a column runs beside what the engine does for the next ones, of
    which no more are held than there are cores.
    """
    wanted = list(_QUARTILES.values())
    running: deque[tuple[str, Future[list[float]]]] = deque()

    def take() -> None:
        name, found = running.popleft()
        columns[name].update(zip(_QUARTILES, found.result(), strict=True))

    with ThreadPoolExecutor(cores) as threads:
        for name, known in columns.items():
            extent = Extent(num_rows, int(known["count"]), known["min"], known["max"])
            find = quantiles(shards.select([name]), wanted, extent)
            running.append((name, threads.submit(find)))
            if len(running) > cores:
                take()
        while running:
            take()


def table(columns: Mapping[str, Mapping[str, float]]) -> pd.DataFrame:
    """Put the summaries of columns side by side."""
    order = ["count", "mean", "std", "min", *_QUARTILES, "max"]
    return pd.DataFrame(columns, index=order, dtype=np.float64)
