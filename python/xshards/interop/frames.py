# SPDX-License-Identifier: Apache-2.0
"""pandas frames to Arrow tables and back, keeping values, dtypes, labels and index."""

from __future__ import annotations

import json
import threading
import warnings
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from xshards._util.deferred import pd
from xshards.errors import XShardsTypeError
from xshards.interop.dtypes import column_from_arrow, column_to_arrow
from xshards.interop.field_metadata import (
    DTYPE,
    INDEX,
    LABEL,
    OPAQUE,
    SCHEMA_NOTE,
    marked,
    marks_of,
)
from xshards.interop.labels import (
    decode_label,
    encode_label,
    engine_names,
    index_mark,
    label_marks,
    label_of,
    level_of,
    to_columns,
)
from xshards.interop.object_cells import pickle_cells
from xshards.interop.writable_arrays import Lend, table_to_blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = [
    "FrameInfo",
    "cells_of",
    "columns_as_objects",
    "convert_column",
    "frame_to_table",
    "table_to_frame",
]

_NAMING = (LABEL, INDEX)

KeptIndex = Literal["all", "labels", "names"]


@dataclass(frozen=True)
class FrameInfo:
    """Properties of a pandas object that are not stored with its columns.

    Parameters
    ----------
    series
        Whether it was a Series.
    axis
        The names of the levels of its columns; empty for one level without a name.
    rows
        Start and step of the RangeIndex that numbers the rows, where it is not 0, 1.
    rows_name
        The name of that RangeIndex.
    """

    series: bool = False
    axis: tuple[Any, ...] = ()
    rows: tuple[int, int] | None = None
    rows_name: Any = None

    def renumbered(self) -> FrameInfo:
        """Describe the same frame after its rows changed: counted from 0."""
        return self if self.rows is None else replace(self, rows=None, rows_name=None)

    def store(self, table: pa.Table) -> pa.Table:
        """Write this to a table's metadata, without default values."""
        content: dict[str, Any] = {}
        if self.series:
            content["series"] = True
        if self.axis:
            content["axis"] = [encode_label(name) for name in self.axis]
        metadata = {SCHEMA_NOTE: json.dumps(content)} if content else None
        return table.replace_schema_metadata(metadata)

    @classmethod
    def load(cls, schema: pa.Schema) -> FrameInfo:
        """Read it from a table's metadata; what others wrote there says nothing."""
        stored = (schema.metadata or {}).get(SCHEMA_NOTE)
        if stored is None:
            return cls()
        try:
            content = json.loads(stored)
            axis = tuple(decode_label(name) for name in content.get("axis", ()))
            series = content.get("series", False) is True
        except (LookupError, ValueError, TypeError, AttributeError, RecursionError):
            return cls()
        return cls(series=series, axis=axis)


def frame_to_table(
    frame: pd.DataFrame | pd.Series[Any], *, keep: KeptIndex
) -> tuple[pa.Table, FrameInfo]:
    """Convert a frame or series; floats keep NaN, so they are neither read nor copied.

    Parameters
    ----------
    frame
        What to convert.
    keep
        Which index is data: "all"; "labels", all but an unnamed RangeIndex; or "names",
        all but unnamed integers, which are leftovers where a function dropped rows.
    """
    labels, columns, info = _columns_of(frame)
    fields: list[pa.Field] = []
    arrays: list[pa.Array | pa.ChunkedArray] = []

    def add(
        name: str, label: Any, column: pd.Series[Any], own: Mapping[str, str]
    ) -> None:
        array, marks = column_to_arrow(label, column)
        arrays.append(array)
        fields.append(marked(name, array.type, {**marks, **own}))

    names = engine_names(labels)
    for name, label, column in zip(names, labels, columns, strict=True):
        add(name, label, column, label_marks(name, label))
    levels = _index_levels(frame.index, keep, has_columns=bool(names))
    for number, level in enumerate(levels):
        hidden = _hidden_name(level.name, number, names)
        names.append(hidden)
        add(hidden, level.name, level, index_mark(number, level.name))
    if isinstance(frame.index, pd.RangeIndex) and not levels:
        rows = frame.index.start, frame.index.step
        info = replace(info, rows=None if rows == (0, 1) else rows)
    return pa.table(arrays, schema=pa.schema(fields)), info


