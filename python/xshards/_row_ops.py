# SPDX-License-Identifier: Apache-2.0
"""Operations of XShards that work row by row: nothing moves between partitions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

from xshards._arguments import as_names, require
from xshards._base import Base
from xshards.errors import XShardsTypeError
from xshards.expressions import Expression, col, lit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
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

    def __getitem__(self, key: str | Sequence[str] | Expression) -> Self:
        """Select one column, several columns, or rows."""
        if isinstance(key, Expression):
            return self.filter(key)
        if isinstance(key, str):
            one = self.select([key])
            return one._with_info(replace(self._current_info(), series=True))
        return self.select(key)

    def select(self, columns: str | Iterable[str]) -> Self:
        """Keep these columns, in this order.

        Parameters
        ----------
        columns : str or list of str
            Their names.

        Raises
        ------
        KeyError
            If there is no such column.

        Examples
        --------
        >>> xs.from_pandas(pd.DataFrame({"a": [1], "b": [2]})).select(["b"]).columns
        ['b']
        """
        wanted = as_names("columns", columns)
        hidden = [name for name in self._hidden() if name not in wanted]
        return self._derive(self._core.select([*wanted, *hidden]))

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
        return self._derive(self._core.with_column(name, _expression(value)._core))

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

    def drop(self, columns: str | Iterable[str]) -> Self:
        """Leave columns out.

        Examples
        --------
        >>> xs.from_pandas(pd.DataFrame({"a": [1], "b": [2]})).drop("a").columns
        ['b']
        """
        return self._derive(self._core.drop(as_names("columns", columns)))

    def rename(self, columns: Mapping[str, str]) -> Self:
        """Rename columns.

        Parameters
        ----------
        columns : dict
            New names by old name.

        Raises
        ------
        KeyError
            If there is no column of an old name.

        Examples
        --------
        >>> xs.from_pandas(pd.DataFrame({"a": [1]})).rename({"a": "x"}).columns
        ['x']
        """
        names = self._full_schema().names
        self._check_columns(columns, names)
        renamed = [(columns.get(name, name), col(name)._core) for name in names]
        info = self._info
        if info is not None:
            dtypes = {columns.get(n, n): dtype for n, dtype in info.dtypes.items()}
            index = tuple((columns.get(n, n), level) for n, level in info.index)
            info = replace(info, dtypes=dtypes, index=index)
        return self._derive(self._core.select_named(renamed))._with_info(info)


def _expression(value: object) -> Expression:
    return value if isinstance(value, Expression) else lit(value)
