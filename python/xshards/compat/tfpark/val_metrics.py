# SPDX-License-Identifier: Apache-2.0
"""Metrics of tensors that are no labels of the data. Replicas run this."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xshards.learn.metrics import Metric

if TYPE_CHECKING:
    from xshards.learn.metrics.metric import Accumulator

__all__ = ["OnTensors"]


class OnTensors(Metric):
    """Another metric, for outputs of a graph that has its labels as outputs too.

    Parameters
    ----------
    metric
        The other one.
    num_predictions
        How many of the outputs are predictions; the rest are labels.
    """

    def __init__(self, metric: Metric, num_predictions: int) -> None:
        self._metric = metric
        self._count = num_predictions

    def get_name(self) -> str:
        """Return the name of the other metric."""
        return self._metric.get_name()

    def get_metric(self, backend: str = "tensorflow graph") -> Accumulator:
        """Make an object that adds up batches."""
        return _OnTensors(self._metric.get_metric(backend), self._count)


class _OnTensors:
    def __init__(self, metric: Accumulator, num_predictions: int) -> None:
        self._metric = metric
        self._count = num_predictions

    def __call__(self, preds: Any, targets: Any) -> None:
        """Add a batch; its targets are among the outputs."""
        self._metric(_alone(preds[: self._count]), _alone(preds[self._count :]))

    def compute(self) -> Any:
        """Return the value for what was added."""
        return self._metric.compute()

    def state(self) -> Any:
        """Return all that another one needs to go on."""
        return self._metric.state()

    def merge(self, state: Any) -> None:
        """Add what another one has seen."""
        self._metric.merge(state)

    def reset(self) -> None:
        """Forget what was added."""
        self._metric.reset()


def _alone(values: Any) -> Any:
    return values[0] if len(values) == 1 else values
