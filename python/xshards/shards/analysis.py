# SPDX-License-Identifier: Apache-2.0
"""Methods of DataFrame shards for looking into data: query, count, split."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import pyarrow as pa

from xshards._util.arguments import as_seed
from xshards._util.deferred import pd
from xshards.compute import describe as _summary
from xshards.compute.quantiles import Extent, Interpolation, quantiles
from xshards.errors import XShardsTypeError, XShardsValueError
from xshards.expressions.query import parse_query
from xshards.interop.labels import engine_names
from xshards.shards.base import Base

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

__all__ = ["Analysis"]


class Analysis(Base):
    """Query rows by text, count values, compute quantiles, split."""

    def query(self, expr: str, *, local_dict: Mapping[str, Any] | None = None) -> Self:
        """Keep the rows for which a condition, written as text, is true.

        Parameters
        ----------
        expr : str
            As in pandas: names are columns (in backticks if they are not Python
            identifiers), ``@name`` is a variable of the caller; and, or, not, in,
            chained comparisons, arithmetic, functions such as ``sqrt``, and the methods
            of expressions. Reductions of a column, as in ``a > a.mean()``, are computed
            at once.
        local_dict : dict, optional
            The values of ``@name``, in place of the caller's variables.

        Returns
        -------
        XShards

        Raises
        ------
        KeyError
            If there is no such column or variable.
        ValueError
            If the text is no condition.

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
        return self.filter(parse_query(expr, local_dict, self._reduced_column))

    def _reduced_column(self, name: str, function: str) -> Any:
        """Reduce one column, now."""
        self._check_columns([name], self.schema.names)
        return self[name].agg(function)

    def nunique(self, *, dropna: bool = True) -> Any:
        """Count the distinct values of each column.

        Parameters
        ----------
        dropna : bool, default True
            Skip missing values; otherwise they count as one value.

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
        """Count how often each value occurs, the most frequent first.

        Parameters
        ----------
        normalize : bool, default False
            Return fractions in place of counts.
        sort : bool, default True
            Sort by frequency; else values come in order of first appearance.
        ascending : bool, default False
            The least frequent first.
        dropna : bool, default True
            Leave missing values out.

        Returns
        -------
        Series
            Indexed by value; for a DataFrame, by distinct row. All categories are
            listed, also those that do not occur.

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
        if self._current_info().series:
            counts = self._count_values(names[0], dropna=dropna)
        else:
            counts = self._count_equal_rows(dropna=dropna)
        if sort:
            counts = counts.sort_values(ascending=ascending, kind="stable")
        # The dtype of the counts depends on the dtype of the values.
        dtype = counts.dtype
        if normalize:
            counts = (counts / counts.sum()).rename("proportion")
            dtype = pd.Series([], dtype=dtype).div(1).dtype
        return counts.astype(dtype)

    def _count_values(self, name: str, *, dropna: bool = True) -> pd.Series[Any]:
        """Count the values of one column, in the order in which pandas has them."""
        grouped = self[[name]]._count_groups(dropna=dropna)
        values, numbers = grouped.iloc[:, 0], grouped.iloc[:, 1].to_numpy()
        kind = values.dtype
        if isinstance(kind, pd.CategoricalDtype):
            counts = _of_categories(values.array, numbers)
        else:
            if hasattr(kind, "numpy_dtype") and not isinstance(kind, pd.ArrowDtype):
                # The first value comes first, but missing ones of nullable dtypes last.
                order = np.argsort(values.isna().to_numpy(), kind="stable")
                values, numbers = values.iloc[order], numbers[order]
            counts = pd.Series(numbers, pd.Index(values, dtype=kind))
            counts = counts.astype(values.iloc[:0].value_counts().dtype)
        counts.index.name = self.dtypes.index[self.schema.names.index(name)]
        return counts.rename("count")

    def _count_equal_rows(self, *, dropna: bool) -> pd.Series[Any]:
        """Count rows that are equal, in order of first appearance."""
        grouped = self._count_groups(dropna=dropna)
        rows = grouped.iloc[:, :-1]
        index = pd.MultiIndex.from_frame(rows, names=list(rows.columns))
        return pd.Series(grouped.iloc[:, -1].to_numpy(), index, name="count")

    def _count_groups(self, *, dropna: bool) -> pd.DataFrame:
        """Return distinct rows in order of first appearance, and last their counts.

        Missing values are left out at the end: groups are fewer than rows.
        """
        names = self.schema.names
        (count,) = engine_names([*names, "count"])[-1:]
        grouped = self._grouped(names, [("count", None, count)], ordered=True)
        groups: pd.DataFrame = grouped.to_pandas()
        there = groups.iloc[:, :-1].notna().all(axis=1)
        return groups[there] if dropna else groups

    def describe(
        self,
        cols: Any = None,
        *,
        percentiles: Sequence[float] | None = None,
        include: Any = None,
        exclude: Any = None,
    ) -> Any:
        """Summarise columns, as in pandas; quantiles are exact.

        Parameters
        ----------
        cols : label or list of labels, optional
            The columns; by default those that `include` and `exclude` select.
        percentiles : list of float, optional
            Which quantiles to give, between 0 and 1; the quartiles by default.
        include, exclude : "all", or list of dtypes, optional
            Which columns to summarise; by default the numeric and time columns, or all
            if there are none.

        Returns
        -------
        DataFrame or Series
            With rows count, mean, std, min, 25%, 50%, 75% and max; for other values
            count, unique, top and freq. A Series for one column, as in
            ``shards["a"].describe()``.

        Raises
        ------
        ValueError
            If a percentile is not between 0 and 1, or there is no column to
            describe.

        Examples
        --------
        >>> df = pd.DataFrame({"a": [1, 2, 3, 4], "s": list("xyxz")})
        >>> shards = xs.from_pandas(df)
        >>> shards.describe(percentiles=[0.5])
                      a
        count  4.000000
        mean   2.500000
        std    1.290994
        min    1.000000
        50%    2.500000
        max    4.000000
        >>> shards["s"].describe().to_dict()
        {'count': 4, 'unique': 3, 'top': 'x', 'freq': 2}
        """
        if cols is not None:
            chosen = self.select(cols)
            self._check_columns(chosen.schema.names, self.schema.names)
            every = "all" if include is None and exclude is None else include
            return chosen.describe(
                percentiles=percentiles, include=every, exclude=exclude
            )
        shares = [0.25, 0.5, 0.75] if percentiles is None else sorted(percentiles)
        if any(not 0 <= share <= 1 for share in shares):
            msg = f"percentiles must be between 0 and 1, got {percentiles}"
            raise XShardsValueError(msg)
        dtypes = self.dtypes
        series = self._current_info().series
        at = (
            [0] if series else _summary.select_positions(list(dtypes), include, exclude)
        )
        if not at:
            msg = f"there is no column to describe among {self.schema.names}"
            raise XShardsValueError(msg)
        found = _summary.described(
            self,
            [self.schema.names[n] for n in at],
            [dtypes.iloc[n] for n in at],
            shares,
            lambda name: self._count_values(name).sort_values(
                ascending=False, kind="stable"
            ),
        )
        if series:
            return found[0].rename(dtypes.index[0])
        rows = list(
            dict.fromkeys(row for one in sorted(found, key=len) for row in one.index)
        )
        table = pd.concat(found, axis=1, ignore_index=True, sort=False).reindex(rows)
        table.columns = dtypes.index[at]
        return table

    def quantile(
        self,
        q: float | Sequence[float] = 0.5,
        *,
        interpolation: Interpolation = "linear",
    ) -> Any:
        """Compute exact quantiles of numeric columns of any size.

        Parameters
        ----------
        q : float or list of float, default 0.5
            The quantiles to compute, between 0 and 1.
        interpolation : {"linear", "lower", "higher", "nearest", "midpoint"}
            How to compute a quantile that lies between two values.

        Returns
        -------
        float, Series or DataFrame
            As in pandas: a number for one column and one `q`. A column of times or
            durations has quantiles by itself: ``shards["t"].quantile()``.

        Raises
        ------
        TypeError
            If there is no numeric column.
        ValueError
            If `q` is not between 0 and 1, or `interpolation` is unknown.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1, 2, 3, 10]}))
        >>> shards["a"].quantile([0.25, 0.5]).tolist()
        [1.75, 2.5]
        >>> shards["a"].quantile(0.25, interpolation="lower")
        np.int64(1)
        """
        one = isinstance(q, (int, float))
        wanted = [float(part) for part in ([q] if isinstance(q, (int, float)) else q)]
        if any(not 0 <= part <= 1 for part in wanted):
            msg = f"q must be between 0 and 1, got {q}"
            raise XShardsValueError(msg)
        if interpolation not in get_args(Interpolation):
            known = ", ".join(get_args(Interpolation))
            msg = f"interpolation must be one of {known}; got {interpolation!r}"
            raise XShardsValueError(msg)
        schema = self.schema
        names = [f.name for f in schema if _summary.is_number(f.type)]
        series = self._current_info().series
        if series and not names and pa.types.is_temporal(schema.field(0).type):
            return self._quantiles_of_times(wanted, interpolation, one=one)
        if not names:
            msg = f"there is no numeric column among {schema.names}"
            raise XShardsTypeError(msg)
        found = self._aggregate({name: ["count", "min", "max"] for name in names})
        dtypes = self.dtypes
        columns = {}
        for name in names:
            at = schema.names.index(name)
            values = self._quantiles_of(name, wanted, found, interpolation)
            # The dtype that pandas gives to quantiles of such a column.
            some = pd.Series(
                [0, 1] if int(found[f"count({name})"]) else [], dtype=dtypes.iloc[at]
            )
            dtype = some.quantile([0.5], interpolation=interpolation).dtype
            columns[name] = pd.Series(values, pd.Index(wanted, dtype="float64"), dtype)
        table = pd.DataFrame(columns)
        table.columns = dtypes.index[[schema.names.index(name) for name in names]]
        return _shaped(table, one=one, series=series)

    def _quantiles_of(
        self,
        name: str,
        wanted: list[float],
        found: Mapping[str, Any],
        interpolation: Interpolation,
    ) -> list[Any]:
        count = int(found[f"count({name})"])
        low, high = (found[f"{function}({name})"] for function in ("min", "max"))
        extent = Extent(None, count, low, high)
        return quantiles(self._select([name]), wanted, extent, interpolation)()

    def _quantiles_of_times(
        self, wanted: list[float], interpolation: Interpolation, *, one: bool
    ) -> Any:
        if interpolation != "linear":
            msg = f"times have linear quantiles only, got {interpolation!r}"
            raise XShardsValueError(msg)
        name = self.schema.names[0]
        shares = [f"quantile({share!r})" for share in dict.fromkeys(wanted)]
        found = self[[name]]._aggregate({name: shares})
        values = [found[f"quantile({name}, {share!r})"] for share in wanted]
        if one:
            return values[0]
        return pd.Series(
            values, wanted, dtype=self.dtypes.iloc[0], name=self.columns[0]
        )

    def train_test_split(
        self,
        test_size: float | None = None,
        *,
        random_state: int | None = None,
        frac: float | None = None,
        seed: int | None = None,
    ) -> tuple[Self, Self]:
        """Split the rows at random in two.

        The two sides never overlap, and the same rows are drawn of the same data
        whatever its partitions and the number of cores.

        Parameters
        ----------
        test_size, frac : float, default 0.25
            The share of rows in the second part, between 0 and 1.
        random_state, seed : int, optional
            The seed; with the same one, the same rows.

        Returns
        -------
        (XShards, XShards)
            Rows to train on, and rows to test with, both in their order.

        Raises
        ------
        ValueError
            If the share is not between 0 and 1, or is given twice.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": range(100)}), num_partitions=3)
        >>> train, test = shards.train_test_split(0.2, random_state=0)
        >>> len(train), len(test)
        (80, 20)
        """
        share = _one_of("test_size", test_size, "frac", frac, 0.25)
        if not 0 <= share <= 1:
            msg = f"test_size must be between 0 and 1, got {share}"
            raise XShardsValueError(msg)
        drawn = _one_of("random_state", random_state, "seed", seed, None)
        train, test = self._core.split(share, as_seed(drawn))
        return self._derive(train), self._derive(test)


def _one_of(name: str, value: Any, other: str, second: Any, default: Any) -> Any:
    """Return an argument that has two names."""
    if value is not None and second is not None:
        msg = f"{other} is another name of {name}: give one of them"
        raise XShardsValueError(msg)
    given = second if value is None else value
    return default if given is None else given


def _of_categories(values: Any, counts: Any) -> pd.Series[Any]:
    """Return the counts of all categories, in their order, the missing value last."""
    codes = np.arange(len(values.categories))
    if (values.codes < 0).any():
        codes = np.append(codes, -1)
    totals = np.zeros(len(codes), np.int64)
    totals[values.codes] = counts  # -1 is the last position
    index = pd.CategoricalIndex(pd.Categorical.from_codes(codes, dtype=values.dtype))
    return pd.Series(totals, index)


def _shaped(table: pd.DataFrame, *, one: bool, series: bool) -> Any:
    """Return quantiles in the shape pandas has for one column, and for one of them."""
    if series:
        column = table.iloc[:, 0]
        return column.iloc[0] if one else column
    return table.iloc[0] if one else table
