# SPDX-License-Identifier: Apache-2.0
"""Object columns: cells of Python values, as Arrow columns and back.

Cells of one kind that Arrow has a type for get that type: text, bytes, numbers, dates,
decimals, lists, dicts of the same keys. ndarrays of one shape become a fixed-shape
tensor column (a fixed-size list, if they have one dimension), other ndarrays of one
dimension a list column. All others are pickled, one by one, into an *opaque* column:
rows of it can be filtered, moved and kept as any others.

Null stands for None, or for the one other missing value the column has (its note says
which). Where there are several kinds, null is None and the others are pickled.
"""

from __future__ import annotations

import datetime
import decimal
import json
from typing import Any

import numpy as np
import pyarrow as pa

from xshards._util.deferred import pc, pd
from xshards.interop.engine_types import to_engine
from xshards.interop.field_metadata import (
    DTYPE,
    MISSING,
    OPAQUE,
    Marks,
    is_ours,
    load_object,
    session_token,
    store_object,
)

__all__ = [
    "cells_of_json",
    "cells_to_arrow",
    "fill_missing",
    "has_pickles",
    "is_tensor",
    "objects_from_arrow",
    "pickle_cells",
    "tensors_from_arrow",
    "unpickle_cells",
]

Cells = np.ndarray[Any, Any]

# Values of these types round-trip exactly through Arrow's type.
_ARROW_TYPES: dict[type, pa.DataType | None] = {
    str: pa.large_string(),
    bytes: pa.large_binary(),
    bool: pa.bool_(),
    int: pa.int64(),
    float: pa.float64(),
    datetime.date: pa.date32(),
    datetime.datetime: pa.timestamp("us"),
    datetime.time: pa.time64("us"),
    datetime.timedelta: pa.duration("us"),
    decimal.Decimal: None,  # precision and scale are found in the values
    list: None,
    dict: None,
}
_CANNOT = (pa.ArrowException, UnicodeError, OverflowError, TypeError, ValueError)


def cells_to_arrow(label: Any, cells: Cells) -> tuple[pa.Array, Marks]:
    """Choose how to hold an object column; returns it and the notes to restore it."""
    missing = np.asarray(pd.isna(cells))
    kind = _missing_kind(cells[missing])
    if kind is None:  # several kinds of missing values: only None is null
        missing = np.fromiter((cell is None for cell in cells), bool, len(cells))
    marks = {} if kind in (None, "None") else {MISSING: kind}
    present = cells[~missing]
    kinds = {type(cell) for cell in present}
    if kinds == {np.ndarray}:
        array = _arrays_to_arrow(str(label), cells, present, missing)
        if array is not None:
            return array, marks
    array = _typed(str(label), cells, missing, {_plain_type(kind) for kind in kinds})
    if array is not None:
        return array, {DTYPE: "object", **marks}
    return pickle_cells(cells, missing), {
        DTYPE: "object",
        OPAQUE: "pickle",
        **marks,
    }


def pickle_cells(cells: Cells, missing: Cells) -> pa.Array:
    """Pickle cell by cell; missing ones are null."""
    pickled = [
        None if gone else store_object(cell)
        for cell, gone in zip(cells, missing, strict=True)
    ]
    return pa.array(pickled, pa.large_binary())


def has_pickles(column: pa.ChunkedArray) -> bool:
    """Return whether cells of a column are pickles that this session made."""
    if not pa.types.is_large_binary(column.type) or len(column) == column.null_count:
        return False
    found = pc.starts_with(column, pattern=session_token())
    return bool(pc.any(found).as_py())


def unpickle_cells(column: pa.ChunkedArray, marks: Marks) -> Cells:
    """Undo `pickle_cells`; what is no pickle of this session stays what it is."""
    cells = (
        load_object(cell) if is_ours(cell) else cell for cell in column.to_pylist()
    )
    return fill_missing(np.fromiter(cells, object, len(column)), column, marks)


def cells_of_json(column: pa.ChunkedArray) -> Cells:
    """Return the Python values of JSON text as in pandas: NaN for missing ones."""
    texts = column.to_pylist()
    cells = (np.nan if text is None else json.loads(text) for text in texts)
    return np.fromiter(cells, object, len(column))


