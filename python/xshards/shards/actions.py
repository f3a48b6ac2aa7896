# SPDX-License-Identifier: Apache-2.0
"""Actions of XShards: they run the plan."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from xshards._util.arguments import as_names
from xshards._util.deferred import pd
from xshards.errors import (
    XShardsTypeError,
    XShardsValueError,
)
from xshards.interop.frames import table_to_frame
from xshards.interop.labels import label_of, level_of
from xshards.interop.plain_tables import refuse_opaque, without_notes
from xshards.io.storage_options import located
from xshards.runtime.convert import to_value
from xshards.shards.exchange_ops import WideOps

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self


__all__ = ["Actions"]

WriteMode = Literal["error", "overwrite", "append"]
TextCompression = Literal["gzip", "bz2", "zstd", "lz4"]

_SUFFIXES = {None: "", "gzip": ".gz", "bz2": ".bz2", "zstd": ".zst", "lz4": ".lz4"}


def _suffix(compression: TextCompression | None) -> str:
    """Give the end of a file's name, which tells how the file is compressed."""
    if compression not in _SUFFIXES:
        known = ", ".join(name for name in _SUFFIXES if name is not None)
        msg = f"compression must be one of {known} or None, got {compression!r}"
        raise XShardsValueError(msg)
    return _SUFFIXES[compression]


def _output_path(
    directory: str | os.PathLike[str], options: Mapping[str, Any] | None
) -> str:
    """Give a folder's path or URI as the engine takes it."""
    text = located([os.fspath(directory)], options)[0]
    return text if "://" in text else str(Path(text))


