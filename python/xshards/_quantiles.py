# SPDX-License-Identifier: Apache-2.0
"""Exact quantiles of columns too large to gather.

Values are counted in buckets, which tells the buckets the wanted ones are in; only what
is in those is gathered. A value's bucket never decreases with the value, whatever is
rounded on the way, so the result is exact.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from xshards.expressions import Expression, col

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["quantiles"]

#: Up to this many values are gathered at once.
GATHERED_VALUES = 4_000_000
_BUCKETS = 4096
_BUCKET = "__bucket__"


def quantiles(
    column: Any, wanted: Sequence[float], count: int, low: float, high: float
) -> list[float]:
    """Find quantiles of the values of one column, as ``numpy.quantile`` does.

    Parameters
    ----------
    column
        Shards with this one column.
    wanted
        Which quantiles, between 0 and 1.
    count, low, high
        How many values are there, the least and the largest.
    """
    if count == 0:
        return [math.nan] * len(wanted)
    (name,) = column.columns
    values = column.filter(col(name).notna()).with_column(
        name, col(name).cast(pa.float64())
    )
    places = [(count - 1) * one for one in wanted]
    spread = high - low
    if count <= GATHERED_VALUES or spread == 0 or not math.isfinite(spread):
        return _among(_gathered(values, name), places)
    bucketed = values.with_column(_BUCKET, _bucket(name, low, spread))
    return _select(bucketed, name, places)


def _bucket(name: str, low: float, spread: float) -> Expression:
    return ((col(name) - low) * (_BUCKETS / spread)).call("floor").cast(pa.int64())


def _select(bucketed: Any, name: str, places: list[float]) -> list[float]:
    """Find the values at places in the order of all, between two where it is broken."""
    counts = bucketed.group_by(_BUCKET, {"*": "count"}).to_pandas()
    counts = counts.sort_values(_BUCKET)
    ends = counts["count(1)"].cumsum().to_numpy()
    ranks = _ranks(places)
    at = sorted(set(np.searchsorted(ends, ranks, side="right").tolist()))
    held = bucketed.filter(col(_BUCKET).isin(counts[_BUCKET].iloc[at].tolist()))
    values = np.sort(_gathered(held, name))
    # What is gathered has gaps where buckets were left out: ranks move by their sizes.
    sizes = counts["count(1)"].to_numpy()
    starts = np.concatenate([[0], np.cumsum(sizes[at])])
    found = {}
    for rank in ranks:
        position = int(np.searchsorted(ends, rank, side="right"))
        within = rank - (ends[position] - sizes[position])
        found[rank] = float(values[starts[at.index(position)] + within])
    return [_between(found, place) for place in places]


def _between(found: dict[int, float], place: float) -> float:
    below, above = found[math.floor(place)], found[math.ceil(place)]
    if below == above:  # also where both are infinite
        return below
    return below + (above - below) * (place - math.floor(place))


def _gathered(shards: Any, name: str) -> np.ndarray[Any, Any]:
    values: np.ndarray[Any, Any] = shards.select([name]).to_arrow()[name].to_numpy()
    return values


def _among(values: np.ndarray[Any, Any], places: list[float]) -> list[float]:
    ranks = _ranks(places)
    ordered = np.partition(values, ranks)
    found = {rank: float(ordered[rank]) for rank in ranks}
    return [_between(found, place) for place in places]


def _ranks(places: list[float]) -> list[int]:
    return sorted({side(place) for place in places for side in (math.floor, math.ceil)})
