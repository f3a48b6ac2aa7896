# SPDX-License-Identifier: Apache-2.0
"""JSON that is not made of records: pandas reads whole files in worker processes."""

from __future__ import annotations

from typing import Any

import pandas as pd

from xshards._storage import opened, shown

__all__ = ["ORIENTS", "pandas_read_json"]

ORIENTS = ("split", "index", "columns", "values", "table")


def pandas_read_json(paths: list[str], options: dict[str, Any]) -> pd.DataFrame:
    """Read the files of a partition; runs in a worker process."""
    frames: list[pd.DataFrame] = []
    for path in paths:
        try:
            with opened(path) as (source, inferred):
                frames.append(pd.read_json(source, **(inferred | options)))
        except Exception as error:
            error.add_note(f"pandas.read_json failed on {shown(path)!r}")
            raise
    return frames[0] if len(frames) == 1 else pd.concat(frames)
