# SPDX-License-Identifier: Apache-2.0
"""pandas frames to Arrow tables and back, keeping values, dtypes and index."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
import pyarrow as pa

from xshards._writable import Lend, table_to_blocks
from xshards.errors import XShardsTypeError, XShardsValueError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["FrameInfo", "frame_to_table", "normalise", "table_to_frame"]

_METADATA_KEY = b"xshards"

KeptIndex = Literal["all", "labels", "names"]


@dataclass(frozen=True)
class FrameInfo:
    """What a pandas object has that Arrow columns do not say.

    Parameters
    ----------
    index
        Hidden columns that hold the index, and the names of its levels; empty where the
        index only counts rows.
    dtypes
        Extension dtypes of columns, and the Arrow type each was stored as: restored
        only where that is still the column's type.
    series
        Whether it was a Series.
    """

    index: tuple[tuple[str, Any], ...] = ()
    dtypes: Mapping[str, tuple[pa.DataType, Any]] = field(default_factory=dict)
    series: bool = False

    @property
    def hidden(self) -> list[str]:
        """The names of the columns that hold the index."""
        return [column for column, _ in self.index]

    def store(self, table: pa.Table) -> pa.Table:
        """Write this in a table's metadata, as far as it is not a matter of course."""
        content: dict[str, Any] = {}
        if self.index:
            content["index"] = self.index
        if self.series:
            content["series"] = True
        dtypes = {name: str(dtype) for name, (_, dtype) in self.dtypes.items()}
        if dtypes:
            content["dtypes"] = dtypes
        metadata = {_METADATA_KEY: json.dumps(content)} if content else None
        return table.replace_schema_metadata(metadata)

    @classmethod
    def load(cls, schema: pa.Schema) -> FrameInfo:
        """Read it from a table's metadata."""
        stored = (schema.metadata or {}).get(_METADATA_KEY)
        if stored is None:
            return cls()
        content = json.loads(stored)
        dtypes = {
            name: (schema.field(name).type, pd.api.types.pandas_dtype(dtype))
            for name, dtype in content.get("dtypes", {}).items()
            if name in schema.names
        }
        index = tuple((column, name) for column, name in content.get("index", ()))
        return cls(index=index, dtypes=dtypes, series=content.get("series", False))


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
    series = isinstance(frame, pd.Series)
    if isinstance(frame, pd.Series):
        name = "0" if frame.name is None else frame.name
        frame = frame.to_frame(name)
    _check_labels(frame)
    arrays: list[pa.Array | pa.ChunkedArray] = []
    dtypes: dict[str, tuple[pa.DataType, Any]] = {}
    for label, column in frame.items():
        array = _to_arrow(str(label), column)
        arrays.append(array)
        if _is_restorable(column.dtype):
            dtypes[str(label)] = (array.type, column.dtype)
    names = [str(label) for label in frame.columns]
    index = _index_columns(frame, keep)
    for hidden, level in index.items():
        names.append(hidden)
        arrays.append(_to_arrow(hidden, level))
        if _is_restorable(level.dtype):
            dtypes[hidden] = (arrays[-1].type, level.dtype)
    table = pa.table(arrays, names=names)
    if not arrays:
        table = pa.table({})
    info = FrameInfo(
        index=tuple((hidden, level.name) for hidden, level in index.items()),
        dtypes=dtypes,
        series=series,
    )
    return table, info


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
    table = table.replace_schema_metadata(None)
    decoded = _decode_dictionaries(table)
    if lend is None:
        frame = decoded.to_pandas(use_threads=use_threads, ignore_metadata=True)
        _make_writable(frame, decoded)
    else:
        frame = table_to_blocks(decoded, lend, use_threads=use_threads)
    _mark_missing_booleans(frame, decoded)
    for position, name in enumerate(table.column_names):
        stored, dtype = info.dtypes.get(name, (None, None))
        if dtype is None or stored not in (table.field(position).type, None):
            continue
        frame.isetitem(position, _restore(decoded.column(position), dtype))
    hidden = [name for name in info.hidden if name in frame.columns]
    if hidden and len(hidden) == len(info.index):
        frame = frame.set_index(hidden)
        frame.index.names = [level for _, level in info.index]
    if info.series and len(frame.columns) == 1:
        series = frame.iloc[:, 0]
        return series.rename(None) if series.name == "0" else series
    return frame


