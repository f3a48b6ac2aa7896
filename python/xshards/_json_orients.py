# SPDX-License-Identifier: Apache-2.0
"""JSON that is not made of records: pandas itself reads it, file by file."""

from __future__ import annotations

import glob
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from xshards.errors import XShardsFileNotFoundError, XShardsValueError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["ORIENTS", "read_oriented"]

ORIENTS = ("split", "index", "columns", "values", "table")


def read_oriented(
    paths: Iterable[str], orient: str, dtype: Any, threads: int
) -> pd.DataFrame:
    """Read files of another form than records, one after the other in the result."""
    files = [file for path in paths for file in _list(path)]

    def read(file: str) -> pd.DataFrame:
        options = {} if dtype is None else {"dtype": dtype}
        try:
            frame: pd.DataFrame = pd.read_json(file, orient=orient, **options)  # type: ignore[call-overload]
        except ValueError as error:
            msg = f"could not read {file!r} as JSON of orient {orient!r}: {error}"
            raise XShardsValueError(msg) from error
        return frame

    with ThreadPoolExecutor(threads) as pool:
        frames = list(pool.map(read, files))
    return frames[0] if len(frames) == 1 else pd.concat(frames)


def _list(path: str) -> list[str]:
    if Path(path).is_dir():
        names = sorted(name for name in os.listdir(path) if name[0] not in "._")  # noqa: PTH208
        found = [str(Path(path, name)) for name in names]
    else:
        found = sorted(glob.glob(path)) if glob.has_magic(path) else [path]  # noqa: PTH207
    if not found:
        msg = f"no files in {path!r}"
        raise XShardsFileNotFoundError(msg)
    return found
