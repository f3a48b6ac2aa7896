# SPDX-License-Identifier: Apache-2.0
"""A value that the functions of all workers read without copying it."""

from __future__ import annotations

from typing import Any

from xshards.context import default_context
from xshards.errors import XShardsValueError
from xshards.runtime.values import SharedSegment, find_segment, note_segment

__all__ = ["SharedValue"]

_UNSET: Any = object()


class SharedValue:
    """One copy of a value for all worker processes of this machine.

    An argument of a function is pickled into every worker. A large one, such as a
    lookup table or a model's weights, is better shared: it is written to memory once
    and mapped by whoever uses it. Arrays, Arrow data and DataFrames in it are then
    read-only views of that memory.

    Parameters
    ----------
    data : object
        Anything picklable. Changing it later does not change the shared value.

    Examples
    --------
    >>> weights = xs.SharedValue(np.arange(3.0))
    >>> shards = xs.from_pandas(pd.DataFrame({"i": [0, 2, 1]}), num_partitions=3)
    >>> shards.transform_shard(lambda df: float(weights.value[df["i"]].sum())).collect()
    [0.0, 2.0, 1.0]
    >>> weights.unpersist()
    """

    def __init__(self, data: object) -> None:
        self._segment = SharedSegment.write(data)
        self._value: Any = _UNSET
        self._context = default_context()
        self._counted = self._segment.size
        self._context._core.count_bytes(self._counted)

    @property
    def value(self) -> Any:
        """The value, as views of the shared memory.

        Raises
        ------
        ValueError
            After `unpersist`.

        Examples
        --------
        >>> xs.SharedValue([1, 2]).value
        [1, 2]
        """
        if self._value is _UNSET:
            self._check()
            self._value = self._segment.load()
        return self._value

    def unpersist(self) -> None:
        """Free the memory. Workers drop it with the next function they get.

        Safe to call twice.

        Examples
        --------
        >>> shared = xs.SharedValue([1, 2])
        >>> shared.unpersist()
        >>> shared
        SharedValue(unpersisted)
        """
        self._segment.close()
        self._value = _UNSET
        self._uncount()

    def _check(self) -> None:
        if self._segment.closed:
            msg = "this SharedValue was unpersisted; make a new one"
            raise XShardsValueError(msg)

    def _uncount(self) -> None:
        if self._counted:
            self._context._core.count_bytes(-self._counted)
            self._counted = 0

    def __reduce__(self) -> tuple[Any, ...]:
        self._check()
        note_segment(self._segment)
        return _receive, (self._segment.name,)

    def __del__(self) -> None:
        if getattr(self, "_counted", 0):
            self._uncount()

    def __repr__(self) -> str:
        state = "unpersisted" if self._segment.closed else f"{self._segment.size} bytes"
        return f"SharedValue({state})"


def _receive(name: str) -> SharedValue:
    """Make the value that a worker sees."""
    shared = SharedValue.__new__(SharedValue)
    shared._segment = find_segment(name)
    shared._value = _UNSET
    shared._counted = 0
    return shared
