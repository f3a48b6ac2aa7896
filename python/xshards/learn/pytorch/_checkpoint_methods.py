# SPDX-License-Identifier: Apache-2.0
"""Saving and loading an Estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xshards.learn.pytorch.job import Job

__all__ = ["CheckpointMethods"]


class CheckpointMethods:
    """What an Estimator has for files."""

    _job: Job
