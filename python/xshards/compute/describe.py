# SPDX-License-Identifier: Apache-2.0
"""Summaries of columns of every kind, with pandas' results."""

from __future__ import annotations

import math
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from xshards._util.deferred import pd
from xshards.compute.quantiles import Extent, quantiles
from xshards.errors import XShardsValueError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["described", "is_number", "kind_of", "select_positions"]

#: The statistics that one pass of the engine computes for a summary.
_MOMENTS = ("count", "mean", "std", "min", "max")


def is_number(column: pa.DataType) -> bool:
    """Return whether values of this type can be summed; booleans do not count."""
    return bool(pa.types.is_integer(column) or pa.types.is_floating(column))


def kind_of(dtype: Any) -> str:
    """Return how pandas summarises a column: as numbers, times, spans or values."""
    if pd.api.types.is_bool_dtype(dtype):
        return "values"
    if pd.api.types.is_numeric_dtype(dtype):
        return "numbers"
    return {"M": "times", "m": "spans"}.get(dtype.kind, "values")


def select_positions(dtypes: Sequence[Any], include: Any, exclude: Any) -> list[int]:
    """Choose the columns that ``DataFrame.describe`` would summarise."""
    blank = pd.DataFrame({n: pd.Series(dtype=dtype) for n, dtype in enumerate(dtypes)})
    chosen: Any = blank
    if include is None and exclude is None:
        some = blank.select_dtypes([np.number, "datetime"])
        chosen = some if len(some.columns) else blank
    elif not isinstance(include, str) or include != "all":
        chosen = blank.select_dtypes(include, exclude)
    elif exclude is not None:
        msg = f"exclude must be None if include is 'all', got {exclude!r}"
        raise XShardsValueError(msg)
    return list(chosen.columns)


def described(
    shards: Any,
    names: Sequence[str],
    dtypes: Sequence[Any],
    percentiles: Sequence[float],
    count_values: Callable[[str], pd.Series[Any]],
) -> list[pd.Series[Any]]:
    """Summarise columns; `count_values` gives how often each value of one occurs."""
    rows = list(pd.Series([0.0]).describe(percentiles=list(percentiles)).index)
    kinds = [kind_of(dtype) for dtype in dtypes]
    wanted: dict[str, list[str]] = {}
    for name, kind in zip(names, kinds, strict=True):
        if kind in ("times", "spans"):
            shares = [f"quantile({share!r})" for share in percentiles]
            moments = [m for m in _MOMENTS if m != "std" or kind == "spans"]
            wanted[name] = [*moments, *shares]
        elif kind == "numbers":
            wanted[name] = list(_MOMENTS)
        else:
            wanted[name] = ["count"]
    # The number of rows has a name that no column has.
    counts_rows = "1" not in names and "*" not in names
    if counts_rows:
        wanted["*"] = ["count"]
    found = shards._aggregate(wanted)
    numbers = {
        name: _moments(found, name)
        for name, kind in zip(names, kinds, strict=True)
        if kind == "numbers"
    }
    num_rows = int(found["count(1)"]) if counts_rows else None
    _add_quantiles(shards, numbers, num_rows, list(percentiles))
    summaries = []
    for name, kind, dtype in zip(names, kinds, dtypes, strict=True):
        if kind == "numbers":
            summary = pd.Series(numbers[name], index=rows, dtype=_float_like(dtype))
        elif kind == "values":
            summary = _of_values(found[f"count({name})"], count_values(name))
        else:
            cells = _of_times(found, name, rows, percentiles, spans=kind == "spans")
            summary = pd.Series(cells)
        summaries.append(summary)
    return summaries


def _moments(found: Mapping[str, Any], name: str) -> dict[str, float]:
    """Pick one column's moments out of what the engine found."""
    values = {function: found[f"{function}({name})"] for function in _MOMENTS}
    return {
        function: math.nan if pd.isna(value) else float(value)
        for function, value in values.items()
    }


def _float_like(dtype: Any) -> Any:
    if isinstance(dtype, np.dtype):
        return np.float64
    if isinstance(dtype, pd.ArrowDtype):
        return pd.ArrowDtype(pa.float64())
    return pd.Float64Dtype()


def _of_values(count: Any, counts: pd.Series[Any]) -> pd.Series[Any]:
    present = counts[counts != 0]
    top, freq = (counts.index[0], counts.iloc[0]) if len(present) else (np.nan, np.nan)
    cells = {"count": count, "unique": len(present), "top": top, "freq": freq}
    return pd.Series(cells, dtype=None if len(present) else "object")


def _of_times(
    found: Mapping[str, Any],
    name: str,
    rows: Sequence[str],
    percentiles: Sequence[float],
    *,
    spans: bool,
) -> dict[str, Any]:
    head = ("count", "mean", "std", "min") if spans else ("count", "mean", "min")
    cells = {function: found[f"{function}({name})"] for function in head}
    for row, share in zip(rows[4:-1], percentiles, strict=True):
        cells[row] = found[f"quantile({name}, {share!r})"]
    return cells | {"max": found[f"max({name})"]}


def _add_quantiles(
    shards: Any,
    columns: Mapping[str, dict[str, float]],
    num_rows: int | None,
    wanted: list[float],
) -> None:
    """Add quantiles to columns whose moments are known, between least and largest.

    What numpy does for a column runs beside what the engine does for the next ones, of
    which no more are held than there are cores.
    """
    running: deque[tuple[str, Future[list[float]]]] = deque()
    rows = list(pd.Series([0.0]).describe(percentiles=wanted).index)[4:-1]

    def take() -> None:
        name, found = running.popleft()
        columns[name].update(zip(rows, found.result(), strict=True))

    cores = shards._context.cores
    with ThreadPoolExecutor(cores) as threads:
        for name, known in columns.items():
            extent = Extent(num_rows, int(known["count"]), known["min"], known["max"])
            find = quantiles(shards._select([name]), wanted, extent)
            running.append((name, threads.submit(find)))
            if len(running) > cores:
                take()
        while running:
            take()
