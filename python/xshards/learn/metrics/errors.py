# SPDX-License-Identifier: Apache-2.0
"""Means of errors and losses."""

from __future__ import annotations

from xshards.learn.metrics.metric import Metric

__all__ = [
    "MAE",
    "MSE",
    "BinaryCrossEntropy",
    "CategoricalCrossEntropy",
    "KLDivergence",
    "Poisson",
    "SparseCategoricalCrossEntropy",
]


class MAE(Metric):
    """The mean absolute error, over all elements.

    Examples
    --------
    >>> import torch
    >>> from xshards.learn.metrics import MAE
    >>> metric = MAE().get_metric("pytorch")
    >>> metric(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
    >>> round(metric.compute().item(), 4)
    1.0
    """


class MSE(Metric):
    """The mean squared error, over all elements.

    Examples
    --------
    >>> import torch
    >>> from xshards.learn.metrics import MSE
    >>> metric = MSE().get_metric("pytorch")
    >>> metric(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
    >>> round(metric.compute().item(), 4)
    2.0
    """


class BinaryCrossEntropy(Metric):
    """The cross entropy of probabilities of 1 and targets of 0 or 1, over elements.

    Examples
    --------
    >>> import torch
    >>> from xshards.learn.metrics import BinaryCrossEntropy
    >>> metric = BinaryCrossEntropy().get_metric("pytorch")
    >>> metric(torch.tensor([0.5, 0.5]), torch.tensor([1.0, 0.0]))
    >>> round(metric.compute().item(), 4)
    0.6931
    """


class CategoricalCrossEntropy(Metric):
    """The cross entropy of class probabilities and one-hot targets, over rows.

    Examples
    --------
    >>> import torch
    >>> from xshards.learn.metrics import CategoricalCrossEntropy
    >>> metric = CategoricalCrossEntropy().get_metric("pytorch")
    >>> metric(torch.tensor([[0.5, 0.5]]), torch.tensor([[1.0, 0.0]]))
    >>> round(metric.compute().item(), 4)
    0.6931
    """


class SparseCategoricalCrossEntropy(Metric):
    """The cross entropy of class probabilities and class indices, over rows.

    Examples
    --------
    >>> import torch
    >>> from xshards.learn.metrics import SparseCategoricalCrossEntropy
    >>> metric = SparseCategoricalCrossEntropy().get_metric("pytorch")
    >>> metric(torch.tensor([[0.5, 0.5]]), torch.tensor([0]))
    >>> round(metric.compute().item(), 4)
    0.6931
    """


class KLDivergence(Metric):
    """The Kullback-Leibler divergence of predictions from targets, over rows.

    Examples
    --------
    >>> import torch
    >>> from xshards.learn.metrics import KLDivergence
    >>> metric = KLDivergence().get_metric("pytorch")
    >>> metric(torch.tensor([[0.5, 0.5]]), torch.tensor([[1.0, 0.0]]))
    >>> round(metric.compute().item(), 4)
    0.6931
    """


class Poisson(Metric):
    """The Poisson loss of predicted counts, over elements.

    Examples
    --------
    >>> import torch
    >>> from xshards.learn.metrics import Poisson
    >>> metric = Poisson().get_metric("pytorch")
    >>> metric(torch.tensor([1.0, 1.0]), torch.tensor([1.0, 2.0]))
    >>> round(metric.compute().item(), 4)
    1.0
    """
