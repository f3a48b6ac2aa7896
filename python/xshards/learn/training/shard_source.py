# SPDX-License-Identifier: Apache-2.0
"""Data as a replica gets it, and the batches it makes of it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import torch

from xshards import _core
from xshards.interop.nested_arrays import nest
from xshards.learn.pytorch.loaders import LoaderBatches, LoaderSource

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xshards.runtime.worker import Settings

__all__ = ["Feed", "ShardBatches", "ShardSource", "open_source"]

_WINDOW_ROWS = 1 << 20
_PREFETCH = 4


@dataclass(frozen=True)
class Feed:
    """Which batches of an epoch a replica wants."""

    epoch: int
    batch_size: int
    shuffle: bool
    seed: int
    rank: int
    num_replicas: int
    first_batch: int = 0
    #: Give one row that does not count where there is none, instead of None.
    stand_in: bool = False


#: Rows here, rows over all replicas, and the batch (None if there are no rows here).
Share = tuple[int, int, Any]


@dataclass(frozen=True)
class ShardSource:
    """Shards that a replica maps; the descriptors of their segments travel beside."""

    content: bytes
    segments: list[tuple[int, int]]
    tensors: list[tuple[list[str], str | None]]
    #: How the arrays are nested, as JSON with 0 for an array: a pair of features and
    #: target, or a dict that has them as x and y.
    structure: str
    #: What floats become, by its name in torch; None leaves them.
    float_type: str | None


class ShardBatches:
    """Feeds the batches of shards."""

    def __init__(
        self, source: ShardSource, descriptors: list[int], settings: Settings
    ) -> None:
        segments = [
            (kind, descriptor, size)
            for (kind, size), descriptor in zip(
                source.segments, descriptors, strict=True
            )
        ]
        self._partitions = _core.BorrowedPartitions(
            pa.py_buffer(source.content),
            segments,
            settings.spill_directory,
            settings.memory_bytes,
        )
        self._tensors = source.tensors
        self._structure = json.loads(source.structure)
        self._float_type: torch.dtype | None = (
            None if source.float_type is None else getattr(torch, source.float_type)
        )
        self._feeders: dict[tuple[Any, ...], _core.Feeder] = {}

    def shares(self, feed: Feed) -> Iterator[Share]:
        """Give this replica's share of each batch of an epoch."""
        feeder = self._feeder(feed)
        feeder.start(feed.epoch, feed.first_batch)
        while (batch := feeder.next()) is not None:
            _, step_rows, arrays = batch
            rows = len(arrays[0])
            if rows == 0 and feed.stand_in:
                arrays = [np.zeros((1, *one.shape[1:]), one.dtype) for one in arrays]
            share = self._batch(arrays) if rows or feed.stand_in else None
            yield rows, step_rows, share

    def _feeder(self, feed: Feed) -> _core.Feeder:
        key = (feed.batch_size, feed.shuffle, feed.seed, feed.rank, feed.num_replicas)
        if key not in self._feeders:
            self._feeders.clear()  # each holds a window of rows
            self._feeders[key] = _core.Feeder.over(
                self._partitions,
                self._tensors,
                feed.batch_size,
                (feed.rank, feed.num_replicas),
                feed.shuffle,
                feed.seed,
                _WINDOW_ROWS,
                _PREFETCH,
            )
        return self._feeders[key]

    def _batch(self, arrays: list[Any]) -> tuple[Any, ...]:
        tensors = iter([self._tensor(array) for array in arrays])
        nested = nest(self._structure, tensors)
        if isinstance(nested, dict):
            features, target = nested["x"], nested["y"]
        else:
            features, target = nested
        if isinstance(features, (tuple, list)):
            return (*features, target)
        return (features, target)

    def _tensor(self, array: Any) -> torch.Tensor:
        # A view of stored data may not be written to; torch has no such tensors.
        tensor = torch.from_numpy(array if array.flags.writeable else array.copy())
        if self._float_type is not None and tensor.is_floating_point():
            return tensor.to(self._float_type)
        return tensor


def open_source(
    source: ShardSource | LoaderSource, descriptors: list[int], settings: Settings
) -> ShardBatches | LoaderBatches:
    """Make a source ready in a replica."""
    if isinstance(source, ShardSource):
        return ShardBatches(source, descriptors, settings)
    return LoaderBatches(source)
