# SPDX-License-Identifier: Apache-2.0
"""The metadata that pandas writes to Parquet and Arrow IPC files.

Files hold columns; which of them are the index, what dtypes they had and which labels
are not strings is recorded in pandas' metadata, in the schema.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from xshards._util.deferred import pd
from xshards.errors import XShardsValueError
from xshards.expressions import col
from xshards.interop.dtypes import column_to_arrow
from xshards.interop.field_metadata import DTYPE, marks_of
from xshards.interop.labels import index_mark, label_marks
from xshards.io.pandas_files import list_files
from xshards.io.storage_options import opened, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from xshards.shards import XShards

__all__ = ["PandasNotes", "read_notes", "with_notes"]

_SCALAR = str | int | float | bool | None
# The dtypes that do not follow from Arrow's types.
_NULLABLE = frozenset(
    [
        *(f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)),
        *("Float32", "Float64", "boolean", "string"),
    ]
)


@dataclass(frozen=True)
class PandasNotes:
    """The marks of columns, by name, and the range that numbers the rows, if any."""

    index: list[str] = field(default_factory=list)
    marks: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    rows: tuple[int, int] | None = None
    rows_name: Any = None


def read_notes(paths: list[str], *, is_parquet: bool) -> PandasNotes:
    """Read pandas' metadata in the first of some files.

    The range that numbers rows holds for one whole local file only.
    """
    if not paths:
        return PandasNotes()
    try:
        files = list_files(paths[:1])
        with opened(files[0]) as (source, _):
            schema, first = _open(source, is_parquet=is_parquet)
            noted = (schema.metadata or {}).get(b"pandas")
            notes = PandasNotes() if noted is None else _parse_note(files[0], noted)
            categories = {
                column.name: _checked_categories(files[0], column, first)
                for column in schema
                if pa.types.is_dictionary(column.type)
            }
    except XShardsValueError:
        raise  # damaged metadata, which name the file
    except (OSError, ValueError, pa.ArrowException):
        return PandasNotes()  # the reader reports what is wrong with it
    marks = dict(notes.marks)
    for name, own in categories.items():
        marks[name] = {**marks.get(name, {}), **own}
    is_whole = files == paths and "://" not in paths[0]
    return replace(notes, marks=marks, rows=notes.rows if is_whole else None)


def _open(
    source: Any, *, is_parquet: bool
) -> tuple[pa.Schema, Callable[[str], pa.Array | None]]:
    """Return the schema of a file, and what reads the first values of a column."""
    if is_parquet:
        import pyarrow.parquet as pq  # imports the libraries of all cloud file systems

        file = pq.ParquetFile(source)

        def first_of_group(name: str) -> pa.Array | None:
            groups = [0] if file.num_row_groups else []
            for batch in file.iter_batches(1, row_groups=groups, columns=[name]):
                return batch.column(0)
            return None

        return file.schema_arrow, first_of_group
    # Not mapped: to read a mapped file that is cut ends the process.
    opened_file = pa.OSFile(source) if isinstance(source, str) else source
    reader = pa.ipc.open_file(opened_file)

    def first_of_batch(name: str) -> pa.Array | None:
        if reader.num_record_batches == 0:
            return None
        only = pa.ipc.IpcReadOptions(
            included_fields=[reader.schema.get_field_index(name)]
        )
        return pa.ipc.open_file(opened_file, options=only).get_batch(0).column(0)

    return reader.schema, first_of_batch


def _checked_categories(
    path: str, column: pa.Field, first: Callable[[str], pa.Array | None]
) -> Mapping[str, str]:
    try:
        return _categories(column, first)
    except pa.ArrowException:
        raise
    except (ValueError, TypeError) as error:
        msg = (
            f"Could not read {shown(path)!r}: the values of column {column.name!r} "
            f"are not valid categories: {error}"
        )
        raise XShardsValueError(msg) from error


def _categories(
    column: pa.Field, first: Callable[[str], pa.Array | None]
) -> Mapping[str, str]:
    """Mark a column of a dictionary type as categories: those of its first values."""
    values = first(column.name)
    if values is not None:
        values.validate(full=True)
    held = pa.array([], column.type.value_type) if values is None else values.dictionary
    ordered = bool(column.type.ordered)
    dtype = pd.CategoricalDtype(held.to_pandas(), ordered)
    _, marks = column_to_arrow(column.name, pd.Series([], dtype=dtype))
    return marks


def _parse_note(path: str, noted: bytes) -> PandasNotes:
    """Parse pandas' metadata; XShardsValueError names the file if it is damaged."""
    try:
        content = json.loads(noted)
        _check(content)
        return _parse(content)
    except (ValueError, RecursionError) as error:
        msg = (
            f"Could not read {shown(path)!r}: its pandas metadata (the key 'pandas' of "
            f"the schema) are damaged: {error or type(error).__name__}; remove the key "
            "or write the file again"
        )
        raise XShardsValueError(msg) from error


