# SPDX-License-Identifier: Apache-2.0
"""Precision, recall and F1 from the counts of hits and misses of each class."""

from __future__ import annotations

from abc import abstractmethod
from typing import Literal

import torch
from torch import Tensor

from xshards.errors import XShardsValueError
from xshards.learn.pytorch.metrics.base import TorchMetric, class_scores, paired

__all__ = ["ConfusionMatrix", "F1Score", "Precision", "Recall"]

Average = Literal["binary", "micro", "macro"]

_AVERAGES = ("binary", "micro", "macro")


class ClassCounts(TorchMetric):
    """Counts, for each class, the rows predicted, wanted, and both.

    Parameters
    ----------
    average
        "binary" is about class 1 alone, "micro" about the counts of all classes
        together, "macro" is the mean over classes that occur. By default "binary" if
        predictions are one float for each target, which is 1 from 0.5 on, and "micro"
        if they are scores of classes or class indices.
    """

    _counts: Tensor
    _one_float: Tensor

    def __init__(
        self, name: str | None = None, *, average: Average | None = None
    ) -> None:
        if average is not None and average not in _AVERAGES:
            msg = f"average must be one of {', '.join(_AVERAGES)}, got {average!r}"
            raise XShardsValueError(msg)
        self._average = average
        super().__init__(name)

    def _add(self, preds: Tensor, targets: Tensor) -> None:
        one_float, preds, targets = _classes(self, preds, targets)
        if preds.numel() == 0:
            return
        size = max(2, int(preds.max()) + 1, int(targets.max()) + 1)
        self._merge_counts(
            torch.stack(
                [
                    preds.bincount(minlength=size),
                    targets.bincount(minlength=size),
                    preds[preds == targets].bincount(minlength=size),
                ]
            )
        )
        self._one_float |= torch.tensor(one_float)

    def _merge_counts(self, counts: Tensor) -> None:
        size = max(counts.shape[1], self._counts.shape[1])
        self._counts = _widened(self._counts, size) + _widened(counts, size)

    def compute(self) -> Tensor:
        default = "binary" if bool(self._one_float) else "micro"
        average = self._average or default
        counts = self._counts.double()
        if average == "binary":
            counts = counts[:, 1]
        elif average == "micro":
            counts = counts.sum(1)
        else:
            counts = counts[:, (self._counts[0] + self._counts[1]) > 0]
        values = self._ratio(*counts)
        return values.mean() if average == "macro" else values

    @abstractmethod
    def _ratio(self, predicted: Tensor, wanted: Tensor, hits: Tensor) -> Tensor: ...

    def state(self) -> dict[str, Tensor]:
        return {"counts": self._counts.clone(), "one_float": self._one_float.clone()}

    def merge(self, state: dict[str, Tensor]) -> None:
        self._merge_counts(state["counts"])
        self._one_float |= state["one_float"]

    def reset(self) -> None:
        self._counts = torch.zeros((3, 2), dtype=torch.int64)
        self._one_float = torch.tensor(False)


class ConfusionMatrix(TorchMetric):
    """How often rows of each class, down, are predicted to be of each, across.

    Parameters
    ----------
    name
        The name of its results; that of the class by default.

    Examples
    --------
    >>> import torch
    >>> from xshards.learn.pytorch.metrics import ConfusionMatrix
    >>> matrix = ConfusionMatrix()
    >>> matrix(torch.tensor([[0.9, 0.1, 0], [0.2, 0.8, 0]]), torch.tensor([0, 0]))
    >>> matrix.compute().tolist()
    [[1, 1, 0], [0, 0, 0], [0, 0, 0]]
    """

    _counts: Tensor

    def _add(self, preds: Tensor, targets: Tensor) -> None:
        scores = (
            preds.ndim >= 2 and preds.shape[-1] > 1 and preds.shape != targets.shape
        )
        size = preds.shape[-1] if scores and targets.ndim == 1 else 2
        _, preds, targets = _classes(self, preds, targets)
        if preds.numel():
            size = max(size, int(preds.max()) + 1, int(targets.max()) + 1)
        pairs = (targets * size + preds).bincount(minlength=size * size)
        self.merge({"counts": pairs.reshape(size, size)})

    def compute(self) -> Tensor:  # noqa: D102
        return self._counts.clone()

    def state(self) -> dict[str, Tensor]:  # noqa: D102
        return {"counts": self._counts.clone()}

    def merge(self, state: dict[str, Tensor]) -> None:  # noqa: D102
        counts = state["counts"]
        size = max(len(counts), len(self._counts))
        self._counts = _square(self._counts, size) + _square(counts, size)

    def reset(self) -> None:  # noqa: D102
        self._counts = torch.zeros((0, 0), dtype=torch.int64)


