# SPDX-License-Identifier: Apache-2.0
"""Conversion of shards that are not DataFrames to rows of a table, and back.

Rows are what the engine moves between partitions. So arrays become a table with one
fixed-width column per leaf, lists one with one row per item, other shards one with one
row per shard; the engine spreads the rows, in order, and what arrives is put together.
Both steps run in worker processes, one partition at a time.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import cloudpickle
import numpy as np
import pyarrow as pa

from xshards import _core
from xshards.runtime.convert import to_payload, to_value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from xshards.interop.frames import FrameInfo

__all__ = [
    "Layout",
    "describe",
    "items_from_table",
    "items_to_table",
    "rows_from_table",
    "rows_to_table",
    "shared_layout",
]


_PLAIN = frozenset({bool, bytes, float, int, str, type(None)})


@dataclass(frozen=True)
class Layout:
    """What nested arrays have in common, whatever their number of rows."""

    structure: str
    #: numpy's type string and the shape of one row, for every leaf.
    leaves: tuple[tuple[str, tuple[int, ...]], ...]

    @property
    def schema(self) -> pa.Schema:
        """The table that holds such arrays, one column a leaf."""
        types = [_row_type(dtype, shape) for dtype, shape in self.leaves]
        return pa.schema([(str(i), kind) for i, kind in enumerate(types)])


def describe(
    _partition: int, payloads: list[_core.Payload], info: FrameInfo | None
) -> list[_core.Payload]:
    """Return each shard's layout, if it has one, and whether it is a list."""
    return [to_payload(_describe(payload, info)) for payload in payloads]


def _describe(
    payload: _core.Payload, info: FrameInfo | None
) -> tuple[Layout | None, bool]:
    if payload.kind != "Tensors":
        return None, isinstance(to_value(payload, "pandas", info), list)
    leaves, structure = payload.tensors()
    is_list = structure.startswith('["list"')
    lengths = {shape[0] if shape else None for _, shape, _ in leaves}
    if len(lengths) != 1 or None in lengths:
        return None, is_list
    rows = tuple((dtype, tuple(shape[1:])) for dtype, shape, _ in leaves)
    return Layout(structure, rows), is_list


def shared_layout(described: Iterable[tuple[Layout | None, bool]]) -> Layout | None:
    """Return the layout that all shards have; None if they differ."""
    layouts = {layout for layout, _ in described}
    return layouts.pop() if len(layouts) == 1 else None


def rows_to_table(
    _partition: int, payloads: list[_core.Payload], layout: Layout
) -> list[_core.Payload]:
    """View arrays as one table whose cells are the bytes of a row, without a copy."""
    schema = layout.schema
    batches = []
    for payload in payloads:
        leaves, _ = payload.tensors()
        rows = leaves[0][1][0]
        columns = [
            pa.nulls(rows)
            if pa.types.is_null(field.type)
            else pa.Array.from_buffers(field.type, rows, [None, data])
            for field, (_, _, data) in zip(schema, leaves, strict=True)
        ]
        batches.append(pa.record_batch(columns, schema=schema))
    return [_core.Payload.from_table(pa.Table.from_batches(batches, schema))]


def rows_from_table(
    _partition: int, payloads: list[_core.Payload], layout: Layout
) -> list[_core.Payload]:
    """Put the rows of a table together to arrays."""
    table = payloads[0].table() if payloads else layout.schema.empty_table()
    leaves = [
        (dtype, [table.num_rows, *shape], _column_bytes(column))
        for (dtype, shape), column in zip(layout.leaves, table.columns, strict=True)
    ]
    return [_core.Payload.from_tensors(leaves, layout.structure)]


def _row_type(dtype: str, shape: tuple[int, ...]) -> pa.DataType:
    width = np.dtype(dtype).itemsize * int(np.prod(shape, dtype=np.int64))
    return pa.binary(width) if width > 0 else pa.null()


def _column_bytes(column: pa.ChunkedArray) -> pa.Buffer:
    if pa.types.is_null(column.type) or len(column) == 0:
        return pa.py_buffer(b"")
    whole = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    width = whole.type.byte_width
    return whole.buffers()[1].slice(whole.offset * width, len(whole) * width)


def items_to_table(
    _partition: int,
    payloads: list[_core.Payload],
    info: FrameInfo | None,
    flatten: bool,  # noqa: FBT001 - called by position, in a worker
) -> list[_core.Payload]:
    """Make a row of every shard or, to `flatten` lists, of every item in one."""
    values = [to_value(payload, "pandas", info) for payload in payloads]
    if flatten:
        values = [item for value in values for item in value]
    items = pa.array(map(_pickled, values), type=pa.large_binary())
    return [_core.Payload.from_table(pa.table({"item": items}))]


def _pickled(value: Any) -> bytes:
    # For plain values pickle does the same, several times as fast.
    dumps = pickle.dumps if type(value) in _PLAIN else cloudpickle.dumps
    content: bytes = dumps(value, protocol=5)
    return content


def items_from_table(
    _partition: int,
    payloads: list[_core.Payload],
    flatten: bool,  # noqa: FBT001 - called by position, in a worker
) -> list[_core.Payload]:
    """Make shards of rows again or, where lists were flattened, one list of all."""
    values: list[Any] = [
        pickle.loads(item)
        for payload in payloads
        for item in payload.table().column("item").to_pylist()
    ]
    return [to_payload(value) for value in ([values] if flatten else values)]
