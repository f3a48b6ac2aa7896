# SPDX-License-Identifier: Apache-2.0
"""The part of Spark's RDD that Orca scripts and their tests call."""

from __future__ import annotations

import operator
import random
from functools import partial, reduce
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from xshards._util.arguments import as_count, require
from xshards.compat.later import not_yet
from xshards.compat.spark import blocks, steps
from xshards.compat.spark.pair_ops import PairOps
from xshards.errors import XShardsTypeError, XShardsValueError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import NoReturn, Self

    from xshards.shards import XShards

__all__ = ["RDD"]

_SAMPLES_A_PARTITION = 200
_UNEVEN = (
    "Can only zip with RDD which has the same number of elements in each partition"
)


class RDD(PairOps):
    """Elements in partitions; every operation runs in worker processes.

    Nothing runs before an action (`collect`, `count`, `first`, ...); it then runs what
    was asked for since the last `cache`. Made by ``sc.parallelize`` and friends.

    Examples
    --------
    >>> from xshards.compat.exports.zoo_orca import init_orca_context, stop_orca_context
    >>> sc = init_orca_context(cores=2)
    >>> sc.parallelize([3, 1, 2], 2).map(lambda x: x * 10).sortBy(lambda x: x).collect()
    [10, 20, 30]
    >>> stop_orca_context()
    """

    def map(
        self, f: Callable[[Any], Any], preservesPartitioning: object = None
    ) -> Self:
        """Call a function on every element."""
        return self._then(partial(steps.map_each, f), f)

    def flatMap(
        self, f: Callable[[Any], Iterable[Any]], preservesPartitioning: object = None
    ) -> Self:
        """Call a function on every element and chain what it returns."""
        return self._then(partial(steps.map_flat, f), f)

    def filter(self, f: Callable[[Any], object]) -> Self:
        """Keep the elements for which a function is true."""
        return self._then(partial(steps.filter_each, f), f)

    def mapPartitions(
        self,
        f: Callable[[Iterator[Any]], Iterable[Any]],
        preservesPartitioning: object = None,
    ) -> Self:
        """Call a function on the elements of each partition, also where none are."""
        return self._then(partial(steps.map_whole, f), f)

    def mapPartitionsWithIndex(
        self,
        f: Callable[[int, Iterator[Any]], Iterable[Any]],
        preservesPartitioning: object = None,
    ) -> Self:
        """Call a function on the number and the elements of each partition."""
        return self._then(partial(steps.map_indexed, f), f)

    def glom(self) -> Self:
        """Make one list of the elements of each partition."""
        return self._then(steps.to_list)

    def zip(self, other: Any) -> Self:
        """Pair elements with those of another RDD."""
        if not isinstance(other, RDD):
            msg = f"zip pairs with another RDD, got {type(other).__name__}"
            raise XShardsTypeError(msg)
        mine, others = self.getNumPartitions(), other.getNumPartitions()
        if mine != others:
            msg = (
                "Can only zip with RDD which has the same number of partitions, got "
                f"{mine} and {others}"
            )
            raise XShardsValueError(msg)
        return self._zip(other, _UNEVEN)

    def _zip(self, other: RDD, complaint: str) -> Self:
        return type(self)(
            self.context,
            lambda: blocks.zip_partitions(self._shards(), other._shards(), complaint),
            self.getNumPartitions(),
        )

    def zipWithIndex(self) -> Self:
        """Pair elements with their position among all; counts them first."""
        starts = list(accumulate(self._counts(), initial=0))
        return self._then(partial(steps.add_index, starts))

    def union(self, other: RDD) -> Self:
        """Append the partitions of another RDD."""
        joined: Self = self.context.union([self, other])
        return joined

    def randomSplit(
        self, weights: Sequence[float], seed: int | None = None
    ) -> list[Self]:
        """Deal elements at random to RDDs of about these relative sizes."""
        if seed is None:
            seed = random.randint(0, 2**32 - 1)
        total = sum(weights)
        edges = list(accumulate((weight / total for weight in weights), initial=0.0))
        edges[-1] = 1.0
        return [
            self._then(partial(steps.keep_between, low, high, seed))
            for low, high in pairwise(edges)
        ]

    def sample(
        self,
        withReplacement: bool,  # noqa: FBT001 - as in Spark
        fraction: float,
        seed: int | None = None,
    ) -> Self:
        """Keep about this fraction of the elements, chosen at random."""
        if withReplacement:
            name = "RDD.sample(withReplacement=True)"
            raise not_yet(name, "samples with replacement")
        if seed is None:
            seed = random.randint(0, 2**32 - 1)
        return self._then(partial(steps.keep_between, 0.0, fraction, seed))

    def repartition(self, numPartitions: int) -> Self:
        """Spread the elements evenly over partitions, keeping their order."""
        count = _count(numPartitions)
        return self._wide(lambda: self._spread(count), count)

    def coalesce(
        self,
        numPartitions: int,
        shuffle: bool = False,  # noqa: FBT001 - as in Spark
    ) -> Self:
        """Join neighbouring partitions; makes no more of them, but by a shuffle."""
        count = _count(numPartitions)
        if shuffle:
            return self.repartition(count)
        there = self.getNumPartitions()
        count = min(count, there)
        edges = [there * number // count for number in range(count + 1)]
        groups = [list(range(low, high)) for low, high in pairwise(edges)]
        return self._wide(lambda: blocks.regroup(self._shards(), groups), count)

    def sortBy(
        self,
        keyfunc: Callable[[Any], Any],
        ascending: bool = True,  # noqa: FBT001 - as in Spark
        numPartitions: int | None = None,
    ) -> Self:
        """Sort all elements, so that partitions and what they hold are in order."""
        count = numPartitions or self.getNumPartitions()
        sort = partial(steps.ordered, keyfunc, ascending)
        moved = self._wide(lambda: self._ranges(keyfunc, count, ascending), count)
        return moved._then(sort, keyfunc)

    def distinct(self, numPartitions: int | None = None) -> Self:
        """Keep one of equal elements."""
        pairs = self.map(_as_key)
        return pairs.reduceByKey(_first_of, numPartitions).keys()

    def toLocalIterator(self, prefetchPartitions: object = None) -> Iterator[Any]:
        """Iterate over all elements, in order."""
        return iter(self.collect())

    def count(self) -> int:
        """Count the elements."""
        return sum(self._counts())

    def first(self) -> Any:
        """Give the first element; ValueError if there is none."""
        found = self.take(1)
        if not found:
            msg = "RDD is empty"
            raise XShardsValueError(msg)
        return found[0]

    def take(self, num: int) -> list[Any]:
        """Give the first elements, running as few partitions as needed."""
        if num < 1:
            return []
        head = self._then(partial(steps.take_first, num))
        return blocks.collect_first(head._shards(), num)

    def isEmpty(self) -> bool:
        """Tell whether there is no element."""
        return not self.take(1)

    def reduce(self, f: Callable[[Any, Any], Any]) -> Any:
        """Reduce the elements to one; ValueError if there are none."""
        parts = self._then(partial(steps.fold_all, f), f).collect()
        if not parts:
            msg = "Can not reduce() empty RDD"
            raise XShardsValueError(msg)
        return reduce(f, parts)

    def fold(self, zeroValue: Any, op: Callable[[Any, Any], Any]) -> Any:
        """Reduce the elements of each partition, and the results, from a zero value."""
        return self.aggregate(zeroValue, op, op)

    def aggregate(
        self,
        zeroValue: Any,
        seqOp: Callable[[Any, Any], Any],
        combOp: Callable[[Any, Any], Any],
    ) -> Any:
        """Fold elements into a zero value, one for each partition, and join these."""
        parts = self.mapPartitions(partial(_fold, seqOp, zeroValue))
        parts._functions = (seqOp,)
        return reduce(combOp, parts.collect(), zeroValue)

    def sum(self) -> Any:
        """Add all elements up."""
        return sum(self.mapPartitions(_sum_of).collect())

    def max(self, key: Callable[[Any], Any] | None = None) -> Any:
        """Give the largest element."""
        return self.reduce(partial(_pick, max, key))

    def min(self, key: Callable[[Any], Any] | None = None) -> Any:
        """Give the smallest element."""
        return self.reduce(partial(_pick, min, key))

    def mean(self) -> float:
        """Give the mean of all elements."""
        total, count = self.aggregate((0, 0), _add_counted, _add_pairs)
        return float(total / count)

    def foreach(self, f: Callable[[Any], object]) -> None:
        """Call a function on every element, for what it does."""
        self.map(f).count()

    def foreachPartition(self, f: Callable[[Iterator[Any]], object]) -> None:
        """Call a function on the elements of each partition, for what it does."""
        self._then(partial(_call_whole, f), f).count()

    def saveAsPickleFile(self, path: str, batchSize: int = 10) -> None:
        """Write the partitions to a directory that ``sc.pickleFile`` reads."""
        self._shards().save_pickle(path)

    def toDF(self, *_args: object, **_kwargs: object) -> NoReturn:
        """Not there yet: Spark DataFrames come later."""
        name = "RDD.toDF"
        raise not_yet(name, "Spark DataFrames")

    def __repr__(self) -> str:
        return f"RDD of {self.getNumPartitions()} partitions"

    def _counts(self) -> list[int]:
        return self._then(_count_all).collect()

    def _spread(self, count: int) -> XShards:
        shards = self._materialised()
        starts = list(accumulate(self._counts_of(shards), initial=0))
        total = starts[-1]
        bounds = [(total * number + count - 1) // count for number in range(count + 1)]
        route = partial(steps.route_by_position, starts, bounds)
        return blocks.exchange(shards, route, count)

    def _ranges(
        self,
        key: Callable[[Any], Any],
        count: int,
        ascending: bool,  # noqa: FBT001 - as in Spark
    ) -> XShards:
        shards = self._materialised()
        source = type(self)(self.context, lambda: shards)
        keys = source._then(partial(_some_keys, key), key).collect()
        keys.sort()
        picks = [len(keys) * number // count for number in range(1, count)]
        bounds = [keys[pick] for pick in picks] if keys else []
        route = partial(steps.route_by_bounds, key, bounds, ascending)
        moved = blocks.exchange(shards, route, len(bounds) + 1, [key])
        if len(bounds) + 1 == count:
            return moved
        groups = [[number] if number <= len(bounds) else [] for number in range(count)]
        return blocks.regroup(moved, groups)

    def _materialised(self) -> XShards:
        """Give shards that run once, although more than one action follows."""
        shards = self._shards()
        return shards if self.is_cached else shards._with_info(shards._info).cache()

    def _counts_of(self, shards: XShards) -> list[int]:
        return type(self)(self.context, lambda: shards)._counts()


def _count(num_partitions: int) -> int:
    require(num_partitions, int, "numPartitions must be an integer")
    return as_count("numPartitions", num_partitions)


def _count_all(_partition: int, elements: Iterator[Any]) -> Iterable[int]:
    return [sum(1 for _ in elements)]


def _call_whole(
    function: Callable[[Iterator[Any]], object],
    _partition: int,
    elements: Iterator[Any],
) -> Iterable[Any]:
    function(elements)
    return []


def _some_keys(
    key: Callable[[Any], Any], _partition: int, elements: Iterator[Any]
) -> Iterable[Any]:
    keys = [key(element) for element in elements]
    return keys[:: max(1, len(keys) // _SAMPLES_A_PARTITION)]


def _fold(
    function: Callable[[Any, Any], Any], zero: Any, elements: Iterator[Any]
) -> Iterable[Any]:
    return [reduce(function, elements, zero)]


def _sum_of(elements: Iterator[Any]) -> Iterable[Any]:
    return [sum(elements)]


def _pick(
    choose: Callable[..., Any], key: Callable[[Any], Any] | None, a: Any, b: Any
) -> Any:
    return choose(a, b, key=key)


def _add_counted(total: tuple[Any, int], element: Any) -> tuple[Any, int]:
    return total[0] + element, total[1] + 1


def _add_pairs(a: tuple[Any, int], b: tuple[Any, int]) -> tuple[Any, int]:
    return operator.add(a[0], b[0]), a[1] + b[1]


def _as_key(element: Any) -> tuple[Any, None]:
    return element, None


def _first_of(first: Any, _second: Any) -> Any:
    return first
