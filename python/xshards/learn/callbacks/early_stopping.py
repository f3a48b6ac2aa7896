# SPDX-License-Identifier: Apache-2.0
"""Stop training when a metric stops improving."""

from __future__ import annotations

from typing import Literal

from xshards.errors import XShardsValueError
from xshards.learn.callbacks.base import Callback, Runner
from xshards.learn.monitor import Monitor

__all__ = ["EarlyStopping"]


class EarlyStopping(Callback):
    """Ends training when a monitored value has stopped improving.

    Parameters
    ----------
    monitor
        A name of the epoch's results, such as "val_loss", "val_Accuracy" (looked at
        after validation) or "train_loss".
    patience
        Epochs in a row without improvement after which to stop.
    min_delta
        Smaller changes are no improvement.
    mode
        Whether less or more is better.

    Examples
    --------
    >>> from xshards.learn.callbacks import EarlyStopping
    >>> stop = EarlyStopping("val_Accuracy", patience=3, mode="max")
    """

    def __init__(
        self,
        monitor: str = "val_loss",
        patience: int = 0,
        min_delta: float = 0.0,
        mode: Literal["min", "max"] = "min",
    ) -> None:
        if mode not in ("min", "max"):
            msg = f'mode must be "min" or "max", got {mode!r}'
            raise XShardsValueError(msg)
        if patience < 0 or min_delta < 0:
            msg = (
                "patience and min_delta must be at least 0, "
                f"got {patience} and {min_delta}"
            )
            raise XShardsValueError(msg)
        self.monitor = monitor
        self.patience = patience
        self.min_delta = min_delta
        self.mode = mode
        self._forget()

    def _forget(self) -> None:
        self._followed = Monitor(self.monitor, self.mode, min_delta=self.min_delta)
        self.epochs_without = 0

    @property
    def best(self) -> float | None:
        """The best value of this run."""
        return self._followed.best

    def before_run(self, runner: Runner) -> None:  # noqa: D102
        self._forget()

    def after_train_epoch(self, runner: Runner) -> None:  # noqa: D102
        if not self.monitor.startswith("val_"):
            self._look(runner)

    def after_val_epoch(self, runner: Runner) -> None:  # noqa: D102
        if self.monitor.startswith("val_"):
            self._look(runner)

    def _look(self, runner: Runner) -> None:
        # All replicas have the same results, so they all stop, or none.
        if self._followed.improves(runner.epoch_stats, asked_by="EarlyStopping"):
            self.epochs_without = 0
            return
        self.epochs_without += 1
        if self.epochs_without >= max(1, self.patience):
            runner.should_stop = True
