# SPDX-License-Identifier: Apache-2.0
"""Constants and dtypes that users write, as Arrow has them."""

from __future__ import annotations

import decimal
import math
from typing import Any, TypeGuard

import numpy as np
import pyarrow as pa

from xshards._util.deferred import pd
from xshards.errors import XShardsNotImplementedError, XShardsTypeError

__all__ = [
    "arrays_of",
    "as_arrow_type",
    "beyond_integers",
    "constant",
    "is_plain",
    "target_of",
]

_DECIMAL_DIGITS = 38


def constant(value: object) -> pa.Scalar:
    """Convert a constant for the engine; TypeError if it is not one."""
    if isinstance(value, pa.Scalar):
        scalar = value
    else:
        try:
            scalar = _scalar(value)
        except (pa.ArrowException, TypeError) as error:
            msg = f"{value!r} is not a constant that a column can hold: {error}"
            raise XShardsTypeError(msg) from None
    if pa.types.is_string(scalar.type):
        scalar = scalar.cast(pa.large_string())
    return scalar


def is_plain(value: Any) -> TypeGuard[bool | float | str]:
    """Return whether the engine accepts a value unchanged, without pandas."""
    kind = type(value)
    if kind is int:
        return bool(-(2**63) <= value < 2**63)
    if kind is str:
        return bool(value.isascii())  # others may not be encodable in UTF-8
    return kind in (bool, float)


def arrays_of(values: list[Any]) -> list[pa.Array]:
    """Give values as arrays: one, or one for each type if they have several."""
    try:
        return [_array_of(values)]
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        kinds: dict[type, list[Any]] = {}
        for value in values:
            kinds.setdefault(type(value), []).append(value)
        if len(kinds) == 1:
            raise
        return [_array_of(alike) for alike in kinds.values()]


def _array_of(values: list[Any]) -> pa.Array:
    """Give values as an array, also integers of both ends of the range."""
    try:
        return pa.array(values)
    except OverflowError:
        return pa.array(values, pa.decimal128(38, 0))


def beyond_integers(value: object) -> object:
    """Return what to compare with in place of an integer that no column can hold.

    As a float it could be equal to the largest integer of a column.
    """
    if not isinstance(value, int) or -(2**63) <= value < 2**64:
        return value
    if abs(value) < 10**_DECIMAL_DIGITS:
        return decimal.Decimal(value)
    return _as_float(value)


def _as_float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.copysign(math.inf, value)


def _scalar(value: Any) -> pa.Scalar:
    if value is pd.NA or value is pd.NaT:
        return pa.scalar(None)
    if isinstance(value, pd.Timestamp):
        zone = None if value.tz is None else str(value.tz)
        moment = pa.scalar(value.to_datetime64())
        return moment if zone is None else moment.cast(pa.timestamp(value.unit, zone))
    if isinstance(value, pd.Timedelta):
        return pa.scalar(value.to_timedelta64())
    if isinstance(value, int) and not isinstance(value, bool):
        if 2**63 <= value < 2**64:
            return pa.scalar(value, pa.uint64())
        if not -(2**63) <= value < 2**63:
            return pa.scalar(_as_float(value))  # out of range of all integer types
    return pa.scalar(value)


def target_of(dtype: Any) -> tuple[pa.DataType, str]:
    """Return the Arrow type for a dtype, and the dtype's name if it needs noting."""
    if isinstance(dtype, pa.DataType):
        return as_arrow_type(dtype), ""
    try:
        target = pd.api.types.pandas_dtype(dtype)
    except TypeError as error:
        msg = f"astype: unknown dtype {dtype!r}"
        raise XShardsTypeError(msg) from error
    match target:
        case pd.StringDtype():
            return pa.large_string(), "" if target.na_value is np.nan else str(target)
        case pd.DatetimeTZDtype():
            return pa.timestamp(target.unit, str(target.tz)), ""
        case pd.ArrowDtype():
            return as_arrow_type(target.pyarrow_dtype), str(target)
        case np.dtype() if target.kind in "biufmM":
            return pa.from_numpy_dtype(target), ""
    if hasattr(target, "numpy_dtype"):  # the nullable dtypes
        return pa.from_numpy_dtype(target.numpy_dtype), str(target)
    msg = f"astype does not support dtype {target}: use transform_shard"
    raise XShardsNotImplementedError(msg)


def as_arrow_type(dtype: object) -> pa.DataType:
    """Understand a type given as Arrow's, numpy's or by name."""
    if isinstance(dtype, pa.DataType):
        found = dtype
    elif dtype in ("str", "string", str):
        return pa.large_string()
    else:
        try:
            found = pa.from_numpy_dtype(dtype)
        except (TypeError, pa.ArrowNotImplementedError):
            found = pa.type_for_alias(str(dtype))
    return pa.large_string() if pa.types.is_string(found) else found
