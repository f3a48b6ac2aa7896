# SPDX-License-Identifier: Apache-2.0
"""Methods of DataFrame shards for looking into data: query, count, split."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from xshards import _summary
from xshards._arguments import as_seed
from xshards._deferred import pd
from xshards._frame_methods import FrameMethods
from xshards._quantiles import Extent, quantiles
from xshards._query import parse_query
from xshards.errors import XShardsTypeError, XShardsValueError
from xshards.expressions import col

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

__all__ = ["Analysis"]

_COUNT = "count(1)"


class Analysis(FrameMethods):
    """Ask for rows in words, count values, find quantiles, split."""

    def query(self, expr: str, *, local_dict: Mapping[str, Any] | None = None) -> Self:
        """Keep the rows for which a condition, written as text, is true.

        Parameters
        ----------
        expr : str
            As in pandas: names are columns (in backticks where they are no Python
            names), ``@name`` is a variable of the caller; and, or, not, in, chained
            comparisons, arithmetic, and the methods of expressions.
        local_dict : dict, optional
            What ``@name`` stands for, in place of the caller's variables.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1, 2, 3], "b c": list("xyz")}))
        >>> least = 2
        >>> shards.query("a >= @least and `b c` != 'z'").to_pandas()
           a b c
        0  2   y
        """
        if local_dict is None:
            caller = sys._getframe(1)
            local_dict = {**caller.f_globals, **caller.f_locals}
        return self.filter(parse_query(expr, local_dict))

    def nunique(self, *, dropna: bool = True) -> Any:
        """Count the distinct values of each column.

        Returns
        -------
        int or Series
            A number for one column, as in ``shards["a"].nunique()``.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1, 1, 2], "b": [None, 3, 3]}))
        >>> shards.nunique().to_dict()
        {'a': 2, 'b': 1}
        >>> shards["b"].nunique(dropna=False)
        2
        """
        names = self.schema.names
        found = self._aggregate({name: ["nunique"] for name in names})
        counts = {name: int(found[f"nunique({name})"]) for name in names}
        if not dropna:
            gone = self._count_missing(names)
            counts = {name: n + bool(gone[name]) for name, n in counts.items()}
        if self._current_info().series:
            return counts[names[0]]
        return pd.Series(counts, dtype="int64")

    def value_counts(
        self,
        *,
        normalize: bool = False,
        sort: bool = True,
        ascending: bool = False,
        dropna: bool = True,
    ) -> pd.Series[Any]:
        """Count how often each value of one column occurs, the most frequent first.

        Parameters
        ----------
        normalize : bool, default False
            Give shares of all in place of numbers.
        sort : bool, default True
            Sort by frequency; else values come in order of first appearance.
        ascending : bool, default False
            The least frequent first.
        dropna : bool, default True
            Leave missing values out.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": ["x", "y", "x"]}))
        >>> shards["a"].value_counts()
        a
        x    2
        y    1
        Name: count, dtype: int64
        """
        names = self.schema.names
        if len(names) != 1:
            msg = (
                "value_counts counts the values of one column, as in "
                f"shards['a'].value_counts(); these are {names}"
            )
            raise XShardsTypeError(msg)
        (name,) = names
        rows = self.filter(col(name).notna()) if dropna else self
        grouped = rows.group_by(name, {"*": "count"}).to_pandas()
        # The engine gives groups in any order; among equal counts pandas has the first.
        found = rows.unique()
        order = pd.Index(found, dtype=found.dtype, name=name)
        counts = pd.Series(_counts_of(order, grouped[name], grouped[_COUNT]), order)
        counts = counts.rename("count")
        if sort:
            counts = counts.sort_values(ascending=ascending, kind="stable")
        if normalize:
            counts = (counts / counts.sum()).rename("proportion")
        # Which dtype the counts have is a matter of the values' dtype.
        like = grouped[name].iloc[:0].value_counts(normalize=normalize)
        return counts.astype(like.dtype)

    def quantile(self, q: float | Sequence[float] = 0.5) -> Any:
        """Find exact quantiles of the numeric columns, whatever their size.

        Parameters
        ----------
        q : float or list of float, default 0.5
            Which ones, between 0 and 1; between two values, what is in proportion.

        Returns
        -------
        float, Series or DataFrame
            As in pandas: a number for one column and one `q`.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1, 2, 3, 10]}))
        >>> shards["a"].quantile([0.25, 0.5]).tolist()
        [1.75, 2.5]
        """
        one = isinstance(q, (int, float))
        wanted = [float(part) for part in ([q] if isinstance(q, (int, float)) else q)]
        if any(not 0 <= part <= 1 for part in wanted):
            msg = f"q must be between 0 and 1, got {q}"
            raise XShardsValueError(msg)
        schema = self.schema
        names = [f.name for f in schema if _summary.is_number(f.type)]
        if not names:
            msg = f"there is no numeric column among {schema.names}"
            raise XShardsTypeError(msg)
        found = self._aggregate({name: ["count", "min", "max"] for name in names})
        table = pd.DataFrame(
            {name: self._quantiles_of(name, wanted, found) for name in names},
            index=pd.Index(wanted, dtype="float64"),
        )
        return _shaped(table, one=one, series=self._current_info().series)

    def _quantiles_of(
        self, name: str, wanted: list[float], found: Mapping[str, Any]
    ) -> list[float]:
        count = int(found[f"count({name})"])
        low, high = (found[f"{function}({name})"] for function in ("min", "max"))
        extent = Extent(None, count, low, high)
        return quantiles(self.select([name]), wanted, extent)()

    def train_test_split(
        self, test_size: float = 0.25, *, random_state: int | None = None
    ) -> tuple[Self, Self]:
        """Split the rows at random in two.

        The two sides never overlap, and the same rows are drawn of the same data
        whatever its partitions and the number of cores.

        Parameters
        ----------
        test_size : float, default 0.25
            The share of rows in the second part, between 0 and 1.
        random_state : int, optional
            The seed; with the same one, the same rows.

        Returns
        -------
        (XShards, XShards)
            Rows to train on, and rows to test with, both in their order.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": range(100)}), num_partitions=3)
        >>> train, test = shards.train_test_split(0.2, random_state=0)
        >>> len(train), len(test)
        (80, 20)
        """
        if not 0 <= test_size <= 1:
            msg = f"test_size must be between 0 and 1, got {test_size}"
            raise XShardsValueError(msg)
        train, test = self._core.split(test_size, as_seed(random_state))
        return self._derive(train), self._derive(test)


def _counts_of(
    values: pd.Index[Any], counted: pd.Series[Any], counts: pd.Series[Any]
) -> Any:
    """Give the counts of values; the missing one is found whatever it is."""
    places = pd.Index(counted).get_indexer(values)
    places[places < 0] = np.flatnonzero(counted.isna())[:1].sum()
    return counts.to_numpy()[places]


def _shaped(table: pd.DataFrame, *, one: bool, series: bool) -> Any:
    """Give quantiles in the shape pandas has for one column, and for one of them."""
    if series:
        column = table.iloc[:, 0]
        return float(column.iloc[0]) if one else column
    return table.iloc[0] if one else table
