# SPDX-License-Identifier: Apache-2.0
"""Actions of XShards: they run the plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from xshards.errors import XShardsTypeError
from xshards.interop.frames import table_to_frame
from xshards.interop.labels import label_of, level_of
from xshards.runtime.convert import to_value
from xshards.shards.base import Base

if TYPE_CHECKING:
    from typing import Self

    from xshards._util.deferred import pd

__all__ = ["Actions"]


class Actions(Base):
    """Collect, count and cache; ask for columns and partitions."""

    def collect(self) -> list[Any]:
        """Gather the shards, in order: DataFrames, arrays or objects.

        Empty partitions are left out.

        Returns
        -------
        list
            Of DataFrames, arrays or objects.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1, 2, 3]}), num_partitions=3)
        >>> [len(part) for part in shards.collect()]
        [1, 1, 1]
        """
        return [
            to_value(payload, "pandas", self._shard_info(), use_threads=True)
            for partition in self._run(self._core.collect)
            for payload in partition
        ]

    def head(self, n: int = 5) -> Any:
        """Return the first `n` rows as a DataFrame, reading as little as possible.

        Parameters
        ----------
        n : int, default 5
            The number of rows.

        Returns
        -------
        DataFrame

        Examples
        --------
        >>> xs.from_pandas(pd.DataFrame({"a": [1, 2, 3]})).head(2)
           a
        0  1
        1  2
        """
        return self.limit(n).to_pandas()

    def __len__(self) -> int:
        return self._count_rows()

    def __bool__(self) -> bool:
        # Without this, bool() would count rows.
        return True

    def unique(self) -> Any:
        """Return the distinct values of one column, in order of first appearance.

        Returns
        -------
        ndarray or ExtensionArray
            What ``Series.unique`` returns in pandas.

        Raises
        ------
        TypeError
            If there is more than one column.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [2, 1, 2]}))
        >>> shards["a"].unique()
        array([2, 1])
        """
        plain = self._without_index()
        schema = plain._full_schema()
        if len(schema) != 1:
            msg = (
                "unique works on one column, as in shards['a'].unique(); "
                f"these are {schema.names}"
            )
            raise XShardsTypeError(msg)
        info = self._known_info(schema)
        objects = plain._objects_among(schema.names)
        distinct = plain.drop_duplicates() if objects else plain
        # As chunks: pandas copies them anyway, and one copy is enough.
        core = distinct._core if objects else distinct._core.distinct()
        values = distinct._run(core.to_table).column(0)
        field = schema.field(0).with_type(values.type)
        frame = table_to_frame(pa.table([values], schema=pa.schema([field])), info)
        column = frame if frame.ndim == 1 else frame.iloc[:, 0]
        # The engine's values are already distinct: pandas only handles special types (a
        # category's unused values, equal objects).
        if column.dtype.kind in "biuf" and isinstance(column.dtype, np.dtype):
            return column.to_numpy()
        return column.unique()

    def cache(self) -> Self:
        """Run the plan and keep its partitions, spilling what does not fit.

        Returns
        -------
        XShards
            These shards.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1]})).cache()
        >>> shards.is_cached()
        True
        """
        self._core = self._core.cache()
        self._run(self._core.materialize)
        return self

    def uncache(self) -> Self:
        """Drop the partitions that `cache` keeps; they are computed again when needed.

        Returns
        -------
        XShards
            These shards.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1]})).cache()
        >>> shards.uncache().is_cached()
        False
        """
        self._core.uncache()
        return self

    def is_cached(self) -> bool:
        """Return whether `cache` keeps the partitions.

        Returns
        -------
        bool

        Examples
        --------
        >>> xs.from_pandas(pd.DataFrame({"a": [1]})).is_cached()
        False
        """
        return self._core.is_cached()

    @property
    def schema(self) -> pa.Schema:
        """The columns' names and Arrow types.

        Runs the plan if this is known only after a function has run.

        Examples
        --------
        >>> xs.from_pandas(pd.DataFrame({"a": [1]})).schema
        a: int64
        """
        schema = self._full_schema()
        return pa.schema(
            [pa.field(f.name, f.type) for f in schema if level_of(f) is None]
        )

    @property
    def columns(self) -> list[Any]:
        """The columns' labels.

        Runs the plan if this is known only after a function has run.

        Examples
        --------
        >>> xs.from_pandas(pd.DataFrame({"a": [1], "b": [2]})).columns
        ['a', 'b']
        """
        return [label_of(f) for f in self._full_schema() if level_of(f) is None]

    @property
    def dtypes(self) -> pd.Series[Any]:
        """The columns' pandas dtypes.

        Runs the plan if this is known only after a function has run.

        Examples
        --------
        >>> xs.from_pandas(pd.DataFrame({"a": [1.5]})).dtypes
        a    float64
        dtype: object
        """
        schema = self._full_schema()
        frame = table_to_frame(schema.empty_table(), self._known_info(schema))
        dtypes: pd.Series[Any] = (frame.to_frame() if frame.ndim == 1 else frame).dtypes
        return dtypes

    def num_partitions(self) -> int:
        """Count the partitions.

        Runs the plan if this is known only after a function has run.

        Returns
        -------
        int

        Examples
        --------
        >>> xs.from_pandas(pd.DataFrame({"a": range(9)}), 3).num_partitions()
        3
        """
        known = self._core.known_num_partitions()
        return known if known >= 0 else self._run(self._core.num_partitions)
