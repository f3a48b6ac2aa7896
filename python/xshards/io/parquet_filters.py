# SPDX-License-Identifier: Apache-2.0
"""Filters as ``pandas.read_parquet`` takes them, as expressions."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from xshards._util.deferred import pc
from xshards.errors import XShardsTypeError, XShardsValueError
from xshards.expressions import Expression, col

__all__ = ["Filters", "columns_of", "to_expression"]

Filter = tuple[str, str, Any]
Filters = Expression | Sequence[Filter] | Sequence[Sequence[Filter]]

_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "==": operator.eq,
    "!=": lambda column, value: (column != value) & column.notna(),
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "in": lambda column, values: column.isin(values),
    "not in": lambda column, values: ~column.isin(values),
}


def to_expression(filters: Filters) -> Expression:
    """Join filters: those of one list by and, lists of them by or."""
    if isinstance(filters, Expression):
        return filters
    if isinstance(filters, pc.Expression):
        msg = (
            f"pyarrow expressions are not supported as filters: write {filters} with "
            "xs.col, as xs.col('a') > 1, or as a list of tuples"
        )
        raise XShardsTypeError(msg)
    either = [reduce(operator.and_, map(_one, group)) for group in _groups(filters)]
    return reduce(operator.or_, either)


def columns_of(filters: Filters) -> list[str] | None:
    """Name the columns that filters look at; None where only the engine knows."""
    if isinstance(filters, Expression):
        return None
    return list(dict.fromkeys(item[0] for group in _groups(filters) for item in group))


def _groups(filters: Any) -> list[list[Filter]]:
    groups = (
        [list(filters)] if isinstance(filters[0], tuple) else list(map(list, filters))
    )
    for item in (item for group in groups for item in group):
        if not (isinstance(item, tuple) and len(item) == 3):
            msg = f"a filter is (column, operator, value), got {item!r}"
            raise XShardsTypeError(msg)
    return groups


def _one(item: Filter) -> Expression:
    name, sign, value = item
    if sign not in _OPERATORS:
        msg = f"a filter's operator is one of {', '.join(_OPERATORS)}, got {sign!r}"
        raise XShardsValueError(msg)
    condition: Expression = _OPERATORS[sign](col(name), value)
    return condition
