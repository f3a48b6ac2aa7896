# SPDX-License-Identifier: Apache-2.0
"""One call of fit: epochs, validation, checkpoints and what is reported."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xshards.errors import XShardsValueError
from xshards.learn.callbacks.main import split_callbacks
from xshards.learn.checks import check_count
from xshards.learn.history import History
from xshards.learn.metrics import convert_metrics
from xshards.learn.monitor import Monitor
from xshards.learn.training.epoch_watch import Watch
from xshards.learn.training.inputs import has_column
from xshards.learn.training.meters import Meters
from xshards.learn.training.results import average

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xshards.learn.monitor import Mode
    from xshards.learn.training.commands import Trained
    from xshards.learn.training.estimator_base import EstimatorBase
    from xshards.learn.training.job import Job

__all__ = ["BestEpoch", "FitOptions", "check_best", "fit"]


@dataclass
class FitOptions:
    """The arguments of `Estimator.fit`."""

    epochs: int
    batch_size: int
    feature_cols: Any
    label_cols: Any
    validation_data: Any
    metrics: Any
    checkpoint_trigger: Any
    callbacks: list[Any]
    max_steps: int | None
    profile: bool
    reduce_results: bool
    info: dict[str, Any]
    shuffle: bool
    restore_best: bool
    monitor: str | None
    mode: Mode
    class_weight: dict[int, float] | None
    sample_weight_col: str | None
    accumulate: int

    def check(self) -> None:
        """Raise if arguments contradict each other."""
        for name in ("epochs", "batch_size", "accumulate", "max_steps"):
            if getattr(self, name) is not None or name != "max_steps":
                setattr(self, name, check_count(name, getattr(self, name)))
        check_best(self.monitor, self.mode, wanted=self.restore_best)


def fit(estimator: EstimatorBase, data: Any, options: FitOptions) -> History:
    """Train; see `Estimator.fit`."""
    options.check()
    if options.accumulate > 1:
        _check_accumulates(estimator._job, options.callbacks)
    return _Fit(estimator, options).run(data)


def _check_accumulates(job: Job, callbacks: Sequence[Any]) -> None:
    """Refuse code of the user that makes an update of each batch by itself."""
    kind, usual = job.parts.operator_class, job.adapter.operator_class
    own = kind.train_batch is not usual.train_batch
    if own and kind.train_batches is usual.train_batches:
        msg = (
            f"accumulate needs {kind.__name__}.train_batches, since its train_batch "
            "updates after each batch: override it too, or use larger batches"
        )
        raise XShardsValueError(msg)
    if split_callbacks(callbacks)[0] is not None:
        msg = "a MainCallback updates after each batch: leave out accumulate"
        raise XShardsValueError(msg)


class _Fit:
    def __init__(self, estimator: EstimatorBase, options: FitOptions) -> None:
        self._estimator = estimator
        self._job = estimator._job
        self._options = options
        self._metrics = convert_metrics(options.metrics, self._job.adapter.name)
        self._steps_left = options.max_steps
        self._stopped = False
        self._stats_so_far: dict[str, Any] = {}
        self._best: BestEpoch | None = None
        if options.restore_best:
            default = "train_loss" if options.validation_data is None else "val_loss"
            self._best = BestEpoch(
                self._job, options.monitor or default, mode=options.mode
            )
        self._watch = Watch(
            estimator._job,
            trigger=options.checkpoint_trigger,
            model_dir=estimator._model_dir,
            log_dir=estimator._log_dir,
            show=estimator._job.parts.use_tqdm,
        )

    def run(self, data: Any) -> History:
        options, estimator = self._options, self._estimator
        validation = None
        columns = options.feature_cols, options.label_cols
        train_input = estimator._input(data, *columns, options.sample_weight_col)
        if options.validation_data is not None:
            given, weights = options.validation_data, options.sample_weight_col
            if weights is not None and not has_column(given, weights):
                weights = None
            validation = estimator._input(given, *columns, weights)
        self._job.begin()
        self._input = train_input
        sources = [self._job.add_source(train_input)]
        if validation is not None:
            sources.append(self._job.add_source(validation))
        try:
            history = self._epochs(*sources)
        finally:
            self._watch.close()
            for source in sources:
                self._job.drop_source(source)
        if self._best is not None:
            history.best_epoch = self._best.restore()
        return history

    def _epochs(self, train: int, validation: int | None = None) -> History:
        history = History()
        self._job.set_callbacks(self._options.callbacks, self._options.epochs)
        self._notify("before_run", {"epoch": self._job.epoch})
        for _ in range(self._options.epochs):
            if self._steps_left == 0 or self._stopped:
                break
            history.append(self._epoch(train, validation))
        self._notify("after_run", self._stats_so_far)
        self._job.set_callbacks([], 0)
        return history

    def _notify(self, stage: str, stats: dict[str, Any]) -> None:
        self._stats_so_far = stats
        if self._options.callbacks and self._job.notify(stage, stats):
            self._stopped = True

    def _epoch(self, train: int, validation: int | None) -> Any:
        options = self._options
        begin = time.perf_counter()
        self._watch.before_epoch(self._input.num_rows)
        limit = self._steps_left
        if limit is not None:
            limit += self._job.first_batch
        answers = self._job.train_epoch(
            train,
            batch_size=options.batch_size,
            shuffle=options.shuffle,
            max_batches=limit,
            info=options.info,
            class_weight=options.class_weight,
            accumulate=options.accumulate,
            num_steps=self._num_steps(),
            on_look=self._watch.on_look,
            after_update=self._watch.after_update,
        )
        stats = self._stats(answers)
        if self._steps_left is not None:
            self._steps_left = max(0, self._steps_left - stats["batch_count"])
        if options.profile:
            stats["epoch_seconds"] = time.perf_counter() - begin
        self._notify("after_train_epoch", stats)
        if validation is not None:
            stats |= self._validate(validation)
            self._notify("after_val_epoch", stats)
        for server in self._job.servers:
            server.observe(stats)
        self._job.observed = stats.get("val_loss", stats.get("train_loss"))
        self._watch.after_epoch(stats)
        if self._best is not None:
            self._best.after_epoch(stats, self._job.epoch)
        if not options.reduce_results:
            return [self._own_stats(answer) for answer in answers]
        return stats

    def _num_steps(self) -> int | None:
        """Count the updates of an epoch; None if that is not known."""
        batches = self._input.num_batches(self._options.batch_size)
        if batches is None:
            return None
        steps = -(-batches // self._options.accumulate)
        return steps if self._steps_left is None else min(steps, self._steps_left)

    def _stats(self, answers: list[Trained]) -> dict[str, Any]:
        merged = Meters.merged([answer.meters for answer in answers]).summary()
        own = [answer.result for answer in answers if answer.result is not None]
        if own:
            merged |= average(own)
        return {"epoch": self._job.epoch, **merged}

    def _own_stats(self, answer: Trained) -> dict[str, Any]:
        own = answer.result or {}
        meters = Meters.from_state(answer.meters).summary()
        return {"epoch": self._job.epoch, **meters, **own}

    def _validate(self, source: int) -> dict[str, Any]:
        (result,) = self._job.validate(
            source,
            batch_size=self._options.batch_size,
            metrics=self._metrics,
            info=self._options.info,
        )
        result.pop("num_samples", None)
        return {
            name if name.startswith("val_") else f"val_{name}": value
            for name, value in result.items()
        }


def check_best(monitor: str | None, mode: Mode, *, wanted: bool) -> None:
    """Refuse to say which epoch is the best where that is not wanted."""
    if not wanted and (monitor, mode) != (None, None):
        msg = "monitor and mode say which epoch is the best: add restore_best=True"
        raise XShardsValueError(msg)


class BestEpoch:
    """Keeps the models of the best epoch, and restores them at the end.

    The driver does it, so the death of a replica changes nothing.
    """

    def __init__(self, job: Job, monitor: str, *, mode: Mode) -> None:
        self._job = job
        self._followed = Monitor(monitor, mode)
        self._models: list[dict[str, Any]] = []
        self._epoch: int | None = None
        self._last: int | None = None

    def after_epoch(self, stats: dict[str, Any], epoch: int) -> None:
        """Copy the models if none were better before."""
        self._last = epoch
        if self._followed.improves(stats, asked_by="restore_best"):
            self._epoch = epoch
            self._models = [
                self._job.adapter.model_state(model) for model in self._job.parts.models
            ]

    def restore(self) -> int | None:
        """Restore the models of the best epoch; returns its number.

        The optimizer stays as it is. Replicas restart with the models' weights.
        """
        job = self._job
        if self._epoch is not None and self._epoch != self._last:
            job.stop_replicas()
            for model, state in zip(job.parts.models, self._models, strict=True):
                job.adapter.load_model_state(model, state)
        return self._epoch
