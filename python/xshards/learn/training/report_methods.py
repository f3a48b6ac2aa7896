# SPDX-License-Identifier: Apache-2.0
"""Descriptions of an Estimator and of its errors."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from xshards.errors import XShardsValueError
from xshards.learn.metrics import ConfusionMatrix

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xshards.learn.metrics import Metric
    from xshards.learn.training.job import Job

__all__ = ["ReportMethods"]

_NORMALIZE = ("true", "pred", "all", None)


class ReportMethods:
    """Methods of an Estimator that describe it and its errors."""

    _job: Job

    def confusion_matrix(
        self,
        data: Any,
        batch_size: int = 32,
        *,
        feature_cols: Any = None,
        label_cols: Any = None,
        labels: Sequence[Any] | Mapping[int, Any] | None = None,
        normalize: Literal["true", "pred", "all"] | None = None,
    ) -> pd.DataFrame:
        """Count how often rows of each class are predicted to be of each.

        Replicas count, and their counts are added up. Scores of several classes are
        decided by the largest; one value for each row is class 1 from 0.5 on.

        Parameters
        ----------
        data
            As for `fit`.
        batch_size
            Rows at a time, over all replicas.
        feature_cols, label_cols
            The columns of a DataFrame that are the model's input and its target.
        labels
            The names of classes, in the order of their numbers or by number.
        normalize
            Return fractions in place of counts: of the rows of a class ("true"), of
            those predicted to be of it ("pred"), or of all.

        Returns
        -------
        DataFrame
            A row for each class, a column for each prediction.

        Raises
        ------
        XShardsValueError
            If targets are not classes, or `labels` has too few names.

        Examples
        --------
        >>> import torch
        >>> from xshards.learn.pytorch import Estimator
        >>> estimator = Estimator.from_torch(model=torch.nn.Identity(), workers=1)
        >>> x = np.array([[0.9], [0.2], [0.1]], dtype="float32")
        >>> y = np.array([1, 1, 0])
        >>> estimator.confusion_matrix({"x": x, "y": y}, labels=["no", "yes"])
        predicted  no  yes
        true
        no          1    0
        yes         1    1
        >>> estimator.shutdown()
        """
        if normalize not in _NORMALIZE:
            msg = f'normalize must be "true", "pred" or "all", got {normalize!r}'
            raise XShardsValueError(msg)
        result = self._measured(
            ConfusionMatrix(), data, batch_size, feature_cols, label_cols
        )
        counts = np.asarray(self._job.adapter.to_numpy(result))
        names = _class_names(labels, len(counts))
        return pd.DataFrame(
            _shares(counts, normalize),
            index=pd.Index(names, name="true"),
            columns=pd.Index(names, name="predicted"),
        )

    def _measured(
        self,
        metric: Metric,
        data: Any,
        batch_size: int,
        feature_cols: Any,
        label_cols: Any,
    ) -> Any:
        """Compute a metric of data; override it where `evaluate` takes none."""
        estimator: Any = self  # derives from this class
        return estimator.evaluate(
            data,
            batch_size,
            feature_cols=feature_cols,
            label_cols=label_cols,
            validation_methods=[metric],
        )[metric.get_name()]

    def __repr__(self) -> str:
        lines = [f"  {name}: {value}" for name, value in self._facts().items()]
        return "\n".join([f"Estimator({self._job.adapter.name})", *lines])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{html.escape(name)}</th><td><pre>{html.escape(value)}</pre></td></tr>"
            for name, value in self._facts().items()
        )
        title = f"<strong>Estimator({html.escape(self._job.adapter.name)})</strong>"
        return f"<div>{title}<table>{rows}</table></div>"

    def _facts(self) -> dict[str, str]:
        """Return a description, by name."""
        job = self._job
        facts = {}
        for number, model in enumerate(job.parts.models):
            name = "model" if len(job.parts.models) == 1 else f"model {number}"
            facts[name] = _short(model)
        trained = [one for optimizer in job.optimizers for one in optimizer.shapes]
        if trained:
            elements = sum(int(np.prod(shape)) for shape in trained)
            facts["trained parameters"] = f"{elements:,} in {len(trained)} tensors"
        facts["optimizer"] = ", ".join(map(_described, job.optimizers)) or "none"
        loss = job.parts.criterion
        if loss is None:
            loss = job.adapter.loss_of(job.parts.models)
        facts["loss"] = "none" if loss is None else _name_of(loss)
        running = f", running as processes {_listed(job.pids)}" if job.pids else ""
        facts["workers"] = f"{job.num_replicas}{running}"
        state = "not trained yet"
        if job.epoch or job.num_steps:
            state = (
                f"{_counted(job.epoch, 'epoch')}, {_counted(job.num_steps, 'update')}"
            )
        facts["state"] = state
        return facts


def _class_names(labels: Any, count: int) -> list[Any]:
    if labels is None:
        return list(range(count))
    if hasattr(labels, "items"):
        return [labels.get(number, number) for number in range(count)]
    names = list(labels)
    if len(names) < count:
        msg = f"labels must name the {count} classes there are, got {names}"
        raise XShardsValueError(msg)
    return names[:count]


def _shares(counts: np.ndarray[Any, Any], normalize: str | None) -> Any:
    if normalize is None:
        return counts
    axis = {"true": 1, "pred": 0, "all": None}[normalize]
    total = counts.sum(axis=axis, keepdims=True)
    return np.divide(counts, total, out=np.zeros(counts.shape), where=total > 0)


def _described(optimizer: Any) -> str:
    rate = optimizer.learning_rate
    return optimizer.name if rate is None else f"{optimizer.name} (lr={rate:g})"


def _short(model: Any, lines: int = 12) -> str:
    text = repr(model).splitlines()
    if len(text) > lines:
        text = [*text[:lines], f"... {len(text) - lines} more lines"]
    return "\n  ".join(text)


def _name_of(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_name_of(one)}" for name, one in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_name_of, value))
    if isinstance(value, str):
        return value
    return getattr(value, "__name__", type(value).__name__)


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
