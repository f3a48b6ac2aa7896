# SPDX-License-Identifier: Apache-2.0
"""What ``bigdl.optim.optimizer`` exports."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from xshards.compat.later import Later
from xshards.learn.metrics import MAE, Accuracy, Top5Accuracy
from xshards.learn.optimizers import (
    LBFGS,
    SGD,
    Adadelta,
    Adagrad,
    Adam,
    Adamax,
    Ftrl,
    ParallelAdam,
    RMSprop,
)
from xshards.learn.optimizers.schedule import (
    Default,
    Exponential,
    MultiStep,
    Plateau,
    Poly,
    SequentialSchedule,
    Step,
    Warmup,
)
from xshards.learn.training.summaries.event_files import read_scalar
from xshards.learn.trigger import (
    And,
    EveryEpoch,
    MaxEpoch,
    MaxIteration,
    MaxScore,
    MinLoss,
    Or,
    SeveralIteration,
)

if TYPE_CHECKING:
    import os

__all__ = [
    "LBFGS",
    "MAE",
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "Adamax",
    "Default",
    "EveryEpoch",
    "Exponential",
    "Ftrl",
    "Loss",
    "MaxEpoch",
    "MaxIteration",
    "MaxScore",
    "MinLoss",
    "MultiStep",
    "Optimizer",
    "ParallelAdam",
    "Plateau",
    "Poly",
    "RMSprop",
    "SequentialSchedule",
    "SeveralIteration",
    "Step",
    "Top1Accuracy",
    "Top5Accuracy",
    "TrainSummary",
    "TriggerAnd",
    "TriggerOr",
    "ValidationSummary",
    "Warmup",
]

TriggerAnd = And
TriggerOr = Or

_MODULE = "bigdl.optim.optimizer"
Optimizer = Later("Optimizer", _MODULE, "BigDL layers")
Loss = Later("Loss", _MODULE, "BigDL criterions")


class Top1Accuracy(Accuracy):
    """How often the class with the largest score is the target."""


class _Summary:
    """The event files that a run has written for TensorBoard.

    Parameters
    ----------
    log_dir
        The directory that TensorBoard is pointed at.
    app_name
        The run's name, a directory in it.
    """

    _part: str

    def __init__(self, log_dir: str | os.PathLike[str], app_name: str) -> None:
        self.log_dir = str(Path(log_dir, app_name, self._part))

    def read_scalar(self, tag: str) -> list[list[int | float]]:
        """Give the values of a tag as [iteration, value, time]."""
        return read_scalar(self.log_dir, tag)


class TrainSummary(_Summary):
    """The course of training, under ``log_dir/app_name/train``."""

    _part = "train"


class ValidationSummary(_Summary):
    """The course of validation, under ``log_dir/app_name/validation``."""

    _part = "validation"
