# SPDX-License-Identifier: Apache-2.0
"""JSON documents of the orients of pandas.DataFrame.to_json, parsed by the engine."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import numpy as np
import pyarrow as pa

from xshards import _core
from xshards._util.deferred import pd
from xshards.io.json.pandas_types import (
    column_labels,
    converted,
    raw_column,
    row_labels,
)
from xshards.io.pandas_files import Folders, frames_to_table, read_each
from xshards.io.storage_options import opened, read_by_engine

__all__ = ["read_document", "read_json_documents"]

#: What the engine parsed: rows, whether their values have keys, the labels of rows, and
#: the JSON of "columns" or "schema".
_Parsed = tuple[pa.RecordBatch, bool, pa.RecordBatch | None, str]

# What pandas raises for JSON that holds no frame.
_NO_FRAME = (AttributeError, KeyError, NotImplementedError, TypeError)


def read_json_documents(
    paths: list[str], options: dict[str, Any], folders: Folders
) -> pa.Table:
    """Read the documents of a partition; runs in a worker process."""

    def read(path: str) -> pd.DataFrame:
        return read_document(path, **options)

    return frames_to_table(read_each(read, paths, folders, own_errors=True))


def read_document(path: str, *, orient: str, dtype: Any = None) -> pd.DataFrame:
    """Read a file that holds one frame, as ``pandas.read_json`` does.

    ValueError if it does not. What pandas reads as no rows and columns of values, or
    as text that is not UTF-8, it reads itself.
    """
    parsed = _core.read_json_document(path, orient) if read_by_engine(path) else None
    try:
        if parsed is None:
            return _read_by_pandas(path, orient, dtype)
        if orient == "table":
            return _frame_of_table(parsed, dtype)
        return _frame(parsed, orient, dtype)
    except _NO_FRAME as error:
        msg = f"Expected a document of orient {orient!r}; pandas says: {error!r}"
        raise ValueError(msg) from error


def _read_by_pandas(path: str, orient: str, dtype: Any) -> pd.DataFrame:
    asked = {} if dtype is None else {"dtype": dtype}
    with opened(path) as (source, inferred):
        # This encoding accepts a byte order mark, as the engine does.
        options = {"encoding": "utf-8-sig", "precise_float": True, **inferred, **asked}
        frame: pd.DataFrame = pd.read_json(source, orient=orient, **options)  # type: ignore[call-overload]
    return frame


def _frame(parsed: _Parsed, orient: str, dtype: Any) -> pd.DataFrame:
    rows, has_keys, index, header = parsed
    labels = _labels_of_columns(rows, header, has_keys=has_keys)
    columns = {
        position: converted(label, rows.column(position), field, dtype)
        for position, (label, field) in enumerate(zip(labels, rows.schema, strict=True))
    }
    return _assembled(columns, labels, _labels_of_rows(index, orient, rows.num_rows))


def _labels_of_columns(
    rows: pa.RecordBatch, header: str, *, has_keys: bool
) -> pd.Index[Any]:
    if header:
        return column_labels(header)
    return (
        column_labels(rows.schema.names)
        if has_keys
        else pd.RangeIndex(rows.num_columns)
    )


def _labels_of_rows(
    index: pa.RecordBatch | None, orient: str, num_rows: int
) -> pd.Index[Any]:
    if index is None:
        return pd.RangeIndex(num_rows)
    return row_labels(index.column(0), index.schema.field(0), orient)


def _assembled(
    columns: dict[int, pd.Series[Any]], labels: pd.Index[Any], index: pd.Index[Any]
) -> pd.DataFrame:
    frame = pd.DataFrame(columns, copy=False)
    frame.columns = labels
    frame.index = index
    return frame


def _frame_of_table(parsed: _Parsed, dtype: Any) -> pd.DataFrame:
    """Give rows the dtypes and the index that their schema asks for."""
    rows, _, _, header = parsed
    fields = json.loads(header)["fields"]
    # pandas turns the schema into dtypes, names and an index: those of no rows.
    empty = _read_empty_table(header, dtype)
    levels = dict(zip(_primary_key(header), range(empty.index.nlevels), strict=False))
    columns = {}
    for position, field in enumerate(fields):
        name = field["name"]
        raw = _raw_of_table(rows, name)
        if field["type"] != "string" or "extDtype" in field:
            wanted = (
                empty.index.get_level_values(levels[name]).dtype
                if name in levels
                else empty.dtypes[name]
            )
            raw = raw.astype(wanted)
        columns[position] = raw
    labels = [field["name"] for field in fields]
    frame = _assembled(columns, pd.Index(labels), pd.RangeIndex(rows.num_rows))
    if levels:
        frame = frame.set_index(list(levels))
        frame.index.names = empty.index.names
    for name in frame.columns[frame.isna().any()]:
        frame[name] = frame[name].fillna(np.nan)
    return frame


def _read_empty_table(header: str, dtype: Any) -> pd.DataFrame:
    asked = {} if dtype is None else {"dtype": dtype}
    document = StringIO(f'{{"schema":{header},"data":[]}}')
    frame: pd.DataFrame = pd.read_json(document, orient="table", **asked)
    return frame


def _primary_key(header: str) -> list[str]:
    key = json.loads(header).get("primaryKey", [])
    return [key] if isinstance(key, str) else list(key)


def _raw_of_table(rows: pa.RecordBatch, name: str) -> pd.Series[Any]:
    position = rows.schema.get_field_index(name)
    if position < 0:
        return pd.Series(np.full(rows.num_rows, np.nan))
    return raw_column(rows.column(position), rows.schema.field(position))
