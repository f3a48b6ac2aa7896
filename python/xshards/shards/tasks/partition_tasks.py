# SPDX-License-Identifier: Apache-2.0
"""What worker processes do with shards of any kind, one partition at a time.

Every function takes the partition's number and its payloads, and gives payloads. A
payload that passes unchanged is neither read nor copied.
"""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from xshards import _core
from xshards.compute.comparable_bytes import key_of
from xshards.errors import XShardsKeyError, XShardsTypeError, XShardsValueError
from xshards.interop.astype import converted
from xshards.interop.frames import cells_of, columns_as_objects, convert_column
from xshards.interop.labels import label_of
from xshards.interop.nested_arrays import count_leaves, part_names
from xshards.runtime.convert import is_indexed, to_payload, to_value

if TYPE_CHECKING:
    from xshards._core import Payload
    from xshards.interop.frames import FrameInfo

__all__ = [
    "add_keys",
    "convert_columns",
    "count_parts",
    "hold_objects",
    "measure",
    "pair",
    "stack_pairs",
    "take_item",
    "values_of",
]


def values_of(payloads: list[Payload], info: FrameInfo | None) -> list[Any]:
    """Return the values that payloads hold."""
    return [to_value(payload, "pandas", info) for payload in payloads]


def take_item(
    partition: int, payloads: list[Payload], info: FrameInfo | None, key: Any
) -> list[Payload]:
    """Return ``shard[key]`` for every shard."""
    items = []
    for payload in payloads:
        item = _part(payload, key)
        if item is None:
            value = to_value(payload, "pandas", info)
            made = _item(value, key, partition)
            item = to_payload(made, indexed=is_indexed(payload))
        items.append(item)
    return items


def _part(payload: Payload, key: Any) -> Payload | None:
    """Return a part of nested arrays without reading them; None if it is no part."""
    if payload.kind != "Tensors":
        return None
    leaves, text = payload.tensors()
    structure = json.loads(text)
    if structure == 0:
        return None
    parts, names = structure[1], part_names(structure)
    if type(key) not in (int, str) or key not in names:
        return None
    position = names.index(key)
    begin = sum(count_leaves(part) for part in parts[:position])
    count = count_leaves(parts[position])
    chosen = leaves[begin : begin + count]
    if not chosen:
        return None
    return _core.Payload.from_tensors(chosen, json.dumps(parts[position]))


def _item(value: Any, key: Any, partition: int) -> Any:
    if not hasattr(value, "__getitem__"):
        msg = (
            "No selection operation available for this XShards: partition "
            f"{partition} holds a {type(value).__name__}"
        )
        raise XShardsTypeError(msg)
    try:
        return value[key]
    except (KeyError, IndexError, TypeError, ValueError) as error:
        msg = (
            f"Invalid key for this XShards: {key!r} of a {type(value).__name__} in "
            f"partition {partition}"
        )
        raise XShardsKeyError(msg) from error


def hold_objects(
    _partition: int, payloads: list[Payload], names: list[str]
) -> list[Payload]:
    """Make Python objects of the cells of some columns."""
    return [
        _core.Payload.from_table(columns_as_objects(payload.table(), names))
        for payload in payloads
    ]


def convert_columns(
    _partition: int,
    payloads: list[Payload],
    dtypes: dict[str, Any],
    parts: dict[str, set[str]],
) -> list[Payload]:
    """Convert columns to other dtypes; of times that become text, write these parts."""
    results = []
    for payload in payloads:
        table = payload.table()
        for name, dtype in dtypes.items():
            own = parts.get(name, ())
            table = convert_column(
                table, name, functools.partial(converted, dtype=dtype, parts=own)
            )
        results.append(_core.Payload.from_table(table))
    return results


def add_keys(
    _partition: int, payloads: list[Payload], named: list[tuple[str, str]]
) -> list[Payload]:
    """Add columns of bytes that are equal where the cells of others are equal."""
    return [
        _core.Payload.from_table(_with_keys(payload.table(), named))
        for payload in payloads
    ]


def _with_keys(table: pa.Table, named: list[tuple[str, str]]) -> pa.Table:
    for name, key in named:
        label = label_of(table.schema.field(name))
        keys = [key_of(label, cell) for cell in cells_of(table, name)]
        table = table.append_column(key, pa.array(keys, pa.large_binary()))
    return table


def measure(
    _partition: int, payloads: list[Payload], info: FrameInfo | None
) -> list[Payload]:
    """Return ``len(shard)`` for every shard, 1 for what has no length."""
    return [to_payload(_length(payload, info)) for payload in payloads]


def _length(payload: Payload, info: FrameInfo | None) -> int:
    if payload.kind == "Table":
        return payload.num_rows
    if payload.kind == "Tensors":
        leaves, text = payload.tensors()
        structure = json.loads(text)
        if structure == 0:
            shape = leaves[0][1]
            return shape[0] if shape else 1
        return len(structure[1])
    value = to_value(payload, "pandas", info)
    try:
        return len(value)
    except TypeError:
        return 1


def count_parts(
    _partition: int, payloads: list[Payload], info: FrameInfo | None
) -> list[Payload]:
    """Return the length of every shard that is a list or tuple, -1 for others."""
    return [
        to_payload(len(value) if isinstance(value, list | tuple) else -1)
        for value in values_of(payloads, info)
    ]


def pair(
    partition: int,
    left: list[Payload],
    right: list[Payload],
    left_info: FrameInfo | None,
    right_info: FrameInfo | None,
) -> list[Payload]:
    """Return tuples of a shard of the left and one of the right."""
    if len(left) != len(right):
        msg = (
            "The two XShards should have the same number of elements in each "
            f"partition, but partition {partition} has {len(left)} and {len(right)}"
        )
        raise XShardsValueError(msg)
    pairs = zip(values_of(left, left_info), values_of(right, right_info), strict=True)
    return [to_payload(both) for both in pairs]


def stack_pairs(
    partition: int, payloads: list[Payload], info: FrameInfo | None
) -> list[Payload]:
    """Stack the (feature, label) pairs of a partition to one dict of arrays."""
    pairs = values_of(payloads, info)
    for value in pairs:
        if not isinstance(value, tuple | list) or len(value) != 2:
            msg = (
                "stack_feature_labels works on shards that are (feature, label) "
                f"pairs, but partition {partition} holds a {type(value).__name__}"
            )
            raise XShardsTypeError(msg)
    if not pairs:
        return []
    features, labels = zip(*pairs, strict=True)
    stacked = {"x": _stack(features), "y": _stack(labels)}
    return [to_payload(stacked)]


def _stack(values: Any) -> np.ndarray[Any, Any]:
    return np.stack([np.asarray(value, dtype=np.float32) for value in values])
