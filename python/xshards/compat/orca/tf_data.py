# SPDX-License-Identifier: Apache-2.0
"""``orca.data.tf.data``: rows of shards as TensorFlow's functions change them."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from xshards.compat.errors import OrcaAssertionError, OrcaTypeError
from xshards.compat.orca import session
from xshards.compat.orca.shard_base import DATA_FRAME, frames_of
from xshards.compat.orca.spark_xshards import SparkXShards
from xshards.compat.spark import blocks
from xshards.compat.spark.rdd import RDD
from xshards.shards import XShards

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Dataset"]

_VERSION_1 = "xshards.compat.tfpark.version_1"


class Dataset:
    """The rows of shards of arrays, and functions of TensorFlow to call on each.

    Estimators of TensorFlow take it. The functions run in worker processes, on the rows
    of each shard by ``tf.data``, when the rows are needed.

    Parameters
    ----------
    xshards : SparkXShards
        Arrays, nested in any way.
    functions : sequence of functions
        Called one after the other.
    """

    def __init__(
        self, xshards: Any, functions: Sequence[Callable[..., Any]] = ()
    ) -> None:
        if not isinstance(xshards, SparkXShards):
            msg = (
                "only datasets backed by a SparkXShards are supported, got "
                f"{type(xshards).__name__}"
            )
            raise OrcaTypeError(msg)
        self.xshards = xshards
        self._functions = tuple(functions)

    @staticmethod
    def from_tensor_slices(xshards: SparkXShards) -> Dataset:
        """Take the rows of shards of arrays, nested in any way.

        Examples
        --------
        >>> from xshards.compat.exports.nncontext import init_spark_on_local
        >>> from xshards.compat.exports.data import XShards
        >>> sc = init_spark_on_local(cores=2)
        >>> shards = XShards.partition({"user": np.arange(4)}, num_shards=2)
        >>> dataset = Dataset.from_tensor_slices(shards)
        >>> dataset.get_xshards().collect()
        [{'user': array([0, 1])}, {'user': array([2, 3])}]
        >>> sc.stop()
        """
        return Dataset(xshards)

    @staticmethod
    def from_feature_table(tbl: Any) -> Dataset:
        """Take the rows of a table, as dicts of its columns.

        Parameters
        ----------
        tbl
            A FeatureTable of Friesian: its attribute ``df`` has a DataFrame of pandas
            or shards of DataFrames.
        """
        frame = getattr(tbl, "df", None)
        if isinstance(frame, pd.DataFrame):
            context = session.active_context()
            from xshards.io.memory import from_pandas

            count = context.defaultParallelism
            frame = from_pandas(frame, num_partitions=count, context=context._engine)
        elif isinstance(frame, SparkXShards) and frame._get_class_name() == DATA_FRAME:
            frame = frames_of(frame.rdd)
        if not isinstance(frame, XShards):
            msg = (
                "Only Friesian FeatureTable is supported, one whose df is a DataFrame "
                f"of pandas or shards of such; got {type(tbl).__name__}"
            )
            raise OrcaAssertionError(msg)
        context = session.active_context()
        columns = RDD(context, lambda: frame, frame.num_partitions()).map(_columns)
        return Dataset(SparkXShards(columns, transient=True))

    def map(self, map_func: Callable[..., Any]) -> Dataset:
        """Call a function on each row, which it gets as tensors in their structure."""
        return Dataset(self.xshards, (*self._functions, map_func))

    def get_xshards(self) -> SparkXShards:
        """Return the rows as shards of arrays, computed when they are needed."""
        if not self._functions:
            return self.xshards
        return SparkXShards(self._rdd(), transient=True)

    def _shards(self, arrange: Callable[[Any], Any]) -> XShards:
        """Return the engine's shards of the rows, in the structure `arrange` makes."""
        return blocks.merge_alike(self._rdd().map(arrange)._shards())

    def _rdd(self) -> RDD:
        if not self._functions:
            return self.xshards.rdd
        version_1 = bool(getattr(sys.modules.get(_VERSION_1), "_done", False))
        step = partial(_mapped, self._functions, version_1)
        return self.xshards.rdd._then(step, *self._functions)


def _columns(frame: pd.DataFrame) -> dict[str, Any]:
    return {str(name): frame[name].to_numpy() for name in frame.columns}


def _mapped(
    functions: Sequence[Callable[..., Any]],
    version_1: bool,  # noqa: FBT001 - a step has no keywords
    _partition: int,
    elements: Any,
) -> Any:
    """Call functions on the rows of elements, by TensorFlow, in a worker."""
    if version_1:
        # The functions use the names that `import tensorflow` gives the script.
        from xshards.compat.tfpark.version_1 import use_version_1

        use_version_1()
    import tensorflow
    from tensorflow.python.eager import context

    for element in elements:
        with context.eager_mode():
            dataset = tensorflow.compat.v2.data.Dataset.from_tensor_slices(
                _without_lists(element)
            )
            rows = int(dataset.cardinality())
            for function in functions:
                dataset = dataset.map(function)
            if rows:
                yield next(dataset.batch(rows).as_numpy_iterator())


def _without_lists(value: Any) -> Any:
    """Make tuples of lists, which TensorFlow would make one tensor of."""
    if isinstance(value, dict):
        return {name: _without_lists(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return tuple(_without_lists(part) for part in value)
    return value


def as_features_and_target(element: Any, *, whole: bool) -> dict[str, Any]:
    """Arrange arrays as Keras' steps take them.

    Parameters
    ----------
    element
        (features, target), with weights of rows or not, or a dict with "x" and "y";
        anything else is features.
    whole
        Whether a dict is given to the model as it is, for its own `train_step`.
    """
    if isinstance(element, (list, tuple)) and len(element) in (2, 3):
        return dict(zip(("x", "y", "sample_weight"), element, strict=False))
    if isinstance(element, dict) and "x" in element and not whole:
        return element
    return {"x": element}


def flat_leaves(element: Any, num_features: int) -> dict[str, Any]:
    """Arrange arrays for the placeholders of a graph: first the inputs, then labels."""
    leaves = _leaves(element)
    features = tuple(leaves[:num_features])
    made = {"x": features if len(features) > 1 else features[0]}
    labels = tuple(leaves[num_features:])
    if labels:
        made["y"] = labels if len(labels) > 1 else labels[0]
    return made


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for name in sorted(value) for leaf in _leaves(value[name])]
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in _leaves(part)]
    return [value]
