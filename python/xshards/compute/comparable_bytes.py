# SPDX-License-Identifier: Apache-2.0
"""Python objects as bytes that are equal for equal objects.

The engine distinguishes keys by their bytes. The pickles of equal objects may differ:
1, 1.0 and True are equal, and a set has no order. So objects that are keys get a column
of bytes beside them, made here of the values of types whose equality is known.
"""

from __future__ import annotations

import datetime
import enum
import uuid
from numbers import Integral, Number
from typing import Any

import numpy as np

from xshards._util.deferred import pd
from xshards.errors import XShardsTypeError

__all__ = ["key_of"]

_MISSING = b"?"


def key_of(column: str, cell: Any) -> bytes | None:
    """Return bytes that are the same for all equal objects; None if missing.

    TypeError names the column of an object of which only its class knows what it
    equals, or that no dict of Python's can have as a key.
    """
    try:
        key = _encoded(cell)
    except _UnknownError as error:
        msg = (
            f"column {column!r} holds objects that cannot be keys: {error}. Make text, "
            "numbers or tuples of them, with transform_shard"
        )
        raise XShardsTypeError(msg) from None
    return None if key.startswith(_MISSING) else key


class _UnknownError(Exception):
    """Equality of an object is defined only by its class."""


def _encoded(cell: Any) -> bytes:
    # Types of one letter can be equal to each other.
    if isinstance(cell, str) and _compares_as(cell, str):
        return b"s" + cell.encode("utf-8", "surrogatepass")
    if isinstance(cell, bytes) and _compares_as(cell, bytes):
        return b"b" + bytes(cell)
    if isinstance(cell, tuple) and _compares_as(cell, tuple):
        return b"(" + _joined([_encoded(part) for part in cell])
    if isinstance(cell, frozenset) and _compares_as(cell, frozenset):
        return b"{" + _joined(sorted(_encoded(part) for part in cell))
    missing = pd.isna(cell)
    if isinstance(missing, bool) and missing:
        # In a tuple, None and NaN differ; all floats that are NaN are one.
        kind = "nan" if isinstance(cell, Number) else type(cell).__name__
        return _MISSING + kind.encode()
    # Before numbers: numpy's timedeltas are registered as numbers.
    if isinstance(cell, datetime.timedelta | np.timedelta64):
        span = pd.Timedelta(cell)
        parts = (span.days, span.seconds, span.microseconds, span.nanoseconds)
        return b"l" + " ".join(map(str, parts)).encode()
    if isinstance(cell, Number | np.bool_):
        return b"n" + _number(cell).encode()
    return _moment(cell) or _other(cell)


def _compares_as(cell: Any, kind: type) -> bool:
    return type(cell).__eq__ is kind.__eq__ or type(cell) in (np.str_, np.bytes_)


def _joined(parts: list[bytes]) -> bytes:
    return b"".join(len(part).to_bytes(8, "little") + part for part in parts)


def _number(value: Any) -> str:
    """Write a number exactly, whatever its type."""
    if isinstance(value, Integral | np.bool_):
        return f"{int(value):x}"
    if isinstance(value, complex | np.complexfloating):
        real = _number(value.real)
        return f"{real} {_number(value.imag)}" if value.imag else real
    try:
        upper, lower = value.as_integer_ratio()
    except OverflowError:  # infinite
        return "inf" if value > 0 else "-inf"
    except AttributeError:
        raise _UnknownError(_described(value)) from None
    return f"{int(upper):x}" if lower == 1 else f"{int(upper):x}/{int(lower):x}"


def _moment(cell: Any) -> bytes | None:
    if isinstance(cell, datetime.datetime | np.datetime64):
        moment = pd.Timestamp(cell)
        if moment.tzinfo is None:
            return b"t" + moment.isoformat().encode()
        return b"z" + moment.tz_convert("UTC").isoformat().encode()
    if type(cell) is datetime.date:
        return b"d" + cell.isoformat().encode()
    if type(cell) is datetime.time and cell.tzinfo is None:
        return b"c" + cell.isoformat().encode()
    return None


def _other(cell: Any) -> bytes:
    if type(cell) is uuid.UUID:
        return b"u" + cell.bytes
    kind: Any = type(cell)
    if isinstance(cell, enum.Enum) and kind.__eq__ is object.__eq__:
        return b"e" + f"{kind.__module__} {kind.__qualname__} {cell.name}".encode()
    try:
        hash(cell)
    except TypeError as error:
        raise _UnknownError(str(error)) from None
    raise _UnknownError(_described(cell))


def _described(cell: Any) -> str:
    return f"equality of {type(cell).__name__} is defined only by its own class"
