# SPDX-License-Identifier: Apache-2.0
"""``TFDataset``: elements that are fed to placeholders of a graph."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from xshards.compat.errors import OrcaInputError
from xshards.compat.later import not_yet
from xshards.compat.orca import session
from xshards.compat.spark import blocks
from xshards.compat.spark.rdd import RDD
from xshards.compat.tfpark.structures import (
    TensorMeta,
    features_and_target,
    flatten,
    longest_string,
    map_structure,
    metas_of,
    records_of,
    stack_rows,
)
from xshards.compat.tfpark.version_1 import use_version_1
from xshards.io.tfrecord import read_tfrecord
from xshards.learn.tf1.datasets import read_dataset
from xshards.learn.tf1.framework import tf

if TYPE_CHECKING:
    from collections.abc import Callable

    from xshards.compat.spark.spark_context import SparkContext

__all__ = ["TFDataset", "find_dataset"]

use_version_1()

# An attribute of graphs; files of a graph would have to hold a collection.
_OF_GRAPH = "_xshards_datasets"
_OWN_BATCH = 4  # rows at a time where nobody says, as Orca has it


class TFDataset:
    """Elements of nested arrays, and the placeholders that they are fed to.

    Made by the functions ``from_...``. Nothing is read before it is used.
    """

    def __init__(
        self,
        features: Any,
        labels: Any = None,
        *,
        read: Callable[[], Any],
        read_validation: Callable[[], Any] | None = None,
        batch_size: int = -1,
        batch_per_thread: int = -1,
        flat: bool = False,
        shuffle: bool = True,
    ) -> None:
        if batch_size > 0 and batch_per_thread > 0:
            msg = "batch_size and batch_per_thread should not be set simultaneously"
            raise OrcaInputError(msg)
        self.batch_size = batch_size
        self.batch_per_thread = batch_per_thread
        self.has_batch = flat or batch_size > 0 or batch_per_thread > 0
        self.shuffle = shuffle
        self._features, self._labels = features, labels
        self._flat = flat
        self._read, self._read_validation = read, read_validation
        self._made: tuple[Any, Any, Any] | None = None

    @property
    def tensors(self) -> Any:
        """The placeholders: (features, labels), or the one list of the older form."""
        features, labels = self._placeholders()
        return features if self._flat or self._labels is None else (features, labels)

    @property
    def feature_tensors(self) -> Any:
        """The placeholders of the features."""
        return self._placeholders()[0]

    @property
    def label_tensors(self) -> Any:
        """The placeholders of the labels; None without any."""
        return self._placeholders()[1]

    @property
    def rows_at_a_time(self) -> int:
        """How many rows to measure or predict at a time."""
        size = self.batch_per_thread if self.batch_per_thread > 0 else self.batch_size
        return size if size > 0 else _OWN_BATCH

    def read(self) -> Any:
        """Return shards of dicts, or arrays, with the flat features and labels."""
        return self._read()

    def read_validation(self) -> Any:
        """Return what to validate on; None without any."""
        return None if self._read_validation is None else self._read_validation()

    def _placeholders(self) -> tuple[Any, Any]:
        graph = tf.get_default_graph()
        if self._made is None or self._made[0] is not graph:
            make = partial(_placeholder, batch=self.has_batch)
            self._made = (
                graph,
                map_structure(make, self._features),
                map_structure(make, self._labels),
            )
            setattr(graph, _OF_GRAPH, [*getattr(graph, _OF_GRAPH, []), self])
        return self._made[1], self._made[2]

    @staticmethod
    def from_rdd(
        rdd: RDD,
        names: list[str] | None = None,
        shapes: list[Any] | None = None,
        types: list[Any] | None = None,
        batch_size: int = -1,
        batch_per_thread: int = -1,
        hard_code_batch_size: bool = False,  # noqa: FBT001 - as in Orca
        val_rdd: RDD | None = None,
        features: Any = None,
        labels: Any = None,
        memory_type: str = "DRAM",
        sequential_order: bool = False,  # noqa: FBT001
        shuffle: bool = True,  # noqa: FBT001
    ) -> TFDataset:
        """Take elements of an RDD.

        With `names`, `shapes` and `types` elements are lists of arrays in that order;
        with `features` and `labels`, each a (dtype, shape) or a list or a dict of them,
        elements are pairs in the same structure. `hard_code_batch_size` and
        `memory_type` have no effect.
        """
        flat = features is None
        given = _old_form(names, shapes, types) if flat else None
        used = given if flat else metas_of(features, "input", _numpy_name)
        wanted = None if flat else metas_of(labels, "label", _numpy_name)
        reader = partial(_shards_of, features=used, labels=wanted)
        return TFDataset(
            used,
            wanted,
            read=partial(reader, rdd),
            read_validation=None if val_rdd is None else partial(reader, val_rdd),
            batch_size=batch_size,
            batch_per_thread=batch_per_thread,
            flat=flat,
            shuffle=shuffle and not sequential_order,
        )

    @staticmethod
    def from_ndarrays(
        tensors: Any,
        batch_size: int = -1,
        batch_per_thread: int = -1,
        hard_code_batch_size: bool = False,  # noqa: FBT001 - as in Orca
        val_tensors: Any = None,
        memory_type: str = "DRAM",
        sequential_order: bool = False,  # noqa: FBT001
        shuffle: bool = True,  # noqa: FBT001
    ) -> TFDataset:
        """Take the rows of arrays: nested ones, or a pair of features and labels."""
        pair = isinstance(tensors, tuple) and len(tensors) == 2
        features, labels = tensors if pair else (tensors, None)
        if not pair and not isinstance(features, (list, tuple, dict)):
            features = (features,)
        count = len(flatten(features))
        names = iter(range(count + len(flatten(labels))))

        def meta(array: Any) -> TensorMeta:
            kind = np.asarray(array).dtype
            name = "float32" if kind == np.float64 else kind.name
            return TensorMeta(f"input_{next(names)}", name, np.shape(array)[1:])

        used, wanted = map_structure(meta, features), map_structure(meta, labels)
        return TFDataset(
            used,
            wanted,
            read=partial(_arrays_of, tensors, count),
            read_validation=(
                None if val_tensors is None else partial(_arrays_of, val_tensors, count)
            ),
            batch_size=batch_size,
            batch_per_thread=batch_per_thread,
            shuffle=shuffle and not sequential_order,
        )

    @staticmethod
    def from_tf_data_dataset(
        dataset: Any,
        batch_size: int = -1,
        batch_per_thread: int = -1,
        hard_code_batch_size: bool = False,  # noqa: FBT001 - as in Orca
        validation_dataset: Any = None,
        sequential_order: bool = False,  # noqa: FBT001
        shuffle: bool = True,  # noqa: FBT001
        **_: object,
    ) -> TFDataset:
        """Take the elements of a tf.data.Dataset that is not batched.

        It is read when it is first used, in this process, so that functions of Python
        and generators work. All other arguments have no effect.
        """
        spec = tf.data.get_output_types(dataset), tf.data.get_output_shapes(dataset)
        pair = isinstance(spec[0], tuple) and len(spec[0]) == 2
        kinds, shapes = (tf.nest.flatten(one) for one in spec)
        metas = [
            TensorMeta(f"zoo_input_{number}", _numpy_name(kind), tuple(shape.as_list()))
            for number, (kind, shape) in enumerate(zip(kinds, shapes, strict=True))
        ]
        packed = tf.nest.pack_sequence_as(spec[0], metas)
        features, labels = packed if pair else (packed, None)
        count = len(flatten(features))
        return TFDataset(
            features,
            labels,
            read=partial(_rows_of, dataset, count),
            read_validation=(
                None
                if validation_dataset is None
                else partial(_rows_of, validation_dataset, count)
            ),
            batch_size=batch_size,
            batch_per_thread=batch_per_thread,
            shuffle=shuffle and not sequential_order,
        )

    @staticmethod
    def from_string_rdd(
        string_rdd: RDD,
        batch_size: int = -1,
        batch_per_thread: int = -1,
        hard_code_batch_size: bool = False,  # noqa: FBT001 - as in Orca
        validation_string_rdd: RDD | None = None,
        sequential_order: bool = False,  # noqa: FBT001
        shuffle: bool = True,  # noqa: FBT001
    ) -> TFDataset:
        """Take strings: one tensor of whole strings."""
        return TFDataset.from_bytes_rdd(
            string_rdd,
            batch_size,
            batch_per_thread,
            hard_code_batch_size,
            validation_string_rdd,
            sequential_order,
            shuffle,
        )

    @staticmethod
    def from_bytes_rdd(
        bytes_rdd: RDD,
        batch_size: int = -1,
        batch_per_thread: int = -1,
        hard_code_batch_size: bool = False,  # noqa: FBT001 - as in Orca
        validation_bytes_rdd: RDD | None = None,
        sequential_order: bool = False,  # noqa: FBT001
        shuffle: bool = True,  # noqa: FBT001
    ) -> TFDataset:
        """Take bytes: one tensor of whole strings."""
        meta = TensorMeta("input", "object", ())
        reader = partial(_shards_of, features=meta, labels=None)
        return TFDataset(
            meta,
            read=partial(reader, bytes_rdd),
            read_validation=(
                None
                if validation_bytes_rdd is None
                else partial(reader, validation_bytes_rdd)
            ),
            batch_size=batch_size,
            batch_per_thread=batch_per_thread,
            shuffle=shuffle and not sequential_order,
        )

    @staticmethod
    def from_tfrecord_file(
        sc: Any,
        file_path: str,
        batch_size: int = -1,
        batch_per_thread: int = -1,
        hard_code_batch_size: bool = False,  # noqa: FBT001 - as in Orca
        validation_file_path: str | None = None,
        sequential_order: bool = False,  # noqa: FBT001
        shuffle: bool = True,  # noqa: FBT001
    ) -> TFDataset:
        """Take the records of TFRecord files, whole, as one tensor of strings.

        Paths are separated by commas; a folder stands for the files in it. Files whose
        names end in ``.gz`` are decompressed. Checksums are checked.
        """
        validation = None
        if validation_file_path is not None:
            validation = _records(sc, validation_file_path)
        return TFDataset.from_bytes_rdd(
            _records(sc, file_path),
            batch_size,
            batch_per_thread,
            hard_code_batch_size,
            validation,
            sequential_order,
            shuffle,
        )

    @staticmethod
    def from_dataframe(*_args: object, **_kwargs: object) -> NoReturn:
        """Not there yet."""
        name = "TFDataset.from_dataframe"
        raise not_yet(name, "Spark DataFrames")

    @staticmethod
    def from_image_set(*_args: object, **_kwargs: object) -> NoReturn:
        """Not there yet."""
        name = "TFDataset.from_image_set"
        raise not_yet(name, "images")


def find_dataset(tensors: list[Any]) -> TFDataset:
    """Find the dataset whose placeholders tensors depend on."""
    graph = tensors[0].graph
    names = [one.op.name for one in tensors]
    part = tf.graph_util.extract_sub_graph(graph.as_graph_def(), names)
    needed = {node.name for node in part.node}
    for dataset in getattr(graph, _OF_GRAPH, []):
        own = [one.op.name for one in flatten(list(dataset._made[1:]))]
        if needed.intersection(own):
            found: TFDataset = dataset
            return found
    msg = (
        "expected tensors that depend on a TFDataset; these do not: "
        f"{', '.join(one.name for one in tensors)}"
    )
    raise OrcaInputError(msg)


def _placeholder(meta: TensorMeta, *, batch: bool) -> Any:
    kind = tf.string if meta.dtype == "object" else meta.dtype
    shape = [None, *meta.shape] if batch else list(meta.shape)
    return tf.placeholder(kind, shape, name=meta.name)


def _numpy_name(kind: Any) -> str:
    kind = tf.as_dtype(kind)
    return "object" if kind == tf.string else np.dtype(kind.as_numpy_dtype).name


def _old_form(names: Any, shapes: Any, types: Any) -> list[TensorMeta]:
    count = max(len(one) for one in (names, shapes, types, [None]) if one is not None)
    names = names or [f"input_{number}" for number in range(count)]
    types = types or [tf.float32] * count
    if shapes is None or not len(names) == len(shapes) == len(types):
        msg = (
            "names, shapes and types describe the same tensors, so there are as many "
            f"of each; got {names}, {shapes} and {types}"
        )
        raise OrcaInputError(msg)
    return [
        TensorMeta(name, _numpy_name(kind), tuple(shape))
        for name, kind, shape in zip(names, types, shapes, strict=True)
    ]


def _shards_of(rdd: RDD, *, features: Any, labels: Any) -> Any:
    used, wanted = flatten(features), flatten(labels)
    width = 0
    if any(one.dtype == "object" for one in (*used, *wanted)):
        # Rows of shards have one shape, so strings get the room of the longest.
        rdd = rdd.cache()
        width = rdd.map(longest_string).max()
    stacked = rdd.mapPartitions(partial(stack_rows, used, wanted, width))
    return blocks.merge_alike(stacked._shards())


def _arrays_of(tensors: Any, num_features: int) -> dict[str, Any]:
    arrays = [np.asarray(one) for one in flatten(tensors)]
    return features_and_target(arrays, num_features)


def _rows_of(dataset: Any, num_features: int) -> dict[str, Any]:
    return features_and_target(read_dataset(dataset).leaves, num_features)


def _records(sc: Any, paths: str) -> RDD:
    files: list[str] = []
    for one in paths.split(","):
        path = Path(one.strip())
        files += (
            sorted(str(file) for file in path.iterdir())
            if path.is_dir()
            else [str(path)]
        )
    context: SparkContext = session.active_context() if sc is None else sc
    engine = context._engine
    return RDD(context, lambda: read_tfrecord(files, raw=True, context=engine)).flatMap(
        records_of
    )
