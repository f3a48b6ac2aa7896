# SPDX-License-Identifier: Apache-2.0
"""Operations of XShards that move rows between partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from xshards import _core
from xshards._util.arguments import as_count, require
from xshards.errors import XShardsValueError
from xshards.interop.field_metadata import DTYPE, MISSING, marks_of
from xshards.shards.base import Base
from xshards.shards.tasks import partition_tasks

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

__all__ = ["ExchangeOps"]


class ExchangeOps(Base):
    """Partition, repartition, concatenate and limit."""

    def partition_by(
        self, columns: str | Iterable[str], num_partitions: int | None = None
    ) -> Self:
        """Bring rows with equal values in `columns` to the same partition.

        Parameters
        ----------
        columns : str or list of str
            The key columns. Missing values are equal to each other.
        num_partitions : int, optional
            How many partitions to make; by default the current number. Some may be
            empty.

        Returns
        -------
        XShards

        Raises
        ------
        ValueError
            If no column is given, or `num_partitions` is less than 1.

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
        The ranges hold about as many rows each, unless values repeat, and rows keep
        their order.

        Parameters
        ----------
        columns : str or list of str
            The key columns.
        num_partitions : int, optional
            How many partitions to make; by default the current number. Some may be
            empty.

        Returns
        -------
        XShards

        Raises
        ------
        ValueError
            If no column is given, or `num_partitions` is less than 1.

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
        """Spread the data evenly over `num_partitions` partitions, keeping its order.

        Rows of DataFrames and arrays (also nested in dicts, lists and tuples, if all
        have as many rows) and items of lists are spread so that partitions differ by
        one at most, and each partition has one shard. Other shards move whole. Runs the
        plan if the payload kind is not known before running.

        Parameters
        ----------
        num_partitions : int
            The number of partitions to make, at least 1.

        Returns
        -------
        XShards

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": range(10)}))
        >>> [len(part) for part in shards.repartition(3).collect()]
        [4, 3, 3]
        >>> xs.partition({"x": np.arange(5)}, 1).repartition(2).collect()
        [{'x': array([0, 1, 2])}, {'x': array([3, 4])}]
        """
        count = as_count("num_partitions", num_partitions)
        if self._holds_frames():
            return self._derive(self._core.repartition(count), same_rows=True)
        return self._repartition_payloads(count)

    def limit(self, n: int) -> Self:
        """Keep the first `n` rows, as shards; `head` gives them as a DataFrame.

        Parameters
        ----------
        n : int
            The number of rows.

        Returns
        -------
        XShards

        Raises
        ------
        ValueError
            If `n` is negative.

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
        """Append the partitions of other shards, as `pandas.concat` does.

        Columns of different types are cast to a common type; if there is none, as for
        text and numbers, they hold Python objects.

        Parameters
        ----------
        other : XShards
            The shards to append.

        Returns
        -------
        XShards

        Raises
        ------
        TypeError
            If `other` is not XShards.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1, 2]}))
        >>> len(shards.union(shards))
        4
        """
        require(other, Base, "union appends XShards")
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
        held = self._transform_payloads(partition_tasks.hold_objects, names)
        held._full_schema()  # so that the next union knows which columns are objects
        return held._with_info(self._info)


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
