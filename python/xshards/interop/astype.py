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
    from collections.abc import Mapping

__all__ = [
    "as_dtypes",
    "category_of",
    "dtype_named",
    "engine_converts",
    "with_missing",
]


def dtype_named(dtype: Any) -> Any:
    """Give the dtype of pandas, or Arrow's own type, that is asked for."""
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
    """Give Arrow's type for integers of numpy, among which values may be missing."""
    named = dtype_named(dtype)
    is_integer = isinstance(named, np.dtype) and named.kind in "iu"
    return pa.from_numpy_dtype(named) if is_integer else dtype


def engine_converts(field: pa.Field, dtype: Any) -> bool:
    """Tell whether the engine converts a column to a dtype as pandas does.

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
    """Give a category with categories; by default those of the `distinct` values."""
    if dtype.categories is not None:
        return dtype
    return pd.CategoricalDtype(pd.Categorical(distinct()).categories, dtype.ordered)


def as_dtypes(frame: Any, dtypes: Mapping[int, Any]) -> Any:
    """Convert a frame's columns at these positions, or a Series; runs in workers."""
    if isinstance(frame, pd.Series):
        return frame.astype(dtypes[0])
    for position, dtype in dtypes.items():
        frame.isetitem(position, frame.iloc[:, position].astype(dtype))
    return frame
