# SPDX-License-Identifier: Apache-2.0
"""The callback that does the work itself: forward, backward and schedule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xshards.learn.callbacks.main import MainCallbackBase, split_callbacks
from xshards.learn.pytorch.target_shapes import fit_target

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xshards.learn.callbacks.base import Callback, Runner

__all__ = ["MainCallback", "with_main_callback"]


class MainCallback(MainCallbackBase):
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
        """Run the model on a batch of training or validation data.

        The target gets the output's shape and dtype if the loss needs that.

        Parameters
        ----------
        runner
            The replica at work.

        Examples
        --------
        >>> from xshards.learn.pytorch.callbacks import MainCallback
        >>> class Changed(MainCallback):
        ...     def on_iter_forward(self, runner):
        ...         x, y = runner.batch
        ...         runner.output = 2 * runner.model(x)
        ...         runner.loss = runner.criterion(runner.output, y)
        """
        *features, target = runner.batch
        runner.output = runner.model(*features)
        outputs, targets = _listed(runner.output), _listed(target)
        if len(outputs) == len(targets) == 1:
            targets = [fit_target(runner.criterion, outputs[0], targets[0])]
        runner.loss = runner.criterion(*outputs, *targets)

    def on_iter_backward(self, runner: Runner) -> None:
        """Compute gradients of the loss, and update the weights.

        Parameters
        ----------
        runner
            The replica at work.

        Examples
        --------
        >>> from xshards.learn.pytorch.callbacks import MainCallback
        >>> class Changed(MainCallback):
        ...     def on_iter_backward(self, runner):
        ...         runner.optimizer.zero_grad()
        ...         (runner.loss / 2).backward()
        ...         runner.optimizer.step()
        """
        runner.optimizer.zero_grad()
        runner.loss.backward()
        runner.optimizer.step()


def with_main_callback(callbacks: Sequence[Callback] | None) -> list[Callback]:
    """Return callbacks with their one `MainCallback` first, made if there is none.

    Parameters
    ----------
    callbacks
        In the order they are called; None for none.

    Returns
    -------
    list of Callback
        The `MainCallback`, then the others.

    Raises
    ------
    XShardsTypeError
        If one is not a callback.
    XShardsValueError
        If there are several main callbacks.

    Examples
    --------
    >>> from xshards.learn.pytorch.callbacks import EarlyStopping, with_main_callback
    >>> [type(one).__name__ for one in with_main_callback([EarlyStopping()])]
    ['MainCallback', 'EarlyStopping']
    """
    main, others = split_callbacks(callbacks)
    return [MainCallback() if main is None else main, *others]


def _listed(value: object) -> Sequence[object]:
    return value if isinstance(value, (list, tuple)) else [value]
