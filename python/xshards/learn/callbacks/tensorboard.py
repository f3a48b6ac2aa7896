# SPDX-License-Identifier: Apache-2.0
"""The course of training, for TensorBoard."""

from __future__ import annotations

import socket
import time
from typing import TYPE_CHECKING, Any, Literal

from xshards.errors import XShardsValueError
from xshards.learn.callbacks.base import Callback, Runner, loss_of
from xshards.learn.training.summaries.event_files import SummaryWriter

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

__all__ = ["TensorBoardCallback"]

# Results that are counts, not measurements.
_NOT_SHOWN = frozenset(["epoch", "batch_count", "num_samples"])


class TensorBoardCallback(Callback):
    """Writes losses and metrics to event files, which TensorBoard shows.

    Parameters
    ----------
    log_dir
        Where to; `runs/<time>_<host>` by default.
    freq
        "epoch" writes the results of each epoch, "batch" the loss and the learning rate
        of each batch, a number n those of every n-th batch.

    Examples
    --------
    >>> from xshards.learn.callbacks import TensorBoardCallback
    >>> every_tenth = TensorBoardCallback("runs/today", freq=10)
    """

    def __init__(
        self,
        log_dir: str | os.PathLike[str] | None = None,
        freq: Literal["epoch", "batch"] | int = "epoch",
    ) -> None:
        if freq not in ("epoch", "batch") and not (isinstance(freq, int) and freq > 0):
            msg = f'freq must be "epoch", "batch" or a number of batches, got {freq!r}'
            raise XShardsValueError(msg)
        self.log_dir = log_dir
        self.freq = freq
        self._writer: SummaryWriter | None = None
        self._written: tuple[int, set[str]] = (-1, set())

    def __getstate__(self) -> dict[str, Any]:
        # It is sent to the replicas; an open file cannot be.
        return {**self.__dict__, "_writer": None}

    def before_run(self, runner: Runner) -> None:  # noqa: D102
        if runner.rank == 0:
            now = time.strftime("%b%d_%H-%M-%S")
            self._writer = SummaryWriter(
                self.log_dir or f"runs/{now}_{socket.gethostname()}"
            )
            # Ignore results of an earlier run.
            self._written = (runner.epochs, set(runner.epoch_stats))

    def after_run(self, runner: Runner) -> None:  # noqa: D102
        self._write_epoch(runner)
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def after_train_iter(self, runner: Runner) -> None:  # noqa: D102
        if self._writer is None or self.freq == "epoch":
            return
        interval = 1 if self.freq == "batch" else self.freq
        if isinstance(interval, int) and runner.global_step % interval == 0:
            step = runner.global_step
            self._writer.add_scalar("train_loss", loss_of(runner), step)
            for name, rate in _learning_rates(runner.optimizer):
                self._writer.add_scalar(name, rate, step)

    # Validation results come after those of training, if at all: new results are
    # written at each of these points.

    def after_train_epoch(self, runner: Runner) -> None:  # noqa: D102
        self._write_epoch(runner)

    def after_val_epoch(self, runner: Runner) -> None:  # noqa: D102
        self._write_epoch(runner)

    def before_train_epoch(self, runner: Runner) -> None:  # noqa: D102
        self._write_epoch(runner)

    def _write_epoch(self, runner: Runner) -> None:
        if self._writer is None or self.freq != "epoch" or runner.epochs == 0:
            return
        epoch, tags = self._written
        if epoch != runner.epochs:
            tags = set()
        for tag, value in runner.epoch_stats.items():
            if tag in tags or tag in _NOT_SHOWN or not _is_number(value):
                continue
            self._writer.add_scalar(tag, float(value), runner.epochs)
            tags.add(tag)
        self._written = (runner.epochs, tags)
        self._writer.flush()


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError, RuntimeError):
        return False
    return True


def _learning_rates(optimizer: Any) -> Iterator[tuple[str, float]]:
    groups = getattr(optimizer, "param_groups", None) or []
    for number, group in enumerate(groups):
        name = "LearningRate" if len(groups) == 1 else f"LearningRate/{number}"
        yield name, float(group["lr"])
