# SPDX-License-Identifier: Apache-2.0
"""How the partitions of an RDD are made, and when they are kept."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from xshards.compat.spark import blocks

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from xshards.compat.spark.blocks import Step
    from xshards.compat.spark.spark_context import SparkContext
    from xshards.shards import XShards

__all__ = ["Lineage"]


class Lineage:
    """What makes the partitions: a source, or a step on those of a parent.

    Nothing is kept but between `cache` and `unpersist`, so that every action runs all
    steps since the last kept partitions, in one go.
    """

    def __init__(
        self,
        context: SparkContext,
        source: Callable[[], XShards],
        num_partitions: int | None = None,
    ) -> None:
        self.context = context
        self.is_cached = False
        self._source: Callable[[], XShards] | None = source
        self._known_partitions = num_partitions
        self._parent: Lineage | None = None
        self._step: Step | None = None
        self._functions: tuple[object, ...] = ()
        self._kept: XShards | None = None
        #: Whether every partition is one DataFrame, or none.
        self._native = False

    @property
    def ctx(self) -> SparkContext:
        """The context, by its other name."""
        return self.context

    def _then(self, step: Step, *functions: object) -> Self:
        """Add a step; `functions` are those of the user inside it."""
        child = type(self)(self.context, self._shards)
        child._source = None
        child._parent = self
        child._step = step
        child._functions = functions
        return child

    def _wide(self, make: Callable[[], XShards], num_partitions: int) -> Self:
        """Go on with partitions that are made once, when they are needed."""
        return type(self)(self.context, _Once(make), num_partitions)

    def cache(self) -> Self:
        """Keep the partitions once they have been made."""
        self.is_cached = True
        return self

    def persist(self, _level: object = None) -> Self:
        """Keep the partitions; what does not fit in memory goes to disk."""
        return self.cache()

    def unpersist(self, _blocking: object = None) -> Self:
        """Drop what `cache` keeps."""
        self.is_cached = False
        if self._kept is not None:
            self._kept.uncache()
            self._kept = None
        return self

    def collect(self) -> list[Any]:
        """Gather all elements, in order."""
        return [element for part in blocks.collect(self._shards()) for element in part]

    def getNumPartitions(self) -> int:
        """Count the partitions, without running anything."""
        if self._parent is not None:
            return self._parent.getNumPartitions()
        if self._known_partitions is None:
            self._known_partitions = self._shards().num_partitions()
        return self._known_partitions

    def _shards(self) -> XShards:
        """Give the plan that makes the partitions; runs it first if they are kept."""
        if not self.is_cached:
            return self._plan()
        if self._kept is None:
            plan = self._plan()
            # A copy: other RDDs may share the plan itself without wanting to keep it.
            self._kept = plan._with_info(plan._info).cache()
        return self._kept

    def _plan(self) -> XShards:
        steps: list[Step] = []
        functions: list[Any] = []
        last: Lineage = self
        while last._parent is not None and last._step is not None:
            steps.insert(0, last._step)
            functions[:0] = last._functions
            last = last._parent
            if last.is_cached:
                break
        start = last._shards() if last is not self else self._start()
        return blocks.run_steps(start, steps, functions) if steps else start

    def _start(self) -> XShards:
        assert self._source is not None
        return self._source()


class _Once:
    """Makes shards on first use, and returns the same ones afterwards."""

    def __init__(self, make: Callable[[], XShards]) -> None:
        self._make = make

    def __call__(self) -> XShards:
        return self._shards

    @cached_property
    def _shards(self) -> XShards:
        return self._make()