class Actions(WideOps):
    """Collect, count, cache and write."""

    def to_arrow(self) -> pa.Table:
        """Gather all rows in one ``pyarrow.Table``, without the index.

        Raises
        ------
        TypeError
            If a column holds Python objects that Arrow has no type for.

        Examples
        --------
        >>> xs.from_pandas(pd.DataFrame({"a": [1, 2]})).to_arrow().num_rows
        2
        """
        plain = self._without_index()
        table = plain._run(plain._core.to_table)
        refuse_opaque(table.schema, "an Arrow table")
        return without_notes(table)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Export all rows by the Arrow PyCapsule protocol."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> Any:
        """Gather all rows in one DataFrame; a Series after ``shards["column"]``.

        Rows are numbered from 0, unless the data came with an index of its own.

        Examples
        --------
        >>> xs.from_pandas(pd.DataFrame({"a": [1, 2]})).to_pandas()
           a
        0  1
        1  2
        """
        try:
            table = self._run(self._core.to_table)
            return table_to_frame(table, self._known_info(table.schema))
        except XShardsTypeError as error:
            if "no common type" not in str(error):
                raise
        return self._concat()

    def _concat(self) -> Any:
        """Gather partitions whose columns differ in type, as ``pd.concat`` does."""
        parts = self.collect()
        counted = all(isinstance(part.index, pd.RangeIndex) for part in parts)
        return pd.concat(parts, ignore_index=counted)

    def collect(self) -> list[Any]:
        """Gather the shards, in order: DataFrames, arrays or objects.

        Partitions that hold nothing contribute nothing.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1, 2, 3]}), num_partitions=3)
        >>> [len(part) for part in shards.collect()]
        [1, 1, 1]
        """
        return [
            to_value(payload, "pandas", self._shard_info(), use_threads=True)
            for partition in self._run(self._core.collect)
            for payload in partition
        ]

    def head(self, n: int = 5) -> Any:
        """Give the first `n` rows as a DataFrame, reading as little as possible.

        Examples
        --------
        >>> xs.from_pandas(pd.DataFrame({"a": [1, 2, 3]})).head(2)
           a
        0  1
        1  2
        """
        return self.limit(n).to_pandas()

    def count(self) -> int:
        """Count the rows."""
        return self._run(self._core.count)

    def __len__(self) -> int:
        return self.count()

    def __bool__(self) -> bool:
        # Without this, truth would count rows.
        return True

    def unique(self) -> Any:
        """Give the distinct values of one column, in order of first appearance.

        Returns
        -------
        ndarray or ExtensionArray
            What ``Series.unique`` gives in pandas.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [2, 1, 2]}))
        >>> shards["a"].unique()
        array([2, 1])
        """
        plain = self._without_index()
        schema = plain._full_schema()
        if len(schema) != 1:
            msg = (
                "unique works on one column, as in shards['a'].unique(); "
                f"these are {schema.names}"
            )
            raise XShardsTypeError(msg)
        info = self._known_info(schema)
        objects = plain._objects_among(schema.names)
        distinct = plain.drop_duplicates() if objects else plain
        find = distinct._core.to_table if objects else distinct._core.unique
        values = distinct._run(find).column(0)
        field = schema.field(0).with_type(values.type)
        frame = table_to_frame(pa.table([values], schema=pa.schema([field])), info)
        column = frame if frame.ndim == 1 else frame.iloc[:, 0]
        # The engine's values are distinct already: what is left is what pandas makes of
        # other types (a category's unused values, objects that are equal).
        if column.dtype.kind in "biuf" and isinstance(column.dtype, np.dtype):
            return column.to_numpy()
        return column.unique()

    def cache(self) -> Self:
        """Run the plan and keep its partitions, spilling what does not fit.

        Returns
        -------
        XShards
            These shards.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1]})).cache()
        >>> shards.is_cached()
        True
        """
        self._core = self._core.cache()
        self._run(self._core.materialize)
        return self

    def uncache(self) -> Self:
        """Drop what `cache` keeps; it is made again when needed."""
        self._core.uncache()
        return self

    def is_cached(self) -> bool:
        """Tell whether `cache` keeps the partitions."""
        return self._core.is_cached()

    def to_csv(
        self,
        directory: str | os.PathLike[str],
        *,
        partition_cols: str | Sequence[str] | None = None,
        compression: TextCompression | None = None,
        mode: WriteMode = "error",
        storage_options: Mapping[str, Any] | None = None,
    ) -> list[str]:
        """Write one CSV file a partition; see `to_parquet`.

        Lists, dicts, bytes and the like have no form in CSV. A timedelta is written as
        it is printed, ``1 days 02:03:04``. Times and timedeltas have the digits that
        one of them needs, among 100,000 values, as in pandas.
        """
        options = {"suffix": _suffix(compression)}
        return self._write(
            directory, "csv", mode, partition_cols, options, storage_options
        )

    def to_json(
        self,
        directory: str | os.PathLike[str],
        *,
        partition_cols: str | Sequence[str] | None = None,
        compression: TextCompression | None = None,
        mode: WriteMode = "error",
        storage_options: Mapping[str, Any] | None = None,
    ) -> list[str]:
        """Write one file of JSON lines a partition; see `to_parquet`.

        Times are text, and timedeltas that of ISO 8601, as with pandas'
        ``date_format="iso"``: ``P1DT2H3M4S``.
        """
        options = {"suffix": _suffix(compression)}
        return self._write(
            directory, "json", mode, partition_cols, options, storage_options
        )

    def to_parquet(
        self,
        directory: str | os.PathLike[str],
        *,
        partition_cols: str | Sequence[str] | None = None,
        compression: Literal["snappy", "zstd", "gzip", "brotli", "lz4"]
        | None = "snappy",
        mode: WriteMode = "error",
        storage_options: Mapping[str, Any] | None = None,
    ) -> list[str]:
        """Write one Parquet file a partition.

        Files are written aside and renamed when all is well: a write that fails or is
        killed leaves what was there before. On S3, where there is no renaming, they
        are copied then, one by one, under names of their own, and what they replace is
        removed after that. They hold plain columns: the index is left out, and
        categories are written as their values. That a column is Int64, boolean, string
        or the like is noted as pandas does, and both read it so.

        Parameters
        ----------
        directory : path
            Where to; made if it is not there. A folder, or an ``s3://`` path.
        partition_cols : str or list of str, optional
            Write a file for each value of these columns, in folders named
            ``column=value``; the files themselves do not have the columns.
        compression : str, optional
            How to compress: "snappy", "zstd", "gzip", "brotli", "lz4" or None in
            Parquet; "lz4" or "zstd" in IPC; "gzip", "bz2", "zstd" or "lz4" for whole
            files of text.
        mode : {"error", "overwrite", "append"}
            What to do if there are files already: fail, put these in their place, or
            add these to them.
        storage_options : dict, optional
            Of ``s3://`` paths, as in `read_csv`.

        Returns
        -------
        list of str
            The files' paths, in the order of the partitions; by name with
            `partition_cols`.

        Examples
        --------
        >>> import tempfile
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1, 2]}), num_partitions=2)
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     paths = shards.to_parquet(directory)
        ...     len(paths), len(xs.read_parquet(directory))
        (2, 2)
        """
        options = {"compression": compression or "none"}
        return self._write(
            directory, "parquet", mode, partition_cols, options, storage_options
        )

    def to_ipc(
        self,
        directory: str | os.PathLike[str],
        *,
        partition_cols: str | Sequence[str] | None = None,
        compression: Literal["lz4", "zstd"] | None = None,
        mode: WriteMode = "error",
        storage_options: Mapping[str, Any] | None = None,
    ) -> list[str]:
        """Write one Arrow IPC file a partition; see `to_parquet`."""
        options = {"compression": compression or "none"}
        return self._write(
            directory, "ipc", mode, partition_cols, options, storage_options
        )

    def _write(
        self,
        directory: str | os.PathLike[str],
        form: str,
        mode: WriteMode,
        partition_cols: str | Sequence[str] | None,
        writer_options: Mapping[str, str],
        storage_options: Mapping[str, Any] | None,
    ) -> list[str]:
        plain = self._without_index()
        schema = plain._core.known_schema()
        if schema is None:
            # Kept, because a function made it: it does not run twice.
            schema = plain._full_schema()
        refuse_opaque(schema, form)
        options = {"mode": mode, **writer_options}
        if partition_cols is not None:
            names = as_names("partition_cols", partition_cols)
            plain._check_columns(names, schema.names)
            options["partition_cols"] = "".join(
                f"{len(name.encode())}:{name}" for name in names
            )
        path = _output_path(directory, storage_options)
        written = plain._run(partial(plain._core.write, path, form, options))
        if storage_options:  # which whoever reads the files gives, too
            return [uri.partition("?")[0] for uri in written]
        return written

    @property
    def schema(self) -> pa.Schema:
        """The columns' names and types; runs the plan where only that tells."""
        schema = self._full_schema()
        return pa.schema(
            [pa.field(f.name, f.type) for f in schema if level_of(f) is None]
        )

    @property
    def columns(self) -> list[Any]:
        """The columns' labels; runs the plan where only that tells."""
        return [label_of(f) for f in self._full_schema() if level_of(f) is None]

    @property
    def dtypes(self) -> pd.Series[Any]:
        """The columns' pandas dtypes; runs the plan where only that tells."""
        schema = self._full_schema()
        frame = table_to_frame(schema.empty_table(), self._known_info(schema))
        dtypes: pd.Series[Any] = (frame.to_frame() if frame.ndim == 1 else frame).dtypes
        return dtypes

    def num_partitions(self) -> int:
        """Count the partitions; runs the plan where only that tells."""
        known = self._core.known_num_partitions()
        return known if known >= 0 else self._run(self._core.num_partitions)
