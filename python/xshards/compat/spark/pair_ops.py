# SPDX-License-Identifier: Apache-2.0
"""RDD operations on (key, value) pairs."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

from xshards.compat.spark import blocks, steps
from xshards.compat.spark.lineage import Lineage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Self

__all__ = ["PairOps"]


class PairOps(Lineage):
    """Bring equal keys together and combine their values."""

    def keyBy(self, f: Callable[[Any], Any]) -> Self:
        """Make a pair of every element, with what a function gives as the key."""
        return self._then(partial(steps.map_each, partial(_with_key, f)), f)

    def keys(self) -> Self:
        """Give the keys of pairs."""
        return self._then(partial(steps.map_each, _key_of))

    def values(self) -> Self:
        """Give the values of pairs."""
        return self._then(partial(steps.map_each, _value_of))

    def mapValues(self, f: Callable[[Any], Any]) -> Self:
        """Call a function on the value of every pair."""
        return self._then(partial(steps.map_each, partial(_on_value, f)), f)

    def flatMapValues(self, f: Callable[[Any], Iterable[Any]]) -> Self:
        """Make a pair of the key and everything a function makes of the value."""
        return self._then(partial(steps.map_flat, partial(_on_values, f)), f)

    def partitionBy(
        self,
        numPartitions: int | None,
        partitionFunc: Callable[[Any], int] = steps.stable_hash,
    ) -> Self:
        """Bring pairs of equal keys to the same partition."""
        count = numPartitions or self.getNumPartitions()
        route = partial(steps.route_by_key, partitionFunc, count)
        return self._wide(
            lambda: blocks.exchange(self._shards(), route, count, [partitionFunc]),
            count,
        )

    def combineByKey(
        self,
        createCombiner: Callable[[Any], Any],
        mergeValue: Callable[[Any, Any], Any],
        mergeCombiners: Callable[[Any, Any], Any],
        numPartitions: int | None = None,
    ) -> Self:
        """Combine the values of each key, first within partitions, then across."""
        here = partial(steps.combine_by_key, createCombiner, mergeValue)
        across = partial(steps.combine_by_key, _itself, mergeCombiners)
        moved = self._then(here, createCombiner, mergeValue).partitionBy(numPartitions)
        return moved._then(across, mergeCombiners)

    def reduceByKey(
        self, func: Callable[[Any, Any], Any], numPartitions: int | None = None
    ) -> Self:
        """Reduce the values of each key."""
        return self.combineByKey(_itself, func, func, numPartitions)

    def groupByKey(self, numPartitions: int | None = None) -> Self:
        """Gather the values of each key in a list."""
        return self.combineByKey(_listed, _appended, _joined, numPartitions)

    def groupBy(
        self, f: Callable[[Any], Any], numPartitions: int | None = None
    ) -> Self:
        """Gather the elements for which a function gives the same key."""
        return self.keyBy(f).groupByKey(numPartitions)

    def countByKey(self) -> dict[Any, int]:
        """Count the pairs of each key."""
        return dict(Counter(self.keys().collect()))

    def countByValue(self) -> dict[Any, int]:
        """Count equal elements."""
        return dict(Counter(self.collect()))

    def collectAsMap(self) -> dict[Any, Any]:
        """Gather pairs in a dict."""
        return dict(self.collect())


def _with_key(function: Callable[[Any], Any], element: Any) -> tuple[Any, Any]:
    return function(element), element


def _key_of(pair: Any) -> Any:
    return pair[0]


def _value_of(pair: Any) -> Any:
    return pair[1]


def _on_value(function: Callable[[Any], Any], pair: Any) -> tuple[Any, Any]:
    return pair[0], function(pair[1])


def _on_values(
    function: Callable[[Any], Iterable[Any]], pair: Any
) -> Iterable[tuple[Any, Any]]:
    return ((pair[0], value) for value in function(pair[1]))


def _itself(value: Any) -> Any:
    return value


def _listed(value: Any) -> list[Any]:
    return [value]


def _appended(values: list[Any], value: Any) -> list[Any]:
    values.append(value)
    return values


def _joined(values: list[Any], others: list[Any]) -> list[Any]:
    return values + others
