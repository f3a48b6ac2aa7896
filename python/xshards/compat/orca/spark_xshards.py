# SPDX-License-Identifier: Apache-2.0
"""Orca's XShards and SparkXShards: elements in partitions, computed when made."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

import xshards
from xshards.compat.errors import OrcaInputError, OrcaTypeError
from xshards.compat.orca import session
from xshards.compat.orca.frame_shards import FrameShards
from xshards.compat.orca.orca_context import OrcaContext
from xshards.compat.orca.shard_base import DATA_FRAME, SERIES, class_name_of, is_native
from xshards.compat.spark import blocks
from xshards.compat.spark.rdd import RDD

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["SparkXShards", "XShards"]

_UNEVEN = (
    "The two SparkXShards should have the same number of elements in each partition"
)

# Classes that `repartition` splits; elements of other classes move as a whole.
_CUT_ANEW = ("builtins.list", "builtins.dict", "builtins.tuple", "numpy.ndarray")


class XShards:
    """Ways to make shards; what they return are `SparkXShards`."""

    def transform_shard(self, func: Callable[..., Any], *args: Any) -> XShards:
        """Call a function on every element."""
        raise NotImplementedError

    def collect(self) -> list[Any]:
        """Gather all elements."""
        raise NotImplementedError

    def num_partitions(self) -> int:
        """Count the partitions."""
        raise NotImplementedError

    @staticmethod
    def partition(data: Any, num_shards: int | None = None) -> SparkXShards:
        """Cut arrays, alone or nested in dicts, lists and tuples, into shards.

        Parameters
        ----------
        data : ndarray, or dict, list or tuple of ndarrays
            All of one length; cut as ``numpy.array_split`` does.
        num_shards : int, optional
            How many; by default as many as cores were asked for, if there is data for
            them.

        Examples
        --------
        >>> XShards.partition({"x": np.arange(4)}, num_shards=2).collect()
        [{'x': array([0, 1])}, {'x': array([2, 3])}]
        """
        context = session.active_context()
        if num_shards is None:
            num_shards = max(1, min(context.defaultParallelism, _length(data)))
        shards = xshards.partition(data, num_shards, context=context._engine)
        return SparkXShards(RDD(context, lambda: shards, num_shards))

    @classmethod
    def load_pickle(cls, path: str, minPartitions: int | None = None) -> SparkXShards:
        """Load what `SparkXShards.save_pickle` wrote."""
        context = session.active_context()
        return SparkXShards(context.pickleFile(path, minPartitions))


class SparkXShards(FrameShards, XShards):
    """Elements of any kind in partitions: DataFrames, arrays, dicts, whatever.

    In eager mode, the default, shards are computed and kept as soon as they are made,
    and those they were made from are no longer kept, unless `cache` was called on them.

    Parameters
    ----------
    rdd : RDD
        The elements.
    transient : bool
        Neither compute nor keep them.
    class_name : str, optional
        The class of the elements, if it is known.

    Examples
    --------
    >>> from xshards.compat.exports.nncontext import init_spark_on_local
    >>> sc = init_spark_on_local(cores=2)
    >>> shards = SparkXShards(sc.parallelize([1, 2, 3]))
    >>> shards.transform_shard(lambda x, by: x * by, 10).collect()
    [10, 20, 30]
    >>> shards.is_cached()
    False
    >>> sc.stop()
    """

    def __init__(
        self,
        rdd: RDD,
        transient: bool = False,  # noqa: FBT001 - as in Orca
        class_name: str | None = None,
    ) -> None:
        self.rdd = rdd
        self.user_caching = rdd.is_cached
        self.type: dict[str, Any] = {}
        if class_name:
            self.type["class_name"] = class_name
        self.eager = not transient and OrcaContext._eager_mode
        self.is_lazy = not self.eager
        if not transient:
            rdd.cache()
        if self.eager:
            self.compute()

    @classmethod
    def lazy(cls, rdd: RDD, class_name: str | None = None) -> SparkXShards:
        """Make shards that are computed when asked for, as are those made of them."""
        return cls(rdd, transient=True, class_name=class_name).to_lazy()

    def to_lazy(self) -> SparkXShards:
        """From now on, make shards of these lazily. What is kept stays kept."""
        self.eager = False
        self.is_lazy = True
        self.user_caching = True
        return self

    def transform_shard(self, func: Callable[..., Any], *args: Any) -> SparkXShards:
        """Call a function on every element, in worker processes.

        What it gets is a copy: changes in place do not reach these shards.
        """
        step = partial(_transform, func, args)
        transformed = self._create(self.rdd._then(step, func))
        self._uncache()
        return transformed

    def repartition(self, num_partitions: int) -> SparkXShards:
        """Spread the data evenly over partitions, keeping its order.

        Rows of DataFrames, of arrays and of dicts of arrays and items of lists are
        spread, one element a partition; other elements move whole.
        """
        name = self._get_class_name()
        if name == DATA_FRAME:
            spread = self._of(lambda rows: rows.repartition(num_partitions))
        elif name in _CUT_ANEW:
            rdd = self.rdd
            cut = RDD(
                rdd.context,
                lambda: blocks.merge_alike(rdd._shards()).repartition(num_partitions),
            )
            spread = self._create(cut)
        else:
            spread = self._create(self.rdd.repartition(num_partitions), name)
        self._uncache()
        return spread

    def split(self) -> list[SparkXShards]:
        """Take elements that are lists or tuples of one length apart."""
        lengths = set(self.rdd.map(_parts).collect())
        if len(lengths) > 1:
            msg = (
                "Cannot split this XShards because its partitions have different "
                f"split length: {sorted(lengths)}"
            )
            raise OrcaInputError(msg)
        length = lengths.pop() if lengths else 1
        if length <= 1:
            return [self]
        parts = [
            self._create(self.rdd.map(partial(_item, position)))
            for position in range(length)
        ]
        self._uncache()
        return parts

    def zip(self, other: Any) -> SparkXShards:
        """Pair elements with those of other shards, as tuples."""
        if not isinstance(other, SparkXShards):
            msg = f"other should be a SparkXShards, got {type(other).__name__}"
            raise OrcaTypeError(msg)
        mine, others = self.num_partitions(), other.num_partitions()
        if mine != others:
            msg = (
                "The two SparkXShards should have the same number of partitions, got "
                f"{mine} and {others}"
            )
            raise OrcaInputError(msg)
        zipped = self._create(self.rdd._zip(other.rdd, _UNEVEN))
        other._uncache()
        self._uncache()
        return zipped

    def stack_feature_labels(self) -> SparkXShards:
        """Stack elements that are (feature, label) pairs to one dict a partition."""
        if self._get_class_name() != "builtins.tuple":
            msg = (
                "Currently only support stack_feature_labels() on XShards of tuple of "
                f"features and labels, not of {self._get_class_name()}"
            )
            raise OrcaTypeError(msg)
        return self._create(self.rdd.mapPartitions(_stack_pairs))

    def __getitem__(self, key: Any) -> SparkXShards:
        if isinstance(key, str) and self._has_column(key):
            rdd = self.rdd
            column = RDD(rdd.context, lambda: rdd._shards()[key])
            column._native = True
            return SparkXShards(column, transient=True, class_name=SERIES)
        step = partial(_select, key)
        return SparkXShards(self.rdd._then(step), transient=True)

    def _has_column(self, key: str) -> bool:
        if not is_native(self.rdd) or self._get_class_name() != DATA_FRAME:
            return False
        return key in self.rdd._shards().columns

    def __len__(self) -> int:
        if is_native(self.rdd):
            return self.rdd._shards().count()
        return sum(self.rdd.map(_length_of).collect())

    def __bool__(self) -> bool:
        # Without this, bool() would count rows.
        return True

    def _for_each(self, func: Callable[..., Any], *args: Any, **kwargs: Any) -> RDD:
        """Call a function on every element; an exception is returned as a value."""
        step = partial(_attempt, func, args, kwargs)
        return self.rdd._then(step, func)

    def __del__(self) -> None:
        # An instance whose constructor failed has no rdd.
        if "rdd" in vars(self):
            self._uncache()


def _length(data: Any) -> int:
    if isinstance(data, dict):
        data = list(data.values())
    if isinstance(data, list | tuple) and data and _is_nested(data):
        return _length(data[0])
    return len(data) if hasattr(data, "__len__") else 1


def _is_nested(data: list[Any] | tuple[Any, ...]) -> bool:
    return isinstance(data, tuple) or isinstance(
        data[0], np.ndarray | pd.DataFrame | pd.Series | dict | list | tuple
    )


def _transform(
    function: Callable[..., Any], args: tuple[Any, ...], _partition: int, elements: Any
) -> Any:
    return (function(element, *args) for element in elements)


def _attempt(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    _partition: int,
    elements: Any,
) -> Any:
    for element in elements:
        try:
            yield function(element, *args, **kwargs)
        except Exception as error:  # this one is the result
            yield error


def _parts(element: Any) -> int:
    return len(element) if isinstance(element, list | tuple) else 1


def _item(position: int, element: Any) -> Any:
    return element[position]


def _length_of(element: Any) -> int:
    return len(element) if hasattr(element, "__len__") else 1


def _select(key: Any, partition: int, elements: Any) -> Any:
    for element in elements:
        if not hasattr(element, "__getitem__"):
            msg = (
                "No selection operation available for this XShards: partition "
                f"{partition} holds a {class_name_of(element)}"
            )
            raise OrcaTypeError(msg)
        try:
            selected = element[key]
        except Exception as error:
            msg = (
                f"Invalid key for this XShards: {key!r} of a {class_name_of(element)} "
                f"in partition {partition}"
            )
            raise OrcaInputError(msg) from error
        yield selected


def _stack_pairs(elements: Any) -> list[dict[str, Any]]:
    pairs = list(elements)
    features = np.array([pair[0] for pair in pairs]).astype(np.float32)
    labels = np.array([pair[1] for pair in pairs]).astype(np.float32)
    return [{"x": features, "y": labels}] if pairs else []
