# SPDX-License-Identifier: Apache-2.0
"""The callback that does the work itself: forward, backward and schedule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xshards.errors import XShardsTypeError, XShardsValueError
from xshards.learn.callbacks.base import Callback, Runner
from xshards.learn.pytorch.target_shapes import fit_target

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["MainCallback", "with_main_callback"]


class MainCallback(Callback):
    """What a replica does with a batch; a run has exactly one.

    Override a method to do it otherwise: read `runner.batch`, `runner.model`,
    `runner.criterion`, set `runner.output` and `runner.loss`.

    Examples
    --------
    >>> from xshards.learn.pytorch.callbacks import MainCallback
    >>> class Doubled(MainCallback):
    ...     def on_iter_forward(self, runner):
    ...         x, y = runner.batch
    ...         runner.output = 2 * runner.model(x)
    ...         runner.loss = runner.criterion(runner.output, y)
    """

    def on_iter_forward(self, runner: Runner) -> None:
        """Run the model on a batch of training or validation data."""
        *features, target = runner.batch
        runner.output = runner.model(*features)
        outputs, targets = _listed(runner.output), _listed(target)
        if len(outputs) == len(targets) == 1:
            targets = [fit_target(runner.criterion, outputs[0], targets[0])]
        runner.loss = runner.criterion(*outputs, *targets)

    def on_iter_backward(self, runner: Runner) -> None:
        """Make gradients of the loss, and update the weights."""
        runner.optimizer.zero_grad()
        runner.loss.backward()
        runner.optimizer.step()

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


def with_main_callback(callbacks: Sequence[Callback] | None) -> list[Callback]:
    """Give callbacks with their one `MainCallback` first, made if there is none."""
    given: list[object] = list(callbacks or ())
    for each in given:
        if not isinstance(each, Callback):
            msg = f"callbacks must be Callback objects, got {each!r}"
            raise XShardsTypeError(msg)
    mains = [each for each in given if isinstance(each, MainCallback)]
    if len(mains) > 1:
        names = ", ".join(type(each).__name__ for each in mains)
        msg = f"only one MainCallback can do the work, got {len(mains)}: {names}"
        raise XShardsValueError(msg)
    others = [
        each
        for each in given
        if isinstance(each, Callback) and not isinstance(each, MainCallback)
    ]
    return [*(mains or [MainCallback()]), *others]


def _listed(value: object) -> Sequence[object]:
    return value if isinstance(value, (list, tuple)) else [value]
