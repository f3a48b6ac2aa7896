# SPDX-License-Identifier: Apache-2.0
"""Operations of XShards that work row by row: nothing moves between partitions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import pyarrow as pa

from xshards._arguments import as_names, require
from xshards._base import Base
from xshards.errors import XShardsTypeError, XShardsValueError
from xshards.expressions import Expression, col, lit
from xshards.runtime.convert import FORMATS
from xshards.runtime.functions import Task, name_of, pack_task

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

    def transform_shard(
        self,
        function: Callable[..., Any],
        *args: Any,
        format: Literal["pandas", "arrow", "polars", "numpy"] = "pandas",
        **kwargs: Any,
    ) -> Self:
        """Call a Python function on every shard, in parallel, in worker processes.

        Nothing runs before an action needs the result; then the function runs once a
        partition and its results are kept as long as they can be asked for again.

        The shard is a pandas DataFrame (a Series after ``shards["column"]``) that the
        function may change in place: nobody else sees it. It is not called for a
        partition without rows, unless no partition has any.

        What it returns decides what the new shards hold: a DataFrame, Series or Arrow
        table gives rows; an ndarray, or a dict, list or tuple of ndarrays, gives
        arrays; anything else is kept as the object it is.

        Parameters
        ----------
        function : callable
            Called as ``function(shard, *args, **kwargs)``. Lambdas, closures and what
            is defined in a notebook work. What it prints goes to this terminal; an
            exception in it reaches you as itself.
        *args, **kwargs
            Passed on to the function.
        format : {"pandas", "arrow", "polars", "numpy"}, default "pandas"
            What the function gets: a DataFrame, a ``pyarrow.Table``, a Polars frame or
            a dict of arrays.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1, 2, 3]}), num_partitions=2)
        >>> def scale(df, by):
        ...     df["a"] *= by
        ...     return df
        >>> shards.transform_shard(scale, 10).to_pandas()
            a
        0  10
        1  20
        2  30
        >>> shards.transform_shard(len).collect()
        [2, 1]
        """
        require(function, Callable, "transform_shard takes a function")
        if format not in FORMATS:
            msg = f"format must be one of {', '.join(FORMATS)}, got {format!r}"
            raise XShardsValueError(msg)
        name, pickled = pack_task(Task(function, args, kwargs, self._info))
        core = self._core.transform_python(
            name, name_of(function), format, pa.py_buffer(pickled)
        )
        return self._derive(core)._with_info(None)


def _expression(value: object) -> Expression:
    return value if isinstance(value, Expression) else lit(value)
