# SPDX-License-Identifier: Apache-2.0
"""The part of SparkContext that Orca scripts and their tests call."""

from __future__ import annotations

import os
import platform
import sys
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from xshards import shared_value
from xshards._util.arguments import as_count
from xshards.compat.spark import blocks
from xshards.compat.spark.rdd import RDD
from xshards.errors import XShardsValueError
from xshards.shards import XShards

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from xshards.context import Context

__all__ = ["Broadcast", "SparkConf", "SparkContext"]

# Spark packs a list into batches of at most this size before slicing it.
_MAX_BATCH = 1024


class SparkConf:
    """Settings by name. They are kept and shown; none changes what XShards does."""

    def __init__(self, settings: dict[str, str] | None = None) -> None:
        self._settings = {name: str(value) for name, value in (settings or {}).items()}

    def set(self, key: str, value: object) -> SparkConf:
        """Set one."""
        self._settings[key] = str(value)
        return self

    def setAll(self, pairs: Iterable[tuple[str, object]]) -> SparkConf:
        """Set several."""
        for key, value in pairs:
            self.set(key, value)
        return self

    def setAppName(self, value: str) -> SparkConf:
        """Set the name of the application."""
        return self.set("spark.app.name", value)

    def setMaster(self, value: str) -> SparkConf:
        """Set where to run."""
        return self.set("spark.master", value)

    def get(self, key: str, defaultValue: str | None = None) -> str | None:
        """Give one, or a default."""
        return self._settings.get(key, defaultValue)

    def contains(self, key: str) -> bool:
        """Tell whether one is set."""
        return key in self._settings

    def getAll(self) -> list[tuple[str, str]]:
        """Give all."""
        return list(self._settings.items())


class Broadcast(shared_value.SharedValue):
    """A value that every worker maps, instead of getting a copy."""

    def destroy(self, blocking: object = None) -> None:
        """Drop the value."""
        self.unpersist()


class SparkContext:
    """What `init_orca_context` returns: cores and memory, and ways to make RDDs.

    Parameters
    ----------
    engine : Context
        What runs the work.
    num_slices : int
        How many partitions data gets where nobody says; more than the engine has cores
        if more were asked for.
    """

    appName = "xshards"
    startTime = 0

    def __init__(
        self, engine: Context, num_slices: int, conf: SparkConf | None = None
    ) -> None:
        self._engine = engine
        self._conf = conf or SparkConf()
        self.defaultParallelism = num_slices
        self.defaultMinPartitions = min(num_slices, 2)
        self.master = f"local[{num_slices}]"
        self.version = "3.1.3"
        self.pythonVer = f"{sys.version_info.major}.{sys.version_info.minor}"
        self.applicationId = f"local-{os.getpid()}"
        self.uiWebUrl: str | None = None
        self.environment = {"host": platform.node()}

    @classmethod
    def getOrCreate(cls, conf: SparkConf | None = None) -> SparkContext:
        """Give the active context, made if there is none."""
        from xshards.compat.orca.session import active_context

        return active_context(conf=conf)

    def parallelize(self, c: Iterable[Any], numSlices: int | None = None) -> RDD:
        """Cut a list into partitions, as Spark cuts it."""
        count = self._slices(numSlices)
        if isinstance(c, range):
            parts = [list(part) for part in _cut(c, count)]
        else:
            parts = _cut_in_batches(list(c), count)
        shards = blocks.from_elements(parts, self._engine)
        return RDD(self, lambda: shards, count)

    def range(
        self,
        start: int,
        end: int | None = None,
        step: int = 1,
        numSlices: int | None = None,
    ) -> RDD:
        """Make an RDD of numbers."""
        low, high = (0, start) if end is None else (start, end)
        return self.parallelize(range(low, high, step), numSlices)

    def emptyRDD(self) -> RDD:
        """Make an RDD without elements."""
        return self.parallelize([], 1)

    def union(self, rdds: Sequence[RDD]) -> Any:
        """Concatenate the partitions of several RDDs."""
        if not rdds:
            msg = "union needs at least one RDD"
            raise XShardsValueError(msg)
        count = sum(rdd.getNumPartitions() for rdd in rdds)
        return type(rdds[0])(
            self, lambda: blocks.join([rdd._shards() for rdd in rdds]), count
        )

    def broadcast(self, value: Any) -> Broadcast:
        """Give workers a value once, however many functions use it."""
        return Broadcast(value)

    def pickleFile(self, name: str, minPartitions: int | None = None) -> RDD:
        """Read what `RDD.saveAsPickleFile` wrote."""
        shards = XShards.load_pickle(name, context=self._engine)
        found = RDD(self, lambda: shards)
        if minPartitions is None or found.getNumPartitions() >= minPartitions:
            return found
        return found.repartition(minPartitions)

    def addPyFile(self, path: str) -> None:
        """Let this process and the workers import from a file or folder."""
        if path not in sys.path:
            sys.path.insert(1, path)

    def getConf(self) -> SparkConf:
        """Give the settings."""
        return self._conf

    def setLogLevel(self, logLevel: str) -> None:
        """Do nothing: there is no JVM whose messages are to be silenced."""

    def stop(self) -> None:
        """End the session; see `stop_orca_context`."""
        from xshards.compat.orca.session import stop_orca_context

        stop_orca_context()

    def __enter__(self) -> SparkContext:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"SparkContext(master={self.master!r}, engine={self._engine!r})"

    def _slices(self, numSlices: int | None) -> int:
        return as_count("numSlices", numSlices) or self.defaultParallelism


def _cut(items: Sequence[Any], count: int) -> list[Sequence[Any]]:
    edges = [len(items) * number // count for number in range(count + 1)]
    return [items[low:high] for low, high in pairwise(edges)]


def _cut_in_batches(items: list[Any], count: int) -> list[list[Any]]:
    # So, a list of 10 in 4 slices gives 2, 2, 2 and 4, and a range 2, 3, 2 and 3.
    size = max(1, min(len(items) // count, _MAX_BATCH))
    batches = [items[start : start + size] for start in range(0, len(items), size)]
    return [[item for batch in part for item in batch] for part in _cut(batches, count)]
