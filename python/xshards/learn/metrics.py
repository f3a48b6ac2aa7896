# SPDX-License-Identifier: Apache-2.0
"""Validation metrics, named without a framework; `get_metric` makes one that counts."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from typing import Any, Literal, Protocol

from xshards.errors import (
    XShardsNotImplementedError,
    XShardsTypeError,
    XShardsValueError,
)

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
    "register_metrics",
]

#: The modules that have the metrics of each framework, imported when first used.
_modules: dict[str, str] = {"pytorch": "xshards.learn.pytorch.metrics"}


class Accumulator(Protocol):
    """A metric of one framework, which adds up batches."""

    def __call__(self, preds: Any, targets: Any) -> None:
        """Add a batch."""

    def compute(self) -> Any:
        """Return the value for what was added."""

    def state(self) -> Any:
        """Return all that another one needs to go on."""

    def merge(self, state: Any) -> None:
        """Add what another one has seen."""

    def reset(self) -> None:
        """Forget what was added."""


def register_metrics(backend: str, module: str) -> None:
    """Name the module that has the metrics of a framework.

    Parameters
    ----------
    backend
        The framework, as `ModelAdapter.name` has it.
    module
        Has a class for each metric that the framework can compute, of the same name and
        with the options that the metric here has. Imported when first needed.

    Examples
    --------
    >>> from xshards.learn.metrics import MSE, register_metrics
    >>> register_metrics("pytorch", "xshards.learn.pytorch.metrics")
    >>> type(MSE().get_metric("pytorch"))
    <class 'xshards.learn.pytorch.metrics.means.MSE'>
    """
    _modules[backend] = module


class Metric:
    """What to measure on validation data.

    It is a description, of no framework; derive from it to add options.

    Examples
    --------
    >>> import torch
    >>> from xshards.learn.metrics import MSE
    >>> mse = MSE().get_metric("pytorch")
    >>> mse(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
    >>> mse.compute().item()
    2.0
    """

    def get_metric(self, backend: str = "pytorch") -> Accumulator:
        """Make an object that adds up batches in a framework.

        Parameters
        ----------
        backend
            The framework; see `register_metrics`.

        Returns
        -------
        Accumulator
            Called with the predictions and targets of each batch; `compute` gives the
            value.

        Raises
        ------
        XShardsNotImplementedError
            If the framework is not known or has no such metric.
        """
        module = _modules.get(backend)
        if module is None:
            known = ", ".join(f'"{name}"' for name in _modules)
            msg = f"metrics are made for the backend {known} only, got {backend!r}"
            raise XShardsNotImplementedError(msg)
        name = self._class_name()
        found = getattr(importlib.import_module(module), name, None)
        if found is None:
            msg = f"the backend {backend!r} has no metric {name}"
            raise XShardsNotImplementedError(msg)
        made: Accumulator = found(**self._options())
        return made

    def _class_name(self) -> str:
        """Name the framework's class: this metric's, or that of its nearest base."""
        bases = [one for one in type(self).__mro__ if one.__module__ == __name__]
        return bases[0].__name__

    def _options(self) -> dict[str, Any]:
        """Return what that class is made with."""
        return {}

    def get_name(self) -> str:
        """Return the name that results are listed under.

        Returns
        -------
        str
            The name of the class, unless it has one of its own.
        """
        return type(self).__name__

    @staticmethod
    def convert_metrics_list(
        metrics: Any, backend: str = "pytorch"
    ) -> list[Accumulator]:
        """Make the objects for a list of metrics and functions.

        Parameters are those of `convert_metrics`.

        Returns
        -------
        list of Accumulator
            In the order of the metrics.
        """
        return list(convert_metrics(metrics, backend).values())

    @staticmethod
    def convert_metrics_dict(
        metrics: Any, backend: str = "pytorch"
    ) -> dict[str, Accumulator]:
        """Make the objects for a list of metrics and functions, by name.

        Parameters are those of `convert_metrics`.

        Returns
        -------
        dict of str to Accumulator
            In the order of the metrics.
        """
        return convert_metrics(metrics, backend)


def convert_metrics(metrics: Any, backend: str = "pytorch") -> dict[str, Accumulator]:
    """Make the objects for one metric, a list of them, or None, by their names.

    Parameters
    ----------
    metrics
        A metric or several. A function of predictions and targets stands for a
        `CustomizedMetric`.
    backend
        The framework; see `register_metrics`.

    Returns
    -------
    dict of str to Accumulator
        In the order of the metrics.

    Raises
    ------
    XShardsTypeError
        If one is no metric.
    XShardsValueError
        If two have the same name.

    Examples
    --------
    >>> from xshards.learn.metrics import MAE, Accuracy, convert_metrics
    >>> list(convert_metrics([Accuracy(), MAE()]))
    ['Accuracy', 'MAE']
    """
    if metrics is None:
        return {}
    several = isinstance(metrics, Iterable) and not isinstance(metrics, (str, Metric))
    made: dict[str, Accumulator] = {}
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

    Examples
    --------
    >>> from xshards.learn.metrics import CustomizedMetric
    >>> worst = CustomizedMetric(lambda preds, y: (preds - y).abs().max(), "worst")
    >>> worst.get_name()
    'worst'
    """

    def __init__(
        self, compute_function: Callable[[Any, Any], Any], name: str | None = None
    ) -> None:
        self.compute_function = compute_function
        self._name = name

    def get_name(self) -> str:  # noqa: D102
        own = getattr(self.compute_function, "__name__", None)
        return self._name or own or type(self.compute_function).__name__

    def _options(self) -> dict[str, Any]:
        return {"function": self.compute_function, "name": self.get_name()}


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


class AUC(Metric):
    """The area under the ROC curve of scores for targets of 0 and 1.

    Parameters
    ----------
    threshold_num
        Taken for Orca's sake. The area is exact, no thresholds are chosen.

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


#: How the values of classes become one. "binary" is about class 1 alone, "micro" about
#: the counts of all classes, "macro" is the mean over classes that occur. None is
#: "binary" where one float is predicted for each target, which is 1 from 0.5 on, and
#: "micro" for scores of classes or class indices.
Average = Literal["binary", "micro", "macro"] | None


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
    >>> metric = Precision().get_metric("pytorch")
    >>> metric(torch.tensor([0.9, 0.2, 0.1]), torch.tensor([1, 1, 0]))
    >>> round(metric.compute().item(), 4)
    1.0
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