def _check(content: object) -> None:
    """Raise ValueError if a part that is used is not of the kind that pandas writes."""
    _expect("note", content, dict)
    assert isinstance(content, dict)
    for key in ("index_columns", "column_indexes", "columns"):
        _expect(key, content.get(key, []), list)
    for level in content.get("index_columns", []):
        _expect("index_columns", level, str | dict)
        if isinstance(level, dict):
            _check_range(level)
    for entry in content.get("column_indexes", []):
        _expect("column_indexes", entry, dict)
    for column in content.get("columns", []):
        _expect("columns", column, dict)
        for key in ("name", "field_name"):
            _expect(f"{key} of a column", column.get(key), _SCALAR)
        _expect("numpy_type of a column", column.get("numpy_type"), str | None)


def _check_range(level: dict[str, Any]) -> None:
    for key, usual in (("start", 0), ("step", 1)):
        _expect(f"{key} of a range", level.get(key, usual), int)
        if not -(2**63) <= level.get(key, usual) < 2**63:
            msg = f"{key} of a range is beyond 64 bits"
            raise ValueError(msg)
    if level.get("step", 1) == 0:
        msg = "step of a range is 0"
        raise ValueError(msg)
    _expect("name of a range", level.get("name"), _SCALAR)


def _expect(what: str, value: object, kind: Any) -> None:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        msg = f"{what} is a {type(value).__name__}"
        raise ValueError(msg)


def _parse(content: dict[str, Any]) -> PandasNotes:
    levels = content.get("index_columns", [])
    index = [level for level in levels if isinstance(level, str)]
    axes = content.get("column_indexes", [])
    numbered = len(axes) == 1 and axes[0].get("pandas_type") in ("int64", "uint64")
    marks: dict[str, dict[str, str]] = {}
    for column in content.get("columns", ()):
        name = column.get("field_name", column.get("name"))
        own: dict[str, str] = {}
        if column.get("numpy_type") in _NULLABLE:
            own[DTYPE] = column["numpy_type"]
        if name in index:
            own |= index_mark(index.index(name), column.get("name"))
        elif numbered and str(column.get("name")).lstrip("-").isdigit():
            own |= label_marks(name, int(column["name"]))
        if own:
            marks[name] = own
    if len(levels) == 1 and isinstance(levels[0], dict):
        span = levels[0]
        rows = span.get("start", 0), span.get("step", 1)
        return PandasNotes(index, marks, rows, span.get("name"))
    return PandasNotes(index, marks)


def with_notes(shards: XShards, notes: PandasNotes, *, numbered: bool) -> XShards:
    """Give columns their dtypes, labels and levels of the index back.

    Rows that are not `numbered` are not all of those that were written.
    """
    schema = shards._full_schema()
    if any(name not in schema.names for name in notes.index):
        return shards
    if any(name in schema.names for name in notes.marks):
        names = [name for name in schema.names if name not in notes.index]
        chosen = []
        for name in [*names, *notes.index]:
            value = col(name)
            if name in notes.marks:
                column = schema.field(name)
                marks = {**marks_of(column), **notes.marks[name]}
                value = value._noted(column.type, marks)
            chosen.append((name, value._core))
        core = shards._core.select_named(chosen)
        shards = shards._derive(core, same_rows=True)
    if not numbered or notes.rows is None:
        return shards
    if notes.rows == (0, 1) and notes.rows_name is None:
        return shards
    info = replace(shards._current_info(), rows=notes.rows, rows_name=notes.rows_name)
    return shards._with_info(info)
