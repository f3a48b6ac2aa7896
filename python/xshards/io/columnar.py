# SPDX-License-Identifier: Apache-2.0
"""Readers of files that contain their schema: Parquet, Arrow IPC and ORC."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xshards import _core
from xshards._util.arguments import as_count, as_names
from xshards.io.pandas_metadata import PandasNotes, read_notes, with_notes
from xshards.io.parquet_filters import Filters, columns_of, to_expression
from xshards.io.paths import Paths, loaded, open_source, read_files
from xshards.io.requested_schema import Schema, as_schema

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xshards.context import Context
    from xshards.expressions import Expression
    from xshards.shards import XShards

__all__ = ["read_ipc", "read_orc", "read_parquet"]


def read_parquet(
    path: Paths | bytes | Any,
    *,
    columns: Sequence[str] | None = None,
    filters: Filters | None = None,
    schema: Schema | None = None,
    storage_options: Mapping[str, Any] | None = None,
    num_partitions: int | None = None,
    block_size: int = 0,
    context: Context | None = None,
) -> XShards:
    """Read Parquet files in parallel, row group by row group.

    Columns that later steps do not use are not read, and row groups that a filter
    excludes by their statistics are skipped. Folders named ``column=value`` are columns
    too.

    Parameters
    ----------
    path : path, list of paths, bytes, or file object
        A file, a directory, or a pattern. Bytes and file objects are read at once.
    columns : list of str, optional
        Read only these columns, and the index that pandas wrote.
    filters : expression, or list of tuples, optional
        Read only the rows for which this is true: an expression such as
        ``xs.col("a") > 1``, or ``[("a", ">", 1), ("b", "in", ["x", "y"])]``, where all
        must hold; of a list of such lists, one must.
    schema : pyarrow.Schema, or dict of names and dtypes, optional
        The columns to read, in this order, and their types: values are cast, and
        columns that a file does not have are missing in it. By default from the files'
        schemas.
    storage_options, num_partitions, block_size, context
        See `read_csv`.

    Returns
    -------
    XShards

    Raises
    ------
    TypeError
        Where the files' columns have no common type, or do not cast to the schema.

    Examples
    --------
    >>> import os, tempfile
    >>> import pandas as pd
    >>> file = os.path.join(tempfile.mkdtemp(), "trips.parquet")
    >>> pd.DataFrame({"id": [1, 2, 3], "km": [0.5, 2.0, 8.0]}).to_parquet(file)
    >>> xs.read_parquet(file, filters=[("km", ">", 1)]).to_pandas()
       id   km
    0   2  2.0
    1   3  8.0
    >>> xs.read_parquet(file, schema={"id": "float32", "city": "str"}).to_pandas()
        id city
    0  1.0  NaN
    1  2.0  NaN
    2  3.0  NaN
    """
    wanted = None if columns is None else as_names("columns", columns)
    condition = None if filters is None else to_expression(filters)
    needed = wanted
    if filters is not None and wanted is not None:
        looked_at = columns_of(filters)
        needed = (
            None if looked_at is None else list(dict.fromkeys([*wanted, *looked_at]))
        )
    options = _options(needed, schema, num_partitions, block_size)
    reader = _core.read_parquet
    shards = _read(reader, path, storage_options, options, context, condition)
    return shards if wanted is None or condition is None else shards.select(wanted)


def read_ipc(
    path: Paths | bytes | Any,
    *,
    columns: Sequence[str] | None = None,
    schema: Schema | None = None,
    storage_options: Mapping[str, Any] | None = None,
    num_partitions: int | None = None,
    block_size: int = 0,
    context: Context | None = None,
) -> XShards:
    """Read Arrow IPC files (Feather) in parallel.

    Record batches are read when they are needed, and checked. A file that has changed
    since it was listed, or is cut short, is an error that names it.

    Parameters
    ----------
    path, columns, schema, storage_options, num_partitions, block_size, context
        See `read_parquet`.

    Returns
    -------
    XShards

    Examples
    --------
    >>> import os, tempfile
    >>> import pandas as pd
    >>> file = os.path.join(tempfile.mkdtemp(), "trips.arrow")
    >>> pd.DataFrame({"id": [1, 2], "km": [0.5, 2.0]}).to_feather(file)
    >>> xs.read_ipc(file, columns=["km"]).to_pandas()
        km
    0  0.5
    1  2.0
    """
    options = _options(columns, schema, num_partitions, block_size)
    return _read(_core.read_ipc, path, storage_options, options, context)


def read_orc(
    path: Paths | bytes | Any,
    *,
    columns: Sequence[str] | None = None,
    schema: Schema | None = None,
    storage_options: Mapping[str, Any] | None = None,
    num_partitions: int | None = None,
    block_size: int = 0,
    context: Context | None = None,
) -> XShards:
    """Read ORC files in parallel, stripe by stripe.

    Parameters
    ----------
    path, columns, schema, storage_options, num_partitions, block_size, context
        See `read_parquet`.

    Returns
    -------
    XShards

    Examples
    --------
    >>> import os, tempfile
    >>> import pandas as pd
    >>> file = os.path.join(tempfile.mkdtemp(), "trips.orc")
    >>> pd.DataFrame({"id": [1, 2], "km": [0.5, 2.0]}).to_orc(file)
    >>> xs.read_orc(file).to_pandas()
       id   km
    0   1  0.5
    1   2  2.0
    """
    options = _options(columns, schema, num_partitions, block_size)
    return _read(_core.read_orc, path, storage_options, options, context)


def _options(
    columns: Sequence[str] | None,
    schema: Schema | None,
    num_partitions: int | None,
    block_size: int,
) -> dict[str, Any]:
    """Return the engine's options of files that know their own schema."""
    return {
        "columns": None if columns is None else as_names("columns", columns),
        "schema": as_schema(schema),
        "num_partitions": as_count("num_partitions", num_partitions),
        "block_size": block_size,
    }


def _read(
    reader: Any,
    path: Any,
    storage_options: Mapping[str, Any] | None,
    options: dict[str, Any],
    context: Context | None,
    condition: Expression | None = None,
) -> XShards:
    """Plan to read files; restores dtypes and index from pandas metadata."""
    with open_source(path, storage_options) as source:
        notes = PandasNotes()
        if reader is not _core.read_orc and options["schema"] is None:
            notes = read_notes(source.paths, is_parquet=reader is _core.read_parquet)
        if options["columns"] is not None:
            wanted = list(dict.fromkeys([*options["columns"], *notes.index]))
            options = options | {"columns": wanted}
        shards = read_files(reader, source.paths, options, context)
        if condition is not None:
            shards = shards.filter(condition)
        shards = with_notes(shards, notes, numbered=condition is None)
        return loaded(shards, options["num_partitions"]) if source.in_memory else shards
