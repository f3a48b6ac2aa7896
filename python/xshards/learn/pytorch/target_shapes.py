# SPDX-License-Identifier: Apache-2.0
"""Targets in the shape and dtype that a loss requires."""

from __future__ import annotations

from typing import Any

import torch

__all__ = ["fit_target"]

# These compare outputs and targets element by element, as numbers.
_ELEMENTWISE = (
    torch.nn.MSELoss,
    torch.nn.L1Loss,
    torch.nn.SmoothL1Loss,
    torch.nn.HuberLoss,
    torch.nn.BCELoss,
    torch.nn.BCEWithLogitsLoss,
    torch.nn.PoissonNLLLoss,
    torch.nn.SoftMarginLoss,
)


def fit_target(criterion: Any, output: Any, target: Any) -> Any:
    """Convert the target to the output's shape and dtype, if unambiguous.

    A column of labels is n numbers, a model's output n rows of one: torch would compare
    each with each. Such a loss rejects integer targets.
    """
    if not (
        isinstance(criterion, _ELEMENTWISE)
        and isinstance(output, torch.Tensor)
        and isinstance(target, torch.Tensor)
    ):
        return target
    dimensions = {target.ndim, output.ndim}
    if dimensions == {1, 2} and target.numel() == output.numel() == len(output):
        target = target.reshape(output.shape)
    if not target.is_floating_point():
        target = target.to(output.dtype)
    return target
