# SPDX-License-Identifier: Apache-2.0
"""Readers of text files, which do not say what they hold: CSV and JSON."""

from __future__ import annotations

import os
import re
from csv import QUOTE_NONNUMERIC
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from xshards import _core
from xshards._util.arguments import as_count, as_names, as_rows
from xshards._util.deferred import pd
from xshards.context import default_context
from xshards.errors import XShardsValueError
from xshards.interop.astype import with_missing
from xshards.io.csv.pandas_fallback import (
    asked_lines,
    check_options,
    engine_compression,
    engine_encoding,
    for_pandas_only,
    pandas_options,
    pandas_read_csv,
    skipped_lines,
    spelled,
    spelled_by_column,
    why_pandas,
)
from xshards.io.csv.separators import ignores_quotes, separator
from xshards.io.csv.times import time_columns, time_formats
from xshards.io.json.pandas_fallback import ORIENTS, odd_json_options, pandas_read_json
from xshards.io.json.pandas_fallback import read_json as pandas_json
from xshards.io.memory import from_pandas, partition
from xshards.io.pandas_files import Folders, list_files, named_by_folders
from xshards.io.paths import Paths, loaded, paths_of, read_files
from xshards.io.requested_dtypes import (
    by_name,
    chosen_columns,
    engine_types,
    with_dtypes,
    with_index,
)
from xshards.io.storage_options import as_file, located

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pyarrow as pa

    from xshards.context import Context
    from xshards.shards import XShards

__all__ = ["read_csv", "read_json"]


