# SPDX-License-Identifier: Apache-2.0
"""Which row has the least or the largest value, and which values are most frequent."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from xshards._util.deferred import pd
from xshards.errors import XShardsValueError
from xshards.shards.base import Base

__all__ = ["Extremes"]

#: Of one partition: its number of rows, and for each column whether values are missing,
#: the row of the extreme one, if there is any, and its place.
Part = tuple[int, list[tuple[bool, Any, Any]]]


class Extremes(Base):
    """Find rows by their values, and values by how often they occur."""

    def idxmin(self, *, skipna: bool = True, numeric_only: bool = False) -> Any:
        """Return the label of the first row with the least value of each column.

        Rows without labels are numbered from 0.

        Parameters
        ----------
        skipna : bool, default True
            Skip missing values; otherwise they are an error.
        numeric_only : bool, default False
            Use only the columns of numbers and booleans.

        Returns
        -------
        label or Series
            One for one column, as in ``shards["a"].idxmin()``; else one by column.

        Raises
        ------
        ValueError
            If there are no rows, or a column has missing values only.

        Examples
        --------
        >>> df = pd.DataFrame({"a": [3.0, None, 1.0, 1.0], "s": list("wxyz")})
        >>> shards = xs.from_pandas(df, num_partitions=3)
        >>> shards["a"].idxmin()
        2
        >>> shards.idxmin().to_dict()
        {'a': 2, 's': 0}
        """
        return self._labels_of("argmin", skipna, numeric_only)

    def idxmax(self, *, skipna: bool = True, numeric_only: bool = False) -> Any:
        """Return the label of the first row with the largest value; see `idxmin`.

        Parameters
        ----------
        skipna, numeric_only : bool
            As in `idxmin`.

        Returns
        -------
        label or Series
            As in `idxmin`.

        Examples
        --------
        >>> xs.from_pandas(pd.DataFrame({"a": [1, 3, 3]}))["a"].idxmax()
        1
        """
        return self._labels_of("argmax", skipna, numeric_only)

    def mode(self, *, numeric_only: bool = False, dropna: bool = True) -> Any:
        """Return the values that occur most often, in order.

        Parameters
        ----------
        numeric_only : bool, default False
            Use only the columns of numbers and booleans.
        dropna : bool, default True
            Leave missing values out.

        Returns
        -------
        Series or DataFrame
            As in pandas: the values of one column, or of each.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": ["y", "x", "y", "x", "z"]}))
        >>> list(shards["a"].mode())
        ['x', 'y']
        """
        chosen = self._numeric() if numeric_only else self
        modes = [
            _most_frequent(chosen._select([name])._count_groups(dropna=dropna), dropna)
            for name in chosen.schema.names
        ]
        labels = chosen.dtypes.index
        if chosen._is_series():
            return modes[0].rename(labels[0])
        table = pd.concat(modes, axis=1) if modes else pd.DataFrame()
        table.columns = labels
        return table

    def _labels_of(
        self,
        function: Literal["argmin", "argmax"],
        skipna: bool,  # noqa: FBT001 - as the methods have them
        numeric_only: bool,  # noqa: FBT001
    ) -> Any:
        chosen = self._numeric() if numeric_only else self
        dtypes = chosen.dtypes
        parts = chosen.transform_shard(_extreme_rows, function).collect()
        has_labels = bool(chosen._hidden())
        info = chosen._known_info(chosen._full_schema())
        found = []
        for n in range(len(dtypes)):
            place, label = _extreme(parts, n, function, skipna=skipna)
            start, step = info.rows or (0, 1)
            found.append(label if has_labels else start + step * place)
        if chosen._is_series():
            return found[0]
        return pd.Series(found, dtypes.index, dtype=None if found else np.int64)

    def _numeric(self) -> Any:
        """Return the columns of numbers and booleans."""
        dtypes = self.dtypes
        blank = pd.DataFrame({n: pd.Series(dtype=one) for n, one in enumerate(dtypes)})
        places = list(blank.min(numeric_only=True).index)
        names = self.schema.names
        return self if self._is_series() else self._select([names[n] for n in places])


def _extreme_rows(shard: Any, function: str) -> Part:
    """Find the rows of extreme values in one partition."""
    columns = [shard] if shard.ndim == 1 else [shard[n] for n in _numbered(shard)]
    found = []
    for column in columns:
        there = column.dropna()
        place = [getattr(there, function)()] if len(there) else []
        at = np.flatnonzero(column.notna().to_numpy())[place]
        row = pd.Series(there.array[place], there.index[place])
        found.append((len(there) < len(column), row, at))
    return len(shard), found


def _numbered(shard: Any) -> Any:
    shard.columns = range(shard.shape[1])  # labels may not be unique
    return shard.columns


def _extreme(parts: list[Part], n: int, function: str, *, skipna: bool) -> Any:
    """Find the extreme row of all: its place, and its label in its own partition."""
    if not sum(rows for rows, _ in parts):
        msg = f"attempt to get {function} of an empty sequence"
        raise XShardsValueError(msg)
    if not skipna and any(columns[n][0] for _, columns in parts):
        msg = "Encountered an NA value with skipna=False"
        raise XShardsValueError(msg)
    values: list[pd.Series[Any]] = []
    places, before = [], 0
    for rows, columns in parts:
        _, row, at = columns[n]
        if len(row):
            values.append(row)
            places.append(before + int(at[0]))
        before += rows
    if not values:
        msg = "Encountered all NA values"
        raise XShardsValueError(msg)
    together = pd.concat(values)
    best = int(getattr(together, function)())
    return places[best], together.index[best]


def _most_frequent(counts: pd.DataFrame, dropna: bool) -> Any:  # noqa: FBT001
    values, times = counts.iloc[:, 0], counts.iloc[:, 1].to_numpy()
    return values[times == times.max(initial=0)].mode(dropna=dropna)
