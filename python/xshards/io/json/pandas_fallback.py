# SPDX-License-Identifier: Apache-2.0
"""JSON that is left to pandas: other orients than records, and its other options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xshards._util.deferred import pd
from xshards.io.pandas_fallback import check_keywords
from xshards.io.pandas_files import Folders, read_whole

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["ORIENTS", "odd_json_options", "pandas_read_json", "read_json"]

ORIENTS = ("split", "index", "columns", "values", "table")
# These return something other than a table.
_NOT_TAKEN = {"path_or_buf", "typ", "chunksize", "iterator"}
# Options that the engine supports too.
_OURS: dict[str, tuple[Any, ...]] = {
    "compression": ("infer",),
    "encoding": (None, "utf-8", "utf8", "UTF-8"),
    "encoding_errors": ("strict",),
    "engine": ("ujson",),
    "precise_float": (True, False),
}


def odd_json_options(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that only pandas follows; TypeError for those it has not."""
    check_keywords(pd.read_json, options, refused=_NOT_TAKEN)
    return {
        name: value
        for name, value in options.items()
        if name not in _OURS or value not in _OURS[name]
    }


def pandas_read_json(
    paths: list[str], options: dict[str, Any], folders: Folders
) -> pa.Table:
    """Read the files of a partition; runs in a worker process."""
    return read_whole(read_json, paths, options, folders, own_errors=True)


def read_json(
    source: Any, *, lines: bool | None, may_be_columns: bool, **options: Any
) -> Any:
    """Read JSON with pandas; by default as lines, unless the text is an array."""
    if lines is not None or options.get("orient") in ORIENTS:
        return pd.read_json(source, lines=bool(lines), **options)
    try:
        frame: Any = pd.read_json(source, lines=True, **options)
    except ValueError:
        frame = None
    # An array on one line becomes a row, with a number for each record.
    is_array = frame is not None and not all(
        isinstance(label, str) for label in frame.columns
    )
    is_table = may_be_columns and frame is not None and _is_of_columns(frame)
    if frame is not None and not is_array and not is_table:
        return frame
    if hasattr(source, "seek"):
        source.seek(0)
    return pd.read_json(source, **options)


def _is_of_columns(frame: Any) -> bool:
    """Return whether a row is as to_json() writes: one object or array per column."""
    return len(frame) == 1 and all(
        isinstance(value, dict | list) for value in frame.iloc[0]
    )
