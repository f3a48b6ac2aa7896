# SPDX-License-Identifier: Apache-2.0
"""The callback that does the work of a batch in the operator's place."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from xshards.errors import XShardsTypeError, XShardsValueError
from xshards.learn.callbacks.base import Callback, Runner

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["MainCallbackBase", "split_callbacks"]


class MainCallbackBase(Callback, ABC):
    """What a replica does with a batch; a run has at most one.

    A framework gives `on_iter_forward` and `on_iter_backward`; users override what they
    want done otherwise: read `runner.batch`, `runner.model`, `runner.criterion`, set
    `runner.output` and `runner.loss`.
    """

    @abstractmethod
    def on_iter_forward(self, runner: Runner) -> None:
        """Run the model on a batch of training or validation data."""

    @abstractmethod
    def on_iter_backward(self, runner: Runner) -> None:
        """Make gradients of the loss, and update the weights."""

    def on_lr_adjust(self, runner: Runner) -> None:
        """Step the scheduler, if there is one."""
        if runner.scheduler is not None:
            runner.scheduler.step()

    def on_train_forward(self, runner: Runner) -> None:
        """Run the model on a batch of training data."""
        self.on_iter_forward(runner)

    def on_train_backward(self, runner: Runner) -> None:
        """Make gradients for a batch of training data, and update the weights."""
        self.on_iter_backward(runner)

    def on_val_forward(self, runner: Runner) -> None:
        """Run the model on a batch of validation data."""
        self.on_iter_forward(runner)

    def on_pred_forward(self, runner: Runner) -> None:
        """Run the model on a batch to predict."""
        runner.output = runner.model(*runner.batch)


def split_callbacks(
    callbacks: Sequence[Callback] | None,
) -> tuple[MainCallbackBase | None, list[Callback]]:
    """Return the one that does the work, if there is one, and the others.

    Raises
    ------
    XShardsTypeError
        If one is not a callback.
    XShardsValueError
        If several would do the work.
    """
    given: list[object] = list(callbacks or ())
    mains: list[MainCallbackBase] = []
    others: list[Callback] = []
    for each in given:
        if isinstance(each, MainCallbackBase):
            mains.append(each)
        elif isinstance(each, Callback):
            others.append(each)
        else:
            msg = f"callbacks must be Callback objects, got {each!r}"
            raise XShardsTypeError(msg)
    if len(mains) > 1:
        names = ", ".join(type(each).__name__ for each in mains)
        msg = f"only one MainCallback can do the work, got {len(mains)}: {names}"
        raise XShardsValueError(msg)
    return (mains[0] if mains else None), others
