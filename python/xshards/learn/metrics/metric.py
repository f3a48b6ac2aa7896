# SPDX-License-Identifier: Apache-2.0
"""Validation metrics, named without a framework; `get_metric` makes one that counts."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from xshards.errors import (
    XShardsNotImplementedError,
    XShardsTypeError,
    XShardsValueError,
)

__all__ = [
    "Accumulator",
    "CustomizedMetric",
    "Metric",
    "convert_metrics",
    "describe_metrics",
    "register_metrics",
]

# The metrics themselves are in the modules beside this one.
_PACKAGE = __name__.rpartition(".")[0]
#: The modules that have the metrics of each framework, imported when first used.
_modules: dict[str, str] = {
    "pytorch": "xshards.learn.pytorch.metrics",
    "keras": "xshards.learn.tf.metrics",
}


class Accumulator(Protocol):
    """A metric of one framework, which accumulates over batches and replicas.

    Examples
    --------
    >>> from xshards.learn.metrics import MAE
    >>> accumulator = MAE().get_metric("pytorch")
    """

    def __call__(self, preds: Any, targets: Any) -> None:
        """Add a batch.

        Parameters
        ----------
        preds, targets
            The model's output and the target of a batch: tensors of the framework.
        """

    def compute(self) -> Any:
        """Return the value for what was added.

        Returns
        -------
        tensor, or tuple of tensors
            Not a number before anything was added.

        Examples
        --------
        >>> import torch
        >>> from xshards.learn.metrics import MSE
        >>> mse = MSE().get_metric()
        >>> mse(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
        >>> mse.compute().item()
        2.0
        """

    def state(self) -> Any:
        """Return the state from which another accumulator can continue.

        Returns
        -------
        dict
            Tensors by name: sums and counts, so that states can be added up.

        Examples
        --------
        >>> import torch
        >>> from xshards.learn.metrics import MSE
        >>> mse = MSE().get_metric()
        >>> mse(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
        >>> mse.state()["sum"].item()
        4.0
        """

    def merge(self, state: Any) -> None:
        """Add what another accumulator of the same metric has seen.

        Parameters
        ----------
        state
            What its `state` returned.

        Examples
        --------
        >>> import torch
        >>> from xshards.learn.metrics import MSE
        >>> mse = MSE().get_metric()
        >>> mse(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
        >>> other = MSE().get_metric()
        >>> other(torch.tensor([0.0, 0.0]), torch.tensor([0.0, 0.0]))
        >>> mse.merge(other.state())
        >>> mse.compute().item()
        1.0
        """

    def reset(self) -> None:
        """Drop all that was added.

        Examples
        --------
        >>> import torch
        >>> from xshards.learn.metrics import MSE
        >>> mse = MSE().get_metric()
        >>> mse(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
        >>> mse.reset()
        >>> mse.compute().isnan().item()
        True
        """


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

    #: The name it was given by, if it was given by one.
    _listed_as: str | None = None

    def __repr__(self) -> str:
        given = "" if self._listed_as is None else repr(self._listed_as)
        return f"{type(self).__name__}({given})"

    def get_metric(self, backend: str = "pytorch") -> Accumulator:
        """Make an accumulator of this metric in a framework.

        Parameters
        ----------
        backend
            The framework; see `register_metrics`.

        Returns
        -------
        Accumulator
            Called with the predictions and targets of each batch; `compute` returns the
            value.

        Raises
        ------
        XShardsNotImplementedError
            If the framework is not known or has no such metric.

        Examples
        --------
        >>> from xshards.learn.metrics import Accuracy
        >>> Accuracy().get_metric("pytorch").get_name()
        'Accuracy'
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
        bases = [
            one for one in type(self).__mro__ if one.__module__.startswith(_PACKAGE)
        ]
        return bases[0].__name__

    def _options(self) -> dict[str, Any]:
        """Return what that class is made with."""
        return {}

    def get_name(self) -> str:
        """Return the name that results are listed under.

        Returns
        -------
        str
            The name it was given by, or else that of the class.

        Examples
        --------
        >>> from xshards.learn.metrics import MAE
        >>> MAE().get_name()
        'MAE'
        """
        return self._listed_as or type(self).__name__

    @staticmethod
    def convert_metrics_list(
        metrics: Any, backend: str = "pytorch"
    ) -> list[Accumulator]:
        """Make accumulators for metrics and functions.

        Parameters
        ----------
        metrics, backend
            See `convert_metrics`.

        Returns
        -------
        list of Accumulator
            In the order of the metrics.

        Examples
        --------
        >>> from xshards.learn.metrics import MSE, Metric
        >>> [type(one).__name__ for one in Metric.convert_metrics_list(["mae", MSE()])]
        ['MAE', 'MSE']
        """
        return list(convert_metrics(metrics, backend).values())

    @staticmethod
    def convert_metrics_dict(
        metrics: Any, backend: str = "pytorch"
    ) -> dict[str, Accumulator]:
        """Make accumulators for metrics and functions, by name.

        Parameters
        ----------
        metrics, backend
            See `convert_metrics`.

        Returns
        -------
        dict of str to Accumulator
            In the order of the metrics.

        Examples
        --------
        >>> from xshards.learn.metrics import MSE, Metric
        >>> list(Metric.convert_metrics_dict(["mae", MSE()]))
        ['mae', 'MSE']
        """
        return convert_metrics(metrics, backend)


def convert_metrics(metrics: Any, backend: str = "pytorch") -> dict[str, Accumulator]:
    """Make the objects for one metric, a list of them, or None, by their names.

    Parameters
    ----------
    metrics
        A metric or several, or their names, see `metric_names`. A function of
        predictions and targets stands for a `CustomizedMetric`.
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
        If two have the same name, or there is no metric of a name.

    Examples
    --------
    >>> from xshards.learn.metrics import MAE, Accuracy, convert_metrics
    >>> list(convert_metrics([Accuracy(), MAE()]))
    ['Accuracy', 'MAE']
    >>> list(convert_metrics(["accuracy", "mae"]))
    ['accuracy', 'mae']
    """
    made: dict[str, Accumulator] = {}
    for metric in describe_metrics(metrics):
        if metric.get_name() in made:
            msg = (
                f"two metrics are named {metric.get_name()}; results would be mixed: "
                "give a CustomizedMetric a name of its own"
            )
            raise XShardsValueError(msg)
        made[metric.get_name()] = metric.get_metric(backend)
    return made


def describe_metrics(metrics: Any) -> list[Metric]:
    """Return the metrics of what users give: one or several, names and functions."""
    if metrics is None:
        return []
    several = isinstance(metrics, Iterable) and not isinstance(metrics, (str, Metric))
    return [_described(each) for each in (metrics if several else [metrics])]


def _described(metric: Any) -> Metric:
    if isinstance(metric, Metric):
        return metric
    if isinstance(metric, str):
        # Names are of all metrics, which derive from the class here.
        from xshards.learn.metrics.names import metric_of_name

        return metric_of_name(metric)
    if isinstance(metric, type) and issubclass(metric, Metric):
        return metric()
    if callable(metric) and not isinstance(metric, type):
        return CustomizedMetric(metric)
    msg = (
        "expected a metric of xshards.learn.metrics, its name or a function of "
        f"predictions and targets, got {metric!r}"
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
