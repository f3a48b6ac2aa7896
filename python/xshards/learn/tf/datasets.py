# SPDX-License-Identifier: Apache-2.0
"""Datasets of TensorFlow and Keras.

The driver runs a pipeline once an epoch, whatever it is made of (Python functions and
generators too), and replicas share its batches. So each epoch sees what the pipeline
draws anew, and a replica that takes another's place sees the same batches again.
"""

from __future__ import annotations

import inspect
import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from xshards.errors import XShardsTypeError, XShardsValueError
from xshards.learn.tf.batches import rows_of, split_data
from xshards.learn.tf.packages import load_tensorflow
from xshards.shards import XShards

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["DatasetReader", "reader_of"]

_BATCHED = ("BatchDataset", "MapAndBatch", "BucketBySequence", "GroupByWindow")


class DatasetReader:
    """Reads the batches of an epoch after the other.

    Parameters
    ----------
    batches
        Starts an epoch: returns its batches, each features, target and weights.
    endless
        Whether the batches of one epoch never end: then the next goes on with them.
    batch_size
        Rows of a batch, if the dataset says so.
    """

    def __init__(
        self,
        batches: Callable[[], Iterator[Any]],
        *,
        endless: bool,
        batch_size: int | None,
    ) -> None:
        self._batches = batches
        self._endless = endless
        self._going: Iterator[Any] | None = None
        self.batch_size = batch_size

    def read(self, steps: int | None) -> dict[str, Any]:
        """Return the arrays of an epoch, or of its first steps."""
        if self._endless and steps is None:
            msg = (
                "the dataset is repeated without end: give fit steps_per_epoch (and "
                "validation_steps), or leave out repeat()"
            )
            raise XShardsValueError(msg)
        if self._going is None or not self._endless:
            self._going = self._batches()
        parts = [split_data(one) for one in itertools.islice(self._going, steps)]
        if not parts:
            msg = "the dataset has no elements"
            raise XShardsValueError(msg)
        self.batch_size = rows_of(parts[0])
        names = ("x", "y", "sample_weight")
        return {
            name: _joined([part[index] for part in parts])
            for index, name in enumerate(names)
            if parts[0][index] is not None
        }


def reader_of(
    data: Any, config: dict[str, Any], batch_size: int, num_dimensions: int | None
) -> DatasetReader | None:
    """Return a reader for a dataset or a function that makes one; None for others.

    `num_dimensions` are those of the model's first input, with that of rows.
    """
    if _is_creator(data):
        data = _created(data, config, batch_size)
        if reader_of(data, config, batch_size, num_dimensions) is None:
            msg = (
                "a data creator returns a tf.data.Dataset or a Keras PyDataset, got "
                f"{type(data).__name__}"
            )
            raise XShardsTypeError(msg)
    tensorflow = load_tensorflow()
    if isinstance(data, tensorflow.data.Dataset):
        return _of_dataset(tensorflow, data, batch_size, num_dimensions)
    if _is_sequence(data):
        return _of_sequence(data)
    return None


def _is_creator(data: Any) -> bool:
    return callable(data) and not isinstance(data, (XShards, type))


def _created(creator: Any, config: dict[str, Any], batch_size: int) -> Any:
    parameters = inspect.signature(creator).parameters.values()
    positional = [
        one
        for one in parameters
        if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
    ]
    several = any(one.kind is one.VAR_POSITIONAL for one in parameters)
    if len(positional) >= 2 or several:
        return creator(config, batch_size)
    return creator(config) if positional else creator()


def _of_dataset(
    tensorflow: Any, dataset: Any, batch_size: int, num_dimensions: int | None
) -> DatasetReader:
    if not _is_batched(tensorflow, dataset, num_dimensions):
        dataset = dataset.batch(batch_size)
    endless = int(dataset.cardinality()) == tensorflow.data.INFINITE_CARDINALITY
    return DatasetReader(
        lambda: iter(dataset.as_numpy_iterator()), endless=endless, batch_size=None
    )


def _is_batched(tensorflow: Any, dataset: Any, num_dimensions: int | None) -> bool:
    first = tensorflow.nest.flatten(split_data(dataset.element_spec)[0])[0]
    if num_dimensions is not None and first.shape.rank is not None:
        return bool(first.shape.rank >= num_dimensions)
    if first.shape.rank == 0:
        return False
    return any(
        any(part in type(one).__name__ for part in _BATCHED) for one in _chain(dataset)
    )


def _chain(dataset: Any) -> Iterator[Any]:
    """Return a dataset and those it was made of, as long as there is one of them."""
    while dataset is not None:
        yield dataset
        if "Unbatch" in type(dataset).__name__ or "FlatMap" in type(dataset).__name__:
            return
        inputs = dataset._inputs()
        dataset = inputs[0] if len(inputs) == 1 else None


def _is_sequence(data: Any) -> bool:
    kinds = {base.__name__ for base in type(data).__mro__}
    return bool(kinds & {"PyDataset", "Sequence"}) and not isinstance(
        data, (list, tuple, str)
    )


def _of_sequence(data: Any) -> DatasetReader:
    count = getattr(data, "num_batches", None)
    number = len(data) if count is None else count
    endless = number is None

    def batches() -> Iterator[Any]:
        numbers = itertools.count() if endless else range(number)
        for index in numbers:
            yield data[index]
        data.on_epoch_end()

    return DatasetReader(batches, endless=endless, batch_size=None)


def _joined(parts: list[Any]) -> Any:
    first = parts[0]
    if isinstance(first, dict):
        return {name: _joined([part[name] for part in parts]) for name in first}
    if isinstance(first, (list, tuple)):
        return tuple(_joined(list(same)) for same in zip(*parts, strict=True))
    arrays = [np.asarray(part) for part in parts]
    if arrays[0].dtype.kind not in "fiub":
        msg = (
            "datasets give arrays of numbers to replicas; got "
            f"{type(first).__name__} of {arrays[0].dtype}"
        )
        raise XShardsTypeError(msg)
    return np.concatenate(arrays)
