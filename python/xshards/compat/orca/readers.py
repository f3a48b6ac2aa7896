# SPDX-License-Identifier: Apache-2.0
"""What ``orca.data.pandas`` exports: readers that give XShards of DataFrames."""

from __future__ import annotations

import contextlib
import os
from functools import partial
from typing import TYPE_CHECKING, Any

import xshards
from xshards.compat.orca import pandas_reader, session
from xshards.compat.orca.columns import Columns
from xshards.compat.orca.orca_context import OrcaContext
from xshards.compat.orca.shard_base import DATA_FRAME, SERIES
from xshards.compat.orca.spark_xshards import SparkXShards
from xshards.compat.spark.ddl import parse_ddl
from xshards.compat.spark.rdd import RDD
from xshards.compat.spark.spark_options import translate
from xshards.errors import XShardsFileNotFoundError
from xshards.interop.astype import with_missing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pandas as pd

    from xshards.shards import XShards

__all__ = ["read_csv", "read_json", "read_parquet"]


def read_csv(file_path: Any, **kwargs: Any) -> SparkXShards:
    """Read CSV files to XShards of DataFrames.

    Parameters
    ----------
    file_path : path, or list of paths
        A file, a folder or a pattern.
    **kwargs
        With the "spark" backend, the default: those of ``pandas.read_csv`` that decide
        columns and types (header, names, usecols, dtype, squeeze, index_col, sep,
        quotechar, escapechar, comment, na_values, skiprows, nrows); a large file is
        several partitions, unless its `sep` is longer than a character. With
        ``OrcaContext.pandas_read_backend = "pandas"``, all of them; a file is read by
        one worker.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = pathlib.Path(directory, "a.csv")
    ...     _ = path.write_text("1,x")
    ...     read_csv(str(path), header=None).collect()
    [   0  1
    0  1  x]
    """
    if OrcaContext.pandas_read_backend == "pandas":
        return pandas_reader.read("read_csv", file_path, kwargs)
    if len(kwargs.get("sep", kwargs.get("delimiter", ","))) > 1:
        return pandas_reader.read_long_separator(file_path, kwargs)
    columns = Columns.take(kwargs)
    options = translate(kwargs, "csv")
    if columns.schema is not None:
        options["names"] = list(columns.schema)
        options["dtype"] = columns.schema
    elif columns.names is not None:
        options.setdefault("header", None)  # names imply no header
    with _hint():
        return _shape(partial(_read, xshards.read_csv, file_path), options, columns)


def read_json(file_path: Any, **kwargs: Any) -> SparkXShards:
    """Read files of JSON lines to XShards of DataFrames; see `read_csv`."""
    if OrcaContext.pandas_read_backend == "pandas":
        return pandas_reader.read("read_json", file_path, kwargs)
    columns = Columns.take(kwargs)
    options = translate(kwargs, "json")
    with _hint():
        return _shape(partial(_read, xshards.read_json, file_path), options, columns)


def read_parquet(
    file_path: Any,
    columns: Sequence[str] | None = None,
    schema: Any = None,
    **options: Any,
) -> SparkXShards:
    """Read Parquet files to XShards of DataFrames.

    Parameters
    ----------
    file_path : path, or list of paths
        A file, a folder or a pattern.
    columns : list of str, optional
        Read only these.
    schema : str or StructType, optional
        The columns and their types, as ``"a INT, b STRING"``.
    **options
        Those of Spark; none changes what is read.
    """
    translate(options, "parquet")
    types = None if schema is None else parse_ddl(schema)
    wanted = list(types) if columns is None and types else columns
    shards = _read(xshards.read_parquet, file_path, columns=wanted)
    if types is not None:
        shards = shards.astype(
            {
                name: with_missing(kind)
                for name, kind in types.items()
                if name in shards.columns
            }
        )
    return _to_shards(shards)


@contextlib.contextmanager
def _hint() -> Iterator[None]:
    """Add a hint at the other backend to errors of reading."""
    try:
        yield
    except Exception as error:
        error.add_note(
            "pandas itself may read it: OrcaContext.pandas_read_backend = 'pandas'"
        )
        raise


def _read(reader: Callable[..., XShards], file_path: Any, **options: Any) -> XShards:
    listed = [file_path] if isinstance(file_path, str | os.PathLike) else file_path
    paths = [os.fspath(path).removeprefix("file://") for path in listed]
    try:
        return reader(paths, context=session.active_context()._engine, **options)
    except XShardsFileNotFoundError as error:
        msg = f"Path does not exist, the file path is invalid/empty: {error}"
        raise XShardsFileNotFoundError(msg) from error


def _shape(
    read: Callable[..., XShards], options: dict[str, Any], columns: Columns
) -> SparkXShards:
    """Read what is wanted, with the names, types and index that are wanted."""
    first = read(**options)
    if not all(isinstance(label, str) for label in first.columns):
        # Without a header pandas numbers the columns; to Spark all names are text.
        options = {**options, "names": [str(label) for label in first.columns]}
        first = read(**options)
    plan = columns.plan(first.columns)
    types = {
        old: plan.types[new] for old, new in plan.names.items() if new in plan.types
    }
    shards = read(**{**options, "dtype": types}) if types else first
    shards = shards.select(list(plan.names))
    renamed = {old: new for old, new in plan.names.items() if old != new}
    if renamed:
        shards = shards.rename(renamed)
    if plan.index is not None or plan.squeeze:
        return _to_shards(shards, plan.index, squeeze=plan.squeeze)
    return _to_shards(shards)


def _to_shards(
    shards: XShards, index: Any = None, *, squeeze: bool = False
) -> SparkXShards:
    rdd = RDD(session.active_context(), lambda: shards)
    if index is None and not squeeze:
        rdd._native = True
        return SparkXShards(rdd, class_name=DATA_FRAME)
    shaped = rdd.map(partial(_finish, index, squeeze))
    single = squeeze and len(shards.columns) - (index is not None) == 1
    return SparkXShards(shaped, class_name=SERIES if single else DATA_FRAME)


def _finish(
    index: Any,
    squeeze: bool,  # noqa: FBT001 - bound by position
    frame: pd.DataFrame,
) -> Any:
    if index is not None:
        frame = frame.set_index(index)
    return frame.iloc[:, 0] if squeeze and len(frame.columns) == 1 else frame
