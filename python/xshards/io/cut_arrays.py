# SPDX-License-Identifier: Apache-2.0
"""Data in memory, cut into shards as ``numpy.array_split`` cuts it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from xshards._util.arguments import as_count
from xshards._util.deferred import pd
from xshards.errors import XShardsTypeError, XShardsValueError
from xshards.runtime.convert import to_payload

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xshards import _core

__all__ = ["count_shards", "cut"]


def cut(data: Any, num_shards: int | None, cores: int) -> list[list[_core.Payload]]:
    """Cut data into one payload per shard; returns what each partition holds."""
    plan = _plan(data)
    length = _common_length(plan)
    count = count_shards(length, num_shards, cores)
    return [[to_payload(plan.slice(*bounds))] for bounds in _bounds(length, count)]


def count_shards(length: int, num_shards: int | None, cores: int) -> int:
    """Return the number of shards: as requested, or at most one per core."""
    wanted = as_count("num_shards", num_shards)
    if wanted > length:
        msg = (
            f"The length of data {length} is smaller than the total number of shards "
            f"{wanted}. Please adjust the num_shards option to be at most {length}."
        )
        raise XShardsValueError(msg)
    return wanted or max(1, min(cores, length))


def _bounds(length: int, count: int) -> Iterator[tuple[int, int]]:
    # The first `length % count` shards have one more row, as in numpy.array_split.
    short, longer = divmod(length, count)
    for i in range(count):
        begin = i * short + min(i, longer)
        yield begin, begin + short + (i < longer)


@dataclass(frozen=True)
class _Leaf:
    """Rows that are cut: an array, a frame, a table or a list."""

    rows: Any

    def slice(self, begin: int, end: int) -> Any:
        if isinstance(self.rows, pd.DataFrame | pd.Series):
            return self.rows.iloc[begin:end]
        if isinstance(self.rows, pa.Table):
            return self.rows.slice(begin, end - begin)
        return self.rows[begin:end]

    def leaves(self) -> Iterator[Any]:
        yield self.rows


@dataclass(frozen=True)
class _Nest:
    """A dict, list or tuple whose parts are cut alike."""

    kind: type
    parts: list[_Leaf | _Nest]
    keys: list[Any]

    def slice(self, begin: int, end: int) -> Any:
        values = [part.slice(begin, end) for part in self.parts]
        if self.kind is dict:
            return dict(zip(self.keys, values, strict=True))
        return self.kind(values)

    def leaves(self) -> Iterator[Any]:
        for part in self.parts:
            yield from part.leaves()


def _plan(data: Any) -> _Leaf | _Nest:
    if type(data) is list and not any(map(_holds_rows, data)):
        return _Leaf(data)
    return _nest(data, data)


def _nest(value: Any, data: Any) -> _Leaf | _Nest:
    rows = _as_rows(value)
    if rows is not None:
        return _Leaf(rows)
    if type(value) in (list, tuple) and value:
        return _Nest(type(value), [_nest(part, data) for part in value], [])
    if type(value) is dict and value:
        parts = [_nest(part, data) for part in value.values()]
        return _Nest(dict, parts, list(value))
    raise XShardsTypeError(_refusal(value, data))


def _refusal(value: Any, data: Any) -> str:
    where = "" if value is data else f", with a {type(value).__name__} inside"
    return (
        "The types supported in XShards.partition are "
        "1. ndarray (or torch tensor, DataFrame, Series, Arrow table) "
        "2. a tuple, list, dict of ndarray "
        "3. nested structure made of tuple, list, dict with ndarray as the leaf value; "
        f"also a plain list. But got data of type {type(data).__name__}{where}"
    )


def _holds_rows(value: Any) -> bool:
    if _as_rows(value) is not None:
        return True
    if type(value) in (list, tuple):
        return any(map(_holds_rows, value))
    return type(value) is dict and any(map(_holds_rows, value.values()))


def _as_rows(value: Any) -> Any:
    """Return what can be cut by rows as workers see it; None for other values."""
    if isinstance(value, np.ndarray):
        if value.ndim == 0:
            msg = "a 0-d ndarray cannot be cut into shards"
            raise XShardsValueError(msg)
        return value
    if isinstance(value, pd.DataFrame | pd.Series | pa.Table):
        return value
    if isinstance(value, pa.RecordBatch):
        return pa.table(value)
    if type(value).__module__.partition(".")[0] == "torch" and hasattr(value, "detach"):
        return _as_rows(_tensor_values(value))
    return None


def _tensor_values(tensor: Any) -> np.ndarray[Any, Any]:
    try:
        values: np.ndarray[Any, Any] = tensor.detach().cpu().numpy()
    except TypeError as error:
        msg = f"numpy has no type for a tensor of {tensor.dtype}: convert it first"
        raise XShardsTypeError(msg) from error
    return values


def _common_length(plan: _Leaf | _Nest) -> int:
    lengths = [len(leaf) for leaf in plan.leaves()]
    for length in lengths:
        if length != lengths[0]:
            msg = (
                "the ndarrays in data must all have the same size in first dimension, "
                f"got first ndarray of size {lengths[0]} and another {length}"
            )
            raise XShardsValueError(msg)
    return lengths[0]
