# SPDX-License-Identifier: Apache-2.0
"""Columns of every pandas dtype as Arrow columns, and back.

A column becomes an Arrow array and notes (see `_marks`). What Arrow gives back by
itself needs no note: numpy's numbers, datetimes, timedeltas, and ``str``.
"""

from __future__ import annotations

import base64
import contextlib
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from xshards._util.deferred import pd
from xshards.interop.engine_types import engine_type, to_engine
from xshards.interop.field_metadata import (
    ARROW_TYPE,
    CATEGORIES,
    DTYPE,
    MISSING,
    OPAQUE,
    ORDERED,
    Marks,
    marked,
    marks_of,
)
from xshards.interop.object_cells import (
    cells_of_json,
    cells_to_arrow,
    fill_missing,
    has_pickles,
    is_tensor,
    objects_from_arrow,
    pickle_cells,
    tensors_from_arrow,
    unpickle_cells,
)

__all__ = ["categories_of", "column_from_arrow", "column_to_arrow"]

_MISSING_PERIOD = np.iinfo(np.int64).min


@cache
def _python_text() -> dict[str, Any]:
    return {
        "str[python]": pd.StringDtype("python", na_value=np.nan),
        "string[python]": pd.StringDtype("python"),
    }


@cache
def _masked() -> dict[pa.DataType, Any]:
    return {
        pa.int8(): pd.Int8Dtype(),
        pa.int16(): pd.Int16Dtype(),
        pa.int32(): pd.Int32Dtype(),
        pa.int64(): pd.Int64Dtype(),
        pa.uint8(): pd.UInt8Dtype(),
        pa.uint16(): pd.UInt16Dtype(),
        pa.uint32(): pd.UInt32Dtype(),
        pa.uint64(): pd.UInt64Dtype(),
        pa.float32(): pd.Float32Dtype(),
        pa.float64(): pd.Float64Dtype(),
        pa.bool_(): pd.BooleanDtype(),
    }


@cache
def _masked_names() -> frozenset[str]:
    return frozenset(str(dtype) for dtype in _masked().values())


def column_to_arrow(label: Any, column: pd.Series[Any]) -> tuple[Any, Marks]:
    """Convert a column; floats keep NaN, so they are neither read nor copied."""
    dtype = column.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "biuf" and dtype.isnative:
        if dtype.itemsize <= 8:
            return pa.array(column.to_numpy()), {}
        return _pickled(column)
    try:
        array, marks = _convert(label, column)
    except (pa.ArrowException, UnicodeError):
        return _pickled(column)
    return to_engine(str(label), array), marks


def column_from_arrow(column: pa.ChunkedArray, field: pa.Field) -> Any:
    """Restore a column from its metadata; None if plain Arrow conversion does that."""
    values = _from_arrow(column, field)
    if isinstance(values, np.ndarray) and values.dtype == object:
        # Otherwise pandas would infer another dtype.
        return pd.Series(values, dtype=object, copy=False)
    return values


def _from_arrow(column: pa.ChunkedArray, field: pa.Field) -> Any:
    marks = marks_of(field)
    name = marks.get(DTYPE)
    if name == "category":
        return _categories_from_arrow(column, marks)
    if has_pickles(column):
        # Metadata is not enough: a union may lose it, and untrusted files may contain
        # it.
        cells = unpickle_cells(column, marks)
        if name in (None, "object"):
            return cells
        return _as_dtype(pd.Series(cells, dtype=object), name)
    if name is not None:
        return _restore(column, name, marks)
    if marks.get(OPAQUE) == "json" and pa.types.is_large_string(column.type):
        return cells_of_json(column)
    if is_tensor(column.type):
        return tensors_from_arrow(column, marks)
    if MISSING in marks and pa.types.is_nested(column.type):
        cells = column.to_pandas().to_numpy(copy=True)
        return fill_missing(cells, column, marks)
    return _exotic(column)


def _pickled(column: pd.Series[Any]) -> tuple[Any, Marks]:
    missing = column.isna().to_numpy()
    cells = column.astype(object).to_numpy()
    marks = {DTYPE: str(column.dtype), OPAQUE: "pickle"}
    return pickle_cells(cells, missing), marks


