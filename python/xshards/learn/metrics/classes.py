# SPDX-License-Identifier: Apache-2.0
"""How well classes are distinguished."""

from __future__ import annotations

from typing import Any, Literal

from xshards.learn.metrics.metric import Metric

__all__ = [
    "AUC",
    "ROC",
    "ConfusionMatrix",
    "F1Score",
    "Precision",
    "PrecisionRecallCurve",
    "Recall",
]

#: How the values of classes become one. "binary" is about class 1 alone, "micro" about
#: the counts of all classes, "macro" is the mean over classes that occur. None is
#: "binary" where one float is predicted for each target, which is 1 from 0.5 on, and
#: "micro" for scores of classes or class indices.
Average = Literal["binary", "micro", "macro"] | None


class AUC(Metric):
    """The area under the ROC curve of scores for targets of 0 and 1.

    Parameters
    ----------
    threshold_num
        Accepted for compatibility with Orca. The area is exact: no thresholds are
        chosen.

    Examples
    --------
    >>> import torch
    >>> from xshards.learn.metrics import AUC
    >>> metric = AUC().get_metric("pytorch")
    >>> metric(torch.tensor([0.9, 0.3, 0.4]), torch.tensor([1, 0, 1]))
    >>> round(metric.compute().item(), 4)
    1.0
    """

    def __init__(self, threshold_num: int = 200) -> None:
        self.threshold_num = threshold_num

    def _class_name(self) -> str:
        return "AUROC"

    def _options(self) -> dict[str, Any]:
        return {"name": self.get_name()}


class ROC(Metric):
    """Rates of false and true positives, and their thresholds.

    Examples
    --------
    >>> import torch
    >>> from xshards.learn.metrics import ROC
    >>> metric = ROC().get_metric("pytorch")
    >>> metric(torch.tensor([1.0, 0.5, 0.75]), torch.tensor([1, 1, 0]))
    >>> false_positives, true_positives, thresholds = metric.compute()
    >>> true_positives.tolist()
    [0.0, 0.5, 0.5, 1.0]
    """


class PrecisionRecallCurve(Metric):
    """Precision and recall, and their thresholds.

    Examples
    --------
    >>> import torch
    >>> from xshards.learn.metrics import PrecisionRecallCurve
    >>> metric = PrecisionRecallCurve().get_metric("pytorch")
    >>> metric(torch.tensor([1.0, 0.5, 0.75]), torch.tensor([1, 1, 0]))
    >>> precision, recall, thresholds = metric.compute()
    >>> thresholds.tolist()
    [0.5, 0.75, 1.0]
    """


class ConfusionMatrix(Metric):
    """How often rows of each class are predicted to be of each.

    The value has a row for each class and a column for each prediction. Scores of
    several classes are decided by the largest; one value is 1 from 0.5 on.

    Examples
    --------
    >>> import torch
    >>> from xshards.learn.metrics import ConfusionMatrix
    >>> metric = ConfusionMatrix().get_metric("pytorch")
    >>> metric(torch.tensor([0.9, 0.2, 0.1]), torch.tensor([1, 1, 0]))
    >>> metric.compute().tolist()
    [[1, 0], [1, 1]]
    """


class _OfClasses(Metric):
    """A metric of classes."""

    def __init__(self, *, average: Average = None) -> None:
        self.average = average

    def _options(self) -> dict[str, Any]:
        return {"average": self.average}


class F1Score(_OfClasses):
    """The harmonic mean of precision and recall.

    Parameters
    ----------
    average
        "binary", "micro" or "macro"; see `Average`.

    Examples
    --------
    >>> import torch
    >>> from xshards.learn.metrics import F1Score
    >>> metric = F1Score().get_metric("pytorch")
    >>> metric(torch.tensor([0.9, 0.2, 0.1]), torch.tensor([1, 1, 0]))
    >>> round(metric.compute().item(), 4)
    0.6667
    """


class Precision(_OfClasses):
    """The share of rows predicted to be of a class that are.

    Parameters
    ----------
    average
        "binary", "micro" or "macro"; see `Average`.

    Examples
    --------
    >>> import torch
    >>> from xshards.learn.metrics import Precision
    >>> metric = Precision(average="macro").get_metric("pytorch")
    >>> scores = torch.tensor([[0.9, 0.1, 0.0], [0.2, 0.7, 0.1], [0.6, 0.1, 0.3]])
    >>> metric(scores, torch.tensor([0, 1, 2]))
    >>> round(metric.compute().item(), 4)
    0.5
    """


class Recall(_OfClasses):
    """The share of rows of a class that were predicted to be.

    Parameters
    ----------
    average
        "binary", "micro" or "macro"; see `Average`.

    Examples
    --------
    >>> import torch
    >>> from xshards.learn.metrics import Recall
    >>> metric = Recall().get_metric("pytorch")
    >>> metric(torch.tensor([0.9, 0.2, 0.1]), torch.tensor([1, 1, 0]))
    >>> round(metric.compute().item(), 4)
    0.5
    """
