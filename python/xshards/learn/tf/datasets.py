# SPDX-License-Identifier: Apache-2.0
"""Datasets of TensorFlow and Keras.

The driver runs a pipeline, whatever it is made of (Python functions and generators
too), while replicas train on its batches. So each epoch sees what the pipeline draws
anew, and a replica that takes another's place sees the same batches again.
"""

from __future__ import annotations

import inspect
import itertools
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from xshards.errors import XShardsTypeError, XShardsValueError
from xshards.learn.tf.batches import rows_of, split_data
from xshards.learn.tf.packages import load_tensorflow
from xshards.shards import XShards

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["DatasetReader", "Order", "reader_of"]

_BATCHED = ("BatchDataset", "MapAndBatch", "BucketBySequence", "GroupByWindow")

Batch = tuple[Any, Any, Any]


class DatasetReader:
    """Reads the batches of one epoch after the other, as Keras does.

    An epoch of a number of steps goes on where the last one ended; one without begins
    anew.

    Parameters
    ----------
    start
        Begins to read: returns batches, each features, target and weights.
    count
        Returns how many batches there are from begin to end; None if that is not known.
    endless
        Whether they never end.
    """

    def __init__(
        self,
        start: Callable[[], Iterator[Any]],
        *,
        count: Callable[[], int | None],
        endless: bool = False,
    ) -> None:
        self._start = start
        self._count = count
        self._endless = endless
        self._going: Iterator[Batch] | None = None
        self._seen = 0  # batches since the start
        self._epoch_batches = 0  # of the last epoch
        self._short = False
        self._first: Batch | None = None
        #: Rows of the first batch.
        self.batch_size: int | None = None

    def check(self, steps: int | None) -> None:
        """Refuse an epoch that would never end."""
        if self._endless and steps is None:
            msg = (
                "the dataset is repeated without end: give fit steps_per_epoch (and "
                "validation_steps), or leave out repeat()"
            )
            raise XShardsValueError(msg)

    def first(self) -> Batch:
        """Return the first batch, which the first epoch will have."""
        if self._first is None:
            going = self._begun()
            self._first = next(going, None)
            if self._first is None:
                msg = "the dataset has no elements"
                raise XShardsValueError(msg)
            self.batch_size = rows_of(self._first)
            self._going = itertools.chain([self._first], going)
        return self._first

    def num_batches(self, steps: int | None) -> int | None:
        """Count the batches of the next epoch; None if that is not known."""
        known = None if self._endless else self._count()
        if steps is None:
            return known
        return steps if known is None else min(steps, known - self._seen)

    def epoch(self, steps: int | None) -> Iterator[Batch]:
        """Return the batches of the next epoch; reads each when it is asked for."""
        if self._going is None:
            self._going, self._seen = self._begun(), 0
        self._epoch_batches = 0
        for batch in itertools.islice(self._going, steps):
            self._seen += 1
            self._epoch_batches += 1
            yield batch
        self._short = steps is not None and self._epoch_batches < steps
        if steps is None or self._short or self._seen == self._count():
            self._going, self._seen = None, 0

    def begin_epoch(self) -> None:
        """Note that an epoch begins."""

    def end_epoch(self) -> None:
        """Note that an epoch was trained, or the model measured."""
        if self._epoch_batches == 0:
            msg = (
                "the dataset has no elements when it is read again: make its generator "
                "begin anew each time"
            )
            raise XShardsValueError(msg)
        if self._short:
            msg = (
                "the dataset ended before steps_per_epoch (or validation_steps) "
                "batches: make it repeat(), or give fewer steps"
            )
            warnings.warn(msg, stacklevel=2)
        self._short = False

    def restart(self) -> None:
        """Have the next epoch begin anew: the first of fit, or to measure."""
        if self._seen:
            self._going, self._seen = None, 0

    def _begun(self) -> Iterator[Batch]:
        parts = map(split_data, self._start())
        arrays = (tuple(map(_arrays, one)) for one in parts)
        return (one for one in arrays if rows_of(one))


class Order:
    """In which order the batches of a PyDataset are read, drawn for each epoch."""

    def __init__(self, seed: int | None) -> None:
        self._random = None if seed is None else np.random.default_rng(seed)

    def of(self, count: int) -> Iterator[int]:
        """Return the numbers below `count`; as they are without a seed."""
        if self._random is None:
            return iter(range(count))
        return iter(self._random.permutation(count).tolist())


class _SequenceReader(DatasetReader):
    """Reads a PyDataset of Keras 3 or a Sequence of legacy Keras."""

    def __init__(self, data: Any, order: Order) -> None:
        super().__init__(
            self._numbered, count=self._length, endless=_length_of(data) is None
        )
        self._data = data
        self._order = order
        self._is_legacy = "PyDataset" not in _kinds_of(data)

    def first(self) -> Batch:
        """Return a batch; like Keras, read it again when the epoch begins."""
        if self._length() == 0:
            return super().first()
        x, y, weight = split_data(self._data[0])
        self.batch_size = rows_of(_arrays(x))
        return _arrays(x), _arrays(y), _arrays(weight)

    def restart(self) -> None:
        """Tell the data too, as Keras 3 does."""
        super().restart()
        if not self._is_legacy:
            self._data.on_epoch_end()

    def begin_epoch(self) -> None:
        """Tell the data; legacy Keras does not."""
        if not self._is_legacy:
            self._data.on_epoch_begin()

    def end_epoch(self) -> None:
        """Tell the data."""
        super().end_epoch()
        self._data.on_epoch_end()

    def _length(self) -> int | None:
        return _length_of(self._data)

    def _numbered(self) -> Iterator[Any]:
        count = self._length()
        numbers = itertools.count() if count is None else self._order.of(count)
        return (self._data[number] for number in numbers)


def reader_of(
    data: Any,
    config: dict[str, Any],
    batch_size: int,
    num_dimensions: int | None,
    order: Order | None = None,
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
        return _SequenceReader(data, order or Order(None))
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
    count = int(dataset.cardinality())
    return DatasetReader(
        lambda: iter(dataset.as_numpy_iterator()),
        count=lambda: count if count >= 0 else None,
        endless=count == tensorflow.data.INFINITE_CARDINALITY,
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
    return bool(_kinds_of(data) & {"PyDataset", "Sequence"}) and not isinstance(
        data, (list, tuple, str)
    )


def _kinds_of(data: Any) -> set[str]:
    return {base.__name__ for base in type(data).__mro__}


def _length_of(data: Any) -> int | None:
    if hasattr(data, "num_batches"):
        found: int | None = data.num_batches
        return found
    return len(data)


def _arrays(value: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, dict):
        return {name: _arrays(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)) and not _is_ragged(value):
        return tuple(_arrays(part) for part in value)
    array = np.asarray(value)
    if array.dtype.kind == "O":
        kinds = {type(one).__name__ for one in array.flat}
        if kinds <= {"bytes", "str"}:
            return array
    elif array.dtype.kind in "iubSU":
        return array
    elif array.dtype.kind == "f":
        return np.asarray(array, dtype="float32")
    msg = (
        "datasets give arrays of numbers or strings to replicas; got "
        f"{type(value).__name__} of {array.dtype}: make ragged or sparse tensors dense"
    )
    raise XShardsTypeError(msg)


def _is_ragged(value: Any) -> bool:
    """Tell RaggedTensorValue and SparseTensorValue, which may be named tuples."""
    return "TensorValue" in type(value).__name__
