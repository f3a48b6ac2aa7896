# SPDX-License-Identifier: Apache-2.0
"""Random numbers that are the same whenever a batch is computed."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from xshards.learn.training.adapter import ModelAdapter

__all__ = ["seed_everything", "seed_framework"]

_MASK = (1 << 64) - 1


def seed_everything(adapter: ModelAdapter, *numbers: int) -> None:
    """Seed the framework, numpy and random for one batch of one replica.

    So a batch draws the same numbers whenever it is computed: by a replica that
    replaces another, or by a job that goes on from a checkpoint.
    """
    mixed = seed_framework(adapter, *numbers)
    np.random.seed(mixed & 0xFFFFFFFF)  # noqa: NPY002 - models may use the global one
    random.seed(mixed)


def seed_framework(adapter: ModelAdapter, *numbers: int) -> int:
    """Seed the framework alone; returns the 64 bits that are drawn from the numbers."""
    mixed = 0
    for number in numbers:  # splitmix64
        mixed = (mixed + number + 0x9E3779B97F4A7C15) & _MASK
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
        mixed ^= mixed >> 31
    adapter.seed(mixed >> 1)
    return mixed
