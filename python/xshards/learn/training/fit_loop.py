# SPDX-License-Identifier: Apache-2.0
"""One call of fit: epochs, validation, checkpoints and what is reported."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xshards.errors import XShardsValueError
from xshards.learn.metrics import convert_metrics
from xshards.learn.training.epoch_watch import Watch
from xshards.learn.training.meters import Meters
from xshards.learn.training.results import average

if TYPE_CHECKING:
    from xshards.learn.training.commands import Trained
    from xshards.learn.training.estimator_base import EstimatorBase

__all__ = ["FitOptions", "fit"]


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

    def check(self) -> None:
        """Refuse what makes no sense."""
        for name in ("epochs", "batch_size"):
            if getattr(self, name) < 1:
                msg = f"{name} must be at least 1, got {getattr(self, name)}"
                raise XShardsValueError(msg)
        if self.max_steps is not None and self.max_steps < 1:
            msg = f"max_steps must be at least 1, got {self.max_steps}"
            raise XShardsValueError(msg)


def fit(estimator: EstimatorBase, data: Any, options: FitOptions) -> list[Any]:
    """Train; see `Estimator.fit`."""
    options.check()
    return _Fit(estimator, options).run(data)


class _Fit:
    def __init__(self, estimator: EstimatorBase, options: FitOptions) -> None:
        self._estimator = estimator
        self._job = estimator._job
        self._options = options
        self._metrics = convert_metrics(options.metrics, self._job.adapter.name)
        self._steps_left = options.max_steps
        self._stopped = False
        self._stats_so_far: dict[str, Any] = {}
        self._watch = Watch(
            estimator._job,
            trigger=options.checkpoint_trigger,
            model_dir=estimator._model_dir,
            log_dir=estimator._log_dir,
            show=estimator._job.parts.use_tqdm,
        )

    def run(self, data: Any) -> list[Any]:
        options, estimator = self._options, self._estimator
        validation = None
        train_input = estimator._input(data, options.feature_cols, options.label_cols)
        if options.validation_data is not None:
            validation = estimator._input(
                options.validation_data, options.feature_cols, options.label_cols
            )
        self._job.begin()
        sources = [self._job.add_source(train_input)]
        if validation is not None:
            sources.append(self._job.add_source(validation))
        try:
            return self._epochs(*sources)
        finally:
            self._watch.close()
            for source in sources:
                self._job.drop_source(source)

    def _epochs(self, train: int, validation: int | None = None) -> list[Any]:
        history: list[Any] = []
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
        self._watch.before_epoch()
        limit = self._steps_left
        if limit is not None:
            limit += self._job.first_batch
        answers = self._job.train_epoch(
            train,
            batch_size=options.batch_size,
            shuffle=options.shuffle,
            max_batches=limit,
            info=options.info,
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
        if not options.reduce_results:
            return [self._own_stats(answer) for answer in answers]
        return stats

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
