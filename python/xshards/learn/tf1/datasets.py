# SPDX-License-Identifier: Apache-2.0
"""The elements of a tf.data.Dataset as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from tensorflow.python.eager import context

from xshards.errors import XShardsValueError
from xshards.learn.tf1.framework import tf

__all__ = ["DatasetRows", "is_dataset", "read_dataset"]

_ROWS_A_READ = 1024


def is_dataset(data: Any) -> bool:
    """Tell a tf.data.Dataset, of version 1 or 2."""
    return isinstance(data, (tf.data.Dataset, _dataset_v2()))


def _dataset_v2() -> Any:
    import tensorflow as v2

    return v2.compat.v2.data.Dataset


class DatasetRows:
    """All elements of a dataset, stacked.

    Parameters
    ----------
    leaves
        An array for each tensor of an element, in TensorFlow's order.
    shuffled
        Whether the dataset shuffles, so that each epoch may have another order.
    """

    def __init__(self, leaves: list[np.ndarray[Any, Any]], *, shuffled: bool) -> None:
        self.leaves = leaves
        self.shuffled = shuffled

    def split(self, num_features: int) -> dict[str, list[np.ndarray[Any, Any]]]:
        """Return the first tensors as features, the others as labels."""
        return {"x": self.leaves[:num_features], "y": self.leaves[num_features:]}


def read_dataset(dataset: Any, session: Any = None) -> DatasetRows:
    """Run a pipeline once, in this process, and keep what it gives.

    Whatever it is made of works: lookup tables, generators, functions of Python.

    Parameters
    ----------
    dataset
        One that is neither batched nor repeated for ever.
    session
        Where to run it, if it was made in a graph.
    """
    dataset = getattr(dataset, "_dataset", dataset)
    _check(dataset)
    parts = [_leaves(batch) for batch in _batches(dataset, session)]
    if not parts:
        msg = "expected a dataset with elements, it has none"
        raise XShardsValueError(msg)
    leaves = [np.concatenate(same) for same in zip(*parts, strict=True)]
    return DatasetRows(leaves, shuffled=_shuffles(dataset))


def _batches(dataset: Any, session: Any) -> Any:
    graph = getattr(dataset._variant_tensor, "graph", None)
    if graph is None:
        with context.eager_mode():
            yield from dataset.batch(_ROWS_A_READ).as_numpy_iterator()
        return
    own = session is None or session.graph is not graph
    with graph.as_default():
        session = tf.Session(graph=graph) if own else session
        iterator = tf.data.make_initializable_iterator(dataset.batch(_ROWS_A_READ))
        element = iterator.get_next()
        start = [tf.tables_initializer(), iterator.initializer]
    try:
        session.run(start)
        while True:
            yield session.run(element)
    except tf.errors.OutOfRangeError:
        pass
    finally:
        if own:
            session.close()


def _leaves(value: Any) -> list[Any]:
    return [np.asarray(one) for one in tf.nest.flatten(value)]


def _check(dataset: Any) -> None:
    names = _chain(dataset)
    if names and "Batch" in names[0]:
        msg = (
            "Dataset should not be batched, please use a dataset without the batch "
            "operation and give batch_size instead"
        )
        raise XShardsValueError(msg)
    if any("Repeat" in one for one in names) and _is_endless(dataset):
        msg = (
            "Dataset should not be repeated, please use a dataset without the repeat "
            "operation and give epochs instead"
        )
        raise XShardsValueError(msg)


def _is_endless(dataset: Any) -> bool:
    while dataset is not None:
        count = getattr(dataset, "_count", None)
        if "Repeat" in type(dataset).__name__ and count is not None:
            value = tf.get_static_value(count)
            if value is None or value < 0:
                return True
        dataset = _parent(dataset)
    return False


def _shuffles(dataset: Any) -> bool:
    return any("Shuffle" in one for one in _chain(dataset))


def _chain(dataset: Any) -> list[str]:
    """Name the classes of a dataset and of those it is made from, last step first."""
    names = []
    while dataset is not None:
        names.append(type(dataset).__name__)
        dataset = _parent(dataset)
    return [one for one in names if one not in ("DatasetV1Adapter", "_OptionsDataset")]


def _parent(dataset: Any) -> Any:
    found = getattr(dataset, "_dataset", None)
    return found if found is not None else getattr(dataset, "_input_dataset", None)
