# SPDX-License-Identifier: Apache-2.0
"""Frames long enough to fill many pages of a shared segment."""

import numpy as np
import pandas as pd

ROWS = 200_000


def plain(rows=ROWS):
    """Columns that Arrow and pandas keep alike, long enough to fill many pages."""
    random = np.random.default_rng(7)
    return pd.DataFrame(
        {
            "i": random.integers(0, 1000, rows),
            "f": np.where(random.random(rows) < 0.1, np.nan, random.random(rows)),
            "g": random.random(rows).astype(np.float32),
            "t": pd.date_range("2024-01-01", periods=rows, freq="s"),
            "s": random.choice(["", "Zürich", "日本", "plain"], rows),
        }
    )
