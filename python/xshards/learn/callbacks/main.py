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

    A framework implements `on_iter_forward` and `on_iter_backward`; users override the
    methods to change: read `runner.batch`, `runner.model`, `runner.criterion`, set
    `runner.output` and `runner.loss`.

    Examples
    --------
    >>> from xshards.learn.callbacks.main import MainCallbackBase
    >>> from xshards.learn.pytorch.callbacks import MainCallback
    >>> issubclass(MainCallback, MainCallbackBase)
    True
    """

    @abstractmethod
    def on_iter_forward(self, runner: Runner) -> None:
        """Run the model on a batch of training or validation data.

        Sets `runner.output` and `runner.loss`.

        Parameters
        ----------
        runner
            The replica at work.

        Examples
        --------
        >>> from xshards.learn.pytorch.callbacks import MainCallback
        >>> class Doubled(MainCallback):
        ...     def on_iter_forward(self, runner):
        ...         x, y = runner.batch
        ...         runner.output = 2 * runner.model(x)
        ...         runner.loss = runner.criterion(runner.output, y)
        """

    @abstractmethod
    def on_iter_backward(self, runner: Runner) -> None:
        """Compute gradients of the loss, and update the weights.

        Parameters
        ----------
        runner
            The replica at work.

        Examples
        --------
        >>> from xshards.learn.pytorch.callbacks import MainCallback
        >>> class Scaled(MainCallback):
        ...     def on_iter_backward(self, runner):
        ...         runner.optimizer.zero_grad()
        ...         (runner.loss / 2).backward()
        ...         runner.optimizer.step()
        """

    def on_lr_adjust(self, runner: Runner) -> None:
        """Step the scheduler, if there is one.

        Parameters
        ----------
        runner
            The replica at work.

        Examples
        --------
        >>> from xshards.learn.pytorch.callbacks import MainCallback
        >>> class WarmUp(MainCallback):
        ...     def on_lr_adjust(self, runner):
        ...         if runner.global_step > 100:
        ...             super().on_lr_adjust(runner)
        """
        if runner.scheduler is not None:
            runner.scheduler.step()

    def on_train_forward(self, runner: Runner) -> None:
        """Run the model on a batch of training data; by default `on_iter_forward`.

        Parameters
        ----------
        runner
            The replica at work.

        Examples
        --------
        >>> from xshards.learn.pytorch.callbacks import MainCallback
        >>> class Smoothed(MainCallback):
        ...     def on_train_forward(self, runner):
        ...         x, y = runner.batch
        ...         runner.output = runner.model(x)
        ...         runner.loss = runner.criterion(runner.output, 0.9 * y + 0.05)
        """
        self.on_iter_forward(runner)

    def on_train_backward(self, runner: Runner) -> None:
        """Update the weights after a batch of training; by default `on_iter_backward`.

        Parameters
        ----------
        runner
            The replica at work.

        Examples
        --------
        >>> from xshards.learn.pytorch.callbacks import MainCallback
        >>> class Frozen(MainCallback):
        ...     def on_train_backward(self, runner):
        ...         if runner.epochs > 0:
        ...             super().on_train_backward(runner)
        """
        self.on_iter_backward(runner)

    def on_val_forward(self, runner: Runner) -> None:
        """Run the model on a batch of validation data; by default `on_iter_forward`.

        Parameters
        ----------
        runner
            The replica at work.

        Examples
        --------
        >>> from xshards.learn.pytorch.callbacks import MainCallback
        >>> class Clamped(MainCallback):
        ...     def on_val_forward(self, runner):
        ...         x, y = runner.batch
        ...         runner.output = runner.model(x).clamp(0, 1)
        ...         runner.loss = runner.criterion(runner.output, y)
        """
        self.on_iter_forward(runner)

    def on_pred_forward(self, runner: Runner) -> None:
        """Run the model on a batch to predict.

        Sets `runner.output`; `runner.batch` has the features only.

        Parameters
        ----------
        runner
            The replica at work.

        Examples
        --------
        >>> from xshards.learn.pytorch.callbacks import MainCallback
        >>> class Probabilities(MainCallback):
        ...     def on_pred_forward(self, runner):
        ...         runner.output = runner.model(*runner.batch).sigmoid()
        """
        runner.output = runner.model(*runner.batch)


def split_callbacks(
    callbacks: Sequence[Callback] | None,
) -> tuple[MainCallbackBase | None, list[Callback]]:
    """Return the main callback, if there is one, and the others.

    Parameters
    ----------
    callbacks
        Callbacks in the order they are called; None for none.

    Returns
    -------
    (MainCallbackBase or None, list of Callback)
        The main callback, and the others in order.

    Raises
    ------
    XShardsTypeError
        If one is not a callback.
    XShardsValueError
        If there are several main callbacks.

    Examples
    --------
    >>> from xshards.learn.callbacks import MaxstepsCallback
    >>> from xshards.learn.callbacks.main import split_callbacks
    >>> main, others = split_callbacks([MaxstepsCallback(10)])
    >>> main is None, len(others)
    (True, 1)
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
