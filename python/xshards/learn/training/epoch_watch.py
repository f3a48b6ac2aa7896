# SPDX-License-Identifier: Apache-2.0
"""What happens beside training: checkpoints and event files."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from xshards.errors import XShardsValueError
from xshards.learn.training.checkpoints.files import Checkpoint, new_run
from xshards.learn.training.checkpoints.methods import write_checkpoint
from xshards.learn.training.meters import Meters
from xshards.learn.training.progress_line import ProgressLine
from xshards.learn.training.summaries.event_files import SummaryWriter
from xshards.learn.trigger import TrainingState, convert_trigger
from xshards.profile.progress import is_watched

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from xshards.learn.training.job import Job

__all__ = ["Watch"]

_SHOW_SECONDS = 0.1


class Watch:
    """Writes checkpoints and summaries after updates and epochs, if requested."""

    def __init__(
        self,
        job: Job,
        *,
        trigger: Any,
        model_dir: str | None,
        log_dir: Path | None,
        show: bool | None,
    ) -> None:
        if trigger is not None and model_dir is None:
            msg = (
                "checkpoint_trigger needs a place: give model_dir to "
                f"{job.adapter.factory}"
            )
            raise XShardsValueError(msg)
        self._job = job
        self._trigger = None if trigger is None else convert_trigger(trigger)
        self._model_dir = model_dir
        self._run: Path | None = None
        self._written = -1
        self._score: float | None = None
        self._train = SummaryWriter(log_dir / "train") if log_dir else None
        self._validation = SummaryWriter(log_dir / "validation") if log_dir else None
        self._last_time = time.perf_counter()
        self._show = is_watched() if show is None else show
        self._line: ProgressLine | None = None
        self._shown_at = 0.0

    @property
    def after_update(self) -> Callable[[], None] | None:
        """What to call after each update; None if nothing needs it."""
        show = self._show and not self._job.sees_progress
        if self._trigger is None and self._train is None and not show:
            return None
        return self._after_update

    @property
    def on_look(self) -> Callable[[], None] | None:
        """What to call now and then; None if nothing needs it."""
        return self._show_progress if self._show else None

    def before_epoch(self, num_rows: int | None) -> None:
        """Begin a line for an epoch of a number of rows, if that is known."""
        if self._show:
            name = f"epoch {self._job.epoch + 1}"
            self._line = ProgressLine(name, " samples", total=num_rows, scaled=True)

    def after_epoch(self, stats: dict[str, Any]) -> None:
        """Take note of an epoch's results."""
        if self._line is not None:
            self._advance(self._line, stats["num_samples"], stats)
            self._line.close()
            self._line = None
        step = self._job.num_steps
        scores = {
            name: value
            for name, value in stats.items()
            if name.startswith("val_") and isinstance(value, (int, float))
        }
        metrics = [value for name, value in scores.items() if name != "val_loss"]
        if metrics:
            self._score = metrics[0]
        if self._validation is not None:
            for name, value in scores.items():
                tag = "Loss" if name == "val_loss" else name.removeprefix("val_")
                self._validation.add_scalar(tag, value, step)
        self._look(stats.get("last_train_loss"), epoch_finished=True)

    def close(self) -> None:
        """Write pending events and close the files."""
        if self._line is not None:
            self._line.close()
        for writer in (self._train, self._validation):
            if writer is not None:
                writer.close()

    def _after_update(self) -> None:
        now = time.perf_counter()
        self._show_progress()
        if self._trigger is None and self._train is None:
            return
        meters = self._meters()
        loss, rows = meters.last.get("train_loss"), meters.last_samples
        if self._train is not None:
            step = self._job.num_steps
            if loss is not None:
                self._train.add_scalar("Loss", loss, step)
            rate = self._job.optimizers[0].learning_rate
            if rate is not None:
                self._train.add_scalar("LearningRate", rate, step)
            self._train.add_scalar("Throughput", rows / (now - self._last_time), step)
            self._last_time = now
        self._look(loss, epoch_finished=False)

    def _show_progress(self) -> None:
        now = time.perf_counter()
        if self._line is not None and now - self._shown_at > _SHOW_SECONDS:
            self._shown_at = now
            meters = self._meters()
            self._advance(self._line, meters.num_samples, meters.summary())

    def _meters(self) -> Meters:
        epoch = self._job.epoch - 1
        positions = [
            one
            for one in self._job.positions()[0]
            if one is not None and one.epoch == epoch
        ]
        return Meters.merged([one.meters for one in positions])

    def _advance(
        self, line: ProgressLine, num_samples: int, stats: dict[str, Any]
    ) -> None:
        shown = {
            name: f"{value:.4g}"
            for name, value in stats.items()
            if isinstance(value, float) and not name.startswith("last_")
        }
        line.advance(num_samples, shown)

    def _look(self, loss: float | None, *, epoch_finished: bool) -> None:
        if self._trigger is None or self._model_dir is None:
            return
        step = self._job.num_steps
        epochs = self._job.epoch if epoch_finished else self._job.epoch - 1
        state = TrainingState(epochs, step, loss, self._score, epoch_finished)
        if self._trigger.fires(state) and (epoch_finished or self._written != step):
            if self._run is None:
                self._run = new_run(self._model_dir)
            prefix = self._job.adapter.checkpoint_prefix
            write_checkpoint(self._job, Checkpoint(self._run, step, prefix))
            self._written = step
