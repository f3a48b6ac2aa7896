# SPDX-License-Identifier: Apache-2.0
"""Compares an engine's answer with the right one."""

from __future__ import annotations

import math
from typing import Any

TOLERANCE = 1e-9  # of numbers that were computed, relative


def difference(expected: dict[str, Any], actual: dict[str, Any]) -> str | None:
    """Return the first difference of two summaries, or None."""
    for name, right in expected.items():
        if name not in actual:
            return f"no {name}"
        found = actual[name]
        if name == "values":
            wrong = _first_wrong_row(right, found)
            if wrong:
                return wrong
        elif right != found:
            return f"{name}: expected {right}, got {found}"
    return None


def _first_wrong_row(expected: list[Any], actual: list[Any]) -> str | None:
    for right, found in zip(expected, actual, strict=True):
        if len(right) != len(found) or not all(map(_equal, right, found)):
            return f"expected the row {right}, got {found}"
    return None


def _equal(right: Any, found: Any) -> bool:
    if isinstance(right, float) and isinstance(found, float):
        return math.isclose(right, found, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return bool(right == found)
