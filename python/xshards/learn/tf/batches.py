# SPDX-License-Identifier: Apache-2.0
"""Batches as Keras' steps take them: features, target and sample weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from xshards.errors import XShardsValueError

__all__ = ["as_data", "rows_of", "split_data", "weights_of_classes"]


def as_data(x: Any, y: Any, sample_weight: Any) -> Any:
    """Put a batch together as datasets give it to `train_step`."""
    if sample_weight is not None:
        return (x, y, sample_weight)
    if y is not None:
        return (x, y)
    return x if not isinstance(x, (tuple, list)) else (x,)


def split_data(data: Any) -> tuple[Any, Any, Any]:
    """Take apart what a dataset gives: features, (features, target) or with weights."""
    if isinstance(data, list):
        data = tuple(data)
    if not isinstance(data, tuple):
        return data, None, None
    if len(data) == 1:
        return data[0], None, None
    if len(data) == 2:
        return data[0], data[1], None
    if len(data) == 3:
        return data[0], data[1], data[2]
    msg = (
        "a batch is features, (features, target) or (features, target, sample "
        f"weights); got a tuple of {len(data)}"
    )
    raise XShardsValueError(msg)


def rows_of(batch: Any) -> int:
    """Return the rows of a batch: the length of its first array."""
    while isinstance(batch, (list, tuple, dict)):
        parts = list(batch.values()) if isinstance(batch, dict) else list(batch)
        batch = parts[0]
    return int(batch.shape[0])


def weights_of_classes(
    target: Any, class_weight: dict[int, float]
) -> np.ndarray[Any, Any]:
    """Return the weight of each row by its class: an index, or one of many columns."""
    values = np.asarray(target)
    if values.ndim > 1 and values.shape[-1] != 1:
        values = values.argmax(axis=-1)
    classes = np.rint(values.reshape(len(values), -1)[:, 0]).astype("int64")
    weights = np.ones(len(classes), dtype="float32")
    for number, weight in class_weight.items():
        weights[classes == int(number)] = weight
    return weights
