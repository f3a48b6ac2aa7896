# SPDX-License-Identifier: Apache-2.0
"""A progress bar for each epoch."""

from __future__ import annotations

from typing import Any

from xshards.learn.callbacks.base import Callback, Runner, loss_of
from xshards.learn.training.progress_line import ProgressLine
from xshards.profile.progress import is_watched

__all__ = ["TqdmCallback"]


class TqdmCallback(Callback):
    """Shows a progress bar for each epoch of training, with the last batch's loss.

    Where stderr is neither a terminal nor a notebook's it writes one line at the end of
    each epoch.

    Examples
    --------
    >>> from xshards.learn.callbacks import TqdmCallback
    >>> callbacks = [TqdmCallback()]  # for Estimator.fit(..., callbacks=callbacks)
    """

    def __init__(self) -> None:
        self._line: ProgressLine | None = None
        self._terminal: bool | None = None

    def __getstate__(self) -> dict[str, Any]:
        # The stderr of a replica is a pipe to the driver: what that is, counts.
        terminal = is_watched() if self._terminal is None else self._terminal
        return {**self.__dict__, "_line": None, "_terminal": terminal}

    def before_train_epoch(self, runner: Runner) -> None:  # noqa: D102
        self._close()
        if runner.rank != 0:
            return
        self._line = ProgressLine(
            f"epoch {runner.epochs + 1}/{runner.num_epochs}",
            "batch",
            total=getattr(runner, "steps_per_epoch", None),
            leave=False,
            terminal=self._terminal,
        )

    def after_train_iter(self, runner: Runner) -> None:  # noqa: D102
        if self._line is not None:
            shown = {"loss": f"{loss_of(runner):.4g}"}
            self._line.advance(self._line.count + 1, shown)

    def after_train_epoch(self, runner: Runner) -> None:  # noqa: D102
        self._close()

    def after_run(self, runner: Runner) -> None:  # noqa: D102
        self._close()

    def _close(self) -> None:
        if self._line is not None:
            self._line.close()
            self._line = None
