# SPDX-License-Identifier: Apache-2.0
"""Optimizers of the parameter server under Orca's names; no framework is needed."""

from xshards.learn.optimizers import optimizer as _optimizer
from xshards.learn.optimizers.optimizer import *  # noqa: F403

__all__: list[str] = []
__all__ += _optimizer.__all__
