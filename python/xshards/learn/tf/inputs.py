# SPDX-License-Identifier: Apache-2.0
"""What users give as data, made ready for replicas, and one row of it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from xshards import _core
from xshards.errors import XShardsTypeError, XShardsValueError
from xshards.interop.nested_arrays import array_of, nest
from xshards.learn.tf.batches import rows_of
from xshards.learn.tf.datasets import Order, reader_of
from xshards.learn.training.columns import (
    feature_columns,
    feature_types,
    label_columns,
    label_types,
)
from xshards.learn.training.inputs import Input, refuse_data, to_shards
from xshards.learn.training.shard_source import ShardSource
from xshards.learn.training.source import RepeatedSource
from xshards.learn.training.stream_source import Stream, map_arrays
from xshards.shards import XShards

if TYPE_CHECKING:
    from xshards.context import Context
    from xshards.learn.tf.datasets import DatasetReader
    from xshards.learn.tf.model import KerasModel
    from xshards.learn.training.adapter import ModelAdapter, ModelInput
    from xshards.learn.training.job import Job

__all__ = ["Columns", "Prepared", "Reading", "prepare"]

Sample = tuple[Any, Any, Any]


class Prepared:
    """Data for replicas, and one row of it."""

    #: Rows of a batch and whether to shuffle them, where the data decides that.
    batch_size: int | None = None
    shuffle: bool | None = None
    #: Whether each epoch has data of its own, to be opened before and closed after it.
    renewed = False

    def __init__(self, made: Input, sample: Sample) -> None:
        self._made = made
        self.sample = sample

    def num_batches(self, batch_size: int) -> int | None:
        """Count the batches of the next epoch; None if that is not known."""
        return self._made.num_batches(batch_size)

    def open(self) -> Input:
        """Return the data of the next epoch."""
        return self._made

    def repeat(self, steps: int | None) -> None:
        """Visit rows again until an epoch has this many batches."""
        if steps is not None:
            self._made.source = RepeatedSource(self._made.source, steps)

    def finish(self) -> None:
        """Note that an epoch was trained, or the model measured."""

    def close(self) -> None:
        """End what `open` began."""


class Streamed(Prepared):
    """A dataset, read while replicas train on it."""

    shuffle = False
    renewed = True

    def __init__(
        self, reader: DatasetReader, steps: int | None, reading: Reading
    ) -> None:
        reader.check(steps)
        self.sample = map_arrays(lambda array: array[:1].copy(), reader.first())
        self.batch_size = reader.batch_size
        self._reader = reader
        self._steps = steps
        self._reading = reading
        self._stream: Stream | None = None
        self._began = False

    def num_batches(self, batch_size: int) -> int | None:
        """Count the batches of the next epoch; None if that is not known."""
        return self._reader.num_batches(self._steps)

    def repeat(self, steps: int | None) -> None:
        """Do nothing: whoever made a dataset decides whether it repeats."""

    def open(self) -> Input:
        """Begin an epoch."""
        reading, reader = self._reading, self._reader
        if reading.measures or not self._began:
            reader.restart()
        self._began = True
        reader.begin_epoch()
        self._stream = Stream(
            reader.epoch(self._steps),
            reading.num_replicas,
            reading.folder,
            keep_all=reading.measures,
            num_batches=reader.num_batches(self._steps),
        )
        return self._stream.input()

    def finish(self) -> None:
        """End an epoch: the thread that reads, then tell the dataset."""
        self.close()
        self._reader.end_epoch()

    def close(self) -> None:
        """End the thread that reads."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None


@dataclass(frozen=True)
class Reading:
    """Who reads a dataset, and what for."""

    num_replicas: int
    #: To measure the model: from the begin each time, also by a replica that restarts.
    measures: bool
    #: Where batches are until replicas have read them.
    folder: str


class Columns:
    """The columns of DataFrames that are features, targets and weights of rows."""

    def __init__(self, features: Any, labels: Any, weights: str | None) -> None:
        self.features = features
        self.labels = labels
        self.weights = weights


def prepare(
    data: Any,
    *,
    job: Job,
    model: KerasModel,
    columns: Columns,
    batch_size: int,
    steps: int | None,
    context: Context,
    measures: bool = False,
    seed: int | None = None,
) -> Prepared:
    """Make whatever `fit` and `evaluate` take ready for replicas.

    `measures` says that the model is not trained on it; `seed` draws the order of the
    batches of a PyDataset.
    """
    adapter = job.adapter
    described = adapter.describe_input(model)
    config = job.parts.config
    order = Order(seed)
    reader = reader_of(data, config, batch_size, model.num_dimensions(), order)
    if reader is not None:
        reading = Reading(job.num_replicas, measures, context.spill_dir)
        return Streamed(reader, steps, reading)
    if isinstance(data, (tuple, list)) and len(data) == 3:
        data = {"x": data[0], "y": data[1], "sample_weight": data[2]}
    shards = to_shards(data, adapter, context)
    if shards is None:
        raise refuse_data(data, adapter)
    if shards._holds_frames():
        outputs = len(getattr(model.keras, "outputs", None) or [None])
        made = _of_frames(shards, adapter, described, columns, outputs)
    else:
        made = _of_arrays(shards, adapter, described)
        if not isinstance(data, XShards):
            made[0].num_rows = rows_of(data["x"] if isinstance(data, dict) else data)
    return Prepared(*made)


