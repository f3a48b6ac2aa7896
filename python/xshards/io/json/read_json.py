# SPDX-License-Identifier: Apache-2.0
"""Read JSON files: by the engine, or by pandas where an option asks for that."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from xshards import _core
from xshards._util.arguments import as_count, as_rows
from xshards.context import default_context
from xshards.errors import XShardsValueError
from xshards.interop.astype import with_missing
from xshards.io.json.documents import read_document, read_json_documents
from xshards.io.json.pandas_fallback import ORIENTS, odd_json_options, pandas_read_json
from xshards.io.json.pandas_fallback import read_json as pandas_json
from xshards.io.memory import from_pandas
from xshards.io.pandas_fallback import for_pandas_only, read_by_pandas
from xshards.io.pandas_files import as_own_error
from xshards.io.paths import Paths, Scan, Source, loaded, open_source
from xshards.io.requested_dtypes import by_name, engine_types, with_dtypes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pyarrow as pa

    from xshards.context import Context
    from xshards.io.pandas_files import Folders
    from xshards.shards import XShards

__all__ = ["read_json"]


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
    r"""Read JSON records in parallel: one object per line, or an array of objects.

    Objects and arrays inside become struct and list columns. A column whose values have
    no common type (text and numbers, say) is kept as JSON and becomes Python objects in
    pandas. Types are those of ``pandas.read_json(dtype=False)``: text stays text, also
    where it looks like a number or a date. They are inferred from samples; if later
    records have other types or keys, all records are examined and read again.

    Parameters
    ----------
    path : path, list of paths, bytes, or file object
        A file, a directory, or a pattern such as ``"logs/*.json"``. Bytes and file
        objects are read at once.
    orient : {"records", "split", "index", "columns", "values", "table"}, optional
        What a file holds. All but records are one document a file and one partition a
        document, with the values, dtypes and labels that ``pandas.read_json`` gives;
        `explain` shows that as a call of ``read_json_documents``. By
        default records; but one file that is a single object, whose values are all
        objects or arrays, holds columns, as ``DataFrame.to_json()`` writes it. Of
        folders, patterns and lists of paths, and of .jsonl and .ndjson, such an object
        is a record.
    lines : bool, optional
        Whether records are lines (True) or an array (False); by default inferred from
        the start of the files. With True, a single object is a record, too.
    on_bad_lines : {"error", "warn", "skip"}
        What to do with a line that is not a JSON object: fail, or skip it, with a
        warning (``pandas.errors.ParserWarning``) after each run, or without. In an
        array it is always an error.
    dtype, nrows, storage_options, num_partitions, block_size, context
        See `read_csv`; ``dtype=True`` lets pandas read records and find types.
    **more
        Any other option of ``pandas.read_json``, which then reads the files, one per
        partition; `explain` shows that as a call of ``pandas_read_json``. Files of .zip
        and .tar are read by it, too.

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
    request = _Request(
        orient=orient,
        lines=lines,
        dtype=dtype,
        on_bad_lines=on_bad_lines,
        nrows=as_rows("nrows", nrows),
        odd=odd_json_options(more),
    )
    request.check()
    count = as_count("num_partitions", num_partitions)
    may_be_columns = request.guesses_orient and _is_one_document(path)
    with open_source(path, storage_options) as source:
        if source.is_decoded:
            request.odd.pop("encoding", None)
        way = _choose_way(request, source, context, may_be_columns=may_be_columns)
        if way is None:
            options = request.engine_options(count, block_size)
            scan = Scan(_core.read_json, source.paths, options, context)
            shards = _plan_natively(scan, dtype)
            return loaded(shards, count) if source.in_memory else shards
        if not source.in_memory:
            return read_by_pandas(
                way.read_files,
                source.paths,
                way.options,
                request.nrows,
                num_partitions,
                context,
            )
        try:
            frame: Any = way.read_one(source.paths[0], **way.options)
        except ValueError as error:
            raise as_own_error(error, "the JSON given") from error
        frame = frame if request.nrows is None else frame.head(request.nrows)
        return from_pandas(frame, num_partitions, context=context)


