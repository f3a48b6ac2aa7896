# SPDX-License-Identifier: Apache-2.0
"""The metrics that Keras itself does not have, on arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from xshards.errors import XShardsTypeError, XShardsValueError

__all__ = ["ConfusionMatrix"]

Array = np.ndarray[Any, Any]


class ConfusionMatrix:
    """How often rows of each class, down, are predicted to be of each, across.

    Targets are class indices, or one-hot rows where predictions are scores of several
    classes.

    Examples
    --------
    >>> from xshards.learn.tf.metrics import ConfusionMatrix
    >>> matrix = ConfusionMatrix()
    >>> matrix(np.array([[0.9, 0.1, 0], [0.2, 0.8, 0]]), np.array([0, 0]))
    >>> matrix.compute().tolist()
    [[1, 1, 0], [0, 0, 0], [0, 0, 0]]
    """

    _counts: Array

    def __init__(self) -> None:
        self.reset()

    def __call__(self, preds: Any, targets: Any) -> None:
        """Add a batch."""
        size, predicted, true = _classes(preds, targets)
        size = max([size, *(predicted + 1), *(true + 1)])
        pairs = np.bincount(true * size + predicted, minlength=size * size)
        self.merge(pairs.reshape(size, size))

    def compute(self) -> Array:
        """Return the counts."""
        return self._counts.copy()

    def state(self) -> Array:
        """Return all that another one needs to go on."""
        return self._counts

    def merge(self, state: Array) -> None:
        """Add what another one has seen."""
        size = max(len(state), len(self._counts))
        self._counts = _square(self._counts, size) + _square(state, size)

    def reset(self) -> None:
        """Forget what was added."""
        self._counts = np.zeros((0, 0), dtype=np.int64)


def _classes(preds: Any, targets: Any) -> tuple[int, Array, Array]:
    """Return the number of classes, and those of rows: predicted and true."""
    if isinstance(preds, (dict, list, tuple)) or targets is None:
        what = "a target" if targets is None else "a model with one output"
        msg = f"a confusion matrix needs {what}"
        raise XShardsTypeError(msg)
    preds, targets = np.asarray(preds), np.asarray(targets)
    size = preds.shape[-1] if preds.ndim > 1 else 1
    if size > 1 and targets.shape == preds.shape:
        targets = targets.argmax(-1)
    if targets.size * size != preds.size:
        msg = (
            "a confusion matrix needs one class index, or a one-hot row, for each row; "
            f"got predictions of shape {preds.shape}, targets of shape {targets.shape}"
        )
        raise XShardsValueError(msg)
    predicted = preds.argmax(-1) if size > 1 else preds >= 0.5
    true = targets.reshape(-1).astype(np.int64)
    if (true != targets.reshape(-1)).any() or (true < 0).any():
        msg = "ConfusionMatrix: expected class indices from 0 on as targets"
        raise XShardsValueError(msg)
    return max(2, size), predicted.reshape(-1).astype(np.int64), true


def _square(counts: Array, size: int) -> Array:
    return np.pad(counts, (0, size - len(counts)))
