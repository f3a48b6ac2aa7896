# SPDX-License-Identifier: Apache-2.0
"""Batches of a torch DataLoader, shared out over replicas."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Sized
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import cloudpickle
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, default_collate

from xshards.errors import XShardsTypeError
from xshards.learn.training.seeding import seed_everything
from xshards.learn.training.source import Source, count_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from xshards.learn.training.adapter import ModelAdapter
    from xshards.learn.training.source import Feed, Share
    from xshards.runtime.worker import Settings

__all__ = ["LoaderBatches", "LoaderSource", "lengths", "make_loader"]


@dataclass(frozen=True)
class LoaderSource(Source):
    """A DataLoader, a Dataset or a function that makes one, pickled."""

    content: bytes
    config: dict[str, Any]
    num_rows: int | None = None  # type: ignore[misc]
    num_batches: int | None = None  # type: ignore[misc]

    def open(
        self, adapter: ModelAdapter, descriptors: list[int], settings: Settings
    ) -> LoaderBatches:
        """Unpickle the data."""
        return LoaderBatches(self, adapter)


def make_loader(
    data: Any, config: dict[str, Any], batch_size: int, *, shuffle: bool
) -> DataLoader[Any]:
    """Return the DataLoader that data is, or that a creator makes."""
    if not isinstance(data, (DataLoader, Dataset)) and callable(data):
        data = _create(data, config, batch_size)
    if isinstance(data, DataLoader):
        return data
    if isinstance(data, IterableDataset):
        return DataLoader(data, batch_size=batch_size)
    if isinstance(data, Dataset):
        return DataLoader(data, batch_size=batch_size, shuffle=shuffle)
    msg = (
        "a data creator returns a torch DataLoader or Dataset, got "
        f"{type(data).__name__}"
    )
    raise XShardsTypeError(msg)


def lengths(data: Any) -> tuple[int | None, int | None]:
    """Count the rows and batches of an epoch, where data says so without being read."""
    if isinstance(data, Dataset):
        return (len(data) if isinstance(data, Sized) else None), None
    if not isinstance(data, DataLoader):
        return None, None
    try:
        batches = len(data)
        rows = len(data.sampler)  # type: ignore[arg-type]
    except (TypeError, NotImplementedError):
        return None, None
    # Of batches that a sampler of the user's makes only their number is known.
    size = data.batch_size
    if size is None or (data.drop_last and rows % size):
        return None, batches
    return rows, batches


def _create(
    creator: Callable[..., Any], config: dict[str, Any], batch_size: int
) -> Any:
    parameters = inspect.signature(creator).parameters.values()
    positional = [
        one
        for one in parameters
        if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
    ]
    if len(positional) >= 2 or any(
        one.kind is one.VAR_POSITIONAL for one in parameters
    ):
        return creator(config, batch_size)
    return creator(config) if positional else creator()


class LoaderBatches:
    """Each replica's share of the batches that the DataLoader would give to one.

    Of a Dataset with a length a replica loads its own rows alone: the sampler, seeded
    alike everywhere, says which rows make a batch. An iterable one is read whole by
    every replica, and each takes its rows.
    """

    def __init__(self, source: LoaderSource, adapter: ModelAdapter) -> None:
        self._adapter = adapter
        self._data = cloudpickle.loads(source.content)
        self._config = source.config

    def shares(self, feed: Feed) -> Iterator[Share]:
        """Return this replica's share of each batch of an epoch."""
        loader = make_loader(
            self._data, self._config, feed.batch_size, shuffle=feed.shuffle
        )
        # Every replica draws the same order, also after a restart.
        seed_everything(self._adapter, feed.seed, feed.epoch)
        if loader.generator is not None:
            seed = loader.generator.initial_seed() + feed.seed + feed.epoch
            loader.generator.manual_seed(seed % (1 << 63))
        sampler = loader.sampler
        if hasattr(sampler, "set_epoch"):
            sampler.set_epoch(feed.epoch)
        if isinstance(loader.dataset, IterableDataset) or loader.batch_sampler is None:
            yield from _slices(loader, feed)
        else:
            yield from _own_rows(loader, feed)


def _own_rows(loader: DataLoader[Any], feed: Feed) -> Iterator[Share]:
    assert loader.batch_sampler is not None
    batches = [list(batch) for batch in loader.batch_sampler][feed.first_batch :]
    own = [batch[slice(*_range(len(batch), feed))] for batch in batches]
    shown = [
        rows or (batch[:1] if feed.stand_in else [])
        for rows, batch in zip(own, batches, strict=True)
    ]
    workers = loader.num_workers
    reader = iter(
        DataLoader(
            loader.dataset,
            batch_sampler=[rows for rows in shown if rows],
            collate_fn=loader.collate_fn,
            num_workers=workers,
            timeout=loader.timeout,
            worker_init_fn=loader.worker_init_fn,
            multiprocessing_context=loader.multiprocessing_context,
            prefetch_factor=loader.prefetch_factor if workers else None,
        )
    )
    for batch, rows, some in zip(batches, own, shown, strict=True):
        yield len(rows), len(batch), next(reader) if some else None


def _slices(loader: DataLoader[Any], feed: Feed) -> Iterator[Share]:
    for batch in itertools.islice(loader, feed.first_batch, None):
        rows = count_rows(batch)
        begin, end = _range(rows, feed)
        share = None
        if end > begin:
            share = _cut(batch, begin, end)
        elif feed.stand_in:
            share = _cut(batch, 0, 1)
        yield end - begin, rows, share


def _range(rows: int, feed: Feed) -> tuple[int, int]:
    return (
        rows * feed.rank // feed.num_replicas,
        rows * (feed.rank + 1) // feed.num_replicas,
    )


def _cut(batch: Any, begin: int, end: int) -> Any:
    if isinstance(batch, torch.Tensor):
        return batch[begin:end]
    if isinstance(batch, dict):
        return {name: _cut(part, begin, end) for name, part in batch.items()}
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*(_cut(part, begin, end) for part in batch))
    if isinstance(batch, (list, tuple)):
        if batch and not isinstance(batch[0], (torch.Tensor, dict, list, tuple)):
            return batch[begin:end]  # strings and the like, one per row
        return type(batch)(_cut(part, begin, end) for part in batch)
    return default_collate(list(batch)[begin:end])
