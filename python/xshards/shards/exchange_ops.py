# SPDX-License-Identifier: Apache-2.0
"""Operations of XShards that bring rows of several partitions together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import pyarrow as pa

from xshards import _core
from xshards._util.arguments import as_count, as_names, require
from xshards._util.deferred import pd
from xshards.errors import (
    XShardsNotImplementedError,
    XShardsTypeError,
    XShardsValueError,
)
from xshards.interop.field_metadata import DTYPE, MISSING, marks_of
from xshards.interop.labels import label_of, same_label
from xshards.shards.merge import Merging
from xshards.shards.tasks import partition_tasks as _shard_tasks

if TYPE_CHECKING:
    from typing import Self

__all__ = ["WideOps", "engine_name"]

# Aggregates that work on every type; the others need numbers.
_ANY_TYPE = frozenset(
    {
        "count",
        "min",
        "max",
        "first",
        "last",
        "nunique",
        "approx_count_distinct",
        "collect_list",
        "collect_set",
    }
)
# The engine knows Spark's names of most.
_ENGINE_NAMES = {"std": "stddev", "var": "variance", "sumDistinct": "sum_distinct"}


class WideOps(Merging):
    """Partition, group, join, sort."""

    def partition_by(
        self, columns: str | Iterable[str], num_partitions: int | None = None
    ) -> Self:
        """Bring rows with equal values in `columns` to the same partition.

        Parameters
        ----------
        columns : str or list of str
            The columns to go by. Missing values are equal to each other.
        num_partitions : int, optional
            How many partitions to make; as many as there are by default. Some may be
            empty.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1, 2, 1, 2]}))
        >>> parts = shards.partition_by("a", 4).collect()
        >>> sorted(list(part["a"]) for part in parts if len(part))
        [[1, 1], [2, 2]]
        """
        keys = self._keys_named("columns", columns)
        if not keys:
            msg = "partition_by needs at least one column"
            raise XShardsValueError(msg)
        count = as_count("num_partitions", num_partitions)
        keyed, added = self._with_keys(self._objects_among(keys))
        core = keyed._core.partition_by([added.get(key, key) for key in keys], count)
        return keyed._derive(core.drop(list(added.values())) if added else core)

    def partition_by_range(
        self, columns: str | Iterable[str], num_partitions: int | None = None
    ) -> Self:
        """Bring rows together by ranges of `columns`.

        All values of a partition come before those of the next, missing values last.
        The ranges hold about equally many rows, as far as values that repeat allow, and
        their rows keep their order.

        Parameters
        ----------
        columns : str or list of str
            The columns to go by.
        num_partitions : int, optional
            How many partitions to make; as many as there are by default. Some may be
            empty.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [3, 1, 4, 2]}))
        >>> [list(part["a"]) for part in shards.partition_by_range("a", 2).collect()]
        [[1, 2], [3, 4]]
        """
        keys = self._keys_named("columns", columns)
        if not keys:
            msg = "partition_by_range needs at least one column"
            raise XShardsValueError(msg)
        count = as_count("num_partitions", num_partitions)
        return self._derive(self._core.partition_by_range(keys, count))

    def repartition(self, num_partitions: int) -> Self:
        """Spread the rows evenly over `num_partitions` partitions, in order."""
        count = as_count("num_partitions", num_partitions)
        return self._derive(self._core.repartition(count), same_rows=True)

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
            Spark), first, last, median, quantile (that at 0.5; ``"quantile(0.9)"`` for
            another), nunique, approx_count_distinct (a HyperLogLog, within about
            1.6 %), sum_distinct (sumDistinct), collect_list and collect_set.
        join : bool, default False
            Give every row with the aggregates of its group, not one row a group.
        **named : (column, function)
            In place of `agg`: aggregates under names of your own, as in pandas.

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
                (engine_name(function), column, _titled(function, column))
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
        return (
            engine_name(function),
            self._aggregated_column(name, label, function),
            name,
        )

    def _aggregates(
        self,
        keys: list[str],
        agg: str | Sequence[str] | Mapping[str, str | Sequence[str]],
    ) -> list[tuple[str, str | None]]:
        """Pair functions with the columns they are of, None for all rows."""
        if isinstance(agg, Mapping):
            return [
                (function, self._aggregated_column("agg", label, function))
                for label, functions in agg.items()
                for function in _functions(f"agg of {label!r}", functions)
            ]
        functions = _functions("agg", agg)
        hidden = self._hidden()
        return [
            (function, field.name)
            for field in self._full_schema()
            if field.name not in keys and field.name not in hidden
            for function in functions
            if _applies(function, field)
        ]

    def _aggregated_column(self, what: str, label: object, function: str) -> str | None:
        """Name the column to aggregate; None for all rows, which "*" stands for.

        A column of that name comes first, as far as it is known.
        """
        schema = self._core.known_schema()
        if label == "*" and function == "count":
            fields = () if schema is None else schema
            if not any(same_label(label_of(field), "*") for field in fields):
                return None
        return self._keys_named(what, [label])[0]

    def sort_values(
        self,
        by: str | Iterable[str] | None = None,
        ascending: bool | Sequence[bool] = True,  # noqa: FBT001 - as pandas
        *,
        na_position: Literal["first", "last"] = "last",
        ignore_index: bool = False,
    ) -> Self:
        """Sort all rows; rows of equal keys keep their order.

        Parameters
        ----------
        by : str or list of str, optional
            The columns to sort by; all of them by default, as for one column alone:
            ``shards["a"].sort_values()``.
        ascending : bool or list of bool
            The direction, for all or for each.
        na_position : {"first", "last"}
            Where rows with a missing key go.
        ignore_index : bool, default False
            Leave the index out.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [2, 3, 1]}))
        >>> list(shards.sort_values("a", ascending=False).to_pandas()["a"])
        [3, 2, 1]
        """
        keys = self._keys_named("by", self._labels() if by is None else by)
        one = isinstance(ascending, bool | int | np.bool_)
        up = [ascending] * len(keys) if one else list(cast("Sequence[bool]", ascending))
        if len(up) != len(keys):
            msg = f"ascending needs {len(keys)} values, one for each key, got {len(up)}"
            raise XShardsValueError(msg)
        if na_position not in ("first", "last"):
            msg = f"na_position must be 'first' or 'last', got {na_position!r}"
            raise XShardsValueError(msg)
        pairs = list(zip(keys, map(bool, up), strict=True))
        result = self._derive(self._core.sort(pairs, na_position == "first"))
        return result._without_index() if ignore_index else result

    def nlargest(self, n: int = 5, columns: Any = None, keep: str = "first") -> Self:
        """Keep the `n` rows with the largest values, the largest first.

        Of rows that are equal the first ones are kept; missing values come last.

        Parameters
        ----------
        n : int, default 5
            How many.
        columns : label or list of labels, optional
            What to compare by: numbers or times. May be left out for one column:
            ``shards["a"].nlargest(3)``.
        keep : "first"
            Which of equal rows to keep; only the first ones can be.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [2, 3, 1], "b": list("xyz")}))
        >>> list(shards.nlargest(2, "a").to_pandas()["b"])
        ['y', 'x']
        """
        return self._first_rows("nlargest", n, columns, keep, ascending=False)

    def nsmallest(self, n: int = 5, columns: Any = None, keep: str = "first") -> Self:
        """Keep the `n` rows with the smallest values, the smallest first.

        See `nlargest`.
        """
        return self._first_rows("nsmallest", n, columns, keep, ascending=True)

    def _first_rows(
        self, method: str, n: int, columns: Any, keep: str, *, ascending: bool
    ) -> Self:
        if keep != "first":
            msg = f"{method} keeps the first of equal rows, got keep={keep!r}"
            raise XShardsNotImplementedError(msg)
        if columns is None and len(self._labels()) != 1:
            msg = f"{method} needs columns to compare by, one of {self._labels()}"
            raise XShardsTypeError(msg)
        names = self._keys_named(
            "columns", self._labels() if columns is None else columns
        )
        schema = self._full_schema()
        self._check_columns(names, schema.names)
        for field in (schema.field(name) for name in names):
            kind = marks_of(field).get(DTYPE)
            if kind in ("object", "category") or not _has_size(field.type):
                given = f"column {field.name!r} of type {field.type}"
                msg = f"{method} compares numbers or times, got {given}"
                raise XShardsTypeError(msg)
        return self.sort_values(names, ascending).limit(max(n, 0))

    def limit(self, n: int) -> Self:
        """Keep the first `n` rows, as shards; `head` gives them as a DataFrame.

        Examples
        --------
        >>> len(xs.from_pandas(pd.DataFrame({"a": range(10)})).limit(3))
        3
        """
        if n < 0:
            msg = f"limit must not be negative, got {n}"
            raise XShardsValueError(msg)
        return self._derive(self._core.head(n), same_rows=True)

    def union(self, other: Self) -> Self:
        """Put the partitions of other shards behind these, as `pandas.concat` does.

        Columns of two types get one that holds both; where there is none, such as for
        text and numbers, they hold Python objects.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1, 2]}))
        >>> len(shards.union(shards))
        4
        """
        require(other, WideOps, "union adds XShards")
        if self._hidden() != other._hidden():
            return self._without_index().union(other._without_index())
        mixed = _without_common_type(
            self._core.known_schema(), other._core.known_schema()
        )
        left, right = self._holding_objects(mixed), other._holding_objects(mixed)
        return left._derive(left._core.union(right._core))

    def _holding_objects(self, names: list[str]) -> Self:
        """Make Python objects of the cells of some columns."""
        if not names:
            return self
        held = self._transform_payloads(_shard_tasks.hold_objects, names)
        return held._with_info(self._info)

    def drop_duplicates(
        self,
        subset: str | Iterable[str] | None = None,
        *,
        keep: Literal["first", "last", False] = "first",
        ignore_index: bool = False,
    ) -> Self:
        """Keep one of the rows that are equal; the order and the index stay.

        Parameters
        ----------
        subset : str or list of str, optional
            The columns to compare; all by default. Missing values equal each other.
        keep : {"first", "last", False}
            Which one to keep; False keeps only rows that have no equal.
        ignore_index : bool, default False
            Leave the index out.

        Examples
        --------
        >>> df = pd.DataFrame({"a": [1, 1, 2], "b": [3, 4, 5]})
        >>> xs.from_pandas(df).drop_duplicates("a", keep="last").to_pandas()
           a  b
        0  1  4
        1  2  5
        """
        if keep not in ("first", "last", False):
            msg = f"keep must be 'first', 'last' or False, got {keep!r}"
            raise XShardsValueError(msg)
        hidden = self._hidden()
        names = [n for n in self._full_schema().names if n not in hidden]
        keys = names if subset is None else as_names("subset", subset)
        self._check_columns(keys, names)
        result = self
        if keys:
            keyed, added = self._with_keys(self._objects_among(keys))
            if added:
                keyed._full_schema()  # which dropping rows needs to know
            by = [added.get(key, key) for key in keys]
            core = keyed._core.drop_duplicates(by, str(keep))
            result = keyed._derive(core.drop(list(added.values())) if added else core)
        return result._without_index() if ignore_index else result


def _functions(what: str, functions: Any) -> list[str]:
    if callable(functions):
        functions = [functions]
    for function in functions if not isinstance(functions, str) else ():
        require(
            function,
            str,
            f"{what} names functions, as 'sum' (transform_shard runs your own)",
        )
    return as_names(what, functions)


def engine_name(function: str) -> str:
    """Give the engine's name of an aggregate."""
    return _ENGINE_NAMES.get(function, function)


