# SPDX-License-Identifier: Apache-2.0
"""How gradients are clipped."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Clip"]


@dataclass
class Clip:
    """The limits of gradients; None for no limit.

    Elements are limited first, the norm of the whole gradient then.
    """

    constant: tuple[float, float] | None = None
    norm: float | None = None
