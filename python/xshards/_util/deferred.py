# SPDX-License-Identifier: Apache-2.0
"""Modules that are imported when they are first used, not with this package.

Jobs that read, compute and write need no pandas: without it a process starts in half
the time and is 40 MB smaller.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = ["pc", "pd"]


class _Deferred(ModuleType):
    """Stands in for a module, and imports it on first access."""

    def __getattr__(self, name: str) -> Any:
        value = getattr(importlib.import_module(self.__name__), name)
        setattr(self, name, value)  # later lookups bypass this
        return value


if TYPE_CHECKING:
    import pandas as pd
    import pyarrow.compute as pc
else:
    pd = _Deferred("pandas")
    pc = _Deferred("pyarrow.compute")
