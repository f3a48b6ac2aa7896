# SPDX-License-Identifier: Apache-2.0
"""One call of fit: epochs, validation and callbacks, in the order Keras has them."""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xshards.learn.checks import check_count
from xshards.learn.tf.callbacks import make_callbacks, progress_bar, wants_batches
from xshards.learn.tf.history import KerasHistory
from xshards.learn.tf.packages import is_of_keras
from xshards.learn.training.epoch_watch import Watch
from xshards.learn.training.fit_loop import BestEpoch, check_best
from xshards.learn.training.meters import Meters

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from xshards.learn.monitor import Mode
    from xshards.learn.tf.estimator import Estimator
    from xshards.learn.tf.inputs import Prepared
    from xshards.learn.training.commands import Trained
    from xshards.learn.training.job import Job

__all__ = ["FitOptions", "fit", "merged_results"]

# May be None, which is no limit.
_LIMITS = ("steps_per_epoch", "validation_steps")
_SHOW_SECONDS = 0.1


@dataclass
class FitOptions:
    """The arguments of `Estimator.fit` besides data."""

    epochs: int
    batch_size: int
    verbose: int
    callbacks: list[Any]
    class_weight: dict[int, float] | None
    initial_epoch: int
    steps_per_epoch: int | None
    validation_steps: int | None
    validation_freq: Any
    checkpoint_trigger: Any
    shuffle: bool
    restore_best: bool = False
    monitor: str | None = None
    mode: Mode = None
    accumulate: int = 1

    def check(self) -> None:
        """Refuse what makes no sense."""
        for name in ("epochs", "batch_size", "accumulate", *_LIMITS):
            value = getattr(self, name)
            if value is not None or name not in _LIMITS:
                setattr(self, name, check_count(name, value))
        self.initial_epoch = check_count("initial_epoch", self.initial_epoch, least=0)
        if isinstance(self.validation_freq, Collection):
            numbers = self.validation_freq
            self.validation_freq = [check_count("validation_freq", n) for n in numbers]
        else:
            self.validation_freq = check_count("validation_freq", self.validation_freq)
        check_best(self.monitor, self.mode, wanted=self.restore_best)

    @property
    def num_batches(self) -> int | None:
        """How many batches an epoch may have; there are `accumulate` in a step."""
        limit = self.steps_per_epoch
        return None if limit is None else limit * self.accumulate

    def validates(self, epoch: int) -> bool:
        """Whether the model is measured after an epoch, counted from 0."""
        if isinstance(self.validation_freq, int):
            return (epoch + 1) % self.validation_freq == 0
        return epoch + 1 in self.validation_freq


def fit(
    estimator: Estimator,
    train: Prepared,
    validation: Prepared | None,
    options: FitOptions,
) -> KerasHistory:
    """Train; see `Estimator.fit`."""
    sources = [_Source(estimator._job, train, options.batch_size)]
    if validation is not None:
        sources.append(_Source(estimator._job, validation, options.batch_size))
    try:
        return _Fit(estimator, options, *sources).run()
    finally:
        for source in sources:
            source.drop()


class _Source:
    """The data that replicas have at one time."""

    def __init__(self, job: Job, prepared: Prepared, batch_size: int) -> None:
        self._job = job
        self._prepared = prepared
        self._number: int | None = None
        self.batch_size = prepared.batch_size or batch_size
        self.shuffle = prepared.shuffle

    @property
    def num_batches(self) -> int | None:
        """How many batches the next epoch has, if that is known."""
        return self._prepared.num_batches(self.batch_size)

    def number(self) -> int:
        """Return the number of the source for an epoch that begins."""
        if self._number is None:
            self._number = self._job.add_source(self._prepared.open())
        return self._number

    def finish(self) -> None:
        """Note that the epoch was trained, or the model measured."""
        if self._prepared.renewed:
            self.drop()
        self._prepared.finish()

    def drop(self) -> None:
        """Let replicas forget the data."""
        if self._number is not None:
            self._job.drop_source(self._number)
            self._number = None
        self._prepared.close()


