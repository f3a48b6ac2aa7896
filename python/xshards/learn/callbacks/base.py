# SPDX-License-Identifier: Apache-2.0
"""What a callback is, and what it sees of a replica."""

from __future__ import annotations

from typing import Any, Protocol

__all__ = ["Callback", "Runner", "loss_of"]


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
        """Keep a value of one's own under a new name."""

    def update(self, k: str, v: Any) -> None:
        """Replace a value of one's own."""

    def get(self, k: str) -> Any:
        """Return a value of one's own."""

    def remove(self, k: str) -> None:
        """Forget a value of one's own."""

    def save_checkpoint(self, filepath: str, save_weights_only: bool = False) -> None:  # noqa: FBT001
        """Write the model's weights, or all that is needed to go on from here."""


def loss_of(runner: Runner) -> float:
    """Return the loss of the last batch; float() alone warns of the gradient."""
    loss = runner.loss
    return float(loss.detach() if hasattr(loss, "detach") else loss)


class Callback:
    """Called at each stage of a run, in every replica; override what you need.

    A stage of training calls the stage without a name unless it is overridden itself:
    `after_train_iter` calls `after_iter`, and so on. Every method gets the `Runner`.

    Examples
    --------
    >>> from xshards.learn.callbacks import Callback
    >>> class ShowLoss(Callback):
    ...     def after_train_iter(self, runner):
    ...         if runner.rank == 0 and self.every_n_iter(runner, 100):
    ...             print(runner.global_step, float(runner.loss))
    """

    def before_run(self, runner: Runner) -> None:
        """Run before all epochs."""

    def after_run(self, runner: Runner) -> None:
        """Run after all epochs."""

    def before_epoch(self, runner: Runner) -> None:
        """Run before each epoch."""

    def after_epoch(self, runner: Runner) -> None:
        """Run after each epoch."""

    def before_iter(self, runner: Runner) -> None:
        """Run before each batch."""

    def after_iter(self, runner: Runner) -> None:
        """Run after each batch."""

    def before_train_epoch(self, runner: Runner) -> None:
        """Run before each epoch of training."""
        self.before_epoch(runner)

    def after_train_epoch(self, runner: Runner) -> None:
        """Run after each epoch of training."""
        self.after_epoch(runner)

    def before_val_epoch(self, runner: Runner) -> None:
        """Run before each pass over validation data."""
        self.before_epoch(runner)

    def after_val_epoch(self, runner: Runner) -> None:
        """Run after each pass over validation data."""
        self.after_epoch(runner)

    def before_pred_epoch(self, runner: Runner) -> None:
        """Run before predicting."""
        self.before_epoch(runner)

    def after_pred_epoch(self, runner: Runner) -> None:
        """Run after predicting."""
        self.after_epoch(runner)

    def before_train_iter(self, runner: Runner) -> None:
        """Run before each batch of training."""
        self.before_iter(runner)

    def after_train_iter(self, runner: Runner) -> None:
        """Run after each batch of training, when the weights are updated."""
        self.after_iter(runner)

    def before_val_iter(self, runner: Runner) -> None:
        """Run before each batch of validation data."""
        self.before_iter(runner)

    def after_val_iter(self, runner: Runner) -> None:
        """Run after each batch of validation data."""
        self.after_iter(runner)

    def before_pred_iter(self, runner: Runner) -> None:
        """Run before each batch to predict."""
        self.before_iter(runner)

    def after_pred_iter(self, runner: Runner) -> None:
        """Run after each batch to predict."""
        self.after_iter(runner)

    def every_n_iter(self, runner: Runner, n: int) -> bool:
        """Tell, after a batch, whether it is the last of n in its epoch."""
        return n > 0 and (runner.batch_idx + 1) % n == 0

    def every_n_epoch(self, runner: Runner, n: int) -> bool:
        """Tell, after an epoch of training, whether it is the last of n."""
        return n > 0 and runner.epochs % n == 0
