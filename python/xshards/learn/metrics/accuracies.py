# SPDX-License-Identifier: Apache-2.0
"""How often predictions are right."""

from __future__ import annotations

from typing import Any

from xshards.learn.metrics.metric import Metric

__all__ = [
    "Accuracy",
    "BinaryAccuracy",
    "CategoricalAccuracy",
    "SparseCategoricalAccuracy",
    "Top5Accuracy",
]


class Accuracy(Metric):
    """How often predictions are right, whatever form they have.

    Parameters
    ----------
    zero_based_label
        Whether class indices begin at 0; at 1 if not. Two classes are always 0 and 1.

    Examples
    --------
    >>> import torch
    >>> from xshards.learn.metrics import Accuracy
    >>> metric = Accuracy().get_metric("pytorch")
    >>> metric(torch.tensor([[0.1, 0.9], [0.8, 0.2]]), torch.tensor([1, 1]))
    >>> round(metric.compute().item(), 4)
    0.5
    """

    # By position too, as Orca takes it.
    def __init__(self, zero_based_label: bool = True) -> None:  # noqa: FBT001
        self.zero_based_label = zero_based_label

    def _options(self) -> dict[str, Any]:
        return {"zero_based_label": self.zero_based_label}


class SparseCategoricalAccuracy(Metric):
    """How often the class with the largest score is the target.

    Examples
    --------
    >>> import torch
    >>> from xshards.learn.metrics import SparseCategoricalAccuracy
    >>> metric = SparseCategoricalAccuracy().get_metric("pytorch")
    >>> metric(torch.tensor([[0.1, 0.9], [0.8, 0.2]]), torch.tensor([1, 1]))
    >>> round(metric.compute().item(), 4)
    0.5
    """


class CategoricalAccuracy(Metric):
    """How often the class with the largest score is that of the one-hot target.

    Examples
    --------
    >>> import torch
    >>> from xshards.learn.metrics import CategoricalAccuracy
    >>> metric = CategoricalAccuracy().get_metric("pytorch")
    >>> metric(torch.tensor([[0.1, 0.9], [0.8, 0.2]]), torch.tensor([[0, 1], [0, 1]]))
    >>> round(metric.compute().item(), 4)
    0.5
    """


class BinaryAccuracy(Metric):
    """How often a value above 0.5 stands for a target of 1.

    Examples
    --------
    >>> import torch
    >>> from xshards.learn.metrics import BinaryAccuracy
    >>> metric = BinaryAccuracy().get_metric("pytorch")
    >>> metric(torch.tensor([0.7, 0.2]), torch.tensor([1, 1]))
    >>> round(metric.compute().item(), 4)
    0.5
    """


class Top5Accuracy(Metric):
    """How often the target is among the five classes with the largest scores.

    Examples
    --------
    >>> import torch
    >>> from xshards.learn.metrics import Top5Accuracy
    >>> metric = Top5Accuracy().get_metric("pytorch")
    >>> metric(torch.tensor([[6.0, 5.0, 4.0, 3.0, 2.0, 1.0]]), torch.tensor([4]))
    >>> round(metric.compute().item(), 4)
    1.0
    """