@dataclass(frozen=True)
class _Way:
    """Functions that read complete files as frames, and their options."""

    read_files: Callable[[list[str], dict[str, Any], Folders], pa.Table]
    read_one: Callable[..., Any]
    options: dict[str, Any]


@dataclass(frozen=True)
class _Request:
    """What is asked of `read_json`, apart from where the data is and goes."""

    orient: str | None
    lines: bool | None
    dtype: object
    on_bad_lines: str
    nrows: int | None
    odd: dict[str, Any]  # options that only pandas follows

    def check(self) -> None:
        if self.orient not in (None, "records", *ORIENTS):
            known = ", ".join(("records", *ORIENTS))
            msg = f"orient must be one of {known}, got {self.orient!r}"
            raise XShardsValueError(msg)
        if self.on_bad_lines not in ("error", "warn", "skip"):
            msg = (
                "on_bad_lines must be 'error', 'warn' or 'skip', got "
                f"{self.on_bad_lines!r}"
            )
            raise XShardsValueError(msg)
        if self.orient in ORIENTS and (self.lines or self.on_bad_lines != "error"):
            msg = f"only records can be lines, got orient={self.orient!r}"
            raise XShardsValueError(msg)

    @property
    def guesses_orient(self) -> bool:
        """Whether the content decides between records and columns."""
        return (
            self.orient is None and self.lines is None and self.on_bad_lines == "error"
        )

    def engine_options(self, num_partitions: int, block_size: int) -> dict[str, Any]:
        return {
            "lines": self.lines,
            "dtype": {},
            "on_bad_lines": self.on_bad_lines,
            "nrows": self.nrows,
            "num_partitions": num_partitions,
            "block_size": block_size,
        }


def _choose_way(
    request: _Request, source: Source, context: Context | None, *, may_be_columns: bool
) -> _Way | None:
    """Choose how files that are not just records are read; None for records.

    The engine parses the documents of other orients; one object of columns, as
    ``DataFrame.to_json()`` writes it, is such a document. pandas reads what is packed,
    or asked for with options that it alone has.
    """
    packed = for_pandas_only(source.paths)
    columns = (
        may_be_columns
        and not packed
        and _core.holds_json_columns(
            (context or default_context())._core, source.paths[0]
        )
    )
    orient = "columns" if columns else request.orient
    is_document = orient in ORIENTS
    needs_pandas = packed or bool(request.odd)
    if not (is_document or needs_pandas or request.dtype is True):
        return None
    if request.on_bad_lines != "error":
        msg = (
            f"on_bad_lines={request.on_bad_lines!r} is not supported for JSON that "
            "pandas reads"
        )
        raise XShardsValueError(msg)
    asked: dict[str, Any] = {"orient": orient}
    asked |= {} if request.dtype is None else {"dtype": request.dtype}
    if is_document and not needs_pandas:
        return _Way(read_json_documents, read_document, asked)
    # The engine accepts a byte order mark; with this encoding, pandas does too.
    marked = {"encoding": "utf-8-sig"} if columns else {}
    chosen = {"lines": request.lines, "may_be_columns": may_be_columns}
    options = marked | request.odd | asked | chosen
    return _Way(pandas_read_json, pandas_json, options)


def _plan_natively(scan: Scan, dtype: object) -> XShards:
    """Plan to read JSON records by the engine."""
    types = by_name(
        None if dtype is False else dtype, lambda: scan.shards()._full_schema().names
    )
    wanted = engine_types(types)
    if wanted is None:
        converted = {name: with_missing(one) for name, one in types.items()}
        return scan.shards().astype(converted)
    scan.options["dtype"] = {n: one.read for n, one in wanted.items() if one.read}
    return with_dtypes(scan.shards(), wanted)


def _is_one_document(path: object) -> bool:
    """Return whether JSON may be one object of columns, by where it comes from.

    Of several files it is not asked, nor of those named as lines: there a file may well
    have just one record in it.
    """
    if not isinstance(path, str | os.PathLike):
        return isinstance(path, bytes) or hasattr(path, "read")
    name = re.sub(r"\.(gz|bz2|xz|zst|lz4|zip|tar)$", "", os.fspath(path))
    return not name.endswith((".jsonl", ".ndjson"))
