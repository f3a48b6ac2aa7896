# SPDX-License-Identifier: Apache-2.0
"""Checkpoints at the end of epochs, or after a number of updates."""

from __future__ import annotations

import os
import re
import warnings
from pathlib import Path

from xshards.errors import XShardsValueError
from xshards.learn.callbacks.base import Callback, Runner
from xshards.learn.monitor import Mode, Monitor
from xshards.learn.training.checkpoints.files import latest_checkpoint

__all__ = ["ModelCheckpoint"]

_FIELD = re.compile(r"\{(?P<name>\w+)(?P<format>:[^{}]*)?\}")


class ModelCheckpoint(Callback):
    """Writes `<name>-epoch=<n>.ckpt` as training goes on, and `last.ckpt` at its end.

    Parameters
    ----------
    filepath
        The directory and the name. `{epoch}`, or `{epoch:02d}`, in the name says where
        the number goes; by default at the end.
    save_weights_only
        Leave out the optimizer and all else that is needed to go on from there.
    by_epoch
        Whether `interval` counts epochs, or updates; the name is then `-iter=<n>`.
    interval
        Epochs or updates between checkpoints; -1 is every epoch.
    save_best_only
        Write after epochs that are better than all before in this run, and no
        `last.ckpt`. The file is `<name>-best.ckpt`, which the next best epoch replaces,
        unless `{epoch}` is in the name.
    monitor
        By which result of the epoch, such as "val_loss" or "val_accuracy".
    mode
        Whether "min" or "max" is better; by default "max" for accuracies and the like.

    Examples
    --------
    >>> from xshards.learn.callbacks import ModelCheckpoint
    >>> best = ModelCheckpoint("models/net", save_best_only=True, monitor="val_auc")
    >>> best.path_of(3)
    'models/net-best.ckpt'
    >>> ModelCheckpoint("models/net").path_of(3)
    'models/net-epoch=3.ckpt'
    >>> ModelCheckpoint("models/{epoch:02d}-net").path_of(3)
    'models/epoch=03-net.ckpt'
    """

    def __init__(
        self,
        filepath: str | os.PathLike[str] = "",
        save_weights_only: bool = False,  # noqa: FBT001
        by_epoch: bool = True,  # noqa: FBT001
        interval: int = -1,
        *,
        save_best_only: bool = False,
        monitor: str = "val_loss",
        mode: Mode = None,
    ) -> None:
        if save_best_only and (not by_epoch or interval != -1):
            msg = (
                "save_best_only looks at each epoch: leave out by_epoch and interval, "
                f"got {by_epoch} and {interval}"
            )
            raise XShardsValueError(msg)
        if interval == -1 and by_epoch:
            interval = 1
        if interval < 1:
            what = "epochs" if by_epoch else "updates"
            msg = f"interval must be a number of {what} from 1 on, got {interval}"
            raise XShardsValueError(msg)
        self.filepath = os.fspath(filepath)
        self.dirname, self.filename = os.path.split(self.filepath)
        self.save_weights_only = save_weights_only
        self.by_epoch = by_epoch
        self.interval = interval
        self.save_best_only = save_best_only
        self._followed = Monitor(monitor, mode)
        self._counted = "epoch" if by_epoch else "iter"
        self._check_name()

    def _check_name(self) -> None:
        for match in _FIELD.finditer(self.filename):
            if match["name"] != self._counted:
                msg = (
                    f"the name of a checkpoint can have {{{self._counted}}} in it, "
                    f"got {match[0]} in {self.filepath!r}"
                )
                raise XShardsValueError(msg)

    def path_of(self, number: int) -> str:
        """Return the file of an epoch, or of an update.

        Parameters
        ----------
        number
            The number of the epoch or update, from 1.

        Returns
        -------
        str
            The path.

        Examples
        --------
        >>> from xshards.learn.callbacks import ModelCheckpoint
        >>> ModelCheckpoint("models/net", by_epoch=False, interval=100).path_of(200)
        'models/net-iter=200.ckpt'
        """
        name = self.filename
        if self.save_best_only and not _FIELD.search(name):
            return str(Path(self.dirname, f"{name}-best.ckpt" if name else "best.ckpt"))
        if not _FIELD.search(name):
            # With nothing before it, the number stands alone.
            name = f"{name}-{{{self._counted}}}" if name else f"{{{self._counted}}}"
        filled = _FIELD.sub(
            lambda match: f"{match['name']}={number:{(match['format'] or ':')[1:]}}",
            name,
        )
        return str(Path(self.dirname, f"{filled}.ckpt"))

    def before_run(self, runner: Runner) -> None:  # noqa: D102
        self._followed = Monitor(self._followed.name, self._followed.mode)

    def after_train_iter(self, runner: Runner) -> None:  # noqa: D102
        if not self.by_epoch and runner.global_step % self.interval == 0:
            self._save(runner, self.path_of(runner.global_step))

    def after_train_epoch(self, runner: Runner) -> None:  # noqa: D102
        if self.save_best_only:
            if not self._followed.name.startswith("val_"):
                self._save_if_best(runner)
        elif self.by_epoch and self.every_n_epoch(runner, self.interval):
            self._save(runner, self.path_of(runner.epochs))

    def after_val_epoch(self, runner: Runner) -> None:  # noqa: D102
        if self.save_best_only and self._followed.name.startswith("val_"):
            self._save_if_best(runner)

    def after_run(self, runner: Runner) -> None:  # noqa: D102
        if not self.save_best_only:
            self._save(runner, str(Path(self.dirname, "last.ckpt")))
        elif self._followed.best is None:
            msg = (
                f"no epoch reported a numeric {self._followed.name!r}, so no best one "
                "was saved; give fit validation_data, or another monitor"
            )
            warnings.warn(msg, stacklevel=1)

    def _save_if_best(self, runner: Runner) -> None:
        if self._followed.improves(runner.epoch_stats, asked_by="ModelCheckpoint"):
            self._save(runner, self.path_of(runner.epochs))

    def _save(self, runner: Runner, path: str) -> None:
        # Weights and optimizer state are one for all replicas.
        if runner.rank == 0:
            runner.save_checkpoint(path, self.save_weights_only)

    @classmethod
    def get_latest_checkpoint(cls, dirname: str | os.PathLike[str]) -> str:
        """Return the newest checkpoint in a directory.

        Parameters
        ----------
        dirname
            The directory.

        Returns
        -------
        str
            The path of the file.

        Raises
        ------
        XShardsFileNotFoundError
            If there is none.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from xshards.learn.callbacks import ModelCheckpoint
        >>> folder = tempfile.mkdtemp()
        >>> for epoch in (9, 10):
        ...     Path(folder, f"net-epoch={epoch}.ckpt").touch()
        >>> Path(ModelCheckpoint.get_latest_checkpoint(folder)).name
        'net-epoch=10.ckpt'
        """
        return latest_checkpoint(dirname)
