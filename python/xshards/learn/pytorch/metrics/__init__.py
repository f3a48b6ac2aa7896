# SPDX-License-Identifier: Apache-2.0
"""Metrics that accumulate over batches, and over replicas, on torch tensors."""

from xshards.learn.pytorch.metrics.base import TorchMetric
from xshards.learn.pytorch.metrics.confusion import F1Score, Precision, Recall
from xshards.learn.pytorch.metrics.curves import AUROC, ROC, PrecisionRecallCurve
from xshards.learn.pytorch.metrics.means import (
    MAE,
    MSE,
    Accuracy,
    BinaryAccuracy,
    BinaryCrossEntropy,
    CategoricalAccuracy,
    CategoricalCrossEntropy,
    CustomizedMetric,
    KLDivergence,
    MeanMetric,
    Poisson,
    SparseCategoricalAccuracy,
    SparseCategoricalCrossEntropy,
    Top5Accuracy,
)

__all__ = [
    "AUROC",
    "MAE",
    "MSE",
    "ROC",
    "Accuracy",
    "BinaryAccuracy",
    "BinaryCrossEntropy",
    "CategoricalAccuracy",
    "CategoricalCrossEntropy",
    "CustomizedMetric",
    "F1Score",
    "KLDivergence",
    "MeanMetric",
    "Poisson",
    "Precision",
    "PrecisionRecallCurve",
    "Recall",
    "SparseCategoricalAccuracy",
    "SparseCategoricalCrossEntropy",
    "Top5Accuracy",
    "TorchMetric",
]
