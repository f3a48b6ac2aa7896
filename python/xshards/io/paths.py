# SPDX-License-Identifier: Apache-2.0
"""The files that readers are given."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from xshards import _core
from xshards._util.arguments import require
from xshards.context import Context, default_context
from xshards.errors import XShardsTypeError
from xshards.shards import XShards

__all__ = ["Paths", "loaded", "paths_of", "read_files"]

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


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


def paths_of(path: Any) -> list[str]:
    """List paths as the engine takes them."""
    listed = [path] if isinstance(path, str | os.PathLike) else path
    if not isinstance(listed, Iterable):
        msg = f"expected a path, or a list of paths, got {type(path).__name__}"
        raise XShardsTypeError(msg)
    found = list(listed)
    for item in found:
        require(item, (str, os.PathLike), "expected paths in the list")
    return [os.path.expanduser(os.fspath(item)) for item in found]  # noqa: PTH111 - URIs
