# SPDX-License-Identifier: Apache-2.0
"""The "pandas" backend: pandas itself reads complete files, in worker processes."""

from __future__ import annotations

import errno
import glob
import os
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from xshards.compat.errors import OrcaInputError
from xshards.compat.orca import session
from xshards.compat.orca.spark_xshards import SparkXShards
from xshards.errors import XShardsFileNotFoundError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["list_files", "read", "read_long_separator"]


def read(
    reader: str,
    file_path: Any,
    options: dict[str, Any],
    *,
    name_columns: bool = False,
) -> SparkXShards:
    """Read files with ``pandas.<reader>``; a partition is one or more complete files.

    With `name_columns`, columns without a name are called "0", "1" and so on.
    """
    context = session.active_context()
    files = list_files(file_path)
    count = min(len(files), context.defaultParallelism)
    rdd = context.parallelize(files, count)
    step = partial(_read_files, reader, options, name_columns)
    return SparkXShards(rdd.mapPartitions(step))


def read_long_separator(file_path: Any, options: dict[str, Any]) -> SparkXShards:
    """Read CSV files whose fields are separated by more than one character."""
    options = dict(options)
    separator = options.pop("delimiter", None) or options.pop("sep")
    options.update(sep=re.escape(separator), engine="python")
    return read("read_csv", file_path, options, name_columns=True)


def _read_files(
    reader: str,
    options: dict[str, Any],
    name_columns: bool,  # noqa: FBT001 - bound by position
    files: Iterator[str],
) -> list[Any]:
    squeeze = bool(options.get("squeeze", False))
    known = {name: value for name, value in options.items() if name != "squeeze"}
    frames = [_read_file(reader, known, file) for file in files]
    if not frames:
        return []
    whole = frames[0] if len(frames) == 1 else pd.concat(frames)
    if name_columns:
        whole = whole.rename(columns=str)
    return [whole.squeeze("columns") if squeeze else whole]


def _read_file(reader: str, options: dict[str, Any], file: str) -> Any:
    try:
        return getattr(pd, reader)(file, **options)
    except Exception as error:
        error.add_note(
            f"pandas.{reader} failed on {file!r}; xshards' own reader may read it: "
            "OrcaContext.pandas_read_backend = 'spark'"
        )
        raise


def list_files(file_path: Any) -> list[str]:
    """Give the files of a path, a folder, a pattern, or a list of these, in order."""
    if not isinstance(file_path, str | os.PathLike):
        return [file for path in file_path for file in list_files(path)]
    path = os.fspath(file_path).removeprefix("file://")
    if "://" in path:
        msg = (
            "the pandas backend reads local files; use "
            f"OrcaContext.pandas_read_backend = 'spark' for {path!r}"
        )
        raise OrcaInputError(msg)
    if Path(path).is_dir():
        found = sorted(
            str(entry)
            for entry in Path(path).iterdir()
            if entry.is_file() and not entry.name.startswith((".", "_"))
        )
    elif Path(path).is_file():
        found = [path]
    else:
        found = sorted(glob.glob(path))  # noqa: PTH207 - an absolute pattern is fine
    if not found:
        why = os.strerror(errno.ENOENT)
        msg = f"{why}, the file path is invalid/empty: {path!r}"
        raise XShardsFileNotFoundError(msg)
    return found