def _columns_of(
    frame: pd.DataFrame | pd.Series[Any],
) -> tuple[list[Any], list[pd.Series[Any]], FrameInfo]:
    if isinstance(frame, pd.Series):
        return [frame.name], [frame], FrameInfo(series=True)
    named = frame.columns.nlevels > 1 or frame.columns.name is not None
    info = FrameInfo(axis=tuple(frame.columns.names) if named else ())
    return list(frame.columns), [column for _, column in frame.items()], info


def table_to_frame(
    table: pa.Table,
    info: FrameInfo | None = None,
    *,
    use_threads: bool = True,
    lend: Lend | None = None,
) -> Any:
    """Convert a table to a DataFrame, or a Series if it was one.

    The result is always writable: columns pandas would share with Arrow are copied,
    unless their memory is lent.
    """
    if info is None:
        info = FrameInfo.load(table.schema)
    # pyarrow's threads need the GIL: if the interpreter exits meanwhile, as it may with
    # this a daemon thread, they end at once, and pyarrow waits for them for ever.
    use_threads = use_threads and not threading.current_thread().daemon
    frame = _to_columns(table, use_threads=use_threads, lend=lend)
    levels = {
        position: level
        for position, field in enumerate(table.schema)
        if (level := level_of(field)) is not None
    }
    labels = [
        label_of(field)
        for position, field in enumerate(table.schema)
        if position not in levels
    ]
    if levels:
        frame = _with_index(frame, levels)
    elif info.rows is not None:
        start, step = info.rows
        stop = start + step * len(frame)
        frame.index = pd.RangeIndex(start, stop, step, name=info.rows_name)
    if info.series and len(labels) == 1:
        return frame.iloc[:, 0].rename(labels[0])
    frame.columns = to_columns(labels, info.axis)
    return frame


def cells_of(table: pa.Table, name: str) -> Any:
    """Return the cells of a column as pandas has them in an object column."""
    column = table.select([table.schema.get_field_index(name)])
    frame = _to_columns(column, use_threads=False, lend=None)
    return frame.iloc[:, 0].astype(object).to_numpy()


def columns_as_objects(table: pa.Table, names: list[str]) -> pa.Table:
    """Pickle the cells of some columns, as pandas has them in an object column.

    Only None is null: where columns meet, each keeps its own missing values.
    """
    for name in names:
        cells = cells_of(table, name)
        gone = np.fromiter((cell is None for cell in cells), bool, len(cells))
        pickled = pickle_cells(cells, gone)
        table = _replaced(table, name, pickled, {DTYPE: "object", OPAQUE: "pickle"})
    return table


def convert_column(
    table: pa.Table, name: str, convert: Callable[[pd.Series[Any]], pd.Series[Any]]
) -> pa.Table:
    """Replace a column by what a function makes of it; the others are not read."""
    position = table.schema.get_field_index(name)
    column = _to_columns(table.select([position]), use_threads=False, lend=None)
    label = label_of(table.schema.field(position))
    return _replaced(table, name, *column_to_arrow(label, convert(column.iloc[:, 0])))


def _replaced(
    table: pa.Table, name: str, array: pa.Array, marks: Mapping[str, str]
) -> pa.Table:
    """Put another column in the place of one, under its label."""
    position = table.schema.get_field_index(name)
    field = table.schema.field(position)
    own = {mark: text for mark, text in marks_of(field).items() if mark in _NAMING}
    return table.set_column(position, marked(name, array.type, {**marks, **own}), array)


def _to_columns(
    table: pa.Table, *, use_threads: bool, lend: Lend | None
) -> pd.DataFrame:
    """Convert all columns, the ones with notes by their notes; they are numbered."""
    noted = {}
    for position, field in enumerate(table.schema):
        values = _restored(table.column(position), field)
        if values is not None:
            noted[position] = values
    plain = [n for n in range(table.num_columns) if n not in noted]
    frame = _plain_columns(table.select(plain), use_threads=use_threads, lend=lend)
    frame.columns = pd.Index(plain)
    if not plain:
        frame = pd.DataFrame(noted, index=range(table.num_rows), copy=False)
        frame.columns = pd.RangeIndex(table.num_columns)
        return frame
    if noted:
        with warnings.catch_warnings():
            # The warning about many columns added one by one; it is unavoidable here.
            warnings.simplefilter("ignore", pd.errors.PerformanceWarning)
            for position, values in noted.items():
                frame.insert(position, position, values)
    return frame


