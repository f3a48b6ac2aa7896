# SPDX-License-Identifier: Apache-2.0
"""Replacement of missing values, with pandas' results."""

from __future__ import annotations

import datetime
import decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from xshards._util.deferred import pd
from xshards.compute.describe import is_number
from xshards.errors import XShardsTypeError
from xshards.expressions import col, constant, lit
from xshards.interop.dtypes import categories_of
from xshards.interop.field_metadata import DTYPE, OPAQUE, marks_of

if TYPE_CHECKING:
    from xshards.expressions import Expression

__all__ = ["fill_of", "takes"]


def takes(field: pa.Field, value: object) -> bool:
    """Return whether a value has a column's family of types, and so needs no cast."""
    column = field.type
    if pa.types.is_dictionary(column):
        column = column.value_type
    if marks_of(field).get(DTYPE) == "category":
        return value in categories_of(field)
    kind = constant(value).type
    for family in (_is_text, pa.types.is_boolean, is_number):
        if family(column):
            return bool(family(kind))
    return bool(column == kind) or any(
        family(column) and family(kind)
        for family in (
            pa.types.is_timestamp,
            pa.types.is_duration,
            pa.types.is_decimal,
            _is_bytes,
        )
    )


def fill_of(field: pa.Field, value: Any) -> Expression:
    """Compute a column without missing values; TypeError where it cannot hold one."""
    name, column = field.name, field.type
    marks = marks_of(field)
    current = col(name)
    if marks.get(DTYPE) == "category":
        if value not in categories_of(field):
            msg = f"column {name!r} has no category {value!r}: fill it with one it has"
            raise XShardsTypeError(msg)
        # Categories that came out of a join are not encoded.
        is_encoded = pa.types.is_dictionary(column)
        values = column.value_type if is_encoded else column
        plain = current.cast(values)
        fill = lit(constant(value).cast(values))
        filled = plain.isna().call("if_else", fill, plain)
        # Not encoded, as what is computed from it reads values; the categories are in
        # the metadata.
        return filled._noted(values, marks)
    if OPAQUE in marks or not _holds(column, value):
        msg = f"column {name!r} of {column} cannot hold {value!r}"
        raise XShardsTypeError(msg)
    if pa.types.is_dictionary(column):
        column = column.value_type
        current = current.cast(column)
    if pa.types.is_integer(column) and not _is_whole(value):
        column = pa.float64()
        current = current.astype(column)  # large ones are rounded, as in pandas
    try:
        fill = lit(_typed(value, column))
    except (pa.ArrowException, ValueError, TypeError) as error:
        msg = f"column {name!r} of {column} cannot hold {value!r}: {error}"
        raise XShardsTypeError(msg) from None
    filled = current.isna().call("if_else", fill, current)
    return filled._noted(column, marks) if marks.get(DTYPE) == "object" else filled


def _holds(column: pa.DataType, value: object) -> bool:
    if pa.types.is_dictionary(column):
        column = column.value_type
    for family in (_is_text, pa.types.is_boolean, is_number):
        if family(column):
            return bool(family(constant(value).type))
    return True  # a cast raises


def _typed(value: Any, column: pa.DataType) -> pa.Scalar:
    """Return a value as one of a column's type; texts may be times, as in pandas."""
    if pa.types.is_timestamp(column) and isinstance(
        value, str | datetime.datetime | np.datetime64
    ):
        value = pd.Timestamp(value)
    if pa.types.is_duration(column) and isinstance(value, str | datetime.timedelta):
        value = pd.Timedelta(value)
    if pa.types.is_decimal(column) and isinstance(value, int | float):
        value = decimal.Decimal(str(value))
    return constant(value).cast(column)


def _is_whole(value: object) -> bool:
    return isinstance(value, int | np.integer) or (
        isinstance(value, float) and value.is_integer()
    )


def _is_text(column: pa.DataType) -> bool:
    return bool(pa.types.is_large_string(column) or pa.types.is_string(column))


def _is_bytes(column: pa.DataType) -> bool:
    return bool(pa.types.is_large_binary(column) or pa.types.is_binary(column))
