# SPDX-License-Identifier: Apache-2.0
"""Exact quantiles of columns too large to gather.

Values are counted in buckets, and only the buckets that contain a wanted quantile are
gathered. A value's bucket never decreases with the value, whatever is rounded on the
way, so the result is exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from xshards.expressions import Expression, col

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Extent", "Interpolation", "quantiles"]

Interpolation = Literal["linear", "lower", "higher", "nearest", "midpoint"]

#: Up to this many values are gathered at once.
GATHERED_VALUES = 4_000_000
_BUCKETS = 4096
_BUCKET = "__bucket__"


@dataclass(frozen=True)
class Extent:
    """Statistics of a column: its rows, values, minimum and maximum."""

    num_rows: int | None
    count: int
    low: float
    high: float


def quantiles(
    column: Any,
    wanted: Sequence[float],
    extent: Extent,
    interpolation: Interpolation = "linear",
) -> Callable[[], list[Any]]:
    """Find quantiles of the values of one column, as ``numpy.quantile`` does.

    Parameters
    ----------
    column
        Shards with this one column.
    wanted
        Which quantiles, between 0 and 1.
    extent
        Of the column.
    interpolation
        How to compute a quantile that lies between two values: interpolated, or one of
        them, which then has the column's type.

    Returns
    -------
    callable
        Gives them: all that is left to do is numpy's, on any thread.
    """
    if extent.count == 0 or not wanted:
        return lambda: [math.nan] * len(wanted)
    (name,) = column.schema.names
    chosen = interpolation in ("lower", "higher", "nearest")
    values = _present(column, name, extent)
    if not chosen:
        values = _as_floats(values, name)
    places = [(extent.count - 1) * one for one in wanted]
    spread = float(extent.high) - float(extent.low)  # numpy would warn of overflow
    if extent.count <= GATHERED_VALUES or spread == 0 or not math.isfinite(spread):
        gathered = _gathered(values, name)
        return lambda: _among(gathered, places, interpolation)
    bucketed = values.with_column(_BUCKET, _bucket(name, extent.low, spread))
    return _select(bucketed, name, places, interpolation)


def _present(column: Any, name: str, extent: Extent) -> Any:
    """Return the values that are not missing; zero copy if none is missing."""
    if extent.num_rows != extent.count:
        return column.filter(col(name).notna())
    return column


def _as_floats(column: Any, name: str) -> Any:
    if column.schema.field(name).type == pa.float64():
        return column
    # Not a cast, which rejects integers that floats cannot represent exactly.
    return column.with_column(name, col(name).astype("float64"))


def _bucket(name: str, low: float, spread: float) -> Expression:
    return ((col(name) - low) * (_BUCKETS / spread)).call("floor").cast(pa.int64())


def _select(
    bucketed: Any, name: str, places: list[float], interpolation: Interpolation
) -> Callable[[], list[Any]]:
    """Find the values at places in the order of all, between two where it is broken."""
    counts = bucketed.group_by(_BUCKET, rows=(name, "count")).to_pandas()
    counts = counts.sort_values(_BUCKET)
    ends = counts["rows"].cumsum().to_numpy()
    ranks = _ranks(places)
    at = sorted(set(np.searchsorted(ends, ranks, side="right").tolist()))
    held = bucketed.filter(col(_BUCKET).isin(counts[_BUCKET].iloc[at].tolist()))
    gathered = _gathered(held, name)
    # Gathered values lack the skipped buckets: ranks shift by their sizes.
    sizes = counts["rows"].to_numpy()
    starts = np.concatenate([[0], np.cumsum(sizes[at])])
    moved = {}
    for rank in ranks:
        position = int(np.searchsorted(ends, rank, side="right"))
        within = rank - (ends[position] - sizes[position])
        moved[rank] = int(starts[at.index(position)] + within)

    def find() -> list[Any]:
        ordered = np.partition(gathered, sorted(set(moved.values())))
        found = {rank: ordered[place] for rank, place in moved.items()}
        return [_between(found, place, interpolation) for place in places]

    return find


def _between(found: dict[int, Any], place: float, interpolation: Interpolation) -> Any:
    below, above = found[math.floor(place)], found[math.ceil(place)]
    part = place - math.floor(place)
    match interpolation:
        case "lower":
            return below
        case "higher":
            return above
        case "nearest":  # of two equally near, the one at an even position
            near = part > 0.5 or (part == 0.5 and math.floor(place) % 2 == 1)
            return above if near else below
        case "midpoint":
            part = 0.5 if part else 0.0
    if below == above:  # also where both are infinite
        return float(below)
    # As in numpy: interpolated from the nearer one, which gives NaN next to infinity.
    with np.errstate(invalid="ignore"):
        if part > 0.5:
            return float(above - (above - below) * (1 - part))
        return float(below + (above - below) * part)


def _gathered(shards: Any, name: str) -> np.ndarray[Any, Any]:
    values: np.ndarray[Any, Any] = shards._select([name]).to_arrow()[name].to_numpy()
    return values


def _among(
    values: np.ndarray[Any, Any], places: list[float], interpolation: Interpolation
) -> list[Any]:
    ranks = _ranks(places)
    ordered = np.partition(values, ranks)
    found = {rank: ordered[rank] for rank in ranks}
    return [_between(found, place, interpolation) for place in places]


def _ranks(places: list[float]) -> list[int]:
    return sorted({side(place) for place in places for side in (math.floor, math.ceil)})