def _convert(label: Any, column: pd.Series[Any]) -> tuple[Any, Marks]:
    match column.dtype:
        case np.dtype(kind="O"):
            return cells_to_arrow(label, column.to_numpy())
        case np.dtype(kind="c"):
            return _complex_to_arrow(column.to_numpy())
        case np.dtype(isnative=False) as dtype:
            native = column.astype(dtype.newbyteorder("="))
            return pa.array(native, from_pandas=True), {DTYPE: dtype.str}
        case pd.StringDtype() as dtype:
            array = pa.array(column, from_pandas=True)
            return array, _text_marks(dtype)
        case pd.CategoricalDtype():
            return _categories_to_arrow(label, column.array)
        case pd.PeriodDtype() as dtype:
            ordinals = pa.array(
                pd.PeriodIndex(column).asi8, mask=column.isna().to_numpy()
            )
            return ordinals, {DTYPE: str(dtype)}
        case pd.IntervalDtype():
            return _intervals_to_arrow(column)
        case pd.SparseDtype() as dtype:
            array, marks = column_to_arrow(label, _dense(column))
            return array, {**marks, DTYPE: str(dtype)}
        case pd.ArrowDtype() as dtype:
            schema = pa.schema([pa.field("", dtype.pyarrow_dtype)])
            stored = base64.b64encode(schema.serialize()).decode()
            return pa.array(column), {DTYPE: str(dtype), ARROW_TYPE: stored}
        case pd.DatetimeTZDtype() | np.dtype():
            return pa.array(column, from_pandas=True), {}
    return pa.array(column, from_pandas=True), {DTYPE: str(column.dtype)}


def _dense(column: pd.Series[Any]) -> pd.Series[Any]:
    accessor: Any = column.sparse
    dense: pd.Series[Any] = accessor.to_dense()
    return dense


def _text_marks(dtype: pd.StringDtype) -> Marks:
    name = str(dtype)
    if dtype.storage == "python":
        return {DTYPE: f"{name}[python]"}
    return {} if name == "str" else {DTYPE: name}


def _complex_to_arrow(values: Any) -> tuple[Any, Marks]:
    half = np.dtype(f"f{values.dtype.itemsize // 2}")
    parts = pa.array(np.ascontiguousarray(values).view(half))
    return pa.FixedSizeListArray.from_arrays(parts, 2), {DTYPE: str(values.dtype)}


def _intervals_to_arrow(column: pd.Series[Any]) -> tuple[Any, Marks]:
    intervals = pd.arrays.IntervalArray(column)
    sides = [
        pa.array(pd.Series(side), from_pandas=True)
        for side in (intervals.left, intervals.right)
    ]
    array = pa.StructArray.from_arrays(
        sides, ["left", "right"], mask=pa.array(column.isna().to_numpy())
    )
    return array, {DTYPE: str(column.dtype)}


def _categories_to_arrow(label: Any, column: Any) -> tuple[Any, Marks]:
    categories = pd.Series(column.categories)
    values, value_marks = column_to_arrow(label, categories)
    stored = pa.table(
        [values], schema=pa.schema([marked("", values.type, value_marks)])
    )
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, stored.schema) as writer:
        writer.write_table(stored)
    marks = {
        DTYPE: "category",
        CATEGORIES: base64.b64encode(sink.getvalue()).decode(),
        ORDERED: "1" if column.ordered else "0",
    }
    if pa.types.is_nested(values.type):
        # Dictionaries of nested values cannot be merged: the engine stores pickles.
        cells = categories.astype(object).to_numpy()
        values = pickle_cells(cells, np.zeros(len(cells), bool))
        value_marks = {OPAQUE: "pickle"}
    if OPAQUE in value_marks:
        marks[OPAQUE] = value_marks[OPAQUE]
    if pa.types.is_null(values.type):
        values = values.cast(pa.large_string())
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    codes = pa.array(column.codes.astype(np.int32), mask=column.codes < 0)
    array = pa.DictionaryArray.from_arrays(codes, values, ordered=column.ordered)
    return array, marks


def categories_of(field: pa.Field) -> pd.Index[Any]:
    """Return the categories of a column of dtype category."""
    return _stored_categories(marks_of(field))[0]


def _stored_categories(marks: Marks) -> tuple[pd.Index[Any], pa.Field]:
    with pa.ipc.open_stream(base64.b64decode(marks[CATEGORIES])) as reader:
        stored = reader.read_all()
    field = stored.schema.field(0)
    return _as_index(stored.column(0), field), field


def _categories_from_arrow(column: pa.ChunkedArray, marks: Marks) -> Any:
    categories, field = _stored_categories(marks)
    dtype = pd.CategoricalDtype(categories, ordered=marks.get(ORDERED) == "1")
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    column = column.unify_dictionaries()
    if column.num_chunks == 0:
        return pd.Categorical.from_codes([], dtype=dtype)
    held = pa.chunked_array([column.chunk(0).dictionary])
    known = (
        {OPAQUE: marks[OPAQUE], DTYPE: "object"} if OPAQUE in marks else marks_of(field)
    )
    values = _as_index(held, marked("", held.type, known))
    # One more entry, for the code of a missing value.
    codes = np.append(categories.get_indexer(values), -1)
    indices = [
        chunk.indices.fill_null(len(values)).to_numpy() for chunk in column.chunks
    ]
    used = codes[np.concatenate(indices)]
    if (codes[:-1] < 0).any() and (used < 0).sum() > column.null_count:
        # A union brought values of other categories.
        return pd.Series(values).take(np.concatenate(indices)).array
    return pd.Categorical.from_codes(used, dtype=dtype)


