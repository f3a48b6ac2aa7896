# SPDX-License-Identifier: Apache-2.0
"""Stop training after a number of updates."""

from __future__ import annotations

from xshards.errors import XShardsValueError
from xshards.learn.callbacks.base import Callback, Runner

__all__ = ["MaxstepsCallback"]


class MaxstepsCallback(Callback):
    """Ends training after a number of updates of the weights.

    Parameters
    ----------
    max_step
        Updates since training began, over epochs.

    Raises
    ------
    XShardsValueError
        If it is less than 1.

    Examples
    --------
    >>> from xshards.learn.callbacks import MaxstepsCallback
    >>> callbacks = [MaxstepsCallback(1000)]
    """

    def __init__(self, max_step: int) -> None:
        if max_step < 1:
            msg = f"max_step must be at least 1, got {max_step}"
            raise XShardsValueError(msg)
        self.max_step = max_step

    def after_train_iter(self, runner: Runner) -> None:  # noqa: D102
        if runner.global_step >= self.max_step:
            runner.should_stop = True
