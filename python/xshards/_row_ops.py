# SPDX-License-Identifier: Apache-2.0
"""Operations of XShards that work row by row: nothing moves between partitions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

from xshards._arguments import as_names, require
from xshards._base import Base
from xshards._labels import label_of
from xshards.errors import XShardsTypeError
from xshards.expressions import Expression, col, lit

if TYPE_CHECKING:
    from collections.abc import Mapping
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
        """Select one column, several columns, or rows."""
        if isinstance(key, Expression):
            return self.filter(key)
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

    def _select(self, wanted: list[str]) -> Self:
        hidden = [name for name in self._hidden() if name not in wanted]
        return self._derive(self._core.select([*wanted, *hidden]), same_rows=True)

    def filter(self, condition: Expression) -> Self:
        """Keep the rows for which a condition is true; missing counts as false.

        Parameters
        ----------
        condition : Expression
            For instance ``(xs.col("a") > 3) & xs.col("b").notna()``.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1, 2, 3]}))
        >>> len(shards.filter(xs.col("a") >= 2))
        2
        """
        require(condition, Expression, "filter takes a condition as xs.col('a') > 3")
        return self._derive(self._core.filter(condition._core))

    def with_column(self, name: str, value: object) -> Self:
        """Add a column, or replace the one of that name in its place.

        Parameters
        ----------
        name : str
            The column's name.
        value : Expression or constant
            How it is computed.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1, 2]}))
        >>> shards.with_column("b", xs.col("a") * 10).to_pandas()
           a   b
        0  1  10
        1  2  20
        """
        require(name, str, "a new column is named by a string")
        shards = self._making_way([name])
        core = shards._core.with_column(name, _expression(value)._core)
        return shards._derive(core, same_rows=True)

    def assign(self, **columns: object) -> Self:
        """Add or replace several columns, one after the other, as in pandas.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1, 2]}))
        >>> shards.assign(b=xs.col("a") + 1, c=xs.col("b") + 1).columns
        ['a', 'b', 'c']
        """
        result = self
        for name, value in columns.items():
            result = result.with_column(name, value)
        return result

    def drop(self, columns: Any) -> Self:
        """Leave columns out.

        Examples
        --------
        >>> xs.from_pandas(pd.DataFrame({"a": [1], "b": [2]})).drop("a").columns
        ['b']
        """
        names = self._columns_named("columns", columns)
        return self._derive(self._core.drop(names), same_rows=True)

    def rename(self, columns: Mapping[Any, str]) -> Self:
        """Rename columns.

        Parameters
        ----------
        columns : dict
            New names by old label.

        Raises
        ------
        KeyError
            If there is no column of an old name.

        Examples
        --------
        >>> xs.from_pandas(pd.DataFrame({"a": [1]})).rename({"a": "x"}).columns
        ['x']
        """
        shards = self._making_way(as_names("new names", columns.values()))
        schema = shards._full_schema()
        self._check_columns(columns, [label_of(field) for field in schema])
        renamed = [
            (columns.get(label_of(field), field.name), col(field.name)._core)
            for field in schema
        ]
        return shards._derive(shards._core.select_named(renamed), same_rows=True)


def _expression(value: object) -> Expression:
    return value if isinstance(value, Expression) else lit(value)
