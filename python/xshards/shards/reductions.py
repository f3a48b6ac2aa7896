# SPDX-License-Identifier: Apache-2.0
"""Reductions of XShards: one value for a column, as the methods of pandas give it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xshards._util.arguments import as_ddof
from xshards._util.deferred import pd
from xshards.compute.reduce import (
    Column,
    Reduction,
    as_scalar,
    as_series,
    find,
)
from xshards.interop.labels import level_of
from xshards.shards.base import Base

if TYPE_CHECKING:
    from collections.abc import Mapping


__all__ = ["Reductions"]


class Reductions(Base):
    """Add up, compare and measure the values of columns."""

    def sum(
        self, *, skipna: bool = True, numeric_only: bool = False, min_count: int = 0
    ) -> Any:
        """Add up the values of each column.

        All columns are reduced in one pass, in bounded memory. Sums of integers wrap
        around where they leave the range of 64 bits, as in pandas.

        Parameters
        ----------
        skipna : bool, default True
            Skip missing values; otherwise a column that has any gives a missing result.
        numeric_only : bool, default False
            Use only the columns of numbers and booleans; otherwise a column for which
            the function is not defined is an error.
        min_count : int, default 0
            The number of values that a result needs; with fewer it is missing.

        Returns
        -------
        scalar or Series
            One value for one column, as in ``shards["a"].sum()``; else one by column.

        Raises
        ------
        TypeError
            If the function is not defined for a column's type.

        Examples
        --------
        >>> df = pd.DataFrame({"a": [1, 2, 4], "b": [0.5, None, 1.0]})
        >>> shards = xs.from_pandas(df, num_partitions=2)
        >>> shards["a"].sum()
        np.int64(7)
        >>> shards.sum()
        a    7.0
        b    1.5
        dtype: float64
        >>> shards["b"].sum(skipna=False)
        np.float64(nan)
        """
        options = {"skipna": skipna, "min_count": min_count}
        return self._reduced("sum", options, numeric_only=numeric_only)

    def prod(
        self, *, skipna: bool = True, numeric_only: bool = False, min_count: int = 0
    ) -> Any:
        """Multiply the values of each column; see `sum`.

        Parameters
        ----------
        skipna, numeric_only, min_count
            As in `sum`.

        Returns
        -------
        scalar or Series
            As in `sum`.

        Examples
        --------
        >>> xs.from_pandas(pd.DataFrame({"a": [2, 3, 7]}))["a"].prod()
        np.int64(42)
        """
        options = {"skipna": skipna, "min_count": min_count}
        return self._reduced("prod", options, numeric_only=numeric_only)

    def mean(self, *, skipna: bool = True, numeric_only: bool = False) -> Any:
        """Return the mean of each column, of numbers, times or durations; see `sum`.

        Parameters
        ----------
        skipna, numeric_only : bool
            As in `sum`.

        Returns
        -------
        scalar or Series
            As in `sum`.

        Examples
        --------
        >>> df = pd.DataFrame({"a": [1, 2], "s": ["x", "y"]})
        >>> xs.from_pandas(df).mean(numeric_only=True)
        a    1.5
        dtype: float64
        """
        return self._reduced("mean", {"skipna": skipna}, numeric_only=numeric_only)

    def min(self, *, skipna: bool = True, numeric_only: bool = False) -> Any:
        """Return the least value of each column that has an order; see `sum`.

        Parameters
        ----------
        skipna, numeric_only : bool
            As in `sum`.

        Returns
        -------
        scalar or Series
            As in `sum`.

        Examples
        --------
        >>> xs.from_pandas(pd.DataFrame({"s": ["pear", "fig"]}))["s"].min()
        'fig'
        """
        return self._reduced("min", {"skipna": skipna}, numeric_only=numeric_only)

    def max(self, *, skipna: bool = True, numeric_only: bool = False) -> Any:
        """Return the largest value of each column that has an order; see `sum`.

        Parameters
        ----------
        skipna, numeric_only : bool
            As in `sum`.

        Returns
        -------
        scalar or Series
            As in `sum`.

        Examples
        --------
        >>> xs.from_pandas(pd.DataFrame({"a": [1.5, 2.5]}))["a"].max()
        np.float64(2.5)
        """
        return self._reduced("max", {"skipna": skipna}, numeric_only=numeric_only)

    def std(
        self, *, skipna: bool = True, ddof: int = 1, numeric_only: bool = False
    ) -> Any:
        """Return the standard deviation of each column; see `var`.

        Parameters
        ----------
        skipna, numeric_only : bool
            As in `sum`.
        ddof : int, default 1
            As in `var`.

        Returns
        -------
        scalar or Series
            As in `sum`.

        Examples
        --------
        >>> xs.from_pandas(pd.DataFrame({"a": [1, 2, 3]}))["a"].std()
        np.float64(1.0)
        """
        options = {"skipna": skipna, "ddof": as_ddof(ddof)}
        return self._reduced("std", options, numeric_only=numeric_only)

    def var(
        self, *, skipna: bool = True, ddof: int = 1, numeric_only: bool = False
    ) -> Any:
        """Return the variance of each column; see `sum`.

        Parameters
        ----------
        skipna, numeric_only : bool
            As in `sum`.
        ddof : int, default 1
            Degrees of freedom: the divisor is the number of values minus this, 1 for
            the variance of a sample, 0 for that of a population.

        Returns
        -------
        scalar or Series
            As in `sum`.

        Examples
        --------
        >>> xs.from_pandas(pd.DataFrame({"a": [1, 3]}))["a"].var(ddof=0)
        np.float64(1.0)
        """
        options = {"skipna": skipna, "ddof": as_ddof(ddof)}
        return self._reduced("var", options, numeric_only=numeric_only)

    def median(self, *, skipna: bool = True, numeric_only: bool = False) -> Any:
        """Return the exact median of each column; see `sum`.

        Numbers are read a second time, a column at a time, in bounded memory. The
        values of times, durations and decimals are held in memory.

        Parameters
        ----------
        skipna, numeric_only : bool
            As in `sum`.

        Returns
        -------
        scalar or Series
            As in `sum`.

        Examples
        --------
        >>> xs.from_pandas(pd.DataFrame({"a": [1, 2, 9, 10]}))["a"].median()
        np.float64(5.5)
        """
        return self._reduced("median", {"skipna": skipna}, numeric_only=numeric_only)

    def skew(self, *, skipna: bool = True, numeric_only: bool = False) -> Any:
        """Compute the unbiased skewness of each column; see `sum`.

        Parameters
        ----------
        skipna, numeric_only : bool
            As in `sum`.

        Returns
        -------
        scalar or Series
            As in `sum`.

        Examples
        --------
        >>> round(xs.from_pandas(pd.DataFrame({"a": [1, 1, 4]}))["a"].skew(), 3)
        np.float64(1.732)
        """
        return self._reduced("skew", {"skipna": skipna}, numeric_only=numeric_only)

    def kurt(self, *, skipna: bool = True, numeric_only: bool = False) -> Any:
        """Compute the unbiased excess kurtosis of each column; see `sum`.

        Parameters
        ----------
        skipna, numeric_only : bool
            As in `sum`.

        Returns
        -------
        scalar or Series
            As in `sum`.

        Examples
        --------
        >>> round(xs.from_pandas(pd.DataFrame({"a": [1, 2, 3, 9]}))["a"].kurt(), 3)
        np.float64(3.014)
        """
        return self._reduced("kurt", {"skipna": skipna}, numeric_only=numeric_only)

    def any(self, *, skipna: bool = True, bool_only: bool = False) -> Any:
        """Return whether any value of each column is true: not 0, and not empty text.

        Parameters
        ----------
        skipna : bool, default True
            Skip missing values; otherwise they are true, or missing in nullable dtypes.
        bool_only : bool, default False
            Use only the boolean columns.

        Returns
        -------
        bool or Series
            One for one column, else one by column.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [0, 2], "b": [False, False]}))
        >>> shards.any().to_dict()
        {'a': True, 'b': False}
        """
        return self._reduced("any", {"skipna": skipna}, bool_only=bool_only)

    def all(self, *, skipna: bool = True, bool_only: bool = False) -> Any:
        """Return whether all values of each column are true; see `any`.

        Parameters
        ----------
        skipna, bool_only : bool
            As in `any`.

        Returns
        -------
        bool or Series
            One for one column, else one by column.

        Examples
        --------
        >>> xs.from_pandas(pd.DataFrame({"a": [0, 2]}))["a"].all()
        np.False_
        """
        return self._reduced("all", {"skipna": skipna}, bool_only=bool_only)

    def count(self) -> int:
        """Count the rows, or of one column, the values that are not missing.

        ``agg("count")`` counts the values of every column. Of other shards than
        DataFrames, lengths are added up: that of an array is that of its first
        dimension, of a dict or list its number of items; what has no length counts
        as 1.

        Returns
        -------
        int

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1, None]}))
        >>> shards.count(), int(shards["a"].count())
        (2, 1)
        >>> xs.partition(np.zeros((5, 2)), 2).count()
        5
        """
        if not self._current_info().series:
            num_rows = self._count_rows()
            # The output of a function is known now: it may be a single column.
            if not self._current_info().series:
                return num_rows
        return self._reduced("count", {})  # type: ignore[no-any-return]

    def _reduced(
        self,
        function: str,
        options: Mapping[str, Any],
        *,
        numeric_only: bool = False,
        bool_only: bool = False,
    ) -> Any:
        """Reduce the one column, or all of them."""
        columns = self._visible_columns()
        only = {"numeric_only": numeric_only} if numeric_only else {}
        only |= {"bool_only": bool_only} if bool_only else {}
        if self._is_series():
            wanted = Reduction(columns[0], function, {**options, **only})
            return as_scalar(wanted, find(self, [wanted])[0])
        labels = self.dtypes.index
        if only:
            blank = pd.DataFrame(
                {n: pd.Series(dtype=one.dtype) for n, one in enumerate(columns)}
            )
            places = list(getattr(blank, function)(**only).index)
            columns, labels = [columns[n] for n in places], labels[places]
        several = [Reduction(column, function, options) for column in columns]
        return as_series(function, options, find(self, several), labels)

    def _visible_columns(self) -> list[Column]:
        fields = [f for f in self._full_schema() if level_of(f) is None]
        dtypes = self.dtypes
        return [
            Column(field.name, label, field.type, dtype)
            for field, (label, dtype) in zip(fields, dtypes.items(), strict=True)
        ]
