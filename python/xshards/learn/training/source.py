# SPDX-License-Identifier: Apache-2.0
"""Where the batches of a replica come from."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xshards.learn.training.adapter import ModelAdapter
    from xshards.runtime.worker import Settings

__all__ = [
    "Batches",
    "Feed",
    "MicroBatches",
    "RepeatedSource",
    "Share",
    "Source",
    "count_rows",
    "grouped",
]


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
#: A batch is a tuple of tensors or nested ones, the target last.
Share = tuple[int, int, Any]


class Batches(Protocol):
    """A source that is ready in a replica.

    One that cannot give batches before the updates of those before has `one_by_one`.
    """

    def shares(self, feed: Feed) -> Iterator[Share]:
        """Return this replica's share of each batch of an epoch."""


class Source(ABC):
    """Data as it is sent to replicas; descriptors of its memory travel beside."""

    #: Rows of an epoch, and batches where the source has a size of its own, to show
    #: how far an epoch is; None if that is not known.
    num_rows: ClassVar[int | None] = None
    num_batches: ClassVar[int | None] = None

    @abstractmethod
    def open(
        self, adapter: ModelAdapter, descriptors: list[int], settings: Settings
    ) -> Batches:
        """Make the data ready in a replica."""


# Visits after the first draw their order as epochs would that are never reached.
_EPOCHS = 1 << 40


@dataclass(frozen=True)
class RepeatedSource(Source):
    """Another source without an end: after its last row it begins again.

    For epochs of `num_batches`, whatever number of rows there is.
    """

    source: Source
    num_batches: int  # type: ignore[misc]

    def open(
        self, adapter: ModelAdapter, descriptors: list[int], settings: Settings
    ) -> _RepeatedBatches:
        """Make the data ready in a replica."""
        return _RepeatedBatches(self.source.open(adapter, descriptors, settings))


class _RepeatedBatches:
    """Feeds the batches of another source, again and again."""

    def __init__(self, batches: Batches) -> None:
        self._batches = batches
        self.weighted = bool(getattr(batches, "weighted", False))
        self.columns = getattr(batches, "columns", [])

    def shares(self, feed: Feed) -> Iterator[Share]:
        """Return this replica's share of each batch, without an end."""
        number = 0
        for visit in itertools.count():
            begin = number
            epoch = feed.epoch + visit * _EPOCHS
            for share in self._batches.shares(
                replace(feed, epoch=epoch, first_batch=0)
            ):
                if number >= feed.first_batch:
                    yield share
                number += 1
            if number == begin:
                return


class MicroBatches(list[Any]):
    """The batches whose gradients make one update."""


def grouped(shares: Iterator[Share], count: int) -> Iterator[Share]:
    """Put each `count` batches together, for one update; the last may have fewer."""
    while group := list(itertools.islice(shares, count)):
        own = [batch for rows, _, batch in group if rows]
        yield (
            sum(rows for rows, _, _ in group),
            sum(step_rows for _, step_rows, _ in group),
            MicroBatches(own) if own else group[0][2],
        )


def count_rows(batch: Any) -> int:
    """Return the rows of a batch: the length of the first tensor in it."""
    while isinstance(batch, (list, tuple, dict)):
        batch = next(iter(batch.values())) if isinstance(batch, dict) else batch[0]
    return len(batch)
