# SPDX-License-Identifier: Apache-2.0
"""The base class of callbacks."""

from __future__ import annotations

from xshards.learn.callbacks.runner import Runner, loss_of

__all__ = ["Callback", "Runner", "loss_of"]


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
        """Run before all epochs.

        Parameters
        ----------
        runner
            The replica at work.

        Examples
        --------
        >>> from xshards.learn.callbacks import Callback
        >>> class Announce(Callback):
        ...     def before_run(self, runner):
        ...         print(f"replica {runner.rank} of {runner.world_size}")
        """

    def after_run(self, runner: Runner) -> None:
        """Run after all epochs.

        Parameters
        ----------
        runner
            The replica at work.

        Examples
        --------
        >>> from xshards.learn.callbacks import Callback
        >>> class SaveLast(Callback):
        ...     def after_run(self, runner):
        ...         if runner.rank == 0:
        ...             runner.save_checkpoint("models/last.ckpt")
        """

    def before_epoch(self, runner: Runner) -> None:
        """Run before each epoch.

        Training, validation and prediction call it, unless their own methods are
        overridden.

        Parameters
        ----------
        runner
            The replica at work.

        Examples
        --------
        >>> import time
        >>> from xshards.learn.callbacks import Callback
        >>> class Clock(Callback):
        ...     def before_epoch(self, runner):
        ...         runner.put("begin", time.monotonic())
        """

    def after_epoch(self, runner: Runner) -> None:
        """Run after each epoch.

        Training, validation and prediction call it, unless their own methods are
        overridden.

        Parameters
        ----------
        runner
            The replica at work.

        Examples
        --------
        >>> import time
        >>> from xshards.learn.callbacks import Callback
        >>> class Clock(Callback):
        ...     def after_epoch(self, runner):
        ...         seconds = time.monotonic() - runner.get("begin")
        ...         runner.remove("begin")
        """

    def before_iter(self, runner: Runner) -> None:
        """Run before each batch.

        Training, validation and prediction call it, unless their own methods are
        overridden.

        Parameters
        ----------
        runner
            The replica at work.

        Examples
        --------
        >>> from xshards.learn.callbacks import Callback
        >>> class CountRows(Callback):
        ...     def before_iter(self, runner):
        ...         runner.update("rows", runner.get("rows") + len(runner.batch[0]))
        """

    def after_iter(self, runner: Runner) -> None:
        """Run after each batch.

        Training, validation and prediction call it, unless their own methods are
        overridden.

        Parameters
        ----------
        runner
            The replica at work.

        Examples
        --------
        >>> from xshards.learn.callbacks import Callback
        >>> class CheckOutput(Callback):
        ...     def after_iter(self, runner):
        ...         assert not runner.output.isnan().any()
        """

    def before_train_epoch(self, runner: Runner) -> None:
        """Run before each epoch of training.

        Parameters
        ----------
        runner
            The replica at work.

        Examples
        --------
        >>> from xshards.learn.callbacks import Callback
        >>> class Announce(Callback):
        ...     def before_train_epoch(self, runner):
        ...         print(f"epoch {runner.epochs + 1} of {runner.num_epochs}")
        """
        self.before_epoch(runner)

    def after_train_epoch(self, runner: Runner) -> None:
        """Run after each epoch of training.

        `epochs` counts the epoch that has ended.

        Parameters
        ----------
        runner
            The replica at work.

        Examples
        --------
        >>> from xshards.learn.callbacks import Callback
        >>> class ShowLoss(Callback):
        ...     def after_train_epoch(self, runner):
        ...         print(runner.epochs, runner.epoch_stats["train_loss"])
        """
        self.after_epoch(runner)

    def before_val_epoch(self, runner: Runner) -> None:
        """Run before each pass over validation data.

        Parameters
        ----------
        runner
            The replica at work.

        Examples
        --------
        >>> from xshards.learn.callbacks import Callback
        >>> class Reset(Callback):
        ...     def before_val_epoch(self, runner):
        ...         runner.put("largest", 0.0)
        """
        self.before_epoch(runner)

    def after_val_epoch(self, runner: Runner) -> None:
        """Run after each pass over validation data.

        `epoch_stats` has the results, which all replicas share.

        Parameters
        ----------
        runner
            The replica at work.

        Examples
        --------
        >>> from xshards.learn.callbacks import Callback
        >>> class StopWhenGood(Callback):
        ...     def after_val_epoch(self, runner):
        ...         runner.should_stop = runner.epoch_stats["val_loss"] < 0.1
        """
        self.after_epoch(runner)

    def before_pred_epoch(self, runner: Runner) -> None:
        """Run before predicting.

        Parameters
        ----------
        runner
            The replica at work.

        Examples
        --------
        >>> from xshards.learn.callbacks import Callback
        >>> class Evaluate(Callback):
        ...     def before_pred_epoch(self, runner):
        ...         runner.model.eval()
        """
        self.before_epoch(runner)

    def after_pred_epoch(self, runner: Runner) -> None:
        """Run after predicting.

        Parameters
        ----------
        runner
            The replica at work.

        Examples
        --------
        >>> from xshards.learn.callbacks import Callback
        >>> class Announce(Callback):
        ...     def after_pred_epoch(self, runner):
        ...         print("predicted")
        """
        self.after_epoch(runner)

    def before_train_iter(self, runner: Runner) -> None:
        """Run before each batch of training.

        Parameters
        ----------
        runner
            The replica at work.

        Examples
        --------
        >>> import torch
        >>> from xshards.learn.callbacks import Callback
        >>> class Noise(Callback):
        ...     def before_train_iter(self, runner):
        ...         features, _ = runner.batch
        ...         features += torch.randn_like(features) / 100
        """
        self.before_iter(runner)

    def after_train_iter(self, runner: Runner) -> None:
        """Run after each batch of training, when the weights are updated.

        Parameters
        ----------
        runner
            The replica at work.

        Examples
        --------
        >>> from xshards.learn.callbacks import Callback
        >>> class StopAtNumber(Callback):
        ...     def after_train_iter(self, runner):
        ...         runner.should_stop = runner.global_step >= 1000
        """
        self.after_iter(runner)

    def before_val_iter(self, runner: Runner) -> None:
        """Run before each batch of validation data.

        Parameters
        ----------
        runner
            The replica at work.

        Examples
        --------
        >>> from xshards.learn.callbacks import Callback
        >>> class ShowRows(Callback):
        ...     def before_val_iter(self, runner):
        ...         print(len(runner.batch[-1]))
        """
        self.before_iter(runner)

    def after_val_iter(self, runner: Runner) -> None:
        """Run after each batch of validation data.

        Parameters
        ----------
        runner
            The replica at work.

        Examples
        --------
        >>> from xshards.learn.callbacks import Callback
        >>> class Largest(Callback):
        ...     def after_val_iter(self, runner):
        ...         largest = max(runner.get("largest"), float(runner.loss))
        ...         runner.update("largest", largest)
        """
        self.after_iter(runner)

    def before_pred_iter(self, runner: Runner) -> None:
        """Run before each batch to predict.

        Parameters
        ----------
        runner
            The replica at work.

        Examples
        --------
        >>> from xshards.learn.callbacks import Callback
        >>> class ShowRows(Callback):
        ...     def before_pred_iter(self, runner):
        ...         print(len(runner.batch[0]))
        """
        self.before_iter(runner)

    def after_pred_iter(self, runner: Runner) -> None:
        """Run after each batch to predict.

        The callback may replace `runner.output`.

        Parameters
        ----------
        runner
            The replica at work.

        Examples
        --------
        >>> from xshards.learn.callbacks import Callback
        >>> class Probabilities(Callback):
        ...     def after_pred_iter(self, runner):
        ...         runner.output = runner.output.sigmoid()
        """
        self.after_iter(runner)

    def every_n_iter(self, runner: Runner, n: int) -> bool:
        """Return whether the batch is the last of `n` in its epoch.

        Parameters
        ----------
        runner
            The replica at work, after a batch.
        n
            The interval in batches; less than 1 for never.

        Returns
        -------
        bool
            True after each `n` batches of an epoch.

        Examples
        --------
        >>> from xshards.learn.callbacks import Callback
        >>> class ShowLoss(Callback):
        ...     def after_train_iter(self, runner):
        ...         if self.every_n_iter(runner, 100):
        ...             print(float(runner.loss))
        """
        return n > 0 and (runner.batch_idx + 1) % n == 0

    def every_n_epoch(self, runner: Runner, n: int) -> bool:
        """Return whether the epoch of training is the last of `n`.

        Parameters
        ----------
        runner
            The replica at work, after an epoch of training.
        n
            The interval in epochs; less than 1 for never.

        Returns
        -------
        bool
            True after each `n` epochs.

        Examples
        --------
        >>> from xshards.learn.callbacks import Callback
        >>> class ShowResults(Callback):
        ...     def after_train_epoch(self, runner):
        ...         if self.every_n_epoch(runner, 10):
        ...             print(runner.epoch_stats)
        """
        return n > 0 and runner.epochs % n == 0