def read_csv(
    path: Paths | bytes | Any,
    *,
    sep: str | None = ",",
    delimiter: str | None = None,
    header: int | Sequence[int] | Literal["infer"] | None = "infer",
    names: Sequence[Any] | None = None,
    index_col: Any = None,
    usecols: Any = None,
    dtype: object = None,
    squeeze: bool = False,
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

    Files are only looked at now, to find columns, types and where to cut them, which
    may take reading them through once; rows are read when they are asked for. The names
    of options, and what counts as missing, are those of ``pandas.read_csv``. Floats are
    correctly rounded, as with its ``float_precision="round_trip"``.

    Options that are marked * below, and other options of ``pandas.read_csv``, are read
    by pandas itself: file by file, in worker processes, one partition a file. `explain`
    shows that as a call of ``pandas_read_csv``.

    Parameters
    ----------
    path : path, list of paths, bytes, or file object
        A file, a directory, or a pattern such as ``"flights/*.csv"``. Bytes and file
        objects are read at once.
    sep, delimiter : str, default ","
        What is between fields: one character, or several that stand for themselves
        (``"::"``, ``r"\|\|"``: quotes mean nothing then, as in pandas), or blanks and
        tabs (``r"\s+"``). Other regular expressions*; None*.
    header : {"infer", None} or int
        Whether a line of column names comes first: yes, unless `names` are given. Or
        which line it is; or several*. Where the first row has more fields than there
        are names, its first fields are the index.
    names : list of str, optional
        The columns' names.
    index_col : optional
        The columns that are the index: by name or position; or, of some columns*.
    usecols : list or function, optional
        Read only these columns; by name, by position, or by a function of the name.
    dtype : type or dict, optional
        One type for all columns, such as ``str``, or types by column name or position,
        such as ``{"zip": "str"}``; the others are inferred. For "category" without
        categories, the column is read now to find them. Unlike in pandas, integers may
        be missing, which `to_pandas` gives as floats: ask for "Int64" to keep them.
    squeeze : bool, default False
        Give a Series where there is one column, as pandas once did.
    true_values, false_values : list of str, optional
        More texts that stand for true and false.
    skipinitialspace : bool, default False
        Leave out blanks behind a separator.
    skiprows : int, list, set or range of int, or function
        Lines to leave out at the start of every file; or which, the first being 0; or
        a function that tells of a line's number whether to leave it out. It is asked
        for all lines at once, so the files are read through for their number.
    skipfooter : int
        Lines to leave out at the end of every file; with `comment`, `escapechar` or
        ``skip_blank_lines=False`` *.
    nrows : int, optional
        Read at most this many rows.
    na_values : str, number, list or dict of these, optional
        More texts that stand for a missing value; in a dict, by column name (or by
        position*).
    keep_default_na, na_filter : bool, default True
        As in pandas.
    skip_blank_lines : bool, default True
        False: an empty line is a row of missing values; with `comment` or
        `escapechar` *.
    parse_dates : bool or list of str or int, optional
        Read these columns as times, or, with True, the index. As in pandas, all must
        be written like the first, or the column is text; times whose format pandas does
        not guess from that*, and those of other zones than UTC*.
    date_format : str or dict of str, optional
        The format of times, or of those of single columns, as for ``strptime``; with
        %Y or %y, and of %m %b %B %d %a %A %H %I %p %M %S %f %z. Others*.
    thousands, decimal : str, optional
        What is between thousands and what is the decimal point of numbers.
    doublequote : bool, default True
        Whether two quotes inside quotes stand for one.
    on_bad_lines : {"error", "warn", "skip"}
        What to do with a line of too many fields: fail, or leave it out, with a
        warning (``pandas.errors.ParserWarning``) behind each run, or without; or a
        function*.
    compression : {"infer", None, "gzip", "bz2", "zstd", "xz", "zip"*, "tar"*} or dict
        How files are compressed; by default as their names say: .gz, .bz2, .zst,
        .lz4, .xz, .zip*, .tar*.
    quotechar, escapechar, comment : str, optional
        Special characters, as in pandas.
    quoting : int, default 0
        ``csv.QUOTE_NONE`` takes quotes for ordinary characters. With
        ``csv.QUOTE_NONNUMERIC`` all numbers are floats, as in pandas.
    encoding : str, optional
        UTF-8, Latin-1, Windows-1252 or UTF-16, by any name that Python has for it; or
        another*.
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
    pandas.errors.EmptyDataError
        If a file has no columns.
    pandas.errors.ParserError
        When rows are read: if a line has too many fields, or a quote is not closed.
    UnicodeDecodeError
        When rows are read: if a text is not UTF-8, or of the encoding asked for.
    OSError
        When rows are read: if a file was changed since `read_csv`, other than by
        appending to it. What is appended is not read: each run sees the file as it was
        when `read_csv` was called, a half-written last line included.

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
    if delimiter is not None:
        if sep not in (",", delimiter):
            msg = f"delimiter is another name of sep: got {delimiter!r} and {sep!r}"
            raise XShardsValueError(msg)
        sep = given["sep"] = delimiter
    nrows = given["nrows"] = as_rows("nrows", nrows)
    shards = _read_csv(
        path, given, more, storage_options, num_partitions, block_size, context
    )
    if squeeze and len(shards.columns) == 1:
        return shards[shards.columns[0]]
    return shards


def _read_csv(
    path: Any,
    given: dict[str, Any],
    more: dict[str, Any],
    storage_options: Mapping[str, Any] | None,
    num_partitions: int | None,
    block_size: int,
    context: Context | None,
) -> XShards:
    """Read CSV, whatever it is in."""
    count = as_count("num_partitions", num_partitions)
    if isinstance(path, bytes) or hasattr(path, "read"):
        # What gives text has it decoded already.
        if not isinstance(path, bytes) and isinstance(path.read(0), str):
            given = given | {"encoding": None}
        with as_file(path) as file:

            def by_pandas_now() -> XShards:
                frame: Any = pd.read_csv(file, **pandas_options(given | more))
                return from_pandas(frame, num_partitions, context=context)

            shards = _read_csv_files(
                [file], given, more, by_pandas_now, count, block_size, context
            )
            return shards if shards._in_memory else loaded(shards, count)
    listed = located(paths_of(path), storage_options)

    def by_pandas() -> XShards:
        chosen = pandas_options(given | more)
        return _read_by_pandas(
            pandas_read_csv, listed, chosen, given["nrows"], num_partitions, context
        )

    return _read_csv_files(listed, given, more, by_pandas, count, block_size, context)


def _read_csv_files(
    listed: list[str],
    given: dict[str, Any],
    more: dict[str, Any],
    by_pandas: Callable[[], XShards],
    num_partitions: int,
    block_size: int,
    context: Context | None,
) -> XShards:
    """Read CSV files by the engine, or by pandas where an option asks for that."""
    nrows, quoting, header = given["nrows"], given["quoting"], given["header"]
    if more or why_pandas(given, listed) is not None:
        return by_pandas()
    skiprows, skip_lines = skipped_lines(given["skiprows"])
    options: dict[str, Any] = {
        **separator(given["sep"]),
        "skipinitialspace": bool(given["skipinitialspace"]),
        "doublequote": bool(given["doublequote"]),
        "header": None if header == "infer" else header is not None,
        "header_row": header if isinstance(header, int) else 0,
        "names": [] if given["names"] is None else as_names("names", given["names"]),
        "usecols": None,
        "dtype": {},
        "quotechar": None if ignores_quotes(given) else given["quotechar"],
        "escapechar": given["escapechar"],
        "comment": given["comment"],
        "times": {},
        "na_values": spelled(given["na_values"]),
        "column_na_values": spelled_by_column(given["na_values"]),
        "true_values": given["true_values"] or [],
        "false_values": given["false_values"] or [],
        "decimal": given["decimal"],
        "thousands": given["thousands"],
        "numbers_are_floats": quoting == QUOTE_NONNUMERIC,
        "keep_default_na": bool(given["keep_default_na"]),
        "na_filter": bool(given["na_filter"]),
        "skiprows": skiprows,
        "skipfooter": given["skipfooter"],
        "skip_lines": skip_lines,
        "skip_blank_lines": bool(given["skip_blank_lines"]),
        "on_bad_lines": given["on_bad_lines"],
        "encoding": engine_encoding(given["encoding"]),
        "compression": engine_compression(given["compression"]),
        "nrows": nrows,
        "num_partitions": num_partitions,
        "block_size": block_size,
    }

    if callable(given["skiprows"]):
        where = (context or default_context())._core
        num_lines = _core.count_csv_lines(where, listed, options)
        lines = asked_lines(given["skiprows"], num_lines)
        if lines is None:
            return by_pandas()
        options["skiprows"], options["skip_lines"] = skipped_lines(lines)

    def read() -> XShards:
        return read_files(_core.read_csv, listed, options, context)

    looked_at = cache(read)  # with no options yet of what follows
    types = by_name(given["dtype"], lambda: looked_at()._full_schema().names)
    wanted = engine_types(types)
    if wanted is None:
        return by_pandas()
    if wanted and any(name in wanted for name in looked_at()._hidden()):
        return by_pandas()  # what becomes of an index of a dtype is its matter
    if given["usecols"] is not None:
        if not _are_names(given["usecols"]) and looked_at()._hidden():
            return by_pandas()  # positions count the index, too
        options["usecols"] = _used(given["usecols"], looked_at)
    times = time_columns(given["parse_dates"], given["index_col"], read)
    if times is None:
        return by_pandas()
    wanted = {name: one for name, one in wanted.items() if name not in times}
    options["dtype"] = {name: one.read for name, one in wanted.items() if one.read}
    if times:
        # Only a look: what is left out on the way is told later.
        quiet = "error" if options["on_bad_lines"] == "error" else "skip"
        as_text = options | {
            "dtype": dict.fromkeys(times, "string"),
            "on_bad_lines": quiet,
        }
        texts = read_files(_core.read_csv, listed, as_text, context)
        texts._check_columns(times, texts.schema.names)
        formats = time_formats(
            times,
            given["date_format"],
            texts,
            may_be_numbers=given["parse_dates"] is True,
        )
        if formats is None:
            return by_pandas()
        options["times"] = formats
    shards = with_dtypes(read(), wanted)
    if given["index_col"] is None:
        # Only a row tells that there are more fields than names.
        return shards._without_index() if nrows == 0 else shards
    if shards._hidden():
        return by_pandas()
    return with_index(shards, given["index_col"], header=header)


def _are_names(usecols: Any) -> bool:
    return not callable(usecols) and all(isinstance(one, str) for one in usecols)


def _used(usecols: Any, read: Callable[[], XShards]) -> list[str]:
    if isinstance(usecols, str):
        return [usecols]
    if _are_names(usecols):
        return list(usecols)
    shards = read()
    return chosen_columns(usecols, shards._labels(), shards.schema.names)


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
    **more: Any,
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
        What a file holds. All but records are read by pandas, a file at a time. By
        default records; but one file that is a single object, whose values are all
        objects or arrays, holds columns, as ``DataFrame.to_json()`` writes it. Of
        folders, patterns and lists of paths, and of .jsonl and .ndjson, such an object
        is a record.
    lines : bool, optional
        Whether records are lines (True) or an array (False); by default the start of
        the files tells. With True, a single object is a record, too.
    on_bad_lines : {"error", "warn", "skip"}
        What to do with a line that is not a JSON object: fail, or leave it out, with a
        warning (``pandas.errors.ParserWarning``) behind each run, or without. In an
        array it is always an error.
    dtype, nrows, storage_options, num_partitions, block_size, context
        See `read_csv`; ``dtype=True`` lets pandas read the files and find types.
    **more
        Any other option of ``pandas.read_json``, which then reads the files, one a
        partition; `explain` shows that as a call of ``pandas_read_json``. Files of
        .zip and .tar are read by it, too.

    Returns
    -------
    XShards

    Raises
    ------
    TypeError
        For an option that does not exist.
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
    nrows = as_rows("nrows", nrows)
    odd = odd_json_options(more)
    if orient in ORIENTS and (lines or on_bad_lines != "error"):
        msg = f"only records can be lines, got orient={orient!r}"
        raise XShardsValueError(msg)
    options: dict[str, Any] = {
        "lines": lines,
        "dtype": {},
        "on_bad_lines": on_bad_lines,
        "nrows": nrows,
        "num_partitions": as_count("num_partitions", num_partitions),
        "block_size": block_size,
    }

    may_be_columns = (
        orient is None and lines is None and on_bad_lines == "error"
    ) and _is_one_document(path)

    def by_pandas(files: list[str]) -> dict[str, Any] | None:
        """Give the options for pandas to read files with, or None if we do."""
        packed = for_pandas_only(files)
        columns = may_be_columns and not packed and _hold_columns(files[0], context)
        if not (columns or packed or orient in ORIENTS or odd or dtype is True):
            return None
        if on_bad_lines != "error":
            msg = f"pandas has no on_bad_lines={on_bad_lines!r} for JSON, but reads it"
            raise XShardsValueError(msg)
        asked = {} if dtype is None else {"dtype": dtype}
        # As our reader does, pandas then takes no offence at a byte order mark.
        marked = {"encoding": "utf-8-sig"} if columns else {}
        chosen = {"orient": "columns" if columns else orient, "lines": lines}
        return marked | odd | asked | chosen | {"may_be_columns": may_be_columns}

    if isinstance(path, bytes) or hasattr(path, "read"):
        if not isinstance(path, bytes) and isinstance(path.read(0), str):
            odd.pop("encoding", None)  # what gives text has it decoded already
        with as_file(path) as file:
            chosen = by_pandas([file])
            if chosen is None:
                shards = _read_json_files([file], options, dtype, context)
                return loaded(shards, options["num_partitions"])
            frame: Any = pandas_json(file, **chosen)
            frame = frame if nrows is None else frame.head(nrows)
            return from_pandas(frame, num_partitions, context=context)
    listed = located(paths_of(path), storage_options)
    chosen = by_pandas(listed)
    if chosen is None:
        return _read_json_files(listed, options, dtype, context)
    return _read_by_pandas(
        pandas_read_json, listed, chosen, nrows, num_partitions, context
    )


def _is_one_document(path: object) -> bool:
    """Tell whether JSON may be one object of columns, by where it comes from.

    Of several files it is not asked, nor of those named as lines: there a file may well
    have just one record in it.
    """
    if not isinstance(path, str | os.PathLike):
        return isinstance(path, bytes) or hasattr(path, "read")
    name = re.sub(r"\.(gz|bz2|xz|zst|lz4|zip|tar)$", "", os.fspath(path))
    return not name.endswith((".jsonl", ".ndjson"))


def _hold_columns(file: str, context: Context | None) -> bool:
    """Tell whether JSON is what ``DataFrame.to_json()`` writes: an object of columns.

    Of folders and patterns it is not asked.
    """
    return _core.holds_json_columns((context or default_context())._core, file)


def _read_json_files(
    files: list[str], options: dict[str, Any], dtype: object, context: Context | None
) -> XShards:
    """Read JSON records by the engine."""

    def read() -> XShards:
        return read_files(_core.read_json, files, options, context)

    types = by_name(
        None if dtype is False else dtype, lambda: read()._full_schema().names
    )
    wanted = engine_types(types)
    if wanted is None:
        return read().astype({name: with_missing(one) for name, one in types.items()})
    options["dtype"] = {name: one.read for name, one in wanted.items() if one.read}
    return with_dtypes(read(), wanted)


def _read_by_pandas(
    read: Callable[[list[str], dict[str, Any], Folders], pa.Table],
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