def _plain_columns(
    table: pa.Table, *, use_threads: bool, lend: Lend | None
) -> pd.DataFrame:
    try:
        return _to_blocks(
            _decode_dictionaries(table), use_threads=use_threads, lend=lend
        )
    except (pa.ArrowException, ValueError) as error:
        fields = ", ".join(f"{field.name!r} ({field.type})" for field in table.schema)
        msg = f"cannot convert one of these columns to pandas: {fields}: {error}"
        raise XShardsTypeError(msg) from error


def _restored(column: pa.ChunkedArray, field: pa.Field) -> Any:
    try:
        return column_from_arrow(column, field)
    except (pa.ArrowException, ValueError) as error:
        msg = (
            f"column {field.name!r} of type {field.type} cannot be converted to "
            f"pandas: {error}"
        )
        raise XShardsTypeError(msg) from error


def _to_blocks(
    table: pa.Table, *, use_threads: bool, lend: Lend | None
) -> pd.DataFrame:
    """Convert columns that need no notes; the result may be changed in place."""
    frame: pd.DataFrame
    if lend is None:
        frame = table.to_pandas(use_threads=use_threads, ignore_metadata=True)
        _make_writable(frame, table)
    else:
        frame = table_to_blocks(table, lend, use_threads=use_threads)
    _mark_missing_booleans(frame, table)
    return frame


def _with_index(
    frame: pd.DataFrame, levels: Mapping[int, tuple[int, Any]]
) -> pd.DataFrame:
    ordered = sorted(levels, key=lambda position: levels[position][0])
    arrays = [frame.iloc[:, position].array for position in ordered]
    names = [levels[position][1] for position in ordered]
    rest = [n for n in range(frame.shape[1]) if n not in levels]
    # Hidden columns come last unless they were moved: then a slice shares the others.
    visible = rest == list(range(len(rest)))
    frame = frame.iloc[:, : len(rest)] if visible else frame.iloc[:, rest]
    if len(arrays) == 1:
        frame.index = pd.Index(arrays[0], dtype=arrays[0].dtype, name=names[0])
    else:
        frame.index = pd.MultiIndex.from_arrays(arrays, names=names)
    return frame


def _index_levels(
    index: pd.Index[Any], keep: KeptIndex, *, has_columns: bool
) -> list[pd.Series[Any]]:
    if has_columns and index.names == [None]:
        if keep == "labels" and isinstance(index, pd.RangeIndex):
            return []
        if keep == "names" and index.dtype.kind in "iu":
            return []
    if not has_columns and len(index) == 0 and isinstance(index, pd.RangeIndex):
        return []
    return [
        pd.Series(level.array, dtype=level.dtype, name=level.name, copy=False)
        for level in map(index.get_level_values, range(index.nlevels))
    ]


def _hidden_name(name: Any, number: int, taken: list[str]) -> str:
    wanted = name if isinstance(name, str) and name not in taken else None
    return engine_names([wanted or f"__index_level_{number}__"], taken)[0]


def _decode_dictionaries(table: pa.Table) -> pa.Table:
    schema = pa.schema(
        [
            pa.field(
                field.name,
                field.type.value_type
                if pa.types.is_dictionary(field.type)
                else field.type,
            )
            for field in table.schema
        ]
    )
    if schema.equals(table.schema):
        return table
    return table.cast(schema)


def _mark_missing_booleans(frame: pd.DataFrame, table: pa.Table) -> None:
    # pandas itself marks them with NaN, as in merge and read_csv; Arrow gives None.
    for position, column in enumerate(table.columns):
        if pa.types.is_boolean(column.type) and column.null_count > 0:
            frame.isetitem(position, frame.iloc[:, position].fillna(np.nan).array)


def _make_writable(frame: pd.DataFrame, table: pa.Table) -> None:
    # pandas shares a column with Arrow only if it is alone in its block, in one chunk
    # and without nulls; such a view of Arrow's memory is read-only.
    blocks = Counter(frame.dtypes)
    for position, column in enumerate(table.columns):
        dtype = frame.dtypes.iloc[position]
        alone = blocks[dtype] == 1 or isinstance(dtype, pd.DatetimeTZDtype)
        shared = isinstance(dtype, np.dtype | pd.DatetimeTZDtype) and dtype.kind != "O"
        if alone and shared and column.num_chunks == 1:
            frame.isetitem(position, frame.iloc[:, position].array.copy())
