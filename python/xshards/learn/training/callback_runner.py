# SPDX-License-Identifier: Apache-2.0
"""A replica at work, as callbacks see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xshards.errors import XShardsKeyError, XShardsValueError
from xshards.learn.callbacks.base import loss_of
from xshards.learn.callbacks.main import MainCallbackBase
from xshards.learn.training.meters import NUM_SAMPLES, Meters
from xshards.learn.training.source import count_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from xshards.learn.callbacks.base import Callback
    from xshards.learn.training.operator import Operator
    from xshards.learn.training.replica_turn import Turn

__all__ = ["CallbackRunner"]


class CallbackRunner:
    """Runs the epochs of one replica, with callbacks around each batch.

    A `MainCallbackBase` among them does the work of a batch; without one the operator
    does it.
    """

    def __init__(
        self,
        callbacks: Sequence[Callback],
        operator: Operator,
        turn: Turn,
        num_epochs: int,
        save: Callable[[str, bool], None],
    ) -> None:
        self._callbacks = list(callbacks)
        mains = [one for one in callbacks if isinstance(one, MainCallbackBase)]
        self._main = mains[0] if mains else None
        self._operator = operator
        self._turn = turn
        self._save = save
        self._kept: dict[str, Any] = {}
        self.rank = turn.rank
        self.world_size = turn.num_replicas
        self.epochs = 0
        self.num_epochs = num_epochs
        self.steps_per_epoch: int | None = None
        self.batch_idx = 0
        self.global_step = 0
        self.model = (
            operator.models[0] if len(operator.models) == 1 else operator.models
        )
        optimizers = operator.optimizers
        self.optimizer: Any = optimizers[0] if len(optimizers) == 1 else optimizers
        self.criterion = operator.criterion
        self.scheduler = operator.scheduler
        self.batch: Any = None
        self.output: Any = None
        self.loss: Any = None
        self.epoch_stats: dict[str, Any] = {}
        self.should_stop = False

    def call(self, stage: str) -> None:
        """Call a method of every callback."""
        if self._turn.optimizers:
            self.global_step = self._turn.optimizers[0].num_steps
        for callback in self._callbacks:
            getattr(callback, stage)(self)

    def train_epoch(self, iterator: Iterable[Any], info: dict[str, Any]) -> None:
        """Train on all batches, or until a callback stops the run."""
        operator, turn = self._operator, self._turn
        self.epochs = turn.epoch
        operator.train_mode()
        self.call("before_train_epoch")
        for batch in iterator:
            self.batch, self.batch_idx = batch, turn.batch - 1
            self.call("before_train_iter")
            batch_info = {
                "batch_idx": self.batch_idx,
                "global_step": self.global_step,
                **info,
            }
            values = self._train_batch(batch_info)
            turn.end_batch(values)
            if self._main is None:
                operator._step_schedulers("batch")
            elif operator._scheduler_step_freq == "batch":
                self._main.on_lr_adjust(self)
            self.call("after_train_iter")
            if self.should_stop:
                break
        self.epochs = turn.epoch + 1

    def validate(
        self, iterator: Iterable[Any], info: dict[str, Any], metrics: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Measure the model on all batches."""
        operator = self._operator
        operator.eval_mode()
        meters = Meters()
        self.call("before_val_epoch")
        with self._turn.adapter.inference_mode():
            for index, batch in enumerate(iterator):
                self.batch, self.batch_idx = batch, index
                operator._hold(batch)
                self.call("before_val_iter")
                target = self._validate_batch({"batch_idx": index, **info})
                rows = count_rows(batch)
                meters.count(rows)
                if self.loss is not None:
                    meters.add({"val_loss": self.loss}, rows, operator._weight)
                for metric in metrics.values():
                    metric(self.output, target)
                self.call("after_val_iter")
        result: dict[str, Any] = {NUM_SAMPLES: meters.num_samples}
        if "val_loss" in meters.sums:
            result["val_loss"] = meters.summary()["val_loss"]
            self._turn.validation_weight = meters.weights["val_loss"]
        return result

    def predict_batch(self, batch: Any) -> Any:
        """Return the output for a batch of features."""
        self.batch = batch
        self.call("before_pred_iter")
        if self._main is None:
            self.output = self._operator.predict_batch(batch)
        else:
            with self._operator.autocast():
                self._main.on_pred_forward(self)
        self.call("after_pred_iter")
        return self.output

    def _train_batch(self, batch_info: dict[str, Any]) -> Mapping[str, Any]:
        if self._main is None:
            values = self._operator._train(self.batch, batch_info) or {}
            self.output = self._operator._output
            self.loss = values.get("train_loss")
            return values
        with self._operator.autocast():
            self._main.on_train_forward(self)
        values = {"train_loss": loss_of(self)}
        self._turn.pending = values
        self._main.on_train_backward(self)
        return values

    def _validate_batch(self, batch_info: dict[str, Any]) -> Any:
        if self._main is None:
            self.output, target, self.loss = self._operator.forward_batch(
                self.batch, batch_info
            )
            return target
        self.loss = None
        with self._operator.autocast():
            self._main.on_val_forward(self)
        return self.batch[-1]

    def put(self, k: str, v: Any) -> None:
        """Keep a value under a new name."""
        if k in self._kept:
            msg = f"value {k!r} already exists; use update()"
            raise XShardsValueError(msg)
        self._kept[k] = v

    def update(self, k: str, v: Any) -> None:
        """Replace a value."""
        self.get(k)
        self._kept[k] = v

    def get(self, k: str) -> Any:
        """Return a value."""
        if k not in self._kept:
            known = ", ".join(self._kept) or "nothing"
            msg = f"there is no value {k!r}; kept: {known}"
            raise XShardsKeyError(msg)
        return self._kept[k]

    def remove(self, k: str) -> None:
        """Forget a value."""
        self.get(k)
        del self._kept[k]

    def save_checkpoint(self, filepath: str, save_weights_only: bool = False) -> None:  # noqa: FBT001
        """Have the driver write a checkpoint of the state after the last update."""
        self._save(str(filepath), bool(save_weights_only))
