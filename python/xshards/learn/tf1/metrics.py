# SPDX-License-Identifier: Apache-2.0
"""The metrics on arrays, which is what a session returns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from xshards.errors import XShardsValueError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "AUROC",
    "MAE",
    "MSE",
    "Accuracy",
    "BinaryAccuracy",
    "CategoricalAccuracy",
    "CustomizedMetric",
    "SparseCategoricalAccuracy",
    "Top5Accuracy",
]

Array = np.ndarray[Any, Any]


class _Mean(ABC):
    """The mean of the terms that a subclass makes of a batch."""

    def __init__(self) -> None:
        self.reset()

    def __call__(self, preds: Array, targets: Array) -> None:
        terms = self.terms(np.asarray(preds), np.asarray(targets))
        self._sum += float(terms.sum(dtype=np.float64))
        self._count += terms.size

    @abstractmethod
    def terms(self, preds: Array, targets: Array) -> Any:
        """Make the numbers to take the mean of."""

    def compute(self) -> np.float64:
        """Return the mean; not a number before anything was added."""
        return np.float64(self._sum / self._count if self._count else np.nan)

    def state(self) -> tuple[float, int]:
        """Return all that another one needs to go on."""
        return self._sum, self._count

    def merge(self, state: tuple[float, int]) -> None:
        """Add what another one has seen."""
        self._sum += state[0]
        self._count += state[1]

    def reset(self) -> None:
        """Forget what was added."""
        self._sum, self._count = 0.0, 0


class Accuracy(_Mean):
    """How often predictions are right: classes by scores, or one value from 0.5 on."""

    def __init__(self, *, zero_based_label: bool = True) -> None:
        super().__init__()
        self._first = 0 if zero_based_label else 1

    def terms(self, preds: Array, targets: Array) -> Any:  # noqa: D102
        if preds.ndim >= 2 and preds.shape[-1] > 1:
            if preds.shape == targets.shape:
                return preds.argmax(-1) == targets.argmax(-1)
            return preds.argmax(-1) + self._first == _classes(preds, targets)
        targets = _paired(preds, targets)
        return (
            (preds >= 0.5) == targets if preds.dtype.kind == "f" else preds == targets
        )


class SparseCategoricalAccuracy(_Mean):
    """How often the class with the largest score is the target."""

    def terms(self, preds: Array, targets: Array) -> Any:  # noqa: D102
        return preds.argmax(-1) == _classes(preds, targets)


class CategoricalAccuracy(_Mean):
    """How often the class with the largest score is that of the one-hot target."""

    def terms(self, preds: Array, targets: Array) -> Any:  # noqa: D102
        return preds.argmax(-1) == _paired(preds, targets).argmax(-1)


class BinaryAccuracy(_Mean):
    """How often a value is on the side of 0.5 that its target is on."""

    def terms(self, preds: Array, targets: Array) -> Any:  # noqa: D102
        return (preds >= 0.5) == (_paired(preds, targets) >= 0.5)


class Top5Accuracy(_Mean):
    """How often the target is among the five classes with the largest scores."""

    def terms(self, preds: Array, targets: Array) -> Any:  # noqa: D102
        classes = _classes(preds, targets)
        own = np.take_along_axis(preds, classes.astype(np.int64)[..., None], -1)
        return (preds > own).sum(-1) < 5


class MAE(_Mean):
    """The mean of absolute errors."""

    def terms(self, preds: Array, targets: Array) -> Any:  # noqa: D102
        return np.abs(preds - _paired(preds, targets))


class MSE(_Mean):
    """The mean of squared errors."""

    def terms(self, preds: Array, targets: Array) -> Any:  # noqa: D102
        return np.square(preds - _paired(preds, targets))


class CustomizedMetric(_Mean):
    """The mean of a function over batches, each counted by its rows."""

    def __init__(self, function: Callable[[Any, Any], Any], name: str) -> None:
        super().__init__()
        self._function = function

    def terms(self, preds: Array, targets: Array) -> Any:  # noqa: D102
        value = float(self._function(preds, targets))
        return np.full(len(targets), value)


class AUROC:
    """The area under the curve of true positives over false ones, at all scores."""

    _scores: Array
    _positive: Array
    _negative: Array

    def __init__(self, **_: object) -> None:
        self.reset()

    def __call__(self, preds: Array, targets: Array) -> None:
        """Add a batch."""
        targets = _paired(np.asarray(preds), np.asarray(targets))
        scores = np.asarray(preds, np.float64).reshape(-1)
        positive = targets.reshape(-1) > 0.5
        values, index = np.unique(scores, return_inverse=True)
        size = len(values)
        self.merge(
            (
                values,
                np.bincount(index, positive, size),
                np.bincount(index, ~positive, size),
            )
        )

    def compute(self) -> np.float64:
        """Return the area; not a number if all rows are of one class."""
        order = np.argsort(-self._scores)
        hits = np.concatenate([[0.0], np.cumsum(self._positive[order])])
        misses = np.concatenate([[0.0], np.cumsum(self._negative[order])])
        if not hits[-1] or not misses[-1]:
            return np.float64(np.nan)
        area = np.trapezoid(hits, misses) / (hits[-1] * misses[-1])
        return np.float64(area)

    def state(self) -> tuple[Array, Array, Array]:
        """Return all that another one needs to go on."""
        return self._scores, self._positive, self._negative

    def merge(self, state: tuple[Array, Array, Array]) -> None:
        """Add what another one has seen."""
        scores = np.concatenate([self._scores, state[0]])
        values, index = np.unique(scores, return_inverse=True)
        size = len(values)
        counts = [
            np.concatenate(pair) for pair in zip(self.state(), state, strict=True)
        ]
        self._scores = values
        self._positive = np.bincount(index, counts[1], size)
        self._negative = np.bincount(index, counts[2], size)

    def reset(self) -> None:
        """Forget what was added."""
        self._scores, self._positive, self._negative = (np.zeros(0) for _ in range(3))


def _paired(preds: Array, targets: Array) -> Array:
    """Bring targets to the shape of predictions; (n, 1) and (n,) are the same."""
    if preds.size != targets.size or len(preds) != len(targets):
        expected = "expected one prediction for each target"
        raise _mismatch(expected, preds, targets)
    return targets.reshape(preds.shape)


def _classes(preds: Array, targets: Array) -> Array:
    wanted = preds.shape[:-1]
    if preds.ndim < 2 or targets.size != int(np.prod(wanted)):
        expected = "expected a score for each class and a class index for each row"
        raise _mismatch(expected, preds, targets)
    return targets.reshape(wanted)


def _mismatch(expected: str, preds: Array, targets: Array) -> XShardsValueError:
    return XShardsValueError(
        f"{expected}; got predictions of shape {preds.shape} and targets of shape "
        f"{targets.shape}"
    )
