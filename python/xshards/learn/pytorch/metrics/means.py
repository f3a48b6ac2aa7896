# SPDX-License-Identifier: Apache-2.0
"""Metrics that are the mean of something over rows or elements."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from xshards.errors import XShardsValueError
from xshards.learn.pytorch.metrics.base import (
    TorchMetric,
    aligned,
    class_scores,
    paired,
)

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "MAE",
    "MSE",
    "Accuracy",
    "BinaryAccuracy",
    "BinaryCrossEntropy",
    "CategoricalAccuracy",
    "CategoricalCrossEntropy",
    "CustomizedMetric",
    "KLDivergence",
    "MeanMetric",
    "Poisson",
    "SparseCategoricalAccuracy",
    "SparseCategoricalCrossEntropy",
    "Top5Accuracy",
]

# Keeps logarithms finite.
_EPSILON = 1e-7


class MeanMetric(TorchMetric):
    """The mean of the terms that a subclass makes of a batch.

    Parameters
    ----------
    name
        The name of its results; that of the class by default.

    Examples
    --------
    >>> import torch
    >>> from xshards.learn.pytorch.metrics.means import MeanMetric
    >>> class Bias(MeanMetric):
    ...     def terms(self, preds, targets):
    ...         return preds - targets
    >>> bias = Bias()
    >>> bias(torch.tensor([1.0, 2.0]), torch.tensor([0.0, 2.0]))
    >>> bias.compute().item()
    0.5
    """

    @abstractmethod
    def terms(self, preds: Tensor, targets: Tensor) -> Tensor:
        """Return the numbers to take the mean of.

        Parameters
        ----------
        preds, targets
            The model's output and the target of a batch.

        Returns
        -------
        Tensor
            One number for each row or element.

        Examples
        --------
        >>> import torch
        >>> from xshards.learn.pytorch.metrics import MAE
        >>> MAE().terms(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0])).tolist()
        [0.0, 2.0]
        """

    def _add(self, preds: Tensor, targets: Tensor) -> None:
        terms = self.terms(preds, targets)
        self._sum += terms.sum(dtype=torch.float64).cpu()
        self._count += terms.numel()

    def compute(self) -> Tensor:  # noqa: D102
        return self._sum / self._count

    def state(self) -> dict[str, Tensor]:  # noqa: D102
        return {"sum": self._sum.clone(), "count": self._count.clone()}

    def merge(self, state: dict[str, Tensor]) -> None:  # noqa: D102
        self._sum += state["sum"]
        self._count += state["count"]

    def reset(self) -> None:  # noqa: D102
        self._sum = torch.zeros((), dtype=torch.float64)
        self._count = torch.zeros((), dtype=torch.int64)


class Accuracy(MeanMetric):
    """How often predictions are right, whatever form they have.

    Scores of several classes against class indices are decided by the largest. One
    value for each target is a class if it is an integer, and 1 from 0.5 on if a float.

    Parameters
    ----------
    name
        The name of its results; that of the class by default.
    zero_based_label
        Whether class indices begin at 0; at 1 if not. Two classes are always 0 and 1.

    Examples
    --------
    >>> import torch
    >>> from xshards.learn.pytorch.metrics import Accuracy
    >>> accuracy = Accuracy()
    >>> accuracy(torch.tensor([[0.9, 0.1], [0.2, 0.8]]), torch.tensor([0, 0]))
    >>> accuracy.compute().item()
    0.5
    """

    def __init__(
        self, name: str | None = None, *, zero_based_label: bool = True
    ) -> None:
        super().__init__(name)
        self._first_label = 0 if zero_based_label else 1

    def terms(self, preds: Tensor, targets: Tensor) -> Tensor:  # noqa: D102
        several = preds.ndim >= 2 and preds.shape[-1] > 1
        if several and preds.shape != targets.shape:
            scores, classes = class_scores(self, preds, targets)
            return scores.argmax(1) + self._first_label == classes
        preds, targets = paired(self, preds, targets)
        if preds.is_floating_point():
            return (preds >= 0.5) == targets
        return preds == targets


class SparseCategoricalAccuracy(MeanMetric):
    """How often the class with the largest score is the target.

    Parameters
    ----------
    name
        The name of its results; that of the class by default.

    Examples
    --------
    >>> import torch
    >>> from xshards.learn.pytorch.metrics import SparseCategoricalAccuracy
    >>> metric = SparseCategoricalAccuracy()
    >>> metric(torch.tensor([[0.1, 0.9], [0.8, 0.2]]), torch.tensor([1, 1]))
    >>> round(metric.compute().item(), 4)
    0.5
    """

    def terms(self, preds: Tensor, targets: Tensor) -> Tensor:  # noqa: D102
        scores, classes = class_scores(self, preds, targets)
        return scores.argmax(1) == classes


class CategoricalAccuracy(MeanMetric):
    """How often the class with the largest score is that of the one-hot target.

    Parameters
    ----------
    name
        The name of its results; that of the class by default.

    Examples
    --------
    >>> from torch import tensor
    >>> from xshards.learn.pytorch.metrics import CategoricalAccuracy
    >>> targets = tensor([[0, 1], [0, 1]])
    >>> CategoricalAccuracy().terms(tensor([[0.1, 0.9], [0.8, 0.2]]), targets).tolist()
    [True, False]
    """

    def terms(self, preds: Tensor, targets: Tensor) -> Tensor:  # noqa: D102
        preds, targets = aligned(self, preds, targets)
        return preds.argmax(1) == targets.argmax(1)


class BinaryAccuracy(MeanMetric):
    """How often a value above 0.5 stands for a target of 1.

    Parameters
    ----------
    name
        The name of its results; that of the class by default.

    Examples
    --------
    >>> import torch
    >>> from xshards.learn.pytorch.metrics import BinaryAccuracy
    >>> metric = BinaryAccuracy()
    >>> metric(torch.tensor([0.7, 0.2]), torch.tensor([1, 1]))
    >>> round(metric.compute().item(), 4)
    0.5
    """

    def terms(self, preds: Tensor, targets: Tensor) -> Tensor:  # noqa: D102
        preds, targets = paired(self, preds, targets)
        return (preds > 0.5) == targets


class Top5Accuracy(MeanMetric):
    """How often the target is among the five classes with the largest scores.

    Parameters
    ----------
    name
        The name of its results; that of the class by default.

    Examples
    --------
    >>> from torch import tensor
    >>> from xshards.learn.pytorch.metrics import Top5Accuracy
    >>> Top5Accuracy().terms(tensor([[6.0, 5, 4, 3, 2, 1]]), tensor([4])).tolist()
    [True]
    """

    def terms(self, preds: Tensor, targets: Tensor) -> Tensor:  # noqa: D102
        scores, classes = class_scores(self, preds, targets)
        best = scores.topk(min(5, scores.shape[1]), dim=1).indices
        return (best == classes[:, None]).any(1)


class MAE(MeanMetric):
    """The mean absolute error, over all elements.

    Parameters
    ----------
    name
        The name of its results; that of the class by default.

    Examples
    --------
    >>> import torch
    >>> from xshards.learn.pytorch.metrics import MAE
    >>> metric = MAE()
    >>> for preds in (1.0, 2.0, 4.0):
    ...     metric(torch.tensor([preds]), torch.tensor([1.0]))
    >>> round(metric.compute().item(), 4)
    1.3333
    """

    def terms(self, preds: Tensor, targets: Tensor) -> Tensor:  # noqa: D102
        preds, targets = paired(self, preds, targets)
        return (preds.double() - targets).abs()


class MSE(MeanMetric):
    """The mean squared error, over all elements.

    Parameters
    ----------
    name
        The name of its results; that of the class by default.

    Examples
    --------
    >>> from torch import tensor
    >>> from xshards.learn.pytorch.metrics import MSE
    >>> MSE().terms(tensor([1.0, 2.0]), tensor([1.0, 4.0])).tolist()
    [0.0, 4.0]
    """

    def terms(self, preds: Tensor, targets: Tensor) -> Tensor:  # noqa: D102
        preds, targets = paired(self, preds, targets)
        return (preds.double() - targets).square()


class BinaryCrossEntropy(MeanMetric):
    """The cross entropy of probabilities of 1 and targets of 0 or 1, over elements.

    Parameters
    ----------
    name
        The name of its results; that of the class by default.

    Examples
    --------
    >>> import torch
    >>> from xshards.learn.pytorch.metrics import BinaryCrossEntropy
    >>> metric = BinaryCrossEntropy()
    >>> metric(torch.tensor([0.5, 0.5]), torch.tensor([1.0, 0.0]))
    >>> round(metric.compute().item(), 4)
    0.6931
    """

    def terms(self, preds: Tensor, targets: Tensor) -> Tensor:  # noqa: D102
        preds, targets = paired(self, _probabilities(preds), targets)
        return -targets * preds.log() - (1 - targets.double()) * (1 - preds).log()


class CategoricalCrossEntropy(MeanMetric):
    """The cross entropy of class probabilities and one-hot targets, over rows.

    Parameters
    ----------
    name
        The name of its results; that of the class by default.

    Examples
    --------
    >>> from torch import tensor
    >>> from xshards.learn.pytorch.metrics import CategoricalCrossEntropy
    >>> preds, targets = tensor([[0.5, 0.5]]), tensor([[1.0, 0.0]])
    >>> round(CategoricalCrossEntropy().terms(preds, targets).item(), 4)
    0.6931
    """

    def terms(self, preds: Tensor, targets: Tensor) -> Tensor:  # noqa: D102
        preds, targets = aligned(self, _probabilities(preds), targets)
        return -(targets * preds.log()).sum(1)


class SparseCategoricalCrossEntropy(MeanMetric):
    """The cross entropy of class probabilities and class indices, over rows.

    Parameters
    ----------
    name
        The name of its results; that of the class by default.

    Examples
    --------
    >>> import torch
    >>> from xshards.learn.pytorch.metrics import SparseCategoricalCrossEntropy
    >>> metric = SparseCategoricalCrossEntropy()
    >>> metric(torch.tensor([[0.5, 0.5]]), torch.tensor([0]))
    >>> round(metric.compute().item(), 4)
    0.6931
    """

    def terms(self, preds: Tensor, targets: Tensor) -> Tensor:  # noqa: D102
        scores, classes = class_scores(self, _probabilities(preds), targets)
        return -scores.gather(1, classes[:, None]).log()


class KLDivergence(MeanMetric):
    """The Kullback-Leibler divergence of predictions from targets, over rows.

    Parameters
    ----------
    name
        The name of its results; that of the class by default.

    Examples
    --------
    >>> from torch import tensor
    >>> from xshards.learn.pytorch.metrics import KLDivergence
    >>> KLDivergence().terms(tensor([[0.5, 0.5]]), tensor([[0.5, 0.5]])).tolist()
    [0.0]
    """

    def terms(self, preds: Tensor, targets: Tensor) -> Tensor:  # noqa: D102
        preds, targets = aligned(self, preds.double(), targets.double())
        entropy = torch.xlogy(targets, targets)
        return (entropy - targets * preds.clamp(min=_EPSILON).log()).sum(1)


class Poisson(MeanMetric):
    """The Poisson loss of predicted counts, over elements.

    Parameters
    ----------
    name
        The name of its results; that of the class by default.

    Examples
    --------
    >>> import torch
    >>> from xshards.learn.pytorch.metrics import Poisson
    >>> metric = Poisson()
    >>> metric(torch.tensor([1.0, 1.0]), torch.tensor([1.0, 2.0]))
    >>> round(metric.compute().item(), 4)
    1.0
    """

    def terms(self, preds: Tensor, targets: Tensor) -> Tensor:  # noqa: D102
        preds, targets = paired(self, preds.double(), targets)
        return preds - targets * (preds + _EPSILON).log()


class CustomizedMetric(TorchMetric):
    """The mean of a function of batches, each counted by its rows.

    Parameters
    ----------
    function
        Takes predictions and targets, returns one number.
    name
        The name of its results; that of the function by default.

    Examples
    --------
    >>> import torch
    >>> from xshards.learn.pytorch.metrics import CustomizedMetric
    >>> worst = CustomizedMetric(lambda preds, y: (preds - y).abs().max(), "worst")
    >>> worst(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
    >>> worst.compute().item()
    2.0
    """

    def __init__(
        self, function: Callable[[Tensor, Tensor], Any], name: str | None = None
    ) -> None:
        self._function = function
        super().__init__(name or getattr(function, "__name__", None))

    def _add(self, preds: Tensor, targets: Tensor) -> None:
        rows = len(targets)
        if rows == 0:
            return
        value = torch.as_tensor(self._function(preds, targets)).detach().double().cpu()
        if value.numel() != 1:
            msg = (
                f"the metric {self._name} must give one number for a batch, got a "
                f"result of shape {tuple(value.shape)}; take its mean"
            )
            raise XShardsValueError(msg)
        self._sum += value.reshape(()) * rows
        self._rows += rows

    def compute(self) -> Tensor:  # noqa: D102
        return self._sum / self._rows

    def state(self) -> dict[str, Tensor]:  # noqa: D102
        return {"sum": self._sum.clone(), "rows": self._rows.clone()}

    def merge(self, state: dict[str, Tensor]) -> None:  # noqa: D102
        self._sum += state["sum"]
        self._rows += state["rows"]

    def reset(self) -> None:  # noqa: D102
        self._sum = torch.zeros((), dtype=torch.float64)
        self._rows = torch.zeros((), dtype=torch.int64)


def _probabilities(preds: Tensor) -> Tensor:
    return preds.double().clamp(_EPSILON, 1 - _EPSILON)
