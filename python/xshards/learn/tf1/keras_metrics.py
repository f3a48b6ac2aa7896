# SPDX-License-Identifier: Apache-2.0
"""Metrics of Keras that are no means over rows: replicas add up their state."""

from __future__ import annotations

from typing import Any

import numpy as np
from tensorflow.python.eager import context

from xshards.errors import XShardsNotImplementedError
from xshards.learn.metrics import Metric

__all__ = ["KerasMetric", "KerasState", "is_mean"]


def is_mean(metric: Any) -> bool:
    """Whether a metric of Keras is the mean of a function over rows."""
    return getattr(metric, "_fn", None) is not None


class KerasMetric(Metric):
    """A metric that a Keras model was compiled with, such as AUC or Recall.

    Parameters
    ----------
    metric
        Of Keras.
    name
        What to list it under.
    output
        Number and name of the model's output that it is for; None if there is one.
    """

    def __init__(
        self, metric: Any, name: str, output: tuple[int, str] | None = None
    ) -> None:
        self._name = name
        self._made_of = type(metric), metric.get_config(), output

    def get_name(self) -> str:
        """Return the name that results are listed under."""
        return self._name

    def get_metric(self, backend: str = "tf1") -> KerasState:
        """Make an object that adds up batches."""
        return KerasState(*self._made_of)


class KerasState:
    """The variables of a metric, updated by Keras in this process."""

    def __init__(
        self, kind: type, config: dict[str, Any], output: tuple[int, str] | None
    ) -> None:
        self._kind, self._config, self._output = kind, config, output
        self._metric: Any = None

    def __call__(self, preds: Any, targets: Any) -> None:
        """Add a batch."""
        if self._output is not None:
            number, name = self._output
            preds = preds[number]
            targets = targets[name if isinstance(targets, dict) else number]
        preds, targets = np.asarray(preds), np.asarray(targets)
        if preds.ndim == targets.ndim + 1 and preds.shape[-1] == 1:
            targets = targets[..., None]
        with context.eager_mode():
            self._made().update_state(targets, preds)

    def compute(self) -> float:
        """Return the value for what was added."""
        with context.eager_mode():
            return float(self._made().result().numpy())

    def state(self) -> list[np.ndarray[Any, Any]]:
        """Return the variables."""
        with context.eager_mode():
            return [np.array(one.numpy()) for one in self._made().variables]

    def merge(self, state: list[np.ndarray[Any, Any]]) -> None:
        """Add what another one has seen."""
        with context.eager_mode():
            for variable, value in zip(self._made().variables, state, strict=True):
                variable.assign_add(value)

    def reset(self) -> None:
        """Forget what was added."""
        self._metric = None

    def _made(self) -> Any:
        if self._metric is None:
            metric = self._kind.from_config(self._config)  # type: ignore[attr-defined]
            if any(np.any(one.numpy()) for one in metric.variables):
                msg = (
                    f"{metric.name} does not begin at zero, so what replicas count "
                    "cannot be added; give metrics of xshards.learn.metrics instead"
                )
                raise XShardsNotImplementedError(msg)
            self._metric = metric
        return self._metric

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_metric": None}