def _of_frames(
    shards: XShards,
    adapter: ModelAdapter,
    described: ModelInput,
    columns: Columns,
    num_outputs: int,
) -> tuple[Input, Sample]:
    features = feature_columns("feature_cols", columns.features, described)
    labels = _labels(columns.labels, num_outputs)
    weights = [] if columns.weights is None else [[columns.weights]]
    types = feature_types(shards, features, described)
    types += label_types(shards, labels + weights, described)
    tensors = list(zip(features + labels + weights, types, strict=True))
    parts = [_tuple(len(features)), _tuple(len(labels)), *(0 for _ in weights)]
    structure = json.dumps(["tuple", parts])
    shards = shards[sorted({name for names, _ in tensors for name in names})]
    made = _lent(shards, tensors, structure, described)
    frame = shards._run(lambda bar: shards._core.collect_first(1, bar))
    arrays = [_first_row(frame, names, kind) for names, kind in tensors]
    sample = adapter.arrange(nest(json.loads(structure), iter(arrays)))
    return made, sample


def _labels(columns: Any, num_outputs: int) -> list[list[str]]:
    """Give each output of the model its columns."""
    if num_outputs > 1 and isinstance(columns, (list, tuple)):
        if len(columns) == num_outputs:
            return [[one] if isinstance(one, str) else list(one) for one in columns]
        msg = (
            f"the model has {num_outputs} outputs: label_cols names a column, or a "
            f"list of them, for each; got {list(columns)}"
        )
        raise XShardsValueError(msg)
    return label_columns(columns)


def _tuple(length: int) -> Any:
    return 0 if length == 1 else ["tuple", [0] * length]


def _first_row(held: Any, names: list[str], kind: str | None) -> np.ndarray[Any, Any]:
    table = _with_rows(held).table().to_pandas()
    cells = [np.asarray(table[name].iloc[0]) for name in names]
    if kind is None:
        return np.stack(cells, axis=0)[None] if len(cells) > 1 else cells[0][None]
    row = np.asarray(cells, dtype=kind)
    return row if len(names) == 1 else row[None]


def _with_rows(held: Any) -> Any:
    for payloads in held:
        for payload in payloads:
            if _count_rows(payload) > 0:
                return payload
    msg = "there are no rows to work on"
    raise XShardsValueError(msg)


def _count_rows(payload: Any) -> int:
    if payload.kind != "Tensors":
        return int(payload.num_rows)
    leaves, _ = payload.tensors()
    return int(array_of(*leaves[0]).shape[0])


def _of_arrays(
    shards: XShards, adapter: ModelAdapter, described: ModelInput
) -> tuple[Input, Sample]:
    if shards._kinds() != {"Tensors"}:
        msg = (
            f"these shards hold {shards._kind_name()}; training needs DataFrames with "
            "feature_cols and label_cols, or arrays as {'x': ..., 'y': ...}"
        )
        raise XShardsTypeError(msg)
    held = shards._run(lambda bar: shards._core.collect_first(1, bar))
    leaves, text = _with_rows(held).tensors()
    structure = json.loads(text)
    match structure:
        case ["dict", _, keys] if "x" in keys:
            pass
        case ["tuple" | "list", [_, _] | [_, _, _]]:
            pass
        case _:
            msg = (
                "shards of arrays are dicts {'x': features, 'y': target} or pairs "
                f"(features, target); got {text}"
            )
            raise XShardsValueError(msg)
    made = _lent(shards, [], str(text), described)
    floats = described.float_type
    rows = [adapter.to_tensor(array_of(*one)[:1].copy(), floats) for one in leaves]
    return made, adapter.arrange(nest(structure, iter(rows)))


def _lent(
    shards: XShards,
    tensors: list[tuple[list[str], str | None]],
    structure: str,
    described: ModelInput,
) -> Input:
    lent = shards._run(lambda bar: _core.LentPartitions(shards._core, bar))
    if lent.num_rows == 0:
        msg = "there are no rows to work on"
        raise XShardsValueError(msg)
    source = ShardSource(
        content=lent.bytes.to_pybytes(),
        segments=[(kind, size) for kind, _, size in lent.segments],
        tensors=tensors,
        structure=structure,
        float_type=described.float_type,
    )
    descriptors = [descriptor for _, descriptor, _ in lent.segments]
    # Partitions of arrays do not say how many rows they have.
    return Input(
        source, descriptors, (lent, shards), lent.num_rows if tensors else None
    )
