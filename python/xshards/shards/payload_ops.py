# SPDX-License-Identifier: Apache-2.0
"""Operations of XShards on shards of every kind: frames, arrays and objects."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from xshards import _core
from xshards.errors import (
    XShardsIndexError,
    XShardsTypeError,
    XShardsValueError,
)
from xshards.runtime.convert import to_value
from xshards.shards.base import Base
from xshards.shards.tasks import partition_tasks, rebatch

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

__all__ = ["PayloadOps"]


class PayloadOps(Base):
    """Take, measure, pair, split and spread shards, whatever they hold."""

    def _item(self, key: Any) -> Self:
        return self._transform_payloads(
            partition_tasks.take_item, self._shard_info(), key
        )

    def take(self, n: int) -> list[Any]:
        """Return the first `n` shards, or all if there are fewer.

        Runs only the part of the plan that these shards need, if partitions can be
        computed one by one.

        Parameters
        ----------
        n : int
            The number of shards.

        Returns
        -------
        list
            Of DataFrames, arrays or objects.

        Raises
        ------
        ValueError
            If `n` is negative.

        Examples
        --------
        >>> xs.partition(np.arange(6), 3).take(2)
        [array([0, 1]), array([2, 3])]
        """
        if n < 0:
            msg = f"take needs a non-negative number of shards, got {n}"
            raise XShardsValueError(msg)
        payloads = (
            payload
            for partition in self._run(lambda bar: self._core.collect_first(n, bar))
            for payload in partition
        )
        return [
            to_value(payload, "pandas", self._shard_info(), use_threads=True)
            for payload in islice(payloads, n)
        ]

    def first(self) -> Any:
        """Return the first shard.

        Returns
        -------
        DataFrame, array or object

        Raises
        ------
        IndexError
            If there is none.

        Examples
        --------
        >>> xs.partition(np.arange(6), 3).first()
        array([0, 1])
        """
        found = self.take(1)
        if not found:
            msg = "there is no first shard: all partitions are empty"
            raise XShardsIndexError(msg)
        return found[0]

    def _count_rows(self) -> int:
        """Count the rows; of other shards than DataFrames, add up their lengths."""
        if self._core.gives_tables():
            return self._run(self._core.count)
        kinds, rows = self._run(self._core.contents)
        if kinds == ["Table"]:
            return rows
        lengths = self._transform_payloads(partition_tasks.measure, self._shard_info())
        return sum(lengths.collect())

    def compute(self) -> Self:
        """Run the plan now; what functions returned is kept.

        Returns
        -------
        XShards
            These shards.

        Examples
        --------
        >>> doubled = xs.partition(np.arange(4), 2).transform_shard(lambda a: a * 2)
        >>> doubled.compute().collect()
        [array([0, 2]), array([4, 6])]
        """
        self._run(self._core.materialize)
        return self

    def to_lazy(self) -> Self:
        """Return these shards: all are lazy.

        Returns
        -------
        XShards

        Examples
        --------
        >>> shards = xs.partition(np.arange(4), 2)
        >>> shards.to_lazy() is shards
        True
        """
        return self

    def foreach(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        """Call a function on every shard for its side effects.

        It runs as with `transform_shard`, at once; what it returns is dropped.

        Parameters
        ----------
        function : callable
            Called as ``function(shard, *args, **kwargs)``.
        *args, **kwargs
            Passed on to the function.

        Examples
        --------
        >>> def check(df, least):
        ...     assert df["a"].min() >= least
        >>> xs.from_pandas(pd.DataFrame({"a": [3, 5]})).foreach(check, least=3)
        """
        self.transform_shard(function, *args, **kwargs).compute()

    def zip(self, other: Any) -> Self:
        """Pair the shards with those of another, as tuples.

        Parameters
        ----------
        other : XShards
            Shards with as many partitions, and as many shards in each.

        Returns
        -------
        XShards
            Of tuples.

        Raises
        ------
        TypeError
            If `other` is not XShards.
        ValueError
            If the two differ in partitions, or in shards within one.

        Examples
        --------
        >>> x, y = xs.partition(np.arange(4), 2), xs.partition(np.ones(4), 2)
        >>> x.zip(y).first()
        (array([0, 1]), array([1., 1.]))
        """
        if not isinstance(other, Base):
            msg = f"other should be a SparkXShards or XShards, got {type(other)}"
            raise XShardsTypeError(msg)
        mine, others = self.num_partitions(), other.num_partitions()
        if mine != others:
            msg = (
                "The two XShards should have the same number of partitions, got "
                f"{mine} and {others}"
            )
            raise XShardsValueError(msg)
        return self._transform_payloads(
            partition_tasks.pair, self._shard_info(), other._shard_info(), beside=other
        )

    def split(self) -> list[Self]:
        """Split shards that are lists or tuples into one XShards per position.

        Runs the plan, to learn how many positions there are.

        Returns
        -------
        list of XShards
            One for every position; these shards themselves if they do not hold lists.

        Raises
        ------
        ValueError
            If the shards are not all of one length.

        Examples
        --------
        >>> x, y = xs.partition((np.arange(4), np.ones(4)), 2).split()
        >>> x.collect()
        [array([0, 1]), array([2, 3])]
        """
        if self._holds_frames():
            return [self]
        counts = self._transform_payloads(
            partition_tasks.count_parts, self._shard_info()
        )
        lengths = set(counts.collect())
        if len(lengths) > 1:
            msg = (
                "Cannot split this XShards because its partitions have different "
                f"split length: {sorted(length for length in lengths if length >= 0)}"
                + (", and others are not lists" if -1 in lengths else "")
            )
            raise XShardsValueError(msg)
        length = lengths.pop() if lengths else -1
        return [self] if length < 0 else [self._item(i) for i in range(length)]

    def _repartition_payloads(self, count: int) -> Self:
        """Distribute arrays, list items or objects evenly, in order."""
        found = self._transform_payloads(rebatch.describe, self._shard_info()).collect()
        if not found:
            nothing = _core.XShards.from_payloads(self._core.context, [[]] * count)
            return self._derive(nothing)
        layout = rebatch.shared_layout(found)
        if layout is not None:
            rows = self._transform_payloads(rebatch.rows_to_table, layout)
            spread = rows._derive(rows._core.repartition(count))
            return spread._transform_payloads(rebatch.rows_from_table, layout)
        flatten = all(is_list for _, is_list in found)
        items = self._transform_payloads(
            rebatch.items_to_table, self._shard_info(), flatten
        )
        spread = items._derive(items._core.repartition(count))
        return spread._transform_payloads(rebatch.items_from_table, flatten)
