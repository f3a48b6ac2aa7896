# SPDX-License-Identifier: Apache-2.0
"""Files that the engine's readers leave to pandas, and why.

A native plan raises `PandasNeeded` with the reason; `natively_or` then has pandas read
the files, in worker processes.
"""

from __future__ import annotations

import inspect
import logging
from typing import TYPE_CHECKING, Any

from xshards import _core
from xshards._util.arguments import as_count
from xshards.errors import XShardsTypeError
from xshards.io.memory import partition
from xshards.io.pandas_files import Folders, list_files, named_by_folders

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import pyarrow as pa

    from xshards.context import Context
    from xshards.shards import XShards

__all__ = [
    "PandasNeeded",
    "check_keywords",
    "for_pandas_only",
    "natively_or",
    "read_by_pandas",
]

_COMPRESSED_FOR_PANDAS = (".zip", ".tar", ".tar.gz", ".tar.bz2", ".tar.xz")

_log = logging.getLogger("xshards.io")


class PandasNeeded(Exception):
    """Raised by a native plan for files that only pandas reads as asked."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def natively_or(
    plan: Callable[[], XShards], by_pandas: Callable[[], XShards]
) -> XShards:
    """Plan to read by the engine or, where that needs pandas, read by pandas."""
    try:
        return plan()
    except PandasNeeded as needed:
        _log.debug("pandas reads these files: %s", needed.reason)
    # Outside the handler: an error of pandas is unrelated to the reason.
    return by_pandas()


def check_keywords(
    reader: Callable[..., Any], options: Iterable[str], *, refused: set[str]
) -> None:
    """Refuse keyword arguments that one of pandas' readers does not take, either."""
    known = set(inspect.signature(reader).parameters) - refused
    for name in options:
        if name not in known:
            msg = f"{reader.__name__}() got an unexpected keyword argument {name!r}"
            raise XShardsTypeError(msg)


def for_pandas_only(paths: Iterable[str]) -> bool:
    """Return whether some files have a compression that only pandas supports."""
    endings = _COMPRESSED_FOR_PANDAS + (() if _core.can_read_xz() else (".xz",))
    return any(path.partition("?")[0].endswith(endings) for path in paths)


def read_by_pandas(
    read: Callable[[list[str], dict[str, Any], Folders], pa.Table],
    paths: list[str],
    options: dict[str, Any],
    nrows: int | None,
    num_partitions: int | None,
    context: Context | None,
) -> XShards:
    """Read complete files in worker processes."""
    files = list_files(paths)
    count = min(len(files), as_count("num_partitions", num_partitions) or len(files))
    shards = partition(files, count, context=context).transform_shard(
        read, options, named_by_folders(paths, files)
    )
    return shards if nrows is None else shards.limit(nrows)
