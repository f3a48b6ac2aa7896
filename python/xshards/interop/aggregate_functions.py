# SPDX-License-Identifier: Apache-2.0
"""The engine's table of aggregate functions: the only list of their names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xshards import _core

if TYPE_CHECKING:
    from xshards._core import AggregateFunction

__all__ = ["AGGREGATES", "REDUCTIONS", "find_aggregate"]

AGGREGATES = tuple(_core.aggregate_functions())
#: Those that are methods of pandas' Series as well.
REDUCTIONS = tuple(one.name for one in AGGREGATES if one.is_reduction)

_BY_NAME = {name: one for one in AGGREGATES for name in (one.name, *one.aliases)}


def find_aggregate(name: str) -> AggregateFunction | None:
    """Return the function of a name or an alias, such as "avg" or "quantile(0.9)".

    >>> find_aggregate("avg").name
    'mean'
    >>> find_aggregate("quantile(0.9)").name
    'quantile'
    """
    has_share = name.startswith("quantile(") and name.endswith(")")
    return _BY_NAME.get("quantile" if has_share else name)
