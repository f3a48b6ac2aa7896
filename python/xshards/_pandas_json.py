# SPDX-License-Identifier: Apache-2.0
"""JSON that is not made of records: pandas reads whole files in worker processes."""

from __future__ import annotations

from typing import Any

from xshards._deferred import pd
from xshards._pandas_files import Folders, read_whole

__all__ = ["ORIENTS", "pandas_read_json"]

ORIENTS = ("split", "index", "columns", "values", "table")


def pandas_read_json(
    paths: list[str], options: dict[str, Any], folders: Folders
) -> pd.DataFrame:
    """Read the files of a partition; runs in a worker process."""
    return read_whole(pd.read_json, paths, options, folders)
