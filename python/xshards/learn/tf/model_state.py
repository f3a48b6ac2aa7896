# SPDX-License-Identifier: Apache-2.0
"""The state of a Keras model that gradients do not change, as three flat arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from xshards.learn.tf.seeding import generator_states
from xshards.learn.training.adapter import Buffers

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["ModelState"]


class ModelState(Buffers):
    """Reads and writes statistics, other variables and the state of metrics.

    The first array has the float32 variables (the statistics of BatchNormalization),
    which may be averaged over replicas; the second the bytes of all others (seeds,
    counters), the third those of metrics.
    """

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model
        found = [one for one in model.non_trainable_variables if _has_numbers(one)]
        found += generator_states(model)
        self.floats = [one for one in found if _dtype(one) == np.float32]
        self.others = [one for one in found if _dtype(one) != np.float32]
        self.metrics = [one for one in metric_variables(model) if _has_numbers(one)]
        #: What the last step returned; None if variables were changed since.
        self.latest: list[np.ndarray[Any, Any]] | None = None

    def read(self) -> list[np.ndarray[Any, Any]]:
        """Return the three arrays."""
        if self.latest is None:
            floats = [one.numpy().reshape(-1) for one in self.floats]
            self.latest = [
                np.concatenate(floats) if floats else np.empty(0, np.float32),
                _to_bytes(self.others),
                _to_bytes(self.metrics),
            ]
        return list(self.latest)

    def write(self, values: Sequence[Any]) -> None:
        """Give the variables what `read` returned."""
        floats, others, metrics = values
        begin = 0
        for variable in self.floats:
            size = int(np.prod(variable.shape, dtype=int))
            part = floats[begin : begin + size].reshape(tuple(variable.shape))
            variable.assign(part)
            begin += size
        _from_bytes(self.others, others)
        _from_bytes(self.metrics, metrics)
        self.latest = None

    def write_metrics(self, content: np.ndarray[Any, Any]) -> None:
        """Give the metrics the state that `read` had as its third array."""
        _from_bytes(self.metrics, content)
        self.latest = None

    def merged(
        self,
        states: Sequence[np.ndarray[Any, Any]],
        initial: np.ndarray[Any, Any],
    ) -> np.ndarray[Any, Any]:
        """Put the metrics of replicas together, as if one had seen all rows.

        Variables of metrics add up over rows; what no row changes stays as it was.
        """
        first = _split(self.metrics, initial)
        parts = [_split(self.metrics, state) for state in states]
        total = []
        for index, begin in enumerate(first):
            if begin.dtype.kind == "b":
                total.append(np.logical_or.reduce([part[index] for part in parts]))
                continue
            changes = [part[index] - begin for part in parts]
            total.append((begin + np.sum(changes, axis=0)).astype(begin.dtype))
        return _join(total)

    def in_graph(self) -> tuple[Any, Any, Any]:
        """Return the three arrays as tensors, in a function that is traced."""
        import tensorflow as tf

        floats = [tf.reshape(tf.convert_to_tensor(one), [-1]) for one in self.floats]
        return (
            tf.concat(floats, 0) if floats else tf.zeros([0]),
            _bytes_in_graph(tf, self.others),
            _bytes_in_graph(tf, self.metrics),
        )


def metric_variables(model: Any) -> list[Any]:
    """Return the variables of all metrics that a model has."""
    if hasattr(model, "metrics_variables"):
        return list(model.metrics_variables)
    return [one for metric in model.metrics for one in metric.variables]


def _dtype(variable: Any) -> np.dtype[Any]:
    kind: np.dtype[Any] = np.dtype(
        getattr(variable.dtype, "as_numpy_dtype", variable.dtype)
    )
    return kind


def _has_numbers(variable: Any) -> bool:
    try:
        return _dtype(variable).kind in "fiub"
    except TypeError:
        return False


def _join(arrays: Sequence[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    return np.frombuffer(b"".join(one.tobytes() for one in arrays), np.uint8).copy()


def _to_bytes(variables: Sequence[Any]) -> np.ndarray[Any, Any]:
    return _join([np.asarray(one.numpy()) for one in variables])


def _split(
    variables: Sequence[Any], content: np.ndarray[Any, Any]
) -> list[np.ndarray[Any, Any]]:
    raw, begin, parts = content.tobytes(), 0, []
    for variable in variables:
        kind = _dtype(variable)
        size = int(np.prod(variable.shape, dtype=int)) * kind.itemsize
        values = np.frombuffer(raw[begin : begin + size], kind)
        parts.append(values.reshape(tuple(variable.shape)))
        begin += size
    return parts


def _from_bytes(variables: Sequence[Any], content: np.ndarray[Any, Any]) -> None:
    for variable, values in zip(variables, _split(variables, content), strict=True):
        variable.assign(values)


def _bytes_in_graph(tf: Any, variables: Sequence[Any]) -> Any:
    parts = []
    for variable in variables:
        tensor = tf.convert_to_tensor(variable)
        if tensor.dtype == tf.bool:
            tensor = tf.cast(tensor, tf.uint8)
        if tensor.dtype != tf.uint8:
            tensor = tf.bitcast(tensor, tf.uint8)
        parts.append(tf.reshape(tensor, [-1]))
    return tf.concat(parts, 0) if parts else tf.zeros([0], tf.uint8)
