# SPDX-License-Identifier: Apache-2.0
"""A progress bar for each epoch."""

from __future__ import annotations

from typing import Any

from xshards.learn.callbacks.base import Callback, Runner, loss_of

__all__ = ["TqdmCallback"]


class TqdmCallback(Callback):
    """Shows a progress bar for each epoch of training, with the last batch's loss."""

    def __init__(self) -> None:
        self._bar: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_bar": None}

    def before_train_epoch(self, runner: Runner) -> None:  # noqa: D102
        self._close()
        if runner.rank != 0:
            return
        from tqdm import tqdm

        self._bar = tqdm(
            total=getattr(runner, "steps_per_epoch", None),
            desc=f"epoch {runner.epochs + 1}/{runner.num_epochs}",
            unit="batch",
            leave=False,
        )

    def after_train_iter(self, runner: Runner) -> None:  # noqa: D102
        if self._bar is not None:
            self._bar.set_postfix(loss=f"{loss_of(runner):.4g}", refresh=False)
            self._bar.update()

    def after_train_epoch(self, runner: Runner) -> None:  # noqa: D102
        self._close()

    def after_run(self, runner: Runner) -> None:  # noqa: D102
        self._close()

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None
