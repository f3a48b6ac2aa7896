# SPDX-License-Identifier: Apache-2.0
"""group_by with the aggregates, and the column names, of Spark.

The engine computes what it can. Lists and sets of values, which are Python's lists here
and arrays there, are gathered by pandas in worker processes, after the rows of a group
were brought together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

import xshards
from xshards.compat.errors import OrcaInputError
from xshards.compute.describe import is_number
from xshards.interop.aggregate_functions import AGGREGATES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xshards.shards import XShards

__all__ = ["group_by"]

# How Spark names the result, where it is not function(column).
_RESULTS = {"mean": "avg({})", "sumDistinct": "sum(DISTINCT {})"}


def _listed(values: pd.Series[Any]) -> list[Any]:
    return list(values.dropna())


def _distinct(values: pd.Series[Any]) -> list[Any]:
    return list(values.dropna().unique())


_IN_PANDAS: dict[str, Callable[[Any], Any]] = {
    "collect_list": _listed,
    "collect_set": _distinct,
}
# The engine's names of Spark's functions; an exact count is as good as an estimate.
_NATIVE = {
    name: "nunique" if one.counts_distinct else one.spark_names[0]
    for one in AGGREGATES
    for name in one.spark_names
    if name not in _IN_PANDAS
}
_NUMERIC = frozenset(
    name for one in AGGREGATES if one.needs_numbers for name in one.spark_names
)


def group_by(
    frames: XShards,
    columns: str | Sequence[str],
    agg: str | Sequence[str] | Mapping[str, str | Sequence[str]],
    *,
    join: bool,
) -> XShards:
    """Aggregate the rows of each group; with `join`, give them to every row."""
    keys = [columns] if isinstance(columns, str) else list(columns)
    pairs = _expand(frames, keys, agg)
    native = [pair for pair in pairs if pair[1] in _NATIVE]
    others = [pair for pair in pairs if pair[1] not in _NATIVE]
    results = []
    if native or not others:
        results.append(_aggregate(frames, keys, native))
    if others:
        results.append(_gather(frames, keys, others))
    grouped = (
        results[0] if len(results) == 1 else _combine(results[0], results[1], keys)
    )
    names = [*keys, *dict.fromkeys(_result(*pair) for pair in pairs)]
    grouped = grouped.select(names)
    return frames.merge(grouped, how="left", on=keys) if join and keys else grouped


def _expand(frames: XShards, keys: list[str], agg: Any) -> list[tuple[str, str]]:
    if isinstance(agg, Mapping):
        pairs = [
            (column, function)
            for column, functions in agg.items()
            for function in ([functions] if isinstance(functions, str) else functions)
        ]
    else:
        functions = [agg] if isinstance(agg, str) else list(agg)
        schema = frames.schema
        pairs = [
            (column, function)
            for column in schema.names
            if column not in keys
            for function in functions
            if function not in _NUMERIC or is_number(schema.field(column).type)
        ]
    for _, function in pairs:
        if function not in _NATIVE and function not in _IN_PANDAS:
            known = ", ".join([*_NATIVE, *_IN_PANDAS])
            msg = f"aggregate function {function!r} is not one of {known}"
            raise OrcaInputError(msg)
    return pairs


def _result(column: str, function: str) -> str:
    if (column, function) == ("*", "count"):
        return "count(1)"
    return _RESULTS.get(function, f"{function}({{}})").format(column)


def _aggregate(
    frames: XShards, keys: list[str], pairs: list[tuple[str, str]]
) -> XShards:
    functions: dict[str, list[str]] = {}
    renamed: dict[str, str] = {}
    for column, function in pairs:
        ours = _NATIVE[function]
        listed = functions.setdefault(column, [])
        if ours not in listed:
            listed.append(ours)
        if column != "*" and f"{ours}({column})" != _result(column, function):
            renamed[f"{ours}({column})"] = _result(column, function)
    grouped = frames.group_by(keys, functions)
    return grouped.rename(renamed) if renamed else grouped


def _gather(frames: XShards, keys: list[str], pairs: list[tuple[str, str]]) -> XShards:
    needed = list(dict.fromkeys([*keys, *(column for column, _ in pairs)]))
    rows = frames.select(needed)
    together = rows.partition_by(keys) if keys else rows.repartition(1)
    return together.transform_shard(_gather_groups, keys, pairs)


def _gather_groups(
    frame: pd.DataFrame, keys: list[str], pairs: list[tuple[str, str]]
) -> pd.DataFrame:
    if not keys:
        cells = {_result(c, f): [_IN_PANDAS[f](frame[c])] for c, f in pairs}
        return pd.DataFrame(cells)
    groups = frame.groupby(keys, dropna=False, sort=False)
    columns = {_result(c, f): groups[c].apply(_IN_PANDAS[f]) for c, f in pairs}
    return pd.DataFrame(columns).reset_index()


def _combine(native: XShards, gathered: XShards, keys: list[str]) -> XShards:
    if keys:
        return native.merge(gathered, on=keys)
    row = pd.concat([native.to_pandas(), gathered.to_pandas()], axis=1)
    return xshards.from_pandas(row, 1, context=native._context)
