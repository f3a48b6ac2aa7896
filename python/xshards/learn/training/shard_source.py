# SPDX-License-Identifier: Apache-2.0
"""Data as a replica gets it, and the batches it makes of it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from xshards import _core
from xshards.interop.nested_arrays import count_leaves, nest
from xshards.learn.row_weights import WeightedBatch, sample_weights
from xshards.learn.training.source import Feed, Share, Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xshards.learn.training.adapter import ModelAdapter
    from xshards.runtime.worker import Settings

__all__ = ["SAMPLE_WEIGHT", "ShardBatches", "ShardSource", "take_weights"]

#: What the weights of rows are called, where features are x and targets y.
SAMPLE_WEIGHT = "sample_weight"

_WINDOW_ROWS = 1 << 20
_PREFETCH = 4


@dataclass(frozen=True)
class ShardSource(Source):
    """Shards that a replica maps; the descriptors of their segments travel beside."""

    content: bytes
    segments: list[tuple[int, int]]
    tensors: list[tuple[list[str], str | None]]
    #: How the arrays are nested, as JSON with 0 for an array: a pair of features and
    #: target, or a dict that has them as x and y.
    structure: str
    #: What floats become; None leaves them.
    float_type: str | None
    #: Whether rows have weights: the last array of all, or one beside x and y.
    weighted: bool = False

    def open(
        self, adapter: ModelAdapter, descriptors: list[int], settings: Settings
    ) -> ShardBatches:
        """Map the shards."""
        return ShardBatches(self, adapter, descriptors, settings)


class ShardBatches:
    """Feeds the batches of shards."""

    def __init__(
        self,
        source: ShardSource,
        adapter: ModelAdapter,
        descriptors: list[int],
        settings: Settings,
    ) -> None:
        self._adapter = adapter
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
        self._structure, self._weights_at = json.loads(source.structure), -1
        if source.weighted and not source.tensors:
            self._structure, self._weights_at = take_weights(self._structure)
        self._float_type = source.float_type
        self.weighted = source.weighted
        self.columns = [names for names, _ in source.tensors]
        self._feeders: dict[tuple[Any, ...], _core.Feeder] = {}

    def shares(self, feed: Feed) -> Iterator[Share]:
        """Return this replica's share of each batch of an epoch."""
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

    def _batch(self, arrays: list[Any]) -> Any:
        if not self.weighted:
            return self._tensors_of(arrays)
        weights = sample_weights(arrays[self._weights_at])
        others = [*arrays]
        del others[self._weights_at]
        return WeightedBatch(self._tensors_of(others), weights)

    def _tensors_of(self, arrays: list[Any]) -> Any:
        make, kind = self._adapter.to_tensor, self._float_type
        tensors = iter([make(array, kind) for array in arrays])
        return self._adapter.arrange(nest(self._structure, tensors))


def take_weights(structure: Any) -> tuple[Any, int]:
    """Leave the weights out of nested arrays; returns where they are among all."""
    kind, parts, *keys = structure
    place = keys[0].index(SAMPLE_WEIGHT) if kind == "dict" else 2
    before = sum(count_leaves(part) for part in parts[:place])
    rest = [part for number, part in enumerate(parts) if number != place]
    names = [[name for name in keys[0] if name != SAMPLE_WEIGHT]] if keys else []
    return [kind, rest, *names], before