class Precision(ClassCounts):
    """The share of rows predicted to be of a class that are; 0 if none was.

    Parameters
    ----------
    name
        The name of its results; that of the class by default.
    average
        "binary", "micro" or "macro"; see `ClassCounts`.

    Examples
    --------
    >>> import torch
    >>> from xshards.learn.pytorch.metrics import Precision
    >>> metric = Precision()
    >>> metric(torch.tensor([0.0, 0.2, 1.0, 0.8]), torch.tensor([0, 1, 1, 0]))
    >>> round(metric.compute().item(), 4)
    0.5
    """

    def _ratio(self, predicted: Tensor, wanted: Tensor, hits: Tensor) -> Tensor:
        return _share(hits, predicted)


class Recall(ClassCounts):
    """The share of rows of a class that were predicted to be; 0 if there is none.

    Parameters
    ----------
    name
        The name of its results; that of the class by default.
    average
        "binary", "micro" or "macro"; see `ClassCounts`.

    Examples
    --------
    >>> import torch
    >>> from xshards.learn.pytorch.metrics import Recall
    >>> recall = Recall(average="macro")
    >>> for scores in ([0.9, 0.1], [0.2, 0.8]):
    ...     recall(torch.tensor([scores]), torch.tensor([0]))
    >>> recall.compute().item()
    0.25
    """

    def _ratio(self, predicted: Tensor, wanted: Tensor, hits: Tensor) -> Tensor:
        return _share(hits, wanted)


class F1Score(ClassCounts):
    """The harmonic mean of precision and recall.

    Parameters
    ----------
    name
        The name of its results; that of the class by default.
    average
        "binary", "micro" or "macro"; see `ClassCounts`.

    Examples
    --------
    >>> import torch
    >>> from xshards.learn.pytorch.metrics import F1Score
    >>> for average in ("binary", "micro"):
    ...     f1 = F1Score(average=average)
    ...     f1(torch.tensor([0.0, 0.2, 1.0, 0.8]), torch.tensor([0, 1, 1, 1]))
    ...     print(average, round(f1.compute().item(), 2))
    binary 0.8
    micro 0.75
    """

    def _ratio(self, predicted: Tensor, wanted: Tensor, hits: Tensor) -> Tensor:
        return _share(2 * hits, predicted + wanted)


def _share(part: Tensor, whole: Tensor) -> Tensor:
    return torch.where(whole > 0, part / whole.clamp(min=1), 0.0)


def _classes(
    metric: TorchMetric, preds: Tensor, targets: Tensor
) -> tuple[bool, Tensor, Tensor]:
    """Return class indices, predicted and true, and whether one float was predicted."""
    several = preds.ndim >= 2 and preds.shape[-1] > 1
    one_float = preds.is_floating_point() and not (
        several and preds.shape != targets.shape
    )
    if one_float:
        preds, targets = paired(metric, preds, targets)
        preds = preds >= 0.5
    elif several and preds.shape != targets.shape:
        scores, targets = class_scores(metric, preds, targets)
        preds = scores.argmax(1)
    else:
        preds, targets = paired(metric, preds, targets)
    preds, targets = preds.reshape(-1).long().cpu(), targets.reshape(-1).cpu()
    if preds.numel() == 0:
        return one_float, preds, targets.long()
    whole = bool((targets.long() == targets).all())
    if not whole or min(int(preds.min()), int(targets.min())) < 0:
        msg = f"{metric.get_name()}: expected class indices from 0 on as targets"
        raise XShardsValueError(msg)
    return one_float, preds, targets.long()


def _square(counts: Tensor, size: int) -> Tensor:
    missing = size - len(counts)
    return torch.nn.functional.pad(counts, (0, missing, 0, missing))


def _widened(counts: Tensor, size: int) -> Tensor:
    return torch.nn.functional.pad(counts, (0, size - counts.shape[1]))