def objects_from_arrow(column: pa.ChunkedArray, marks: Marks) -> Cells:
    """Return the Python values of a typed object column."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_large_string(column.type):
        cells = column.to_numpy()
    else:
        cells = np.fromiter(column.to_pylist(), object, len(column))
    return fill_missing(cells, column, marks)


def is_tensor(arrow: pa.DataType) -> bool:
    """Return whether the cells of a type are ndarrays of one shape."""
    if isinstance(arrow, pa.FixedShapeTensorType):
        return True
    if not pa.types.is_fixed_size_list(arrow):
        return False
    value = arrow.value_type
    return bool(pa.types.is_integer(value) or pa.types.is_floating(value))


def tensors_from_arrow(column: pa.ChunkedArray, marks: Marks) -> Cells:
    """Return the ndarrays of a tensor column: views of one block a chunk."""
    cells = np.empty(len(column), object)
    begin = 0
    for chunk in column.chunks:
        block = _block(chunk)
        # numpy would combine a list of arrays into one large array.
        cells[begin : begin + len(chunk)] = np.fromiter(block, object, len(chunk))
        begin += len(chunk)
    return fill_missing(cells, column, marks)


def _block(chunk: pa.Array) -> Cells:
    tensor = isinstance(chunk.type, pa.FixedShapeTensorType)
    storage = chunk.storage if tensor else chunk
    size = storage.type.list_size
    # Null cells occupy space in the block too.
    values = storage.values.slice(storage.offset * size, len(chunk) * size)
    if values.null_count > 0:
        inside = values.is_null().to_numpy(zero_copy_only=False).reshape(-1, size)
        if not inside[chunk.is_valid().to_numpy(zero_copy_only=False)].any():
            values = values.fill_null(0)  # else integers would become floats
    flat: Cells = values.to_numpy(zero_copy_only=False)
    if not flat.flags.writeable:
        flat = flat.copy()
    shape = chunk.type.shape if tensor else [size]
    block: Cells = flat.reshape(len(chunk), *shape)
    if tensor and chunk.type.permutation:
        # The order in which the dimensions of the cell are stored.
        block = block.transpose(0, *(n + 1 for n in chunk.type.permutation))
    return block


def fill_missing(cells: Cells, column: pa.ChunkedArray, marks: Marks) -> Cells:
    """Put in what null stands for in a column."""
    if column.null_count:
        values = {"nan": np.nan, "NaT": pd.NaT, "NA": pd.NA}
        value = values.get(marks.get(MISSING, "None"))
        cells[column.is_null().to_numpy()] = value
    return cells


def _missing_kind(cells: Cells) -> str | None:
    """Return the only kind of missing value; None if there are several."""
    kinds = set()
    for cell in cells:
        if cell is None:
            kinds.add("None")
        elif cell is pd.NA:
            kinds.add("NA")
        elif cell is pd.NaT:
            kinds.add("NaT")
        elif isinstance(cell, float):
            kinds.add("nan")
        else:
            return None
    if len(kinds) > 1:
        return None
    return kinds.pop() if kinds else "None"


def _plain_type(kind: type) -> type:
    if issubclass(kind, np.bool_):
        return bool
    if issubclass(kind, np.integer):
        return int
    if issubclass(kind, np.floating):
        return float
    return kind


def _typed(label: str, cells: Cells, missing: Cells, kinds: set[type]) -> Any:
    """Hold cells in a column of Arrow's type for them; None if there is none."""
    if not kinds:
        return pa.nulls(len(cells))
    kind = next(iter(kinds))
    if len(kinds) > 1 or kind not in _ARROW_TYPES or _has_zone(kind, cells[~missing]):
        return None
    try:
        array = pa.array(cells, _ARROW_TYPES[kind], mask=missing, from_pandas=False)
    except _CANNOT:
        return None
    if kind in (list, dict):
        array = to_engine(label, array)
        # Arrow gives every dict the keys of all, and one type to the items of lists.
        if not _same(array.to_pylist(), _nulled(cells, missing)):
            return None
    return array


def _nulled(cells: Cells, missing: Cells) -> Cells:
    cells = cells.copy()
    cells[missing] = None
    return cells


def _has_zone(kind: type, cells: Cells) -> bool:
    # Arrow keeps the instant, not the time zone of each value.
    if kind not in (datetime.datetime, datetime.time):
        return False
    return any(cell.tzinfo is not None for cell in cells)


def _same(held: list[Any], cells: Cells) -> bool:
    return all(
        one is other or (type(one) is type(other) and _equal(one, other))
        for one, other in zip(held, cells, strict=True)
    )


def _equal(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(
            _equal(value, other[key]) for key, value in one.items()
        )
    if isinstance(one, float):
        return one == other or bool(np.isnan(one) and np.isnan(other))
    return bool(one == other)


def _arrays_to_arrow(label: str, cells: Cells, present: Cells, missing: Cells) -> Any:
    dtypes = {cell.dtype for cell in present}
    if len(dtypes) > 1:
        return None
    dtype = dtypes.pop()
    if dtype.kind == "O":
        return _text_arrays(label, present, missing)
    if dtype.kind not in "iuf" or not dtype.isnative or dtype.itemsize > 8:
        return None
    shapes = {cell.shape for cell in present}
    if len(shapes) == 1 and present[0].size > 0:
        return _tensors(present, missing, shapes.pop())
    if {len(shape) for shape in shapes} == {1}:
        return pa.array(
            cells, pa.list_(pa.from_numpy_dtype(dtype)), mask=missing, from_pandas=False
        )
    return None


def _text_arrays(label: str, present: Cells, missing: Cells) -> Any:
    """Hold arrays of text, or of arrays, as lists, which is what they are in files."""
    lists = np.full(len(missing), None, object)
    lists[~missing] = np.fromiter(map(_as_list, present), object, len(present))
    array = _typed(label, lists, missing, {list})
    if array is None or not _gives_arrays(array.type):
        return None
    return array


def _as_list(cell: Any) -> Any:
    return [_as_list(part) for part in cell] if isinstance(cell, np.ndarray) else cell


def _gives_arrays(arrow: pa.DataType) -> bool:
    # Arrow converts these lists back to arrays of object dtype; not those of numbers.
    types, item = pa.types, arrow.value_type
    if types.is_large_string(item) or types.is_null(item):
        return True
    if not types.is_list(item):
        return False
    while types.is_list(item):
        item = item.value_type
    known = types.is_large_string, types.is_null, types.is_integer, types.is_floating
    return any(is_kind(item) for is_kind in known)


def _tensors(present: Cells, missing: Cells, shape: tuple[int, ...]) -> Any:
    if shape == ():
        return None
    block = np.stack(list(present))
    if missing.any():
        whole = np.zeros((len(missing), *shape), block.dtype)
        whole[~missing] = block
        block = whole
    values = pa.array(block.reshape(-1))
    storage = pa.FixedSizeListArray.from_arrays(
        values, int(np.prod(shape)), mask=pa.array(missing) if missing.any() else None
    )
    if len(shape) == 1:
        return storage
    kind = pa.fixed_shape_tensor(values.type, shape)
    return pa.ExtensionArray.from_storage(kind, storage)
