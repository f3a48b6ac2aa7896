# SPDX-License-Identifier: Apache-2.0
"""What readers are given: paths, or bytes and file objects; and plans to read it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xshards import _core
from xshards._util.arguments import require
from xshards.context import Context, default_context
from xshards.errors import XShardsTypeError
from xshards.io.storage_options import as_file, located
from xshards.shards import XShards

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["Paths", "Scan", "Source", "loaded", "open_source", "read_files"]

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


@dataclass(frozen=True)
class Source:
    """The paths to read, as the engine takes them.

    A source in memory is one file, which is gone when the reader returns.
    """

    paths: list[str]
    in_memory: bool = False
    is_decoded: bool = False  # a file object in text mode


@contextlib.contextmanager
def open_source(
    path: Any, storage_options: Mapping[str, Any] | None
) -> Iterator[Source]:
    """Return the paths of what a reader is called with."""
    if not isinstance(path, bytes) and not hasattr(path, "read"):
        yield Source(located(_paths_of(path), storage_options))
        return
    is_decoded = not isinstance(path, bytes) and isinstance(path.read(0), str)
    with as_file(path) as file:
        yield Source([file], in_memory=True, is_decoded=is_decoded)


class Scan:
    """Plans to read the same files; re-planned only if options changed."""

    def __init__(
        self,
        reader: Any,
        paths: list[str],
        options: dict[str, Any],
        context: Context | None,
    ) -> None:
        self.paths = paths
        self.options = options
        self._reader = reader
        self._context = context
        self._planned: tuple[dict[str, Any], XShards] | None = None

    def shards(self, **changed: Any) -> XShards:
        """Plan to read the files, with some options `changed` for this once."""
        options = self.options | changed
        if self._planned is None or self._planned[0] != options:
            planned = read_files(self._reader, self.paths, options, self._context)
            self._planned = options, planned
        return self._planned[1]


def read_files(
    reader: Any, paths: list[str], options: dict[str, Any], context: Context | None
) -> XShards:
    """Have one of the engine's readers read files."""
    where = context or default_context()
    return XShards(reader(where._core, paths, options), where)


def loaded(shards: XShards, num_partitions: int) -> XShards:
    """Run a plan now, as what it reads is about to go."""
    table = shards._run(shards._core.to_table)
    core = _core.XShards.from_table(shards._context._core, table, num_partitions)
    return XShards(core, shards._context, shards._info, in_memory=True)


def _paths_of(path: Any) -> list[str]:
    """List paths as the engine takes them."""
    listed = [path] if isinstance(path, str | os.PathLike) else path
    if not isinstance(listed, Iterable):
        msg = f"expected a path, or a list of paths, got {type(path).__name__}"
        raise XShardsTypeError(msg)
    found = list(listed)
    for item in found:
        require(item, (str, os.PathLike), "expected paths in the list")
    return [os.path.expanduser(os.fspath(item)) for item in found]  # noqa: PTH111 - URIs
