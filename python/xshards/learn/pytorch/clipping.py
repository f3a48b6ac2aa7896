# SPDX-License-Identifier: Apache-2.0
"""Clipping by torch, where it updates the weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Iterable

    from xshards.learn.training.clip import Clip

__all__ = ["clip_gradients"]


def clip_gradients(parameters: Iterable[torch.nn.Parameter], clip: Clip) -> None:
    """Clip the existing gradients, first each element and then the norm of all."""
    having = [one for one in parameters if one.grad is not None]
    if clip.constant is not None:
        for parameter in having:
            assert parameter.grad is not None
            parameter.grad.clamp_(*clip.constant)
    if clip.norm is not None:
        torch.nn.utils.clip_grad_norm_(having, clip.norm)
