# SPDX-License-Identifier: Apache-2.0
"""Validation metrics, named without a framework; `get_metric` makes one that counts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal

from xshards.errors import (
    XShardsNotImplementedError,
    XShardsTypeError,
    XShardsValueError,
)

if TYPE_CHECKING:
    from xshards.learn.pytorch.metrics import TorchMetric

__all__ = [
    "AUC",
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
    "Metric",
    "Poisson",
    "Precision",
    "PrecisionRecallCurve",
    "Recall",
    "SparseCategoricalAccuracy",
    "SparseCategoricalCrossEntropy",
    "Top5Accuracy",
    "convert_metrics",
]


class Metric(ABC):
    """What to measure on validation data.

    Examples
    --------
    >>> import torch
    >>> from xshards.learn.metrics import MSE
    >>> mse = MSE().get_metric("pytorch")
    >>> mse(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
    >>> mse.compute().item()
    2.0
    """

    def get_metric(self, backend: str = "pytorch") -> TorchMetric:
        """Make an object that adds up batches in a framework."""
        if backend != "pytorch":
            msg = f'metrics are made for the backend "pytorch" only, got {backend!r}'
            raise XShardsNotImplementedError(msg)
        return self._torch_metric()

    @abstractmethod
    def _torch_metric(self) -> TorchMetric: ...

    def get_name(self) -> str:
        """Give the name that results are listed under."""
        return type(self).__name__

    @staticmethod
    def convert_metrics_list(
        metrics: Any, backend: str = "pytorch"
    ) -> list[TorchMetric]:
        """Make the objects for a list of metrics and functions."""
        return list(convert_metrics(metrics, backend).values())

    @staticmethod
    def convert_metrics_dict(
        metrics: Any, backend: str = "pytorch"
    ) -> dict[str, TorchMetric]:
        """Make the objects for a list of metrics and functions, by name."""
        return convert_metrics(metrics, backend)


def convert_metrics(metrics: Any, backend: str = "pytorch") -> dict[str, TorchMetric]:
    """Make the objects for one metric, a list of them, or None, by their names.

    A function of predictions and targets stands for a `CustomizedMetric`.

    Examples
    --------
    >>> from xshards.learn.metrics import MAE, Accuracy, convert_metrics
    >>> list(convert_metrics([Accuracy(), MAE()]))
    ['Accuracy', 'MAE']
    """
    if metrics is None:
        return {}
    several = isinstance(metrics, Iterable) and not isinstance(metrics, (str, Metric))
    made: dict[str, TorchMetric] = {}
    for each in metrics if several else [metrics]:
        metric = _described(each)
        if metric.get_name() in made:
            msg = (
                f"two metrics are named {metric.get_name()}; results would be mixed: "
                "give a CustomizedMetric a name of its own"
            )
            raise XShardsValueError(msg)
        made[metric.get_name()] = metric.get_metric(backend)
    return made


def _described(metric: Any) -> Metric:
    if isinstance(metric, Metric):
        return metric
    if isinstance(metric, type) and issubclass(metric, Metric):
        return metric()
    if callable(metric) and not isinstance(metric, type):
        return CustomizedMetric(metric)
    msg = (
        "expected a metric of xshards.learn.metrics or a function of predictions and "
        f"targets, got {metric!r}"
    )
    raise XShardsTypeError(msg)


class CustomizedMetric(Metric):
    """The mean of a function over batches, each counted by its rows.

    Parameters
    ----------
    compute_function
        Takes the predictions and the targets of a batch, gives one number.
    name
        What to list it under; the function's own name by default.
    """

    def __init__(
        self, compute_function: Callable[[Any, Any], Any], name: str | None = None
    ) -> None:
        self.compute_function = compute_function
        self._name = name

    def get_name(self) -> str:  # noqa: D102
        own = getattr(self.compute_function, "__name__", None)
        return self._name or own or type(self.compute_function).__name__

    def _torch_metric(self) -> TorchMetric:
        from xshards.learn.pytorch import metrics

        return metrics.CustomizedMetric(self.compute_function, self.get_name())


class _Plain(Metric):
    """A metric without options, which torch has under the same name."""

    def _torch_metric(self) -> TorchMetric:
        from xshards.learn.pytorch import metrics

        made: TorchMetric = getattr(metrics, type(self).__name__)()
        return made


class Accuracy(Metric):
    """How often predictions are right, whatever form they have.

    Parameters
    ----------
    zero_based_label
        Whether class indices begin at 0; at 1 if not. Two classes are always 0 and 1.
    """

    # By position too, as Orca takes it.
    def __init__(self, zero_based_label: bool = True) -> None:  # noqa: FBT001
        self.zero_based_label = zero_based_label

    def _torch_metric(self) -> TorchMetric:
        from xshards.learn.pytorch import metrics

        return metrics.Accuracy(zero_based_label=self.zero_based_label)


class SparseCategoricalAccuracy(_Plain):
    """How often the class with the largest score is the target."""


class CategoricalAccuracy(_Plain):
    """How often the class with the largest score is that of the one-hot target."""


class BinaryAccuracy(_Plain):
    """How often a value above 0.5 stands for a target of 1."""


class Top5Accuracy(_Plain):
    """How often the target is among the five classes with the largest scores."""


class AUC(Metric):
    """The area under the ROC curve of scores for targets of 0 and 1.

    Parameters
    ----------
    threshold_num
        Taken for Orca's sake. The area is exact, no thresholds are chosen.
    """

    def __init__(self, threshold_num: int = 200) -> None:
        self.threshold_num = threshold_num

    def _torch_metric(self) -> TorchMetric:
        from xshards.learn.pytorch import metrics

        return metrics.AUROC(self.get_name())


class MAE(_Plain):
    """The mean absolute error, over all elements."""


class MSE(_Plain):
    """The mean squared error, over all elements."""


class BinaryCrossEntropy(_Plain):
    """The cross entropy of probabilities of 1 and targets of 0 or 1, over elements."""


class CategoricalCrossEntropy(_Plain):
    """The cross entropy of class probabilities and one-hot targets, over rows."""


class SparseCategoricalCrossEntropy(_Plain):
    """The cross entropy of class probabilities and class indices, over rows."""


class KLDivergence(_Plain):
    """The Kullback-Leibler divergence of predictions from targets, over rows."""


class Poisson(_Plain):
    """The Poisson loss of predicted counts, over elements."""


class ROC(_Plain):
    """Rates of false and true positives, and their thresholds."""


class PrecisionRecallCurve(_Plain):
    """Precision and recall, and their thresholds."""


class _OfClasses(Metric):
    """A metric of classes.

    Parameters
    ----------
    average
        "binary" is about class 1 alone, "micro" about the counts of all classes
        together, "macro" is the mean over classes that occur. By default "binary" if
        predictions are one float for each target, which is 1 from 0.5 on, and "micro"
        if they are scores of classes or class indices.
    """

    def __init__(
        self, *, average: Literal["binary", "micro", "macro"] | None = None
    ) -> None:
        self.average = average

    def _torch_metric(self) -> TorchMetric:
        from xshards.learn.pytorch import metrics

        kind = getattr(metrics, type(self).__name__)
        made: TorchMetric = kind(average=self.average)
        return made


class F1Score(_OfClasses):
    """The harmonic mean of precision and recall."""


class Precision(_OfClasses):
    """The share of rows predicted to be of a class that are."""


class Recall(_OfClasses):
    """The share of rows of a class that were predicted to be."""
