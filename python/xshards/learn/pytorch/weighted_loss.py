# SPDX-License-Identifier: Apache-2.0
"""Weighted losses, whose average over replicas is the weighted mean of all rows."""

from __future__ import annotations

import copy
import inspect
from typing import Any

import torch

from xshards.errors import XShardsValueError

__all__ = ["class_shares", "gives_weights", "weighted_mean"]

# These have weights of classes, and a class whose rows do not count.
_OF_CLASSES = (torch.nn.NLLLoss, torch.nn.CrossEntropyLoss)


def gives_weights(criterion: Any) -> bool:
    """Return whether a loss divides by class weights rather than by rows."""
    return (
        isinstance(criterion, _OF_CLASSES)
        and criterion.reduction == "mean"
        and criterion.weight is not None
    )


def class_shares(criterion: Any, target: Any) -> torch.Tensor | None:
    """Return what torch divides by, of each row; None if each row counts as one.

    That is the weight of its class, and nothing where the target is `ignore_index`; the
    mean of these where a row has several targets.
    """
    if not isinstance(criterion, _OF_CLASSES) or criterion.reduction == "sum":
        return None
    if not isinstance(target, torch.Tensor) or target.is_floating_point():
        return None  # probabilities of classes: torch divides by rows
    counted = target != criterion.ignore_index
    if criterion.weight is None:
        if bool(counted.all()):
            return None
        shares = counted.double()
    else:
        shares = criterion.weight.double()[target.where(counted, 0)] * counted
    return shares.reshape(len(shares), -1).mean(1) if shares.ndim else shares[None]


def weighted_mean(
    criterion: Any, output: Any, target: Any, weights: torch.Tensor, total: float
) -> Any:
    """Return the loss of each row times its weight, added up and divided by a total."""
    losses = _by_row(criterion, output, target, len(weights))
    summed = (losses * weights.to(losses.dtype)).sum()
    if getattr(criterion, "reduction", "mean") == "sum":
        return summed
    return summed / total if total else summed


def _by_row(criterion: Any, output: Any, target: Any, rows: int) -> Any:
    """Return the mean loss of each row."""
    if isinstance(criterion, torch.nn.Module):
        if hasattr(criterion, "reduction"):
            summed = criterion.reduction == "sum"
            criterion = copy.copy(criterion)
            criterion.reduction = "none"
            losses = criterion(output, target)
            flat = losses.reshape(rows, -1)
            return flat.sum(1) if summed else flat.mean(1)
        losses = criterion(output, target)
    elif _takes_reduction(criterion):
        losses = criterion(output, target, reduction="none")
    else:
        losses = criterion(output, target)
    if losses.ndim == 0 or len(losses) != rows:
        name = getattr(criterion, "__name__", type(criterion).__name__)
        msg = (
            "class_weight and sample weights need a loss for each row: have the loss "
            f"{name} return one (reduction='none'), got a result of shape "
            f"{tuple(losses.shape)} for {rows} rows"
        )
        raise XShardsValueError(msg)
    return losses.reshape(rows, -1).mean(1)


def _takes_reduction(function: Any) -> bool:
    try:
        return "reduction" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