def _as_index(column: pa.ChunkedArray, field: pa.Field) -> pd.Index[Any]:
    restored = column_from_arrow(column, field)
    values = column.to_pandas() if restored is None else restored
    index: pd.Index[Any] = pd.Index(values, dtype=values.dtype)
    return index.rename(None)


def _restore(column: pa.ChunkedArray, name: str, marks: Marks) -> Any:
    if ARROW_TYPE in marks:
        return _arrow_dtype(column, marks)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if name == "object":
        return objects_from_arrow(column, marks)
    if name in _python_text():
        return _python_text()[name].__from_arrow__(column)
    if name in _masked_names() and column.type in _masked():
        # A union may have widened the type; use the masked dtype of that type.
        return _masked()[column.type].__from_arrow__(column)
    if name.endswith("[pyarrow]"):
        if pa.types.is_large_string(column.type):
            # The engine's text type: most source columns had 32-bit offsets.
            with contextlib.suppress(pa.ArrowException):
                column = column.cast(pa.string())
        return pd.array(column, dtype=pd.ArrowDtype(column.type))
    dtype = pd.api.types.pandas_dtype(name)
    match dtype:
        case np.dtype(kind="c"):
            return _complex_from_arrow(column, dtype)
        case pd.PeriodDtype():
            ordinals = column.fill_null(_MISSING_PERIOD).to_numpy().astype(np.int64)
            return pd.arrays.PeriodArray(ordinals, dtype=dtype)
        case pd.IntervalDtype():
            return _intervals_from_arrow(column, dtype)
        case pd.api.extensions.ExtensionDtype() if hasattr(dtype, "__from_arrow__"):
            return dtype.__from_arrow__(column)
    return _as_dtype(column.to_pandas(), name)


def _as_dtype(values: pd.Series[Any], name: str | None) -> Any:
    dtype = pd.api.types.pandas_dtype(name)
    try:
        return values.astype(dtype).array
    except (TypeError, ValueError):
        # A join or union brought values that this dtype cannot hold.
        if isinstance(dtype, pd.SparseDtype):
            return values.astype(pd.SparseDtype(values.dtype, dtype.fill_value)).array
        return values.array


def _complex_from_arrow(column: pa.ChunkedArray, dtype: np.dtype[Any]) -> Any:
    halves = [
        chunk.values.slice(chunk.offset * 2, len(chunk) * 2) for chunk in column.chunks
    ]
    # Missing rows have missing halves, which need a copy.
    parts = [half.to_numpy(zero_copy_only=False).view(dtype) for half in halves]
    values = np.concatenate(parts) if parts else np.empty(0, dtype)
    if column.null_count:
        values[column.is_null().to_numpy()] = np.nan
    return values


def _intervals_from_arrow(column: pa.ChunkedArray, dtype: pd.IntervalDtype) -> Any:
    left, right = (side.to_pandas() for side in column.flatten())
    if column.null_count == 0:  # else integers are floats, with NaN for missing
        left, right = left.astype(dtype.subtype), right.astype(dtype.subtype)
    closed: Any = dtype.closed
    return pd.arrays.IntervalArray.from_arrays(left, right, closed)


def _arrow_dtype(column: pa.ChunkedArray, marks: Marks) -> Any:
    schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(marks[ARROW_TYPE])))
    wanted = schema.field(0).type
    if column.type != wanted and engine_type(wanted) == column.type:
        with contextlib.suppress(pa.ArrowException):  # else the engine's type
            column = column.cast(wanted)
    dtype: Any = pd.ArrowDtype(column.type)
    return dtype.__from_arrow__(column)


def _exotic(column: pa.ChunkedArray) -> Any:
    """Convert to Python values where Arrow's own conversion fails or changes them."""
    if _has_objects(column.type):
        return np.fromiter(column.to_pylist(), object, len(column))
    return None


def _has_objects(arrow: pa.DataType) -> bool:
    # Arrow would turn the integers of dicts into floats, where some are missing.
    if pa.types.is_struct(arrow) or pa.types.is_union(arrow):
        return True
    return any(_has_objects(arrow.field(n).type) for n in range(arrow.num_fields))
