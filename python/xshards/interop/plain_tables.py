# SPDX-License-Identifier: Apache-2.0
"""Tables for export: without metadata and encodings internal to this package."""

from __future__ import annotations

import pyarrow as pa

from xshards.errors import XShardsTypeError
from xshards.interop.field_metadata import DTYPE, OPAQUE, marks_of
from xshards.interop.labels import label_of

__all__ = ["refuse_opaque", "without_notes", "without_tensors"]

# Formats that cannot represent a column of these dtypes: it would be stored as numbers
# or structs without its meaning.
_NO_TEXT = ("period", "interval", "complex")
_TEXT_FORMATS = ("csv", "json")


def refuse_opaque(schema: pa.Schema, form: str) -> None:
    """Refuse to write columns that only this session could read."""
    for field in schema:
        marks = marks_of(field)
        dtype = marks.get(DTYPE, "object")
        if marks.get(OPAQUE) == "json":
            continue  # text that other programs can read
        if OPAQUE in marks:
            held = "Python objects" if dtype == "object" else f"values of dtype {dtype}"
        elif form in _TEXT_FORMATS and dtype.startswith(_NO_TEXT):
            held = f"values of dtype {dtype}"
        elif form in _TEXT_FORMATS and isinstance(field.type, pa.FixedShapeTensorType):
            held = "arrays"
        else:
            continue
        msg = (
            f"column {label_of(field)!r} holds {held}, which {form} cannot hold: "
            f"convert it in transform_shard, for instance to text with "
            f".map(str), or drop it"
        )
        raise XShardsTypeError(msg)


def without_notes(table: pa.Table) -> pa.Table:
    """Return a table whose fields are name and type only."""
    fields = [pa.field(field.name, field.type) for field in table.schema]
    schema = pa.schema(fields)
    if schema.equals(table.schema, check_metadata=True):
        return table
    return pa.Table.from_arrays(table.columns, schema=schema)


def without_tensors(table: pa.Table) -> pa.Table:
    """Convert the cells of tensor columns to flat lists, which all readers support."""
    for position, field in enumerate(table.schema):
        if isinstance(field.type, pa.FixedShapeTensorType):
            chunks = [chunk.storage for chunk in table.column(position).chunks]
            storage = pa.chunked_array(chunks, field.type.storage_type)
            table = table.set_column(position, field.name, storage)
    return table
