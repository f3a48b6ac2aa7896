# SPDX-License-Identifier: Apache-2.0
"""Event files for TensorBoard."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from xshards.errors import XShardsRuntimeError, XShardsValueError
from xshards.learn.training.event_files import read_scalar

if TYPE_CHECKING:
    import os

__all__ = ["SummaryMethods"]

_TRAIN_TAGS = ("Loss", "LearningRate", "Throughput")


class SummaryMethods:
    """What an Estimator has for TensorBoard."""

    _log_dir: Path | None = None

    def set_tensorboard(self, log_dir: str | os.PathLike[str], app_name: str) -> None:
        """Write what training and validation give to event files from now on.

        They are in ``log_dir/app_name/train`` and ``log_dir/app_name/validation``.
        """
        self._log_dir = Path(log_dir, app_name)

    def get_train_summary(self, tag: str = "Loss") -> list[list[int | float]]:
        """Give [iteration, value, time] of each update.

        `tag` is "Loss", "LearningRate" or "Throughput".
        """
        if tag not in _TRAIN_TAGS:
            msg = f"tag must be one of {', '.join(_TRAIN_TAGS)}; got {tag!r}"
            raise XShardsValueError(msg)
        return self._read("train", tag)

    def get_validation_summary(self, tag: str = "Loss") -> list[list[int | float]]:
        """Give [iteration, value, time] of each validation.

        `tag` is "Loss" or the name of a metric.
        """
        return self._read("validation", tag)

    def _read(self, part: str, tag: str) -> list[list[int | float]]:
        if self._log_dir is None:
            msg = "there is no summary: call set_tensorboard before fit"
            raise XShardsRuntimeError(msg)
        return read_scalar(self._log_dir / part, tag)
