# SPDX-License-Identifier: Apache-2.0
"""Operations of XShards that work row by row: nothing moves between partitions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import pyarrow as pa

from xshards._util.arguments import as_names, require
from xshards._util.deferred import pd
from xshards.errors import XShardsTypeError, XShardsValueError
from xshards.expressions import Expression, col, lit
from xshards.interop.labels import label_of
from xshards.shards.base import Base

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Self

__all__ = ["RowOps"]


class RowOps(Base):
    """Select, filter, compute and transform."""

    def __iter__(self) -> NoReturn:
        msg = "shards are not a sequence; use collect() for partitions or to_pandas()"
        raise XShardsTypeError(msg)

    def _compare(self, _other: object) -> NoReturn:
        msg = 'compare columns in expressions: shards.filter(xs.col("name") > 2)'
        raise XShardsTypeError(msg)

    __lt__ = __le__ = __gt__ = __ge__ = _compare

    def __getitem__(self, key: Any) -> Self:
        """Select columns or rows of DataFrames; of other shards, ``[key]`` of each.

        Runs the plan if the payload kind is not known before running.

        Parameters
        ----------
        key : str, list of str, Expression, or any key
            For DataFrames a column, which then behaves as a Series, columns, or a
            condition on rows. For other shards, what their ``[]`` takes.

        Returns
        -------
        XShards

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1, 2, 2], "b": [3, 4, 5]}))
        >>> shards["a"].unique()
        array([1, 2])
        >>> shards[["b"]][xs.col("b") > 3].to_pandas()
           b
        0  4
        1  5
        >>> xs.partition({"x": np.arange(4), "y": np.ones(4)}, 2)["x"].collect()
        [array([0, 1]), array([2, 3])]
        """
        if isinstance(key, Expression):
            return self.filter(key)
        if not self._holds_frames():
            return self._item(key)
        several = isinstance(key, Iterable) and not isinstance(key, str)
        if several and not self._is_label(key):
            return self.select(key)
        names = self._columns_named("columns", key)
        shards = self._select(names)
        if len(names) > 1:
            return shards
        return shards._with_info(replace(self._current_info(), series=True))

    def select(self, columns: Any) -> Self:
        """Keep these columns, in this order.

        Parameters
        ----------
        columns : label or list of labels
            Their labels, which need not be strings. The columns of a MultiIndex have
            tuples for labels.

        Returns
        -------
        XShards

        Raises
        ------
        KeyError
            If there is no such column.

        Examples
        --------
        >>> xs.from_pandas(pd.DataFrame({"a": [1], "b": [2]})).select(["b"]).columns
        ['b']
        """
        return self._select(self._columns_named("columns", columns))

    def filter(self, condition: Expression) -> Self:
        """Keep the rows for which a condition is true; missing counts as false.

        Parameters
        ----------
        condition : Expression
            For instance ``(xs.col("a") > 3) & xs.col("b").notna()``.

        Returns
        -------
        XShards

        Raises
        ------
        TypeError
            If the condition is not an expression.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1, 2, 3]}))
        >>> len(shards.filter(xs.col("a") >= 2))
        2
        """
        require(
            condition, Expression, "filter needs a condition such as xs.col('a') > 3"
        )
        return self._derive(self._core.filter(condition._core))

    def with_column(self, name: str, value: object) -> Self:
        """Add a column, or replace the one of that name in its place.

        Parameters
        ----------
        name : str
            The column's name.
        value : Expression, constant, or function
            How it is computed. A function gets the columns, as in
            ``lambda d: d["a"] + d["b"]``, and returns an expression.

        Returns
        -------
        XShards

        Raises
        ------
        TypeError
            If the value is neither an expression nor a constant.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1, 2]}))
        >>> shards.with_column("b", xs.col("a") * 10).to_pandas()
           a   b
        0  1  10
        1  2  20
        """
        return self.with_columns({name: value})

    def with_columns(
        self, columns: Mapping[str, object] | None = None, /, **more: object
    ) -> Self:
        """Add or replace several columns at once.

        All are computed from the columns as they are before: none sees another. Use
        `assign` where one uses another.

        Parameters
        ----------
        columns : dict, optional
            The new columns by name, as in `with_column`.
        **more : Expression, constant, or function
            More of them.

        Returns
        -------
        XShards

        Raises
        ------
        TypeError
            If a value is neither an expression nor a constant, or a name no string.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1, 2], "b": [3, 4]}))
        >>> shards.with_columns(a=xs.col("b"), b=xs.col("a")).to_pandas()
           a  b
        0  3  1
        1  4  2
        """
        wanted = {**({} if columns is None else columns), **more}
        if not wanted:
            return self
        for name in wanted:
            require(name, str, "a new column's name must be a string")
        shards = self._making_way(wanted)
        computed = [
            (name, _expression(self, value)._core) for name, value in wanted.items()
        ]
        return shards._derive(shards._core.with_columns(computed), same_rows=True)

    def assign(self, **columns: object) -> Self:
        """Add or replace several columns, one after the other, as in pandas.

        Parameters
        ----------
        **columns : Expression, constant, or function
            The new columns by name, as in `with_column`. A later one may use an
            earlier one.

        Returns
        -------
        XShards

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1, 2]}))
        >>> shards.assign(b=xs.col("a") + 1, c=lambda d: d["b"] * 2).to_pandas()
           a  b  c
        0  1  2  4
        1  2  3  6
        """
        result, pending = self, dict[str, object]()
        for name, value in columns.items():
            if _may_read(value, pending):
                result, pending = result.with_columns(pending), {}
            pending[name] = value
        return result.with_columns(pending)

    def drop(
        self, columns: Any, *, errors: Literal["raise", "ignore"] = "raise"
    ) -> Self:
        """Drop columns.

        Parameters
        ----------
        columns : label or list of labels
            Their labels.
        errors : {"raise", "ignore"}
            What to do about labels that no column has.

        Returns
        -------
        XShards

        Raises
        ------
        KeyError
            If there is no column of a label, with ``errors="raise"``.
        ValueError
            If `errors` is something else.

        Examples
        --------
        >>> xs.from_pandas(pd.DataFrame({"a": [1], "b": [2]})).drop("a").columns
        ['b']
        """
        if errors not in ("raise", "ignore"):
            msg = f"errors must be 'raise' or 'ignore', got {errors!r}"
            raise XShardsValueError(msg)
        if errors == "ignore":
            there = self._labels()
            columns = [label for label in self._listed(columns) if label in there]
        names = self._columns_named("columns", columns)
        return self._derive(self._core.drop(names), same_rows=True)

    def rename(self, columns: Mapping[Any, str] | Callable[[Any], str]) -> Self:
        """Rename columns.

        Parameters
        ----------
        columns : dict or function
            New names by old label; or what gives the new name of each.

        Returns
        -------
        XShards

        Raises
        ------
        KeyError
            If there is no column of an old name, as in pandas with ``errors="raise"``.

        Examples
        --------
        >>> xs.from_pandas(pd.DataFrame({"a": [1]})).rename({"a": "x"}).columns
        ['x']
        """
        if callable(columns):
            columns = {label: columns(label) for label in self._labels()}
        shards = self._making_way(as_names("new names", columns.values()))
        schema = shards._full_schema()
        self._check_columns(columns, [label_of(field) for field in schema])
        renamed = [
            (columns.get(label_of(field), field.name), col(field.name)._core)
            for field in schema
        ]
        return shards._derive(shards._core.select_named(renamed), same_rows=True)


class _Columns:
    """What a function that computes a column gets: expressions by label."""

    def __init__(self, shards: RowOps) -> None:
        # Once, not for each column: a function may read all of a wide table.
        self._shards = shards
        self._names = set(shards._full_schema().names)
        self._labels = shards._labels()
        self._key_of = shards._key_lookup("columns")

    def __getitem__(self, label: Any) -> Expression:
        name = self._key_of(label)
        if name not in self._names:
            self._shards._check_columns([name], self._shards._full_schema().names)
        return col(name)

    def __getattr__(self, name: str) -> Expression:
        if name.startswith("_") or name not in self._labels:
            msg = (
                f"there is no column {name!r}: a function that computes a column gets "
                "expressions of columns, as d['a'], not a DataFrame"
            )
            raise AttributeError(msg)
        return self[name]


def _may_read(value: object, columns: Mapping[str, object]) -> bool:
    """Return whether a value to assign is computed from some of these columns."""
    if isinstance(value, Expression):
        return not columns.keys().isdisjoint(value._core.columns())
    return callable(value) and bool(columns)  # a function may look at any


def _expression(shards: RowOps, value: object) -> Expression:
    if callable(value) and not isinstance(value, Expression):
        value = value(_Columns(shards))
    if isinstance(value, Expression):
        return value
    if not isinstance(value, pa.Scalar) and pd.api.types.is_list_like(value):
        msg = (
            "a column is computed by an expression, as xs.col('a') + 1, or is a "
            f"constant, got {type(value).__name__}: use zip or transform_shard for "
            "values of rows"
        )
        raise XShardsTypeError(msg)
    return lit(value)