class _Fit:
    def __init__(
        self,
        estimator: Estimator,
        options: FitOptions,
        train: _Source,
        validation: _Source | None = None,
    ) -> None:
        self._estimator = estimator
        self._train = train
        self._validation = validation
        self._job = estimator._job
        self._model = estimator._model
        self._options = options
        self._initial = self._model.metrics_at_start()
        self._callbacks = make_callbacks(
            self._model.keras,
            options.callbacks,
            verbose=options.verbose,
            history=True,
            epochs=options.epochs,
            steps=self._num_steps(),
        )
        self._batches = wants_batches(self._callbacks)
        self._watch = Watch(
            self._job,
            trigger=options.checkpoint_trigger,
            model_dir=estimator._model_dir,
            log_dir=estimator._log_dir,
            show=False,
        )
        self._batch = 0
        self._steps_done = 0  # in the epochs of this fit that are over
        self._steps: int | None = None
        self._shown_at = 0.0
        self._history = KerasHistory()
        self._best: BestEpoch | None = None
        self._monitor = options.monitor or ("val_loss" if validation else "loss")
        if options.restore_best:
            self._best = BestEpoch(self._job, self._monitor, mode=options.mode)

    def run(self) -> KerasHistory:
        options, keras_model = self._options, self._model.keras
        keras_model.stop_training = False
        keras_model._initial_epoch = None
        self._count_steps(0)
        logs: dict[str, Any] = {}
        try:
            if options.callbacks:
                self._job.take_state()
            self._call("on_train_begin")
            for epoch in range(self._first_epoch(), options.epochs):
                logs = self._epoch(epoch)
                if keras_model.stop_training:
                    break
            self._finalize()
            self._call("on_train_end", logs)
        finally:
            self._watch.close()
        if self._best is not None:
            self._history.best_epoch = self._best.restore()
        return self._history

    def _first_epoch(self) -> int:
        """Return the number of the first epoch, which callbacks may have changed."""
        model, given = self._model.keras, self._options.initial_epoch
        if hasattr(model, "_maybe_load_initial_counters_from_ckpt"):  # legacy Keras
            first, _ = model._maybe_load_initial_counters_from_ckpt(
                self._num_steps(), given
            )
            return int(first)
        return int(model._initial_epoch or given)

    def _count_steps(self, count: int) -> None:
        """Set what callbacks of legacy Keras take for the step of this fit."""
        counter = getattr(self._model.keras, "_train_counter", None)
        if counter is not None:
            counter.assign(count)

    def _finalize(self) -> None:
        """Have the optimizer give averages of weights to the model, as Keras does."""
        optimizer = self._model.keras.optimizer
        if hasattr(optimizer, "finalize_variable_values"):
            optimizer.finalize_variable_values(self._model.keras.trainable_variables)
            self._estimator._share_driver_changes()

    def _epoch(self, epoch: int) -> dict[str, Any]:
        options, source = self._options, self._train
        self._call("on_epoch_begin", epoch)
        self._watch.before_epoch(None)
        answers = self._train_epoch(source)
        source.finish()
        logs = self._logs(answers)
        stats = Meters.merged([one.meters for one in answers]).summary()
        self._steps_done += stats["batch_count"]
        self._count_steps(self._steps_done)
        if options.callbacks:
            self._job.take_state()
        validates = self._validation is not None and options.validates(epoch)
        if self._validation is not None and validates:
            found = self._validate(self._validation)
            logs |= {f"val_{name}": value for name, value in found.items()}
        self._watch.after_epoch({**stats, **logs})
        if self._best is not None and (validates or self._monitor[:4] != "val_"):
            self._best.after_epoch(logs, epoch)
        self._call("on_epoch_end", epoch, logs)
        self._history.take(epoch, self._model.keras.history.history)
        return logs

    def _train_epoch(self, source: _Source) -> list[Trained]:
        options = self._options
        self._steps = self._num_steps()
        number = source.number()
        self._batch = self._job.first_batch
        if self._batches and self._steps is not None:
            self._call("on_train_batch_begin", self._batch)
        return self._job.train_epoch(
            number,
            batch_size=source.batch_size,
            shuffle=options.shuffle if source.shuffle is None else source.shuffle,
            max_batches=options.steps_per_epoch,
            info={"class_weight": options.class_weight},
            accumulate=options.accumulate,
            on_look=self._on_look,
            after_update=self._after_update,
        )

    def _num_steps(self) -> int | None:
        """Return how many steps an epoch has, if that is known."""
        limit, known = self._options.steps_per_epoch, self._train.num_batches
        if known is None:
            return None
        steps = -(-known // self._options.accumulate)
        return steps if limit is None else min(steps, limit)

    def _logs(self, answers: list[Trained]) -> dict[str, Any]:
        """Return what Keras would log: metrics, or what `train_step` returned."""
        found = merged_results(
            self._model, [one.buffers[2] for one in answers], self._initial
        )
        own = [one.result for one in answers if one.result and one.result["logs"]]
        names = own[0]["logs"] if own else {}
        if not names or set(names) <= set(found) or _is_standard(self._model.keras):
            return found
        rows = sum(one["num_samples"] for one in own)
        return {
            name: sum(one["logs"][name] * one["num_samples"] for one in own) / rows
            for name in names
        }

    def _validate(self, source: _Source) -> dict[str, Any]:
        self._call("on_test_begin")
        found = self._estimator._measure(
            source.number(),
            source.batch_size,
            self._options.validation_steps,
            callbacks=self._callbacks,
        )
        source.finish()
        self._call("on_test_end", found)
        return found

    @property
    def _after_update(self) -> Any:
        watch = self._watch.after_update
        if not self._batches:
            return watch

        def after_update() -> None:
            if watch is not None:
                watch()
            self._report_batch(self._results_so_far()[1])
            self._estimator._share_driver_changes()

        return after_update

    @property
    def _on_look(self) -> Callable[[], None] | None:
        """What to call now and then: what moves the progress bar of Keras."""
        bar = progress_bar(self._callbacks)
        if bar is None or self._batches:  # callbacks are called for each batch, also it
            return None

        def show() -> None:
            now = time.perf_counter()
            if now - self._shown_at > _SHOW_SECONDS:
                self._shown_at = now
                done, logs = self._results_so_far()
                if done:
                    bar.on_train_batch_end(done - 1, logs)

        return show

    def _results_so_far(self) -> tuple[int, dict[str, Any]]:
        """Return the steps of the epoch that were made, and the metrics so far."""
        epoch = self._job.epoch - 1
        positions = [
            one
            for one in self._job.positions()[0]
            if one is not None and one.epoch == epoch
        ]
        states = [one.buffers[2] for one in positions]
        logs = merged_results(self._model, states, self._initial)
        return max((one.batch for one in positions), default=0), logs

    def _report_batch(self, logs: dict[str, Any]) -> None:
        """Call callbacks at the end of a batch, and at the begin of the next."""
        if self._steps is None:
            # Only now it is known that there was a batch.
            self._callbacks.on_train_batch_begin(self._batch)
        self._count_steps(self._steps_done + self._batch + 1)
        self._callbacks.on_train_batch_end(self._batch, logs)
        self._batch += 1
        more = self._steps is not None and self._batch < self._steps
        if more:
            self._callbacks.on_train_batch_begin(self._batch)

    def _call(self, stage: str, *arguments: Any) -> None:
        getattr(self._callbacks, stage)(*arguments)
        self._estimator._share_driver_changes()


def merged_results(
    model: Any,
    states: list[np.ndarray[Any, Any]],
    initial: np.ndarray[Any, Any],
) -> dict[str, Any]:
    """Compute the metrics of all rows from the states that replicas have."""
    model.state.write_metrics(model.state.merged(states, initial))
    found: dict[str, Any] = model.results()
    return found


def _is_standard(keras_model: Any) -> bool:
    return is_of_keras(type(keras_model).train_step)
