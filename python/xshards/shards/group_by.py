# SPDX-License-Identifier: Apache-2.0
"""Aggregates of groups of rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from xshards._util.arguments import as_names, require
from xshards._util.deferred import pd
from xshards.errors import XShardsTypeError, XShardsValueError
from xshards.interop.aggregate_functions import find_aggregate
from xshards.interop.labels import label_of, same_label
from xshards.shards.base import Base

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

__all__ = ["GroupBy"]


class GroupBy(Base):
    """Group rows by key columns and aggregate them."""

    def group_by(
        self,
        columns: str | Iterable[str] = (),
        agg: str | Sequence[str] | Mapping[str, str | Sequence[str]] = "count",
        join: bool = False,  # noqa: FBT001 - as Orca
        **named: tuple[Any, str],
    ) -> Self:
        """Aggregate the rows of each group.

        The result has the key columns first and then the aggregates, named as they were
        asked for: ``sum(price)``. The number of rows, ``{"*": "count"}``, is named
        ``count(1)``, as Spark names it, unless there is a column ``*``. Missing keys
        are a group of their own; missing values are left out of aggregates. The order
        of groups is not defined.

        Parameters
        ----------
        columns : str or list of str
            The keys; with none, all rows are one group.
        agg : str, list of str, or dict
            One function, or several, for all other columns (those that add up, such as
            ``"sum"``, only for the numeric ones); or functions by column. There are
            sum, prod, mean (avg), min, max, count, std (stddev), stddev_pop, var
            (variance), var_pop, skew and kurt (as pandas), skewness and kurtosis (as
            Spark), first, last, first_value and last_value (which do not skip missing
            values), median, quantile (that at 0.5; ``"quantile(0.9)"`` for another),
            nunique, approx_count_distinct (a HyperLogLog, within about 1.6 %),
            sum_distinct (sumDistinct), collect_list and collect_set.
        join : bool, default False
            Return every row with the aggregates of its group, not one row per group.
        **named : (column, function)
            In place of `agg`: aggregates under names of your own, as in pandas.

        Returns
        -------
        XShards
            With a row per group, or all rows with ``join=True``.

        Raises
        ------
        KeyError
            If there is no such column.
        ValueError
            If there is nothing to aggregate, or `agg` and `named` are both given.
        TypeError
            If an aggregate is not named by a string, or does not apply to a column.

        Examples
        --------
        >>> df = pd.DataFrame({"k": ["x", "y", "x"], "v": [1, 2, 3]})
        >>> shards = xs.from_pandas(df)
        >>> shards.group_by("k", {"v": ["sum", "max"]}).sort_values("k").to_pandas()
           k  sum(v)  max(v)
        0  x       4       3
        1  y       2       2
        >>> shards.group_by("k", top=("v", "max")).sort_values("k").to_pandas()
           k  top
        0  x    3
        1  y    2
        """
        keys = self._keys_named("columns", columns)
        if named and agg != "count":
            msg = "give aggregates either as agg or by name, not both"
            raise XShardsValueError(msg)
        aggregates = (
            [self._named_aggregate(name, wanted) for name, wanted in named.items()]
            if named
            else [
                (function, column, _titled(function, column))
                for function, column in self._aggregates(keys, agg)
            ]
        )
        if not aggregates:
            msg = "group_by has nothing to aggregate: give agg as {column: function}"
            raise XShardsValueError(msg)
        grouped = self._grouped(keys, aggregates)
        if not join:
            return grouped
        if not keys:
            msg = "group_by with join=True needs at least one column to join on"
            raise XShardsValueError(msg)
        return self.merge(grouped, on=keys, how="left")

    def _named_aggregate(
        self, name: str, wanted: object
    ) -> tuple[str, str | None, str]:
        """Understand ``name=(column, function)``."""
        if isinstance(wanted, pd.NamedAgg) and not getattr(wanted, "args", ()):
            wanted = (wanted.column, wanted.aggfunc)
        if (
            not isinstance(wanted, tuple)
            or len(wanted) != 2
            or not isinstance(wanted[1], str)
        ):
            msg = f"{name} needs a pair (column, function), got {wanted!r}"
            raise XShardsTypeError(msg)
        label, function = wanted
        lookup = self._key_lookup(name)
        return function, self._aggregated_column(lookup, label, function), name

    def _aggregates(
        self,
        keys: list[str],
        agg: str | Sequence[str] | Mapping[str, str | Sequence[str]],
    ) -> list[tuple[str, str | None]]:
        """Pair functions with the columns they aggregate, None for all rows."""
        if isinstance(agg, Mapping):
            key_of = self._key_lookup("agg")
            return [
                (function, self._aggregated_column(key_of, label, function))
                for label, functions in agg.items()
                for function in _functions(f"agg of {label!r}", functions)
            ]
        functions = _functions("agg", agg)
        others = {*keys, *self._hidden()}
        return [
            (function, field.name)
            for field in self._full_schema()
            if field.name not in others
            for function in functions
            if _applies(function, field)
        ]

    def _aggregated_column(
        self, key_of: Callable[[object], str], label: object, function: str
    ) -> str | None:
        """Name the column to aggregate; None for all rows, which "*" stands for.

        A column of that name comes first, as far as it is known.
        """
        found = find_aggregate(function)
        if label == "*" and found is not None and not found.needs_column:
            schema = self._core.known_schema()
            fields = () if schema is None else schema
            if not any(same_label(label_of(field), "*") for field in fields):
                return None
        return key_of(label)

    def _aggregate(self, functions: Mapping[str, list[str]]) -> dict[str, Any]:
        """Aggregate all rows to one, in one pass."""
        frame = self.group_by([], functions).to_pandas()
        return {name: frame[name].iloc[0] for name in frame}


def _functions(what: str, functions: Any) -> list[str]:
    if callable(functions):
        functions = [functions]
    for function in functions if not isinstance(functions, str) else ():
        require(
            function,
            str,
            f"{what} takes function names, such as 'sum'; transform_shard runs others",
        )
    return as_names(what, functions)


def _titled(function: str, column: str | None) -> str:
    """Name an aggregate as Spark does."""
    if column is None:
        return "count(1)"
    if function.startswith("quantile(") and function.endswith(")"):
        return f"quantile({column}, {function[9:-1]})"
    return f"{function}({column})"


def _applies(function: str, field: pa.Field) -> bool:
    """Return whether a function is computed without a named column."""
    found = find_aggregate(function)
    takes_any = found is not None and not found.needs_numbers
    if takes_any or pa.types.is_boolean(field.type):
        return True
    types = pa.types
    return bool(
        types.is_integer(field.type)
        or types.is_floating(field.type)
        or types.is_decimal128(field.type)
    )
