# SPDX-License-Identifier: Apache-2.0
"""A replica as callbacks see it."""

from __future__ import annotations

from typing import Any, Protocol

__all__ = ["Runner", "loss_of"]


class Runner(Protocol):
    """A replica at work, as callbacks see and change it.

    Examples
    --------
    >>> from xshards.learn.callbacks import Callback, Runner
    >>> class StopEarly(Callback):
    ...     def after_train_iter(self, runner: Runner) -> None:
    ...         runner.should_stop = runner.global_step >= 100
    """

    #: Which replica this is, and of how many.
    rank: int
    world_size: int
    #: Epochs that are finished, and epochs of this run.
    epochs: int
    num_epochs: int
    #: Updates of an epoch; None if that is not known, as of shards of arrays.
    steps_per_epoch: int | None
    #: The number of the batch in its epoch, from 0.
    batch_idx: int
    #: Updates of the weights made so far, over epochs.
    global_step: int
    model: Any
    optimizer: Any
    criterion: Any
    scheduler: Any
    #: The batch at hand, what the model made of it, and its loss.
    batch: Any
    output: Any
    loss: Any
    #: What is known of the epoch: train_loss, val_loss, val_<metric> and the like.
    epoch_stats: dict[str, Any]
    #: Set it to end the run after this step.
    should_stop: bool

    def put(self, k: str, v: Any) -> None:
        """Store a value of one's own under a new name.

        Parameters
        ----------
        k
            The name of the value.
        v
            The value. It stays in this replica.

        Raises
        ------
        XShardsValueError
            If the name is in use.

        Examples
        --------
        >>> from xshards.learn.callbacks import Callback
        >>> class CountRows(Callback):
        ...     def before_run(self, runner):
        ...         runner.put("rows", 0)
        """

    def update(self, k: str, v: Any) -> None:
        """Replace a stored value.

        Parameters
        ----------
        k
            The name of the value.
        v
            The new value.

        Raises
        ------
        XShardsKeyError
            If there is no value of this name.

        Examples
        --------
        >>> from xshards.learn.callbacks import Callback
        >>> class CountRows(Callback):
        ...     def after_train_iter(self, runner):
        ...         runner.update("rows", runner.get("rows") + len(runner.batch[0]))
        """

    def get(self, k: str) -> Any:
        """Return a stored value.

        Parameters
        ----------
        k
            The name of the value.

        Returns
        -------
        object
            The value that was stored last.

        Raises
        ------
        XShardsKeyError
            If there is no value of this name.

        Examples
        --------
        >>> from xshards.learn.callbacks import Callback
        >>> class CountRows(Callback):
        ...     def after_run(self, runner):
        ...         print(runner.rank, runner.get("rows"))
        """

    def remove(self, k: str) -> None:
        """Delete a stored value.

        Parameters
        ----------
        k
            The name of the value.

        Raises
        ------
        XShardsKeyError
            If there is no value of this name.

        Examples
        --------
        >>> from xshards.learn.callbacks import Callback
        >>> class CountRows(Callback):
        ...     def after_run(self, runner):
        ...         runner.remove("rows")
        """

    def save_checkpoint(self, filepath: str, save_weights_only: bool = False) -> None:  # noqa: FBT001
        """Write a checkpoint of the state after the last update.

        Parameters
        ----------
        filepath
            The file; the driver writes it, for all replicas.
        save_weights_only
            Leave out the optimizer and all else that is needed to continue training.

        Examples
        --------
        >>> from xshards.learn.callbacks import Callback
        >>> class Hourly(Callback):
        ...     def after_epoch(self, runner):
        ...         if runner.rank == 0:
        ...             runner.save_checkpoint(f"models/{runner.epochs}.ckpt")
        """


def loss_of(runner: Runner) -> float:
    """Return the loss of the last batch; float() alone warns of the gradient."""
    loss = runner.loss
    return float(loss.detach() if hasattr(loss, "detach") else loss)
