# SPDX-License-Identifier: Apache-2.0
"""Names of aggregate functions: those users write, and those the engine knows."""

from __future__ import annotations

__all__ = ["engine_name"]

# The engine knows Spark's names of most.
_ENGINE_NAMES = {"std": "stddev", "var": "variance", "sumDistinct": "sum_distinct"}


def engine_name(function: str) -> str:
    """Return the engine's name of an aggregate function."""
    return _ENGINE_NAMES.get(function, function)
