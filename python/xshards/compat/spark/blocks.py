# SPDX-License-Identifier: Apache-2.0
"""How the elements of a Spark partition are kept in a partition of ours.

A partition with one element holds that element as the engine keeps it best: a DataFrame
as rows, arrays as arrays. Any other number of elements is one pickled `Block`, or
nothing where there are none. So a partition without rows always means "no element", and
a DataFrame without rows, which is an element, travels in a Block.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from xshards import _core
from xshards.compat.errors import OrcaInputError, OrcaTypeError
from xshards.errors import XShardsError
from xshards.runtime.convert import to_payload, to_value
from xshards.runtime.functions import name_of
from xshards.runtime.shipping import by_value
from xshards.shards import XShards

if TYPE_CHECKING:
    from xshards.context import Context
    from xshards.interop.frames import FrameInfo

__all__ = [
    "Block",
    "Route",
    "Step",
    "collect",
    "collect_first",
    "exchange",
    "from_elements",
    "join",
    "merge_alike",
    "merge_frames",
    "regroup",
    "run_steps",
    "zip_partitions",
]

#: Makes the elements of a partition, whose number comes first, from others.
Step: TypeAlias = Callable[[int, Iterator[Any]], Iterable[Any]]
#: Cuts the elements of a partition into lists, one for each partition to be.
Route: TypeAlias = Callable[[int, Iterator[Any]], Sequence[Sequence[Any]]]

Payloads: TypeAlias = list[_core.Payload]


class Block(list[Any]):
    """The elements of a partition that has not exactly one."""


def run_steps(
    shards: XShards, steps: Sequence[Step], functions: Sequence[Any] = ()
) -> XShards:
    """Add steps to the recipe; they run one after the other in one worker.

    `functions` are the users' functions inside the steps: what runs is named after
    them, and the modules they are defined in may exist in this process only.
    """
    with by_value(functions):
        return shards._transform_payloads(_Steps(steps, functions), shards._info)


def collect(shards: XShards) -> list[list[Any]]:
    """Run the plan and give the elements of each partition."""
    return [
        _elements(payloads, shards._info)
        for payloads in shards._run(shards._core.collect)
    ]


def collect_first(shards: XShards, num_elements: int) -> list[Any]:
    """Give the first elements, running few more partitions than hold them."""
    wanted = 1
    while True:
        # A partition counts as one, however many elements its Block has.
        payloads = shards._run(partial(shards._core.collect_first, wanted))
        found = [
            element for part in payloads for element in _elements(part, shards._info)
        ]
        if len(found) >= num_elements or wanted >= shards.num_partitions():
            return found[:num_elements]
        wanted = min(4 * wanted, shards.num_partitions())


def from_elements(partitions: Sequence[Sequence[Any]], context: Context) -> XShards:
    """Put elements that exist already into partitions."""
    payloads = [_pack(list(part)) for part in partitions]
    kinds = {payload.kind for part in payloads for payload in part}
    if "Table" not in kinds or len(kinds) == 1:
        with contextlib.suppress(TypeError, ValueError):
            return _from_payloads(payloads, context)
    # DataFrames mixed with other elements, or with different columns, are not rows of
    # one dataset.
    boxed = [[to_payload(Block(part))] for part in partitions]
    return _from_payloads(boxed, context)


def exchange(
    shards: XShards,
    route: Route,
    num_partitions: int,
    functions: Iterable[object] = (),
) -> XShards:
    """Move elements between partitions; their bytes are copied, never unpickled here.

    They arrive in the order of the partitions they came from.
    """
    with by_value(functions):
        sent = shards._transform_payloads(_route, shards._info, route)
    parts = sent._run(sent._core.collect)
    received = [[part[number] for part in parts] for number in range(num_partitions)]
    return _from_payloads(received, shards._context)


def regroup(shards: XShards, groups: Sequence[Sequence[int]]) -> XShards:
    """Concatenate partitions: partition i of the result has those of group i."""
    boxed = shards._transform_payloads(_box, shards._info)
    parts = boxed._run(boxed._core.collect)
    joined = [
        [payload for number in group for payload in parts[number]] for group in groups
    ]
    return _from_payloads(joined, shards._context)


def join(sources: Sequence[XShards]) -> XShards:
    """Concatenate the partitions of several."""
    parts: list[Payloads] = []
    for shards in sources:
        boxed = shards._transform_payloads(_box, shards._info)
        parts.extend(boxed._run(boxed._core.collect))
    return _from_payloads(parts, sources[0]._context)


def zip_partitions(left: XShards, right: XShards, complaint: str) -> XShards:
    """Pair the elements of partition i with those of partition i of another.

    `complaint` starts the message where one of them has more.
    """
    return left._transform_payloads(
        _zip, left._info, right._info, complaint, beside=right
    )


def merge_frames(shards: XShards) -> XShards:
    """Make one DataFrame of each partition, whatever number of them it holds."""
    return shards._transform_payloads(_merge_frames, shards._info)


def merge_alike(shards: XShards) -> XShards:
    """Make one element of the lists, arrays or nested arrays of each partition."""
    return shards._transform_payloads(_merge_alike, shards._info)


def _from_payloads(payloads: Sequence[Payloads], context: Context) -> XShards:
    return XShards(_core.XShards.from_payloads(context._core, payloads), context)


class _Steps:
    """Steps as one function."""

    def __init__(self, steps: Sequence[Step], functions: Sequence[Any]) -> None:
        self._steps = tuple(steps)
        self.__qualname__ = ", ".join(map(name_of, functions)) or "RDD steps"

    def __call__(
        self, partition: int, payloads: Payloads, info: FrameInfo | None
    ) -> Payloads:
        elements: Iterable[Any] = _elements(payloads, info)
        for step in self._steps:
            elements = step(partition, iter(elements))
        return _pack(list(elements))


def _route(
    partition: int, payloads: Payloads, info: FrameInfo | None, route: Route
) -> Payloads:
    parts = route(partition, iter(_elements(payloads, info)))
    return [to_payload(Block(part)) for part in parts]


def _box(_partition: int, payloads: Payloads, info: FrameInfo | None) -> Payloads:
    return [to_payload(Block(_elements(payloads, info)))]


def _zip(
    partition: int,
    left: Payloads,
    right: Payloads,
    left_info: FrameInfo | None,
    right_info: FrameInfo | None,
    complaint: str,
) -> Payloads:
    ours, theirs = _elements(left, left_info), _elements(right, right_info)
    if len(ours) != len(theirs):
        msg = f"{complaint}; partition {partition} has {len(ours)} and {len(theirs)}"
        raise OrcaInputError(msg)
    return _pack(list(zip(ours, theirs, strict=True)))


def _merge_frames(
    partition: int, payloads: Payloads, info: FrameInfo | None
) -> Payloads:
    frames = _elements(payloads, info)
    odd = [type(frame).__name__ for frame in frames if not _is_frame(frame)]
    if odd:
        msg = f"partition {partition} holds a {odd[0]}, not a Pandas DataFrame"
        raise OrcaTypeError(msg)
    if not frames:
        return []
    whole = frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)
    return [to_payload(whole)]


def _merge_alike(
    _partition: int, payloads: Payloads, info: FrameInfo | None
) -> Payloads:
    elements = _elements(payloads, info)
    if len(elements) < 2:
        return _pack(elements)
    merged = _merged(elements)
    return [to_payload(each) for each in (elements if merged is None else [merged])]


def _merged(elements: list[Any]) -> Any:
    """Put elements that have rows or items together; None for others."""
    first = elements[0]
    if isinstance(first, np.ndarray):
        alike = all(isinstance(each, np.ndarray) and each.ndim for each in elements)
        return np.concatenate(elements) if alike else None
    if isinstance(first, dict):
        parts = _merged_parts([[each[key] for key in first] for each in elements])
        return None if parts is None else dict(zip(first, parts, strict=True))
    if isinstance(first, tuple):
        parts = _merged_parts(elements)
        return None if parts is None else tuple(parts)
    if isinstance(first, list):
        arrays = all(isinstance(item, np.ndarray) for each in elements for item in each)
        parts = _merged_parts(elements) if arrays else None
        return [item for each in elements for item in each] if parts is None else parts
    return None


def _merged_parts(elements: Sequence[Any]) -> list[Any] | None:
    if len({len(each) for each in elements}) > 1:
        return None
    parts = [_merged(list(same)) for same in zip(*elements, strict=True)]
    return None if not parts or any(part is None for part in parts) else parts


def _is_frame(value: object) -> bool:
    return isinstance(value, pd.DataFrame | pd.Series)


def _elements(payloads: Iterable[_core.Payload], info: FrameInfo | None) -> list[Any]:
    elements: list[Any] = []
    for payload in payloads:
        if payload.kind == "Table" and payload.num_rows == 0:
            continue
        value = to_value(payload, "pandas", info)
        if isinstance(value, Block):
            elements.extend(value)
        else:
            elements.append(value)
    return elements


def _pack(elements: list[Any]) -> Payloads:
    if not elements:
        return []
    if len(elements) == 1 and _stays_itself(elements[0]):
        # Values without an Arrow type are pickled like any other object.
        with contextlib.suppress(XShardsError):
            return [to_payload(elements[0])]
    return [to_payload(Block(elements))]


def _stays_itself(value: Any) -> bool:
    if isinstance(value, pd.DataFrame):
        return len(value) > 0 and len(value.columns) > 0
    if isinstance(value, pd.Series):
        return len(value) > 0
    # Arrow data would come back as a DataFrame.
    return not hasattr(value, "__arrow_c_stream__")
