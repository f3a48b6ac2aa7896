# SPDX-License-Identifier: Apache-2.0
"""The reader of TFRecord files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from xshards import _core
from xshards._util.arguments import as_count, as_names
from xshards.errors import XShardsValueError
from xshards.io.paths import Paths, loaded, open_source, read_files
from xshards.io.requested_schema import Schema, as_schema

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xshards.context import Context
    from xshards.shards import XShards

__all__ = ["read_tfrecord"]

_COMPRESSIONS = {None: None, "none": "none", "gzip": "gzip"}


def read_tfrecord(
    path: Paths | bytes | Any,
    *,
    columns: Sequence[str] | None = None,
    schema: Schema | None = None,
    raw: bool = False,
    compression: Literal["gzip", "none"] | None = None,
    storage_options: Mapping[str, Any] | None = None,
    num_partitions: int | None = None,
    block_size: int = 0,
    context: Context | None = None,
) -> XShards:
    """Read TFRecord files of ``tf.train.Example`` records in parallel.

    TensorFlow is not needed. A feature is a column: int64, float32, or bytes. A feature
    with exactly one value in every record that has it is a column of values, any other
    a column of lists; where a record lacks it, it is missing. Checksums are checked.

    Parameters
    ----------
    path : path, list of paths, bytes, or file object
        A file, a directory, or a pattern. Bytes and file objects are read at once.
    columns : list of str, optional
        Read only these columns.
    schema : pyarrow.Schema, or dict of names and dtypes, optional
        The columns to read, in this order, and their types: values are cast, bytes are
        decoded as UTF-8 where the type is text, and other features are not read. By
        default inferred from the records.
    raw : bool
        Give the bytes of each record, undecoded, in a column named ``record``.
    compression : {"gzip", "none"}, optional
        How the files are compressed; by default from the file suffix (``.gz``).
    storage_options, num_partitions, block_size, context
        See `read_csv`.

    Returns
    -------
    XShards

    Raises
    ------
    TypeError
        If a feature is of two kinds, or no feature can hold a type of the schema.
    ValueError
        If a file is damaged or holds other records.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> folder = tempfile.mkdtemp()
    >>> df = pd.DataFrame({"id": [1, 2], "name": ["a", "b"], "x": [[0.5], [1.0, 2.0]]})
    >>> files = xs.from_pandas(df, num_partitions=1).to_tfrecord(folder, mode="append")
    >>> xs.read_tfrecord(folder).to_pandas()
       id  name           x
    0   1  b'a'       [0.5]
    1   2  b'b'  [1.0, 2.0]
    >>> xs.read_tfrecord(folder, schema={"name": "str", "id": "int32"}).to_pandas()
      name  id
    0    a   1
    1    b   2
    """
    if compression not in _COMPRESSIONS:
        msg = f"compression must be 'gzip', 'none' or None, got {compression!r}"
        raise XShardsValueError(msg)
    partitions = as_count("num_partitions", num_partitions)
    options = {
        "columns": None if columns is None else as_names("columns", columns),
        "schema": as_schema(schema),
        "raw": bool(raw),
        "compression": _COMPRESSIONS[compression],
        "num_partitions": partitions,
        "block_size": block_size,
    }
    with open_source(path, storage_options) as source:
        shards = read_files(_core.read_tfrecord, source.paths, options, context)
        return loaded(shards, partitions) if source.in_memory else shards
