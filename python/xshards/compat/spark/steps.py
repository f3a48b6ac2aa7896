# SPDX-License-Identifier: Apache-2.0
"""What RDD operations do to the elements of one partition, in a worker process.

Every step takes the partition's number and its elements, after what is bound to it.
"""

from __future__ import annotations

import random
from bisect import bisect_left
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

__all__ = [
    "add_index",
    "combine_by_key",
    "filter_each",
    "fold_all",
    "keep_between",
    "map_each",
    "map_flat",
    "map_indexed",
    "map_whole",
    "ordered",
    "route_by_bounds",
    "route_by_key",
    "route_by_position",
    "stable_hash",
    "take_first",
    "to_list",
]

#: Means "no value yet" where None is a value.
_NOTHING: Any = object()


def map_each(
    function: Callable[[Any], Any], _partition: int, elements: Iterator[Any]
) -> Iterable[Any]:
    """Call a function on every element."""
    return map(function, elements)


def map_flat(
    function: Callable[[Any], Iterable[Any]], _partition: int, elements: Iterator[Any]
) -> Iterable[Any]:
    """Call a function on every element and chain what it returns."""
    for element in elements:
        yield from function(element)


def filter_each(
    function: Callable[[Any], object], _partition: int, elements: Iterator[Any]
) -> Iterable[Any]:
    """Keep the elements for which a function is true."""
    return filter(function, elements)


def map_whole(
    function: Callable[[Iterator[Any]], Iterable[Any]],
    _partition: int,
    elements: Iterator[Any],
) -> Iterable[Any]:
    """Call a function on all elements."""
    return function(elements)


def map_indexed(
    function: Callable[[int, Iterator[Any]], Iterable[Any]],
    partition: int,
    elements: Iterator[Any],
) -> Iterable[Any]:
    """Call a function on the partition's number and all elements."""
    return function(partition, elements)


def to_list(_partition: int, elements: Iterator[Any]) -> Iterable[Any]:
    """Make one list of all elements."""
    return [list(elements)]


def take_first(count: int, _partition: int, elements: Iterator[Any]) -> Iterable[Any]:
    """Take the first elements and leave the others alone."""
    return islice(elements, count)


def fold_all(
    function: Callable[[Any, Any], Any], _partition: int, elements: Iterator[Any]
) -> Iterable[Any]:
    """Reduce the elements to one, if there are any."""
    result = next(elements, _NOTHING)
    if result is _NOTHING:
        return []
    for element in elements:
        result = function(result, element)
    return [result]


def add_index(
    starts: Sequence[int], partition: int, elements: Iterator[Any]
) -> Iterable[Any]:
    """Pair elements with their position among those of all partitions."""
    for position, element in enumerate(elements, starts[partition]):
        yield element, position


def keep_between(
    low: float, high: float, seed: int, partition: int, elements: Iterator[Any]
) -> Iterable[Any]:
    """Keep the elements whose random number is in [low, high).

    The same seed draws the same numbers, and those of neighbouring seeds differ.
    """
    generator = random.Random(seed ^ partition)
    # Like Spark, drop ten draws: generators of adjacent seeds start alike.
    for _ in range(10):
        generator.randint(0, 1)
    return (element for element in elements if low <= generator.random() < high)


def ordered(
    key: Callable[[Any], Any],
    ascending: bool,  # noqa: FBT001 - bound by position
    _partition: int,
    elements: Iterator[Any],
) -> Iterable[Any]:
    """Sort the elements; equal ones keep their order."""
    return sorted(elements, key=key, reverse=not ascending)


def combine_by_key(
    create: Callable[[Any], Any],
    merge: Callable[[Any, Any], Any],
    _partition: int,
    elements: Iterator[Any],
) -> Iterable[Any]:
    """Combine the values of each key, keys in order of first appearance."""
    combined: dict[Hashable, Any] = {}
    for key, value in elements:
        known = combined.get(key, _NOTHING)
        combined[key] = create(value) if known is _NOTHING else merge(known, value)
    return combined.items()


def route_by_position(
    starts: Sequence[int],
    bounds: Sequence[int],
    partition: int,
    elements: Iterator[Any],
) -> list[list[Any]]:
    """Send elements by their position among all, part i those up to bounds[i + 1]."""
    here = list(elements)
    start = starts[partition]
    return [
        here[max(low - start, 0) : max(high - start, 0)]
        for low, high in pairwise(bounds)
    ]


def route_by_bounds(
    key: Callable[[Any], Any],
    bounds: Sequence[Any],
    ascending: bool,  # noqa: FBT001 - bound by position
    _partition: int,
    elements: Iterator[Any],
) -> list[list[Any]]:
    """Send elements to the part of the sorted range that their key is in."""
    parts: list[list[Any]] = [[] for _ in range(len(bounds) + 1)]
    for element in elements:
        number = bisect_left(bounds, key(element))
        parts[number if ascending else len(bounds) - number].append(element)
    return parts


def route_by_key(
    function: Callable[[Any], int],
    num_partitions: int,
    _partition: int,
    elements: Iterator[Any],
) -> list[list[Any]]:
    """Send (key, value) pairs to the part their key's hash says."""
    parts: list[list[Any]] = [[] for _ in range(num_partitions)]
    for pair in elements:
        parts[function(pair[0]) % num_partitions].append(pair)
    return parts


def stable_hash(key: Any) -> int:
    """Hash a key to the same number in every process.

    Python draws a new seed for the hashes of strings in every process it starts. For
    numbers, None and tuples of them this is what Spark uses.
    """
    if key is None:
        return 0
    if isinstance(key, str):
        return crc32(key.encode("utf-8", "surrogatepass"))
    if isinstance(key, bytes):
        return crc32(key)
    if isinstance(key, tuple):
        code = 0x345678
        for item in key:
            code ^= stable_hash(item)
            code = (code * 1000003) & 0x7FFFFFFFFFFFFFFF
        code ^= len(key)
        return -2 if code == -1 else code
    return hash(key)
