# SPDX-License-Identifier: Apache-2.0
"""What the parts of SparkXShards share: the RDD, what is kept, and what it holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import pandas as pd

from xshards.compat.errors import OrcaTypeError
from xshards.compat.spark import blocks
from xshards.shards import XShards

if TYPE_CHECKING:
    from typing import Self

    from xshards.compat.spark.rdd import RDD

__all__ = [
    "DATA_FRAME",
    "SERIES",
    "Operation",
    "ShardBase",
    "class_name_of",
    "frames_of",
    "is_native",
]

#: What the engine does to DataFrames.
Operation: TypeAlias = Callable[[XShards], XShards]

# As Orca spells them; pandas has moved its classes since.
DATA_FRAME = "pandas.core.frame.DataFrame"
SERIES = "pandas.core.series.Series"


class ShardBase:
    """An RDD and the rules of keeping it."""

    rdd: RDD
    user_caching: bool
    eager: bool
    is_lazy: bool
    type: dict[str, Any]

    def collect(self) -> list[Any]:
        """Gather all elements, in order; empty partitions contribute nothing."""
        return self.rdd.collect()

    def first(self) -> Any:
        """Give the first element."""
        return self.rdd.first()

    def take(self, n: int) -> list[Any]:
        """Give the first elements."""
        return self.rdd.take(n)

    def cache(self) -> Self:
        """Keep the elements until `uncache`."""
        self.user_caching = True
        self.rdd.cache()
        return self

    def uncache(self) -> Self:
        """Drop what is kept; it is made again when needed."""
        self.user_caching = False
        if self.is_cached():
            self.rdd.unpersist()
        return self

    def is_cached(self) -> bool:
        """Tell whether the elements are kept once they are made."""
        return self.rdd.is_cached

    def compute(self) -> Self:
        """Make the elements now."""
        if self.rdd.is_cached:
            self.rdd._shards()
        else:
            self.rdd.count()
        return self

    def num_partitions(self) -> int:
        """Count the partitions."""
        return self.rdd.getNumPartitions()

    def save_pickle(self, path: str, batchSize: int = 10) -> Self:
        """Write the partitions to a directory that ``XShards.load_pickle`` reads.

        Files are sealed with a key of yours; see `xshards.XShards.save_pickle`.
        """
        self.rdd.saveAsPickleFile(path, batchSize)
        return self

    def _uncache(self) -> None:
        """Drop elements that were kept only because they were computed."""
        if not self.user_caching:
            self.uncache()

    def _create(self, rdd: RDD, class_name: str | None = None) -> Self:
        """Make shards of these; lazy ones of lazy ones."""
        cls: Any = type(self)
        make = cls.lazy if self.is_lazy else cls
        made: Self = make(rdd, class_name=class_name)
        return made

    def _of(self, operation: Operation, class_name: str | None = DATA_FRAME) -> Self:
        """Make shards by an operation of the engine on these DataFrames."""
        rdd = self.rdd  # not these shards: they may be deleted, with the data they keep
        result = type(rdd)(rdd.context, lambda: operation(frames_of(rdd)))
        result._native = class_name is not None
        return self._create(result, class_name)

    def _frames(self) -> XShards:
        """Give the engine's shards, with one DataFrame a partition."""
        return frames_of(self.rdd)

    def _get_class_name(self) -> str:
        if "class_name" not in self.type:
            known = DATA_FRAME if self.rdd._native else None
            self.type["class_name"] = known or self.rdd.map(class_name_of).first()
        return str(self.type["class_name"])

    def _set_class_name(self, class_name: str) -> None:
        self.type["class_name"] = class_name

    def _require(self, class_name: str, method: str, kind: str) -> None:
        found = self._get_class_name()
        if found != class_name:
            msg = (
                f"Currently only support {method} on XShards of {kind}, not of {found}"
            )
            raise OrcaTypeError(msg)


def frames_of(rdd: RDD) -> XShards:
    """Give an RDD's elements as the engine's shards, with one DataFrame a partition."""
    shards = rdd._shards()
    return shards if is_native(rdd) else blocks.merge_frames(shards)


def is_native(rdd: RDD) -> bool:
    """Tell whether every partition is known to be one DataFrame, or none."""
    if rdd._native:
        return True
    return rdd.is_cached and rdd._shards()._kinds() == {"Table"}


def class_name_of(element: object) -> str:
    """Name the class of an element, as Orca does."""
    if type(element) is pd.DataFrame:
        return DATA_FRAME
    if type(element) is pd.Series:
        return SERIES
    return f"{type(element).__module__}.{type(element).__name__}"
