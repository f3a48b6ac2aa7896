# SPDX-License-Identifier: Apache-2.0
"""Writers of XShards: one file per partition."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from xshards._util.arguments import as_names
from xshards.errors import XShardsValueError
from xshards.interop.plain_tables import refuse_opaque
from xshards.io.storage_options import located
from xshards.shards.base import Base

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Writers"]

WriteMode = Literal["error", "overwrite", "append"]

TextCompression = Literal["gzip", "bz2", "zstd", "lz4"]


_SUFFIXES = {None: "", "gzip": ".gz", "bz2": ".bz2", "zstd": ".zst", "lz4": ".lz4"}


class Writers(Base):
    """Write CSV, JSON, Parquet, Arrow IPC and TFRecord files."""

    def to_csv(
        self,
        directory: str | os.PathLike[str],
        *,
        partition_cols: str | Sequence[str] | None = None,
        compression: TextCompression | None = None,
        mode: WriteMode = "error",
        storage_options: Mapping[str, Any] | None = None,
    ) -> list[str]:
        """Write one CSV file per partition.

        Lists, dicts, bytes and the like cannot be written as CSV. A timedelta is
        written as it is printed, ``1 days 02:03:04``. Times and timedeltas have as many
        digits as one of the first 100,000 values needs, as in pandas. See `to_parquet`
        for what happens when a write fails.

        Parameters
        ----------
        directory, partition_cols, mode, storage_options
            See `to_parquet`.
        compression : {"gzip", "bz2", "zstd", "lz4"}, optional
            How to compress the files; not by default.

        Returns
        -------
        list of str
            The files' paths, as with `to_parquet`.

        Raises
        ------
        OSError, TypeError
            As with `to_parquet`.

        Examples
        --------
        >>> import tempfile
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1, 2]}), num_partitions=2)
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     paths = shards.to_csv(directory)
        ...     print(len(paths), len(xs.read_csv(directory)))
        2 2
        """
        return self._write(
            directory,
            "csv",
            mode,
            partition_cols,
            storage_options,
            suffix=_suffix(compression),
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
        """Write one file of JSON lines per partition.

        Times are text, and timedeltas that of ISO 8601, as with pandas'
        ``date_format="iso"``: ``P1DT2H3M4S``. See `to_parquet` for what happens when a
        write fails.

        Parameters
        ----------
        directory, partition_cols, compression, mode, storage_options
            See `to_csv` and `to_parquet`.

        Returns
        -------
        list of str
            The files' paths, as with `to_parquet`.

        Raises
        ------
        OSError, TypeError
            As with `to_parquet`.

        Examples
        --------
        >>> import tempfile
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1, 2]}), num_partitions=2)
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     paths = shards.to_json(directory, compression="gzip")
        ...     len(paths), paths[0].endswith(".json.gz")
        (2, True)
        """
        return self._write(
            directory,
            "json",
            mode,
            partition_cols,
            storage_options,
            suffix=_suffix(compression),
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
        """Write one Parquet file per partition.

        Files are written under temporary names and renamed when all are complete: a
        write that fails or is killed leaves the earlier files. On S3, where there is no
        renaming, they are then copied one by one to new names, and the files that they
        replace are removed after that. They hold plain columns: the index is left out,
        and categories are written as their values. That a column is Int64, boolean,
        string or the like is noted as pandas does, and both read it so.

        Parameters
        ----------
        directory : path
            The directory to write, created if missing: a local path, or an ``s3://``
            path.
        partition_cols : str or list of str, optional
            Write a file for each value of these columns, in folders named
            ``column=value``; the files themselves do not have the columns.
        compression : str, optional
            How to compress: "snappy", "zstd", "gzip", "brotli", "lz4" or None in
            Parquet; "lz4" or "zstd" in IPC; "gzip", "bz2", "zstd" or "lz4" for whole
            files of text.
        mode : {"error", "overwrite", "append"}
            What to do if there are files already: fail, replace them, or keep them.
        storage_options : dict, optional
            For ``s3://`` paths, as in `read_csv`.

        Returns
        -------
        list of str
            The files' paths, in the order of the partitions; by name with
            `partition_cols`.

        Raises
        ------
        OSError
            If the folder has files, with ``mode="error"``.
        TypeError
            If the format cannot represent a column's type.

        Examples
        --------
        >>> import tempfile
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1, 2]}), num_partitions=2)
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     paths = shards.to_parquet(directory)
        ...     len(paths), len(xs.read_parquet(directory))
        (2, 2)
        """
        return self._write(
            directory,
            "parquet",
            mode,
            partition_cols,
            storage_options,
            compression=compression or "none",
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
        """Write one Arrow IPC file (Feather) per partition; see `to_parquet`.

        Parameters
        ----------
        directory, partition_cols, mode, storage_options
            See `to_parquet`.
        compression : {"lz4", "zstd"}, optional
            How to compress buffers; not by default.

        Returns
        -------
        list of str
            The files' paths, as with `to_parquet`.

        Raises
        ------
        OSError, TypeError
            As with `to_parquet`.

        Examples
        --------
        >>> import tempfile
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1, 2]}), num_partitions=2)
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     _ = shards.to_ipc(directory, compression="zstd")
        ...     xs.read_ipc(directory).to_pandas()["a"].tolist()
        [1, 2]
        """
        return self._write(
            directory,
            "ipc",
            mode,
            partition_cols,
            storage_options,
            compression=compression or "none",
        )

    def to_tfrecord(
        self,
        directory: str | os.PathLike[str],
        *,
        partition_cols: str | Sequence[str] | None = None,
        compression: Literal["gzip"] | None = None,
        mode: WriteMode = "error",
        storage_options: Mapping[str, Any] | None = None,
    ) -> list[str]:
        """Write one TFRecord file of ``tf.train.Example`` records per partition.

        A column is a feature: integers and booleans as int64, floats as float32, which
        is all that features have, text and bytes as bytes, lists as features of several
        values. A missing value is a feature that the record lacks. TensorFlow is not
        needed. See `to_parquet` for what happens when a write fails.

        Parameters
        ----------
        directory, partition_cols, mode, storage_options
            See `to_parquet`.
        compression : {"gzip"}, optional
            How to compress the files; not by default.

        Returns
        -------
        list of str
            The files' paths, as with `to_parquet`.

        Raises
        ------
        OSError, TypeError
            As with `to_parquet`.

        Examples
        --------
        >>> import tempfile
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1, 2]}), num_partitions=2)
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     paths = shards.to_tfrecord(directory)
        ...     print(len(paths), len(xs.read_tfrecord(directory)))
        2 2
        """
        if compression not in (None, "gzip"):
            msg = f"compression must be 'gzip' or None, got {compression!r}"
            raise XShardsValueError(msg)
        return self._write(
            directory,
            "tfrecord",
            mode,
            partition_cols,
            storage_options,
            suffix=_suffix(compression),
        )

    def _write(
        self,
        directory: str | os.PathLike[str],
        form: str,
        mode: WriteMode,
        partition_cols: str | Sequence[str] | None,
        storage_options: Mapping[str, Any] | None,
        suffix: str = "",
        **writer_options: Any,
    ) -> list[str]:
        plain = self._without_index()
        schema = plain._core.known_schema()
        if schema is None:
            # Kept, so that a function does not run twice.
            schema = plain._full_schema()
        refuse_opaque(schema, form)
        names = None
        if partition_cols is not None:
            names = as_names("partition_cols", partition_cols)
            plain._check_columns(names, schema.names)
        options = {"mode": mode, "suffix": suffix, "partition_cols": names}
        path = _output_path(directory, storage_options)
        write = partial(plain._core.write, path, form, options, writer_options)
        written = plain._run(write)
        if storage_options:  # which whoever reads the files gives, too
            return [uri.partition("?")[0] for uri in written]
        return written


def _suffix(compression: TextCompression | None) -> str:
    """Return the file suffix, which selects the compression."""
    if compression not in _SUFFIXES:
        known = ", ".join(name for name in _SUFFIXES if name is not None)
        msg = f"compression must be one of {known} or None, got {compression!r}"
        raise XShardsValueError(msg)
    return _SUFFIXES[compression]


def _output_path(
    directory: str | os.PathLike[str], options: Mapping[str, Any] | None
) -> str:
    """Return a folder's path or URI as the engine takes it."""
    text = located([os.fspath(directory)], options)[0]
    return text if "://" in text else str(Path(text))
