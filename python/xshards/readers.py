# SPDX-License-Identifier: Apache-2.0
"""Ways into XShards: files, pandas and Arrow."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from csv import QUOTE_NONE
from typing import Any, Literal

import pyarrow as pa

from xshards import _core
from xshards._arguments import as_count, as_names, require
from xshards._deferred import pd
from xshards._engine_types import normalise
from xshards._pandas import frame_to_table
from xshards._pandas_csv import (
    check_options,
    pandas_options,
    pandas_read_csv,
    why_pandas,
)
from xshards._pandas_files import Folders, list_files, named_by_folders
from xshards._pandas_json import ORIENTS, pandas_read_json
from xshards._partition import count_shards, cut
from xshards._paths import Paths, paths_of, read_files
from xshards._storage import as_file, located
from xshards.context import Context, default_context
from xshards.errors import XShardsTypeError, XShardsValueError
from xshards.shards import XShards
from xshards.table_readers import read_ipc, read_orc, read_parquet

__all__ = [
    "from_arrow",
    "from_pandas",
    "partition",
    "read_csv",
    "read_ipc",
    "read_json",
    "read_orc",
    "read_parquet",
]


def read_csv(
    path: Paths | bytes | Any,
    *,
    sep: str | None = ",",
    header: int | Sequence[int] | Literal["infer"] | None = "infer",
    names: Sequence[Any] | None = None,
    index_col: Any = None,
    usecols: Any = None,
    dtype: object = None,
    true_values: Sequence[str] | None = None,
    false_values: Sequence[str] | None = None,
    skipinitialspace: bool = False,
    skiprows: int | Sequence[int] | Callable[[int], bool] = 0,
    skipfooter: int = 0,
    nrows: int | None = None,
    na_values: Any = None,
    keep_default_na: bool = True,
    na_filter: bool = True,
    skip_blank_lines: bool = True,
    parse_dates: Any = None,
    date_format: Any = None,
    compression: Any = "infer",
    thousands: str | None = None,
    decimal: str = ".",
    quotechar: str | None = '"',
    quoting: int = 0,
    doublequote: bool = True,
    escapechar: str | None = None,
    comment: str | None = None,
    encoding: str | None = None,
    on_bad_lines: Any = "error",
    float_precision: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    num_partitions: int | None = None,
    block_size: int = 0,
    context: Context | None = None,
    **more: Any,
) -> XShards:
    r"""Read CSV files in parallel; a large file becomes several partitions.

    Nothing is read now but the start of a file, to find columns and types. The names of
    options, and what counts as missing, are those of ``pandas.read_csv``. Floats are
    correctly rounded, as with its ``float_precision="round_trip"``.

    Options that are marked * below, and other options of ``pandas.read_csv``, are read
    by pandas itself: file by file, in worker processes, one partition a file. `explain`
    shows that as a call of ``pandas_read_csv``.

    Parameters
    ----------
    path : path, list of paths, bytes, or file object
        A file, a directory, or a pattern such as ``"flights/*.csv"``. Bytes and file
        objects are read at once, by pandas.
    sep : str, default ","
        What is between fields: one character; or several*, or a regular expression*.
    header : {"infer", 0, None}
        Whether a line of column names comes first: yes, unless `names` are given.
        Other numbers*. Where the first row has more fields than there are names, its
        first fields are the index.
    names : list of str, optional
        The columns' names.
    index_col : optional
        The columns* that are the index.
    usecols : list of str, optional
        Read only these columns; by name, or by position* or by a function* of the name.
    dtype : type or dict, optional
        One type for all columns, such as ``str``, or types by column name, such as
        ``{"zip": "str"}``; the others are inferred.
    true_values, false_values : list of str, optional
        More* texts that stand for true and false.
    skipinitialspace : bool, default False
        Leave out* blanks behind a separator.
    skiprows : int
        Lines to leave out at the start of every file; or which*.
    skipfooter : int
        Lines to leave out* at the end of every file.
    nrows : int, optional
        Read at most this many rows.
    na_values : str or list of str, optional
        More texts that stand for a missing value; or, by column*.
    keep_default_na, na_filter, skip_blank_lines : bool, default True
        False*: as in pandas.
    parse_dates : list of str, optional
        Read these columns as times, written as in ISO 8601 (``2024-03-31 12:00``).
    date_format, thousands, decimal, doublequote, on_bad_lines : optional
        As in pandas*.
    compression : default "infer"
        By the file's name: .gz, .bz2, .zst, .lz4, and .xz*, .zip*; or as given*.
    quotechar, escapechar, comment : str, optional
        Special characters, as in pandas.
    quoting : int, default 0
        ``csv.QUOTE_NONE`` takes quotes for ordinary characters.
    encoding : str, optional
        UTF-8, or another*.
    float_precision : {None, "round_trip", "high"*, "legacy"*}
        How floats are rounded.
    storage_options : dict, optional
        Of ``s3://`` paths: ``key`` and ``secret``, ``endpoint_url``, ``region``. What
        is not here is taken from the AWS variables of the environment, or from the
        path: ``s3://key:secret@bucket/a.csv?endpoint_override=host:9000&scheme=http``.
    num_partitions : int, optional
        Aim for this many partitions.
    block_size : int, optional
        Aim for partitions of this many bytes.
    context : Context, optional
        Where to run; the session's by default.
    **more
        Any other option* of ``pandas.read_csv``.

    Returns
    -------
    XShards

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    TypeError
        For an option that does not exist.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = pathlib.Path(directory, "a.csv")
    ...     _ = path.write_text("a,b\n1,x\n2,y\n")
    ...     xs.read_csv(path).to_pandas()
       a  b
    0  1  x
    1  2  y
    """
    ours = {
        "path",
        "storage_options",
        "num_partitions",
        "block_size",
        "context",
        "more",
    }
    given = {name: value for name, value in locals().items() if name not in ours}
    del given["ours"]
    check_options(more)
    if isinstance(path, bytes) or hasattr(path, "read"):
        source: Any = io.BytesIO(path) if isinstance(path, bytes) else path
        frame: Any = pd.read_csv(source, **pandas_options(given | more))
        return from_pandas(frame, num_partitions, context=context)
    listed = located(paths_of(path), storage_options)
    if more or why_pandas(given, listed) is not None:
        chosen = pandas_options(given | more)
        return _read_by_pandas(
            pandas_read_csv, listed, chosen, nrows, num_partitions, context
        )
    options: dict[str, Any] = {
        "sep": sep,
        "header": None if header == "infer" else header == 0,
        "names": [] if names is None else as_names("names", names),
        "usecols": None if usecols is None else as_names("usecols", usecols),
        "dtype": {},
        "quotechar": None if quoting == QUOTE_NONE else quotechar,
        "escapechar": escapechar,
        "comment": comment,
        "na_values": [] if na_values is None else as_names("na_values", na_values),
        "skiprows": skiprows,
        "nrows": nrows,
        "num_partitions": as_count("num_partitions", num_partitions),
        "block_size": block_size,
    }
    times = [] if parse_dates is None else as_names("parse_dates", parse_dates)
    types = _types(dtype, lambda: read_files(_core.read_csv, listed, options, context))
    options["dtype"] = types | dict.fromkeys(times, "timestamp[us]")
    shards = read_files(_core.read_csv, listed, options, context)
    shards._check_columns(times, shards.schema.names)
    return shards


def read_json(
    path: Paths | bytes | Any,
    *,
    orient: str | None = None,
    lines: bool | None = None,
    dtype: object = None,
    on_bad_lines: Literal["error", "warn", "skip"] = "error",
    nrows: int | None = None,
    storage_options: Mapping[str, Any] | None = None,
    num_partitions: int | None = None,
    block_size: int = 0,
    context: Context | None = None,
) -> XShards:
    r"""Read JSON records in parallel: one object a line, or an array of objects.

    Objects and arrays inside become struct and list columns. A column whose values no
    one type holds (text and numbers, say) is kept as JSON and gives Python objects in
    pandas. Types are those of ``pandas.read_json(dtype=False)``:
    text stays text, also where it looks like a number or a date. They are guessed from
    samples; where later records have other values or keys, all are looked at and read
    again.

    Parameters
    ----------
    path : path, list of paths, bytes, or file object
        A file, a directory, or a pattern such as ``"logs/*.json"``. Bytes and file
        objects are read at once.
    orient : {"records", "split", "index", "columns", "values", "table"}, optional
        What a file holds. All but records, the default, are read by pandas, a file at
        a time.
    lines : bool, optional
        Whether records are lines (True) or an array (False); by default the start of
        the files tells.
    on_bad_lines : {"error", "warn", "skip"}
        What to do with a line that is not a JSON object: fail, or leave it out, with a
        warning (``pandas.errors.ParserWarning``) behind each run, or without. In an
        array it is always an error.
    dtype, nrows, storage_options, num_partitions, block_size, context
        See `read_csv`.

    Returns
    -------
    XShards

    Raises
    ------
    ValueError
        If a text is not JSON; the message names the file and the line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = pathlib.Path(directory, "a.json")
    ...     _ = path.write_text('{"a": 1}\n{"a": 2}\n')
    ...     len(xs.read_json(path))
    2
    """
    if orient not in (None, "records", *ORIENTS):
        known = ", ".join(("records", *ORIENTS))
        msg = f"orient must be one of {known}, got {orient!r}"
        raise XShardsValueError(msg)
    if on_bad_lines not in ("error", "warn", "skip"):
        msg = f"on_bad_lines must be 'error', 'warn' or 'skip', got {on_bad_lines!r}"
        raise XShardsValueError(msg)
    content = isinstance(path, bytes) or hasattr(path, "read")
    if orient in ORIENTS:
        if lines or on_bad_lines != "error":
            msg = f"only records can be lines, got orient={orient!r}"
            raise XShardsValueError(msg)
        chosen: dict[str, Any] = {"orient": orient}
        if dtype is not None:
            chosen["dtype"] = dtype
        if content:
            source: Any = io.BytesIO(path) if isinstance(path, bytes) else path
            frame: Any = pd.read_json(source, **chosen)
            frame = frame if nrows is None else frame.head(nrows)
            return from_pandas(frame, num_partitions, context=context)
        listed = located(paths_of(path), storage_options)
        return _read_by_pandas(
            pandas_read_json, listed, chosen, nrows, num_partitions, context
        )
    options: dict[str, Any] = {
        "lines": lines,
        "dtype": {},
        "on_bad_lines": on_bad_lines,
        "nrows": nrows,
        "num_partitions": as_count("num_partitions", num_partitions),
        "block_size": block_size,
    }

    def read(files: list[str]) -> XShards:
        options["dtype"] = _types(
            dtype, lambda: read_files(_core.read_json, files, options, context)
        )
        return read_files(_core.read_json, files, options, context)

    if content:
        with as_file(path) as file:
            shards = read([file])
            table = shards._run(shards._core.to_table)
        core = _core.XShards.from_table(
            shards._context._core, table, options["num_partitions"]
        )
        return XShards(core, shards._context, in_memory=True)
    return read(located(paths_of(path), storage_options))


def from_pandas(
    data: pd.DataFrame | pd.Series[Any],
    num_partitions: int | None = None,
    *,
    context: Context | None = None,
) -> XShards:
    """Cut a DataFrame or Series into shards, sharing its memory where possible.

    Values, dtypes, labels and index come back with `XShards.to_pandas`: categories,
    time zones, labels of any type, and objects that Arrow has no type for (these are
    pickled). The engine's name of a column is its label as text: after
    ``pd.DataFrame([[1, 2]])``, ``shards[0]`` and ``xs.col("0")`` are the first column.
    The second column of a name is named ``name.1``.

    A RangeIndex numbers rows: operations that change which rows there are, or their
    order, number them from 0. Any other index goes with its rows, as in pandas.

    Parameters
    ----------
    data : DataFrame or Series
        What to cut; do not change it afterwards.
    num_partitions : int, optional
        How many partitions; as many as the context has cores by default.
    context : Context, optional
        Where to run; the session's by default.

    Examples
    --------
    >>> xs.from_pandas(pd.DataFrame({"a": [1, 2, 3]}), num_partitions=2)
    XShards: 2 partitions
      a  int64
    """
    require(data, (pd.DataFrame, pd.Series), "from_pandas takes a DataFrame or Series")
    table, info = frame_to_table(data, keep="labels")
    where = context or default_context()
    core = _core.XShards.from_table(
        where._core, table, as_count("num_partitions", num_partitions)
    )
    return XShards(core, where, info, in_memory=True)


def from_arrow(
    data: Any,
    num_partitions: int | None = None,
    *,
    context: Context | None = None,
) -> XShards:
    """Cut Arrow data into shards, sharing its memory.

    Parameters
    ----------
    data : Arrow data
        A ``pyarrow.Table``, or anything with ``__arrow_c_stream__`` or
        ``__arrow_c_array__``, such as a Polars or DuckDB frame.
    num_partitions, context
        See `from_pandas`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> len(xs.from_arrow(pa.table({"a": [1, 2, 3]})))
    3
    """
    if isinstance(data, pa.Table):
        table = data
    elif hasattr(data, "__arrow_c_stream__"):
        table = pa.table(data)
    elif hasattr(data, "__arrow_c_array__"):
        table = pa.Table.from_batches([pa.record_batch(data)])
    else:
        msg = f"from_arrow takes Arrow data, got {type(data).__name__}"
        raise XShardsTypeError(msg)
    where = context or default_context()
    table = normalise(table)
    core = _core.XShards.from_table(
        where._core, table, as_count("num_partitions", num_partitions)
    )
    return XShards(core, where, in_memory=True)


def partition(
    data: Any,
    num_shards: int | None = None,
    *,
    context: Context | None = None,
) -> XShards:
    """Cut arrays, or what holds them, into shards as ``numpy.array_split`` does.

    The data is copied once, to memory that worker processes share; what you do with it
    afterwards does not reach the shards.

    Parameters
    ----------
    data : ndarray, or dict, list or tuple of ndarrays
        Nested as deep as you like, with arrays of one length: every shard has the same
        nesting. Leaves may also be torch tensors, which come back as ndarrays, and
        DataFrames or Series. A DataFrame, Series or Arrow table itself gives DataFrame
        shards (see `from_pandas`); a list without arrays in it is cut into lists.
    num_shards : int, optional
        How many shards, at most as many as there are rows; by default as many as the
        context has cores.
    context : Context, optional
        Where to run; the session's by default.

    Raises
    ------
    ValueError
        If arrays differ in length, or there are fewer rows than shards.
    TypeError
        If there is something else among the leaves.

    Examples
    --------
    >>> xs.partition(np.arange(5), 2).collect()
    [array([0, 1, 2]), array([3, 4])]
    >>> pairs = xs.partition({"x": np.zeros((4, 3)), "y": np.arange(4)}, num_shards=2)
    >>> [shard["x"].shape for shard in pairs.collect()]
    [(2, 3), (2, 3)]
    >>> xs.partition(["a", "b", "c"], 2).collect()
    [['a', 'b'], ['c']]
    """
    where = context or default_context()
    if isinstance(data, pd.DataFrame | pd.Series):
        count = count_shards(len(data), num_shards, where.cores)
        return from_pandas(data, count, context=where)
    if isinstance(data, pa.Table | pa.RecordBatch):
        count = count_shards(data.num_rows, num_shards, where.cores)
        return from_arrow(data, count, context=where)
    payloads = cut(data, num_shards, where.cores)
    core = _core.XShards.from_payloads(where._core, payloads)
    return XShards(core, where, in_memory=True)


def _read_by_pandas(
    read: Callable[[list[str], dict[str, Any], Folders], pd.DataFrame],
    paths: list[str],
    options: dict[str, Any],
    nrows: int | None,
    num_partitions: int | None,
    context: Context | None,
) -> XShards:
    """Have whole files read in worker processes."""
    files = list_files(paths)
    count = min(len(files), as_count("num_partitions", num_partitions) or len(files))
    shards = partition(files, count, context=context).transform_shard(
        read, options, named_by_folders(paths, files)
    )
    return shards if nrows is None else shards.limit(nrows)


def _types(dtype: object, read: Callable[[], XShards]) -> dict[str, str]:
    """Give types by column name; of one type for all, `read` tells the names."""
    if dtype is None:
        return {}
    if not isinstance(dtype, Mapping):
        return dict.fromkeys(read()._full_schema().names, _type_name(dtype))
    return {str(name): _type_name(wanted) for name, wanted in dtype.items()}


def _type_name(dtype: object) -> str:
    if isinstance(dtype, type):
        return dtype.__name__
    return str(dtype)
