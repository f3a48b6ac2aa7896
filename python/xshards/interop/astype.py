# SPDX-License-Identifier: Apache-2.0
"""Columns of other dtypes: by the engine where it gives what pandas does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from xshards._util.deferred import pd
from xshards.errors import XShardsTypeError
from xshards.interop.field_metadata import DTYPE, OPAQUE, marks_of

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "category_of",
    "converted",
    "dtype_named",
    "engine_converts",
    "is_text_of_times",
    "time_parts",
    "with_missing",
]

# Parts of a second, coarse first.
_PARTS: tuple[Any, ...] = ("s", "ms", "us", "ns")


def dtype_named(dtype: Any) -> Any:
    """Return the dtype of pandas, or Arrow's own type, that is asked for."""
    if isinstance(dtype, pa.DataType):
        return dtype
    try:
        return pd.api.types.pandas_dtype(dtype)
    except TypeError as error:
        try:
            return pa.type_for_alias(str(dtype))
        except ValueError:
            msg = f"astype: unknown dtype {dtype!r}"
            raise XShardsTypeError(msg) from error


def with_missing(dtype: Any) -> Any:
    """Return Arrow's type for integers of numpy, among which values may be missing."""
    named = dtype_named(dtype)
    is_integer = isinstance(named, np.dtype) and named.kind in "iu"
    return pa.from_numpy_dtype(named) if is_integer else dtype


def engine_converts(field: pa.Field, dtype: Any) -> bool:
    """Return whether the engine converts a column to a dtype as pandas does.

    It converts numbers and text. What becomes of floats and times as text, and of all
    else, is a matter of pandas.
    """
    if isinstance(dtype, pa.DataType):
        return True
    marks = marks_of(field)
    if OPAQUE in marks or marks.get(DTYPE) in ("category", "object"):
        return False
    source = field.type
    if pa.types.is_dictionary(source):
        source = source.value_type
    is_text = pa.types.is_large_string(source)
    is_integer = pa.types.is_integer(source)
    is_plain = DTYPE not in marks
    match dtype:
        case pd.StringDtype():
            plain = is_text or is_integer or pa.types.is_boolean(source)
            return bool(plain and dtype.storage != "python")
        case np.dtype(kind="b"):
            return is_plain and (is_integer or pa.types.is_floating(source))
        case np.dtype(kind="i" | "u" | "f"):
            if dtype.itemsize == 2 and dtype.kind == "f":
                return False
            return is_text or is_integer or _is_number(source)
    if hasattr(dtype, "numpy_dtype") and dtype.numpy_dtype.kind in "iu":
        return bool(is_text or is_integer)
    return str(dtype) == "Float64" and is_plain and pa.types.is_floating(source)


def _is_number(source: pa.DataType) -> bool:
    return bool(pa.types.is_floating(source) or pa.types.is_boolean(source))


def category_of(dtype: Any, distinct: Any) -> Any:
    """Return a category with categories; by default those of the `distinct` values."""
    if dtype.categories is not None:
        return dtype
    return pd.CategoricalDtype(pd.Categorical(distinct()).categories, dtype.ordered)


def is_text_of_times(field: pa.Field, dtype: Any) -> bool:
    """Return whether a conversion writes times, whose format depends on all of them."""
    is_time = pa.types.is_timestamp(field.type) or pa.types.is_duration(field.type)
    return is_time and _is_text(dtype)


def _is_text(dtype: Any) -> bool:
    return isinstance(dtype, pd.StringDtype) or (
        isinstance(dtype, np.dtype) and dtype.kind == "U"
    )


def time_parts(frame: Any) -> list[list[str]]:
    """Find, by column, which parts of times are in use; runs in workers.

    pandas leaves out the time of day where all are midnight, and the digits that none
    has, so that the text of one value depends on the others.
    """
    if isinstance(frame, pd.Series):
        return [_parts_of(frame)]
    return [_parts_of(frame.iloc[:, at]) for at in range(frame.shape[1])]


def _parts_of(column: Any) -> list[str]:
    if getattr(column.dtype, "kind", "") not in ("m", "M"):
        return []
    known = column.dropna()
    if column.dtype.kind == "M" and known.dt.tz is not None:
        known = known.dt.tz_localize(None)
    unit: Any = np.datetime_data(known.dtype)[0]
    ticks = known.to_numpy().view("int64")
    parts = []
    for part in _PARTS[: _PARTS.index(unit) + 1]:
        whole = pd.Timedelta(1, "D" if part == "s" else _PARTS[_PARTS.index(part) - 1])
        span = int(whole.as_unit(unit).asm8.view("int64"))
        if (ticks % span != 0).any():
            parts.append(part)
    return parts


def converted(column: Any, dtype: Any, parts: Iterable[Any] = ()) -> Any:
    """Convert a column; runs in workers.

    Of times that become text, `parts` of the whole column are written; see
    `time_parts`.
    """
    if isinstance(column.dtype, pd.CategoricalDtype) and _is_text(dtype):
        # Not the values: pandas makes floats of integers where one of them is missing,
        # which other partitions do not see.
        texts = column.cat.categories.to_series().astype(dtype).array
        found = texts.take(column.cat.codes.to_numpy(), allow_fill=True)
        return pd.Series(found, column.index, name=column.name)
    if not parts:
        return column.astype(dtype)
    spans = [pd.Timedelta(1, part) for part in sorted(parts)]
    if column.dtype.kind == "m":
        added = pd.Series(spans).astype(column.dtype)
    else:
        midnight = pd.Timestamp("2000-01-01", tz=column.dt.tz)
        added = pd.Series([midnight + span for span in spans]).astype(column.dtype)
    text = pd.concat([column, added], ignore_index=True).astype(dtype)
    return text.iloc[: len(column)].set_axis(column.index).rename(column.name)