def _titled(function: str, column: str | None) -> str:
    """Name an aggregate as Spark does."""
    if column is None:
        return "count(1)"
    if function.startswith("quantile(") and function.endswith(")"):
        return f"quantile({column}, {function[9:-1]})"
    return f"{function}({column})"


def _applies(function: str, field: pa.Field) -> bool:
    """Tell whether a function is computed for a column that nobody named."""
    if function in _ANY_TYPE or pa.types.is_boolean(field.type):
        return True
    types = pa.types
    return bool(
        types.is_integer(field.type)
        or types.is_floating(field.type)
        or types.is_decimal128(field.type)
    )


def _has_size(arrow: pa.DataType) -> bool:
    types = pa.types
    return bool(
        types.is_integer(arrow)
        or types.is_floating(arrow)
        or types.is_boolean(arrow)
        or types.is_decimal(arrow)
        or types.is_timestamp(arrow)
        or types.is_duration(arrow)
    )


def _without_common_type(left: pa.Schema | None, right: pa.Schema | None) -> list[str]:
    """Name the columns of both that only Python objects hold together."""
    if left is None or right is None:
        return []
    return [
        name
        for name in left.names
        if name in right.names and _only_as_objects(left.field(name), right.field(name))
    ]


def _only_as_objects(left: pa.Field, right: pa.Field) -> bool:
    ours, theirs = marks_of(left), marks_of(right)
    objects = ours.get(DTYPE) == theirs.get(DTYPE) == "object"
    if objects and ours.get(MISSING) != theirs.get(MISSING):
        return True
    return not _core.have_common_type(pa.schema([left]), pa.schema([right]))