def normalise(table: pa.Table) -> pa.Table:
    """Give strings the one type they have in the engine."""
    schema = pa.schema(
        [field.with_type(_engine_type(field.type)) for field in table.schema],
        table.schema.metadata,
    )
    return table if schema.equals(table.schema) else table.cast(schema)


def _engine_type(arrow: pa.DataType) -> pa.DataType:
    if pa.types.is_string(arrow) or pa.types.is_string_view(arrow):
        return pa.large_string()
    if pa.types.is_dictionary(arrow) and pa.types.is_string(arrow.value_type):
        return pa.dictionary(arrow.index_type, pa.large_string(), arrow.ordered)
    return arrow


def _check_labels(frame: pd.DataFrame) -> None:
    if isinstance(frame.columns, pd.MultiIndex):
        msg = "columns must have one level; flatten the labels first"
        raise XShardsTypeError(msg)
    odd = [label for label in frame.columns if not isinstance(label, str)]
    if odd:
        msg = f"column labels must be strings, rename these first: {odd[:10]}"
        raise XShardsTypeError(msg)
    twice = [label for label, count in Counter(frame.columns).items() if count > 1]
    if twice:
        msg = f"column labels must differ, these occur more than once: {twice[:10]}"
        raise XShardsValueError(msg)


def _to_arrow(label: str, column: pd.Series[Any]) -> pa.Array | pa.ChunkedArray:
    try:
        if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf":
            array = pa.array(column.to_numpy())  # NaN stays NaN
        else:
            array = pa.array(column, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        msg = f"column {label!r} holds values that Arrow has no type for: {error}"
        raise XShardsTypeError(msg) from error
    wanted = _engine_type(array.type)
    return array if wanted == array.type else array.cast(wanted)


def _is_restorable(dtype: Any) -> bool:
    # What Arrow gives back by itself needs no note.
    if isinstance(dtype, pd.DatetimeTZDtype) or dtype == "str":
        return False
    return isinstance(dtype, pd.api.extensions.ExtensionDtype)


def _index_columns(frame: pd.DataFrame, keep: KeptIndex) -> dict[str, pd.Series[Any]]:
    index = frame.index
    if index.names == [None]:
        if keep == "labels" and isinstance(index, pd.RangeIndex):
            return {}
        if keep == "names" and index.dtype.kind in "iu":
            return {}
    columns = {}
    for number in range(index.nlevels):
        level = index.get_level_values(number).to_series(index=frame.index)
        name = level.name
        hidden = name if isinstance(name, str) else f"__index_level_{number}__"
        if hidden in frame.columns or hidden in columns:
            hidden = f"__index_level_{number}__"
        columns[hidden] = level
    return columns


def _decode_dictionaries(table: pa.Table) -> pa.Table:
    schema = pa.schema(
        [
            field.with_type(field.type.value_type)
            if pa.types.is_dictionary(field.type)
            else field
            for field in table.schema
        ]
    )
    return table if schema.equals(table.schema) else table.cast(schema)


def _restore(values: pa.ChunkedArray, dtype: Any) -> Any:
    if not isinstance(dtype, pd.CategoricalDtype) and hasattr(dtype, "__from_arrow__"):
        return dtype.__from_arrow__(values)
    plain = values.to_pandas()
    if isinstance(dtype, pd.CategoricalDtype) and dtype.categories is not None:
        known = plain.isna() | plain.isin(dtype.categories)
        if not known.all():
            return plain.array  # a union brought values of other categories
    return plain.astype(dtype).array


def _mark_missing_booleans(frame: pd.DataFrame, table: pa.Table) -> None:
    # pandas itself marks them with NaN, as in merge and read_csv; Arrow gives None.
    for position, column in enumerate(table.columns):
        if pa.types.is_boolean(column.type) and column.null_count > 0:
            frame.isetitem(position, frame.iloc[:, position].fillna(np.nan).array)


def _make_writable(frame: pd.DataFrame, table: pa.Table) -> None:
    # pandas shares a column with Arrow only where it is alone in its block, whole and
    # without nulls; such a view of Arrow's memory is read-only.
    blocks = Counter(frame.dtypes)
    for position, column in enumerate(table.columns):
        dtype = frame.dtypes.iloc[position]
        alone = blocks[dtype] == 1 or isinstance(dtype, pd.DatetimeTZDtype)
        shared = isinstance(dtype, np.dtype | pd.DatetimeTZDtype) and dtype.kind != "O"
        if alone and shared and column.num_chunks == 1:
            frame.isetitem(position, frame.iloc[:, position].array.copy())
