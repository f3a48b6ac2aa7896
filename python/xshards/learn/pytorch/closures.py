# SPDX-License-Identifier: Apache-2.0
"""Optimizers that evaluate the loss themselves."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

__all__ = ["needs_closure"]


def needs_closure(optimizer: torch.optim.Optimizer) -> bool:
    """Return whether an optimizer evaluates the loss, several times a step."""
    closure = inspect.signature(type(optimizer).step).parameters.get("closure")
    return closure is not None and closure.default is closure.empty
