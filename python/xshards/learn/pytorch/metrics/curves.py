# SPDX-License-Identifier: Apache-2.0
"""Metrics of how well scores separate two classes, at every threshold."""

from __future__ import annotations

import torch
from torch import Tensor

from xshards.errors import XShardsValueError
from xshards.learn.pytorch.metrics.base import TorchMetric, paired

__all__ = ["AUROC", "ROC", "PrecisionRecallCurve"]

# Rows that wait to be counted; more than this are counted at once.
_PENDING_ROWS = 1 << 20


class ScoreCounts(TorchMetric):
    """Counts positives and negatives at each different score.

    This is all that curves depend on. It does not depend on the order of rows, and
    equal scores take no more room than one.
    """

    _scores: Tensor
    _positives: Tensor
    _negatives: Tensor
    _pending: list[tuple[Tensor, Tensor, Tensor]]
    _pending_rows: int

    def _add(self, preds: Tensor, targets: Tensor) -> None:
        preds, targets = paired(self, preds, targets)
        scores = preds.reshape(-1).double().cpu()
        positives = targets.reshape(-1).cpu() == 1
        if bool((~positives & (targets.reshape(-1).cpu() != 0)).any()):
            msg = f"{self.get_name()}: expected targets of 0 and 1, got others"
            raise XShardsValueError(msg)
        if bool(scores.isnan().any()):
            msg = f"{self.get_name()}: a prediction is not a number; check the model"
            raise XShardsValueError(msg)
        self._pend(scores, positives.long(), (~positives).long())

    def _pend(self, scores: Tensor, positives: Tensor, negatives: Tensor) -> None:
        self._pending.append((scores, positives, negatives))
        self._pending_rows += len(scores)
        if self._pending_rows > _PENDING_ROWS:
            self._count()

    def _count(self) -> None:
        parts = [(self._scores, self._positives, self._negatives), *self._pending]
        scores, positives, negatives = map(torch.cat, zip(*parts, strict=True))
        self._scores, place = torch.unique(scores, return_inverse=True)
        empty = torch.zeros(len(self._scores), dtype=torch.int64)
        self._positives = empty.index_add(0, place, positives)
        self._negatives = empty.index_add(0, place, negatives)
        self._pending = []
        self._pending_rows = 0

    def _descending(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return scores from the largest, and the counts at or above each."""
        self._count()
        true_positives = self._positives.flip(0).cumsum(0)
        false_positives = self._negatives.flip(0).cumsum(0)
        return self._scores.flip(0), true_positives, false_positives

    def state(self) -> dict[str, Tensor]:
        self._count()
        return {
            "scores": self._scores.clone(),
            "positives": self._positives.clone(),
            "negatives": self._negatives.clone(),
        }

    def merge(self, state: dict[str, Tensor]) -> None:
        self._pend(state["scores"], state["positives"], state["negatives"])

    def reset(self) -> None:
        self._scores = torch.zeros(0, dtype=torch.float64)
        self._positives = torch.zeros(0, dtype=torch.int64)
        self._negatives = torch.zeros(0, dtype=torch.int64)
        self._pending = []
        self._pending_rows = 0


class ROC(ScoreCounts):
    """The rates of false and true positives at each threshold, from the strictest.

    The value is (false positive rate, true positive rate, thresholds); at the first
    threshold, which is infinite, nothing is taken for positive.

    Parameters
    ----------
    name
        The name of its results; that of the class by default.

    Examples
    --------
    >>> import torch
    >>> from xshards.learn.pytorch.metrics import ROC
    >>> roc = ROC()
    >>> roc(torch.tensor([0.25, 0.5, 0.75]), torch.tensor([0, 1, 1]))
    >>> for each in roc.compute():
    ...     print(each.tolist())
    [0.0, 0.0, 0.0, 1.0]
    [0.0, 0.5, 1.0, 1.0]
    [inf, 0.75, 0.5, 0.25]
    """

    def compute(self) -> tuple[Tensor, Tensor, Tensor]:  # noqa: D102
        scores, true_positives, false_positives = self._descending()
        start = torch.zeros(1, dtype=torch.float64)
        return (
            torch.cat([start, _share_of_last(false_positives)]),
            torch.cat([start, _share_of_last(true_positives)]),
            torch.cat([start + torch.inf, scores]),
        )


class AUROC(ScoreCounts):
    """The area under the ROC curve: how often a positive scores above a negative.

    It is exact: no thresholds are chosen. Not a number while there is one class only.

    Parameters
    ----------
    name
        The name of its results; that of the class by default.

    Examples
    --------
    >>> import torch
    >>> from xshards.learn.pytorch.metrics import AUROC
    >>> metric = AUROC()
    >>> metric(torch.tensor([0.25, 0.5, 0.75]), torch.tensor([0, 1, 1]))
    >>> round(metric.compute().item(), 4)
    1.0
    """

    def compute(self) -> Tensor:  # noqa: D102
        _, true_positives, false_positives = self._descending()
        start = torch.zeros(1, dtype=torch.float64)
        true_rate = torch.cat([start, _share_of_last(true_positives)])
        false_rate = torch.cat([start, _share_of_last(false_positives)])
        if len(true_positives) == 0:
            return torch.tensor(torch.nan, dtype=torch.float64)
        return torch.trapezoid(true_rate, false_rate)


class PrecisionRecallCurve(ScoreCounts):
    """Precision and recall at each threshold, from the laxest.

    The value is (precision, recall, thresholds); a last precision of 1 and recall of 0
    have no threshold.

    Parameters
    ----------
    name
        The name of its results; that of the class by default.

    Examples
    --------
    >>> import torch
    >>> from xshards.learn.pytorch.metrics import PrecisionRecallCurve
    >>> curve = PrecisionRecallCurve()
    >>> curve(torch.tensor([0.5, 0.75, 0.25]), torch.tensor([0, 1, 1]))
    >>> for each in curve.compute():
    ...     print([round(value, 2) for value in each.tolist()])
    [0.67, 0.5, 1.0, 1.0]
    [1.0, 0.5, 0.5, 0.0]
    [0.25, 0.5, 0.75]
    """

    def compute(self) -> tuple[Tensor, Tensor, Tensor]:  # noqa: D102
        scores, true_positives, false_positives = self._descending()
        precision = true_positives / (true_positives + false_positives).double()
        end = torch.ones(1, dtype=torch.float64)
        return (
            torch.cat([precision.flip(0), end]),
            torch.cat([_share_of_last(true_positives).flip(0), end - 1]),
            scores.flip(0),
        )


def _share_of_last(counts: Tensor) -> Tensor:
    return counts / counts[-1:].double()
