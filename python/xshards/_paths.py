# SPDX-License-Identifier: Apache-2.0
"""The files that readers are given."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from xshards.context import Context, default_context
from xshards.shards import XShards

__all__ = ["Paths", "paths_of", "read_files"]

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


def read_files(
    reader: Any, paths: list[str], options: dict[str, Any], context: Context | None
) -> XShards:
    """Have one of the engine's readers read files."""
    where = context or default_context()
    return XShards(reader(where._core, paths, options), where)


def paths_of(path: Any) -> list[str]:
    """List paths as the engine takes them."""
    listed = [path] if isinstance(path, str | os.PathLike) else path
    return [os.fspath(item) for item in listed]
