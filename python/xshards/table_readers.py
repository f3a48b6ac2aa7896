# SPDX-License-Identifier: Apache-2.0
"""Readers of files that know their own schema: Parquet, Arrow IPC and ORC."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xshards import _core
from xshards._arguments import as_count, as_names
from xshards._filters import Filters, columns_of, to_expression
from xshards._paths import Paths, paths_of, read_files
from xshards._schemas import Schema, as_schema
from xshards._storage import located

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xshards.context import Context
    from xshards.shards import XShards

__all__ = ["read_ipc", "read_orc", "read_parquet"]


def read_parquet(
    path: Paths,
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

    Columns that later steps do not use are not read, and row groups that a filter rules
    out by their statistics are skipped. Folders named ``column=value`` are columns too.

    Parameters
    ----------
    path : path, or list of paths
        A file, a directory, or a pattern.
    columns : list of str, optional
        Read only these columns.
    filters : expression, or list of tuples, optional
        Read only the rows for which this is true: an expression such as
        ``xs.col("a") > 1``, or ``[("a", ">", 1), ("b", "in", ["x", "y"])]``, where all
        must hold; of a list of such lists, one must.
    schema : pyarrow.Schema, or dict of names and dtypes, optional
        The columns to read, in this order, and their types: values are cast, and
        columns that a file does not have are missing in it. By default the files tell.
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
    needed = wanted
    if filters is not None and wanted is not None:
        looked_at = columns_of(filters)
        needed = (
            None if looked_at is None else list(dict.fromkeys([*wanted, *looked_at]))
        )
    shards = _read_typed(
        _core.read_parquet,
        located(paths_of(path), storage_options),
        needed,
        schema,
        num_partitions,
        block_size,
        context,
    )
    if filters is None:
        return shards
    shards = shards.filter(to_expression(filters))
    return shards if wanted is None else shards.select(wanted)


def read_ipc(
    path: Paths,
    *,
    columns: Sequence[str] | None = None,
    schema: Schema | None = None,
    storage_options: Mapping[str, Any] | None = None,
    num_partitions: int | None = None,
    block_size: int = 0,
    context: Context | None = None,
) -> XShards:
    """Read Arrow IPC files (Feather) in parallel, without copying them.

    Local files are mapped into memory: columns that are stored uncompressed, in the
    engine's types (text as ``large_string``), are used where they are. Such a file may
    be replaced while its rows are in use, but not cut short.

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
    return _read_typed(
        _core.read_ipc,
        located(paths_of(path), storage_options),
        columns,
        schema,
        num_partitions,
        block_size,
        context,
    )


def read_orc(
    path: Paths,
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
    return _read_typed(
        _core.read_orc,
        located(paths_of(path), storage_options),
        columns,
        schema,
        num_partitions,
        block_size,
        context,
    )


def _read_typed(
    reader: Any,
    paths: list[str],
    columns: Sequence[str] | None,
    schema: Schema | None,
    num_partitions: int | None,
    block_size: int,
    context: Context | None,
) -> XShards:
    """Read files that know their own schema."""
    options = {
        "columns": None if columns is None else as_names("columns", columns),
        "schema": as_schema(schema),
        "num_partitions": as_count("num_partitions", num_partitions),
        "block_size": block_size,
    }
    return read_files(reader, paths, options, context)
