# SPDX-License-Identifier: Apache-2.0
"""Read CSV files: by the engine, or by pandas where an option asks for that."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from xshards._util.arguments import as_count, as_rows
from xshards._util.deferred import pd
from xshards.errors import XShardsValueError
from xshards.io.csv.native_plan import plan_csv
from xshards.io.csv.pandas_fallback import (
    check_options,
    pandas_options,
    pandas_read_csv,
)
from xshards.io.memory import from_pandas
from xshards.io.pandas_fallback import natively_or, read_by_pandas
from xshards.io.paths import Paths, Source, loaded, open_source

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from xshards.context import Context
    from xshards.shards import XShards

__all__ = ["read_csv"]

# Arguments about source and context; the others describe the format.
_NOT_OF_THE_FORMAT = frozenset(
    {"path", "storage_options", "num_partitions", "block_size", "context", "more"}
)


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
        The field separator: one character, or several that are taken literally
        (``"::"``, ``r"\|\|"``: quotes mean nothing then, as in pandas), or blanks and
        tabs (``r"\s+"``). Other regular expressions*; None*.
    header : {"infer", None} or int
        Whether a line of column names comes first: yes, unless `names` are given. Or
        which line it is; or several*. If the first row has more fields than there are
        names, its first fields are the index.
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
        Return a Series if there is one column, as older versions of pandas did.
    true_values, false_values : list of str, optional
        Additional true and false markers.
    skipinitialspace : bool, default False
        Skip blanks after a separator.
    skiprows : int, list, set or range of int, or function
        The number of lines to skip at the start of every file, or the numbers of the
        lines to skip, from 0, or a function of a line's number that is true for lines
        to skip. The function is called for all lines at once, so the files are read
        through to count them.
    skipfooter : int
        Lines to skip at the end of every file; with `comment`, `escapechar` or
        ``skip_blank_lines=False`` *.
    nrows : int, optional
        Read at most this many rows.
    na_values : str, number, list or dict of these, optional
        Additional missing-value markers; in a dict, by column name (or by
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
        The thousands separator and the decimal point of numbers.
    doublequote : bool, default True
        Whether two quotes inside quotes are read as one.
    on_bad_lines : {"error", "warn", "skip"}
        What to do with a line of too many fields: fail, or skip it, with a warning
        (``pandas.errors.ParserWarning``) after each run, or without; or a function*.
    compression : {"infer", None, "gzip", "bz2", "zstd", "xz", "zip"*, "tar"*} or dict
        How files are compressed; by default as their names say: .gz, .bz2, .zst,
        .lz4, .xz, .zip*, .tar*.
    quotechar, escapechar, comment : str, optional
        Special characters, as in pandas.
    quoting : int, default 0
        With ``csv.QUOTE_NONE`` quotes are ordinary characters. With
        ``csv.QUOTE_NONNUMERIC`` all numbers are floats, as in pandas.
    encoding : str, optional
        UTF-8, Latin-1, Windows-1252 or UTF-16, by any name that Python has for it; or
        another*.
    float_precision : {None, "round_trip", "high"*, "legacy"*}
        How floats are rounded.
    storage_options : dict, optional
        For ``s3://`` paths: ``key`` and ``secret``, ``endpoint_url``, ``region``. What
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
    given = {n: v for n, v in locals().items() if n not in _NOT_OF_THE_FORMAT}
    check_options(more)
    given["sep"] = _separator(sep, delimiter)
    given["nrows"] = as_rows("nrows", nrows)
    count = as_count("num_partitions", num_partitions)
    with open_source(path, storage_options) as source:
        if source.is_decoded:
            given["encoding"] = None
        shards = natively_or(
            partial(plan_csv, source.paths, given, more, count, block_size, context),
            partial(_read_by_pandas, source, given | more, num_partitions, context),
        )
        if source.in_memory and not shards._in_memory:
            shards = loaded(shards, count)
    if squeeze and len(shards.columns) == 1:
        return shards[shards.columns[0]]
    return shards


def _separator(sep: str | None, delimiter: str | None) -> str | None:
    """Take a separator that has two names."""
    if delimiter is None:
        return sep
    if sep not in (",", delimiter):
        msg = f"delimiter is another name of sep: got {delimiter!r} and {sep!r}"
        raise XShardsValueError(msg)
    return delimiter


def _read_by_pandas(
    source: Source,
    options: dict[str, Any],
    num_partitions: int | None,
    context: Context | None,
) -> XShards:
    """Have pandas read the files: in worker processes, or here what is in memory."""
    chosen = pandas_options(options)
    if source.in_memory:
        frame: Any = pd.read_csv(source.paths[0], **chosen)
        return from_pandas(frame, num_partitions, context=context)
    return read_by_pandas(
        pandas_read_csv,
        source.paths,
        chosen,
        options["nrows"],
        num_partitions,
        context,
    )
