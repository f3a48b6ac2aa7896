# SPDX-License-Identifier: Apache-2.0
"""Whole files that pandas reads in worker processes, and the columns of folders."""

from __future__ import annotations

import errno
import glob
import re
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from xshards._util.deferred import pd
from xshards.errors import (
    XShardsFileNotFoundError,
    XShardsOSError,
    XShardsUnicodeDecodeError,
    XShardsValueError,
)
from xshards.interop.frames import frame_to_table
from xshards.io.storage_options import is_hidden, opened, remote_files, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import pyarrow as pa

__all__ = [
    "Folders",
    "as_own_error",
    "frames_to_table",
    "list_files",
    "named_by_folders",
    "read_each",
    "read_whole",
]

#: By file: the columns that its folders name, ``column=value``, with their values.
Folders = dict[str, dict[str, Any]]

_MISSING = "__HIVE_DEFAULT_PARTITION__"
_NO_SUCH_FILE = (errno.ENOENT, errno.ENOTDIR, errno.EBADF, errno.ELOOP)


def read_whole(
    read: Callable[..., Any],
    paths: list[str],
    options: dict[str, Any],
    folders: Folders,
    *,
    own_errors: bool = False,
) -> pa.Table:
    """Have a reader of pandas read files one after the other; see `read_each`."""

    def read_one(path: str) -> Any:
        try:
            with opened(path) as (source, inferred):
                return read(source, **(inferred | options))
        except Exception as error:
            if not (own_errors and isinstance(error, ValueError)):
                error.add_note(f"pandas.{read.__name__} failed on {shown(path)!r}")
            raise

    return frames_to_table(read_each(read_one, paths, folders, own_errors=own_errors))


def read_each(
    read: Callable[[str], Any],
    paths: list[str],
    folders: Folders,
    *,
    own_errors: bool = False,
) -> list[pd.DataFrame]:
    """Read files one after the other, with the columns that their folders name.

    With `own_errors` a ValueError becomes ours, which names the file.
    """
    frames: list[pd.DataFrame] = []
    for path in paths:
        try:
            frame = read(path)
        except ValueError as error:
            if own_errors:
                raise as_own_error(error, path) from error
            raise
        for name, value in folders.get(path, {}).items():
            if name not in frame.columns:
                frame[name] = pd.Series(value, index=frame.index)
        frames.append(frame)
    return frames


def frames_to_table(frames: list[pd.DataFrame]) -> pa.Table:
    """Give the rows of files as the engine keeps them.

    Of a frame that a function gives, unnamed integers of the index would be taken for
    what is left of row numbers.
    """
    counted = all(_only_counts(frame.index) for frame in frames)
    whole = frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=counted)
    table, info = frame_to_table(whole, keep="labels" if counted else "all")
    return info.store(table)


def as_own_error(error: ValueError, path: str) -> XShardsValueError:
    """Make an error of pandas ours, which names the file."""
    if isinstance(error, XShardsValueError):
        return error
    message = f"Could not read {shown(path)!r}: {error}"
    if isinstance(error, UnicodeDecodeError):
        content = bytes(error.object[error.start : error.end + 8])
        return XShardsUnicodeDecodeError(message, error.encoding, content)
    return XShardsValueError(message)


def _only_counts(index: pd.Index[Any]) -> bool:
    """Return whether an index holds row numbers only, not labels such as 30, 10."""
    return (
        isinstance(index, pd.RangeIndex)
        and index.name is None
        and (index.start, index.step) == (0, 1)
    )


def named_by_folders(paths: Iterable[str], files: list[str]) -> Folders:
    """Find the columns that folders below the paths name, as our own readers do.

    A column is integers where all its values are.
    """
    bases = [_base(path) for path in paths]
    texts: dict[str, dict[str, str | None]] = {}
    for file in files:
        base = max((b for b in bases if file.startswith(b)), key=len, default=file)
        below = file.partition("?")[0].removeprefix(base)
        if "://" in file:
            below = unquote(below)  # names are quoted again in a URI
        folders = below.split("/")[:-1]
        pairs = [folder.partition("=") for folder in folders]
        texts[file] = {
            unquote(name): None if value == _MISSING else unquote(value)
            for name, equals, value in pairs
            if name and equals
        }
    values: dict[str, list[str | None]] = {}
    for named in texts.values():
        for name, text in named.items():
            values.setdefault(name, []).append(text)
    whole = {
        name
        for name, seen in values.items()
        if all(text is None or re.fullmatch(r"-?\d+", text) for text in seen)
        and any(text is not None for text in seen)
    }
    return {
        file: {
            name: int(text) if name in whole and text is not None else text
            for name, text in named.items()
        }
        for file, named in texts.items()
        if named
    }


def _base(path: str) -> str:
    """Return the start of a path that the names of its files have too."""
    bare = re.split(r"[*?[]", path)[0].removeprefix("file://")
    if "://" in bare:
        return bare
    return str(Path(bare)).removeprefix(".")


def list_files(paths: Iterable[str]) -> list[str]:
    """Return the files of paths, folders and patterns, as our own readers list them."""
    found: list[str] = []
    for path in paths:
        local = path.removeprefix("file://")
        if "://" in local:
            found.extend(remote_files(path))
            continue
        here = _local_files(local)
        if not here:
            msg = f"No such file or folder, or one without files: {path!r}"
            raise XShardsFileNotFoundError(msg)
        found.extend(here)
    return found


def _local_files(path: str) -> list[str]:
    """Return a file itself, the files below a folder, or those that match a pattern."""
    try:
        mode = Path(path).stat().st_mode
    except OSError as error:
        if error.errno not in _NO_SUCH_FILE:
            raise
        found = glob.glob(path, recursive=True)  # noqa: PTH207 - absolute patterns
        return sorted(file for file in found if not Path(file).is_dir())
    if not S_ISDIR(mode) and not S_ISREG(mode):  # opening a FIFO could wait forever
        msg = f"Expected a regular file or a folder at {path!r}"
        raise XShardsOSError(msg)
    return _files_below(Path(path)) if S_ISDIR(mode) else [path]


def _files_below(folder: Path) -> list[str]:
    return sorted(
        str(file)
        for file in folder.rglob("*")
        # A dangling link is left to pandas, which reports it.
        if (file.is_file() or (file.is_symlink() and not file.exists()))
        and not is_hidden(file.relative_to(folder).parts)
    )
