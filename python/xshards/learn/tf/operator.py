# SPDX-License-Identifier: Apache-2.0
"""What a replica does with the batches of a Keras model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from xshards.learn.tf.batches import rows_of, weights_of_classes
from xshards.learn.tf.step_functions import (
    PredictFunction,
    TestFunction,
    TrainFunction,
)
from xshards.learn.tf.windows import Windows, add_operation
from xshards.learn.training.meters import NUM_SAMPLES
from xshards.learn.training.operator import Operator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from xshards.learn.tf.model import KerasModel

__all__ = ["KerasOperator"]


class KerasOperator(Operator):
    """Runs the model's `train_step`, `test_step` and `predict_step`."""

    _train_function: TrainFunction | None = None
    _test_function: TestFunction | None = None
    _predict_function: PredictFunction | None = None
    _windows: Windows | None = None

    def _takes_windows(self) -> bool:
        """Whether a step neither runs eagerly nor calls Python functions."""
        model: KerasModel = self.model
        if model.sample is None or getattr(model.keras, "run_eagerly", False):
            return False
        if self._windows is None and add_operation():
            turn, client = self._turn, self.optimizer.link.client
            assert turn is not None
            self._train_function = self._train_function or TrainFunction(model)
            self._windows = Windows(model, self._train_function, turn, client)
            self._python_between = self._windows.needs_python()
        return self._windows is not None and not self._python_between

    def _train_windows(
        self,
        shares: Iterable[tuple[int, int, int, Any]],
        info: dict[str, Any],
        step_without_rows: Callable[[Any], None],
    ) -> Any:
        """Train on all batches; returns what `train_step` returned last."""
        model, turn, windows = self.model, self._turn, self._windows
        assert turn is not None
        assert windows is not None
        if turn.meters.num_batches == 0:  # no replica has begun this epoch
            model.metrics_at_start()
        windows.logs = {}
        for number, rows, step_rows, batch in shares:
            if rows:
                weighted = _weighted(batch, info.get("class_weight"))
                if windows.add(number, rows, step_rows, weighted):
                    continue
            self.global_step += windows.run()
            if rows:
                windows.add(number, rows, step_rows, weighted)
            else:
                turn.begin_batch(number, rows, step_rows)
                step_without_rows(batch)
        self.global_step += windows.run()
        return {NUM_SAMPLES: turn.meters.num_samples, "logs": windows.logs}

    def train_epoch(self, iterator: Iterable[Any], info: dict[str, Any]) -> Any:
        """Train on all batches; returns what `train_step` returned last."""
        model: KerasModel = self.model
        turn = self._turn
        assert turn is not None
        if turn.meters.num_batches == 0:  # no replica has begun this epoch
            model.metrics_at_start()
        logs: dict[str, float] = {}
        for batch in iterator:
            values = self._train(batch, info)
            logs = values.pop("logs")
            turn.end_batch(values)
            self.global_step += 1
        return {NUM_SAMPLES: turn.meters.num_samples, "logs": logs}

    def train_batch(self, batch: Any, batch_info: dict[str, Any]) -> dict[str, Any]:
        """Compute the gradients of a batch, and have them applied."""
        model, turn = self.model, self._turn
        assert turn is not None
        if self._train_function is None:
            self._train_function = TrainFunction(model)
        batch = _weighted(batch, batch_info.get("class_weight"))
        seed = getattr(turn.adapter, "last_seed", 0)
        gradients, logs, state = self._train_function(
            batch, seed, turn.rows / turn.step_rows
        )
        model.state.latest = [one.numpy() for one in state]
        values = dict(
            zip(self._train_function.log_names, logs.numpy().tolist(), strict=True)
        )
        found: dict[str, Any] = {NUM_SAMPLES: turn.rows}
        if "loss" in values:
            found["train_loss"] = values["loss"]
        self._before_step(found, [batch])
        self.optimizer.step(gradients, self._train_function.present)
        return {**found, "logs": values}

    def train_batches(
        self, batches: Sequence[Any], batch_info: dict[str, Any]
    ) -> dict[str, Any]:
        """Add up the gradients of batches, each weighed by its rows; apply the sum."""
        model, turn = self.model, self._turn
        assert turn is not None
        if self._train_function is None:
            self._train_function = TrainFunction(model)
        function, total = self._train_function, list[Any]()
        seed = getattr(turn.adapter, "last_seed", 0)
        weighted = [_weighted(one, batch_info.get("class_weight")) for one in batches]
        for number, batch in enumerate(weighted):
            rows = rows_of(batch)
            share = rows / turn.step_rows
            gradients, logs, state = function(batch, seed + number, share)
            parts = [one * (rows / turn.rows) for one in gradients]
            pairs = zip(total, parts, strict=True)
            total = [a + b for a, b in pairs] if number else parts
            model.state.latest = [one.numpy() for one in state]
        values = dict(zip(function.log_names, logs.numpy().tolist(), strict=True))
        found: dict[str, Any] = {NUM_SAMPLES: turn.rows}
        if "loss" in values:
            found["train_loss"] = values["loss"]
        self._before_step(found, weighted)
        self.optimizer.step(total, function.present)
        return {**found, "logs": values}

    def validate(
        self,
        val_iterator: Iterable[Any],
        info: dict[str, Any],
        metrics: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Measure the model on all batches; returns the state of its metrics."""
        if metrics:  # of predictions and targets; Keras' own are in the model
            return super().validate(val_iterator, info, metrics)
        model, turn = self.model, self._turn
        assert turn is not None
        if self._test_function is None:
            self._test_function = TestFunction(model)
        model.metrics_at_start()
        rows = 0
        for batch in val_iterator:
            self._test_function(batch, turn.rows / turn.step_rows)
            model.state.latest = None
            rows += turn.rows
        return {NUM_SAMPLES: rows, "metrics": model.state.read()[2]}

    def forward_batch(
        self, batch: Any, batch_info: dict[str, Any]
    ) -> tuple[Any, Any, Any]:
        """Return the output and the target; losses are a matter of `test_step`."""
        x, y, _ = batch
        return self.model.keras(x, training=False), y, None

    def predict_batch(self, pred_batch: Any) -> Any:
        """Return the model's output for a batch of features."""
        if self._predict_function is None:
            self._predict_function = PredictFunction(self.model)
        features = pred_batch[0] if len(pred_batch) == 1 else tuple(pred_batch)
        return self._predict_function(features)


def _weighted(batch: Any, class_weight: dict[int, float] | None) -> Any:
    if class_weight is None:
        return batch
    x, y, weight = batch
    by_class = weights_of_classes(y, class_weight)
    return x, y, by_class if weight is None else by_class * np.asarray(weight)
