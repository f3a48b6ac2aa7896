# SPDX-License-Identifier: Apache-2.0
"""Arrow data of any type as the engine holds it.

Text is large_utf8 or dictionary(int32, large_utf8); views and run-end encoded values
are decoded.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from xshards._util.deferred import pc
from xshards.errors import XShardsTypeError
from xshards.interop.field_metadata import SCHEMA_NOTE, marked
from xshards.interop.labels import engine_names, label_marks

__all__ = ["engine_type", "normalise", "to_engine"]


def normalise(table: pa.Table, *, ours: bool = False) -> pa.Table:
    """Convert a table to the engine's types and distinct names.

    Parameters
    ----------
    table
        Any table.
    ours
        Whether its notes are this engine's; those of others are dropped.
    """
    names = engine_names(table.column_names)
    fields, columns = [], []
    for name, field, column in zip(names, table.schema, table.columns, strict=True):
        columns.append(to_engine(field.name, column))
        metadata = field.metadata if ours else None
        marks = label_marks(name, field.name)
        fields.append(
            marked(name, columns[-1].type, marks)
            if marks
            else pa.field(name, columns[-1].type, metadata=metadata)
        )
    schema = pa.schema(fields, _own_notes(table.schema) if ours else None)
    if schema.equals(table.schema, check_metadata=True):
        return table
    if not columns:
        return table.replace_schema_metadata(schema.metadata)
    return pa.table(columns, schema=schema)


def _own_notes(schema: pa.Schema) -> dict[bytes, bytes] | None:
    # A table that a function read from a file has the file's notes: ours is the one
    # under our key, and none under another key may say what the columns hold.
    notes = schema.metadata or {}
    return {SCHEMA_NOTE: notes[SCHEMA_NOTE]} if SCHEMA_NOTE in notes else None


def to_engine(name: str, column: Any) -> Any:
    """Convert an array or chunked array to the engine's type for it."""
    if engine_type(column.type) == column.type:
        return column
    try:
        if isinstance(column, pa.ChunkedArray):
            chunks = [_convert(chunk) for chunk in column.chunks]
            return pa.chunked_array(chunks, type=engine_type(column.type))
        return _convert(column)
    except pa.ArrowException as error:
        msg = f"column {name!r} of type {column.type} is not supported: {error}"
        raise XShardsTypeError(msg) from error


def engine_type(arrow: pa.DataType) -> pa.DataType:
    """Return the type in which the engine holds values of a type."""
    types = pa.types
    if types.is_string(arrow) or types.is_string_view(arrow):
        return pa.large_string()
    if types.is_binary_view(arrow):
        return pa.large_binary()
    if types.is_dictionary(arrow):
        values = engine_type(arrow.value_type)
        return pa.dictionary(pa.int32(), values, arrow.ordered)
    if types.is_run_end_encoded(arrow):
        return engine_type(arrow.value_type)
    if types.is_list_view(arrow) or types.is_large_list_view(arrow):
        return pa.large_list(_engine_field(arrow.value_field))
    if types.is_fixed_size_list(arrow):
        return pa.list_(_engine_field(arrow.value_field), arrow.list_size)
    if types.is_list(arrow):
        return pa.list_(_engine_field(arrow.value_field))
    if types.is_large_list(arrow):
        return pa.large_list(_engine_field(arrow.value_field))
    if types.is_struct(arrow):
        return pa.struct([_engine_field(field) for field in arrow])
    if types.is_decimal32(arrow) or types.is_decimal64(arrow):
        return pa.decimal128(arrow.precision, arrow.scale)
    return arrow


def _engine_field(field: pa.Field) -> pa.Field:
    # Inside lists and structs dictionaries are decoded: no kernel merges them.
    wanted = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    return pa.field(field.name, engine_type(wanted), field.nullable)


def _convert(array: pa.Array) -> pa.Array:
    wanted = engine_type(array.type)
    if wanted == array.type:
        return array
    types = pa.types
    if types.is_run_end_encoded(array.type):
        return _convert(pc.run_end_decode(array))
    if types.is_struct(array.type):
        parts = [_convert(part) for part in array.flatten()]
        return pa.StructArray.from_arrays(
            parts, fields=list(wanted), mask=array.is_null()
        )
    if _has_view(array.type):
        return _rebuilt(array, wanted)
    return array.cast(wanted)


def _has_view(arrow: pa.DataType) -> bool:
    if pa.types.is_list_view(arrow) or pa.types.is_large_list_view(arrow):
        return True
    return any(_has_view(arrow.field(n).type) for n in range(arrow.num_fields))


def _rebuilt(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    # Arrow's own cast of a list view to a list may overflow 32-bit offsets.
    mask = array.is_null()
    if pa.types.is_fixed_size_list(wanted):
        size = wanted.list_size
        values = array.values.slice(array.offset * size, len(array) * size)
        return pa.FixedSizeListArray.from_arrays(
            _convert(values), type=wanted, mask=mask
        )
    lengths = pc.fill_null(pc.list_value_length(array), 0).cast(pa.int64())
    start = pa.array([0], pa.int64())
    offsets = pa.concat_arrays([start, pc.cumulative_sum(lengths)])
    values = _convert(array.flatten())
    if pa.types.is_large_list(wanted):
        return pa.LargeListArray.from_arrays(offsets, values, type=wanted, mask=mask)
    offsets = offsets.cast(pa.int32())
    return pa.ListArray.from_arrays(offsets, values, type=wanted, mask=mask)
