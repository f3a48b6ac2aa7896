# SPDX-License-Identifier: Apache-2.0
"""What is done with a batch: the class to derive from for training of another kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.optim.lr_scheduler import ReduceLROnPlateau

from xshards.learn.pytorch.local_optimizer import needs_closure
from xshards.learn.pytorch.target_shapes import fit_target
from xshards.learn.training.meters import NUM_SAMPLES, Meters

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from xshards.learn.training.replica_turn import Turn

__all__ = ["TrainingOperator"]


class TrainingOperator:
    """Trains and validates a model on the batches of one replica.

    Derive from it and override `train_batch` (or more) to train in another way; the
    class goes to `Estimator.from_torch` as `training_operator_cls`. ``self.optimizer``
    is a torch optimizer whose `step` takes the gradients of all replicas together.

    Parameters
    ----------
    config
        What was given to `from_torch`.
    models, optimizers
        One or several of each, in the order their creators returned them.
    world_rank
        The number of this replica.
    criterion
        The loss.
    schedulers
        What ``scheduler_creator`` made.

    Examples
    --------
    >>> from xshards.learn.pytorch import TrainingOperator
    >>> class Halved(TrainingOperator):
    ...     def train_batch(self, batch, batch_info):
    ...         *features, target = batch
    ...         self.optimizer.zero_grad()
    ...         loss = self.criterion(self.model(*features), target) / 2
    ...         loss.backward()
    ...         self.optimizer.step()
    ...         return {"train_loss": loss.item(), "num_samples": len(target)}
    """

    def __init__(
        self,
        config: dict[str, Any] | None,
        models: Sequence[torch.nn.Module],
        optimizers: Sequence[torch.optim.Optimizer],
        world_rank: int,
        criterion: Any = None,
        schedulers: Sequence[Any] | None = None,
        use_fp16: bool = False,  # noqa: FBT001 - the signature users override
        use_tqdm: bool = False,  # noqa: FBT001
    ) -> None:
        self._config = config if config is not None else {}
        self._models = list(models)
        self._optimizers = list(optimizers)
        self._world_rank = world_rank
        self._criterion = criterion
        self._schedulers = list(schedulers or [])
        self._use_fp16 = use_fp16
        self._use_tqdm = use_tqdm
        self._scheduler_step_freq: str | None = "batch"
        self._turn: Turn | None = None
        self._output: Any = None  # of the last batch, for callbacks
        self._closure_wanted = bool(optimizers) and needs_closure(optimizers[0])
        self.global_step = 0
        self.setup(self._config)

    def setup(self, config: dict[str, Any]) -> None:
        """Override to set up what batches need."""

    def train_epoch(self, iterator: Iterable[Any], info: dict[str, Any]) -> Any:
        """Train on all batches; gives the averages of what `train_batch` returned."""
        self.train_mode()
        meters = Meters() if self._turn is None else self._turn.meters
        for index, batch in enumerate(iterator):
            batch_info = {"batch_idx": index, "global_step": self.global_step, **info}
            values = self.train_batch(batch, batch_info=batch_info)
            self._end_batch(meters, values, batch)
        return meters.summary()

    def train_batch(self, batch: Any, batch_info: dict[str, Any]) -> dict[str, Any]:
        """Compute the loss of a batch, and step down its gradient."""
        if self._closure_wanted:
            loss: Any = self.optimizer.step(lambda: self._compute_gradient(batch))
            return {"train_loss": loss.item(), NUM_SAMPLES: count_rows(batch)}
        loss = self._compute_gradient(batch)
        values = {"train_loss": loss.item(), NUM_SAMPLES: count_rows(batch)}
        if self._turn is not None:
            self._turn.pending = values
        self.optimizer.step()
        return values

    def validate(
        self,
        val_iterator: Iterable[Any],
        info: dict[str, Any],
        metrics: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Measure the model on all batches, without changing it."""
        self.eval_mode()
        meters = Meters()
        metrics = metrics or {}
        own = type(self).validate_batch is not TrainingOperator.validate_batch
        with torch.no_grad():
            for index, batch in enumerate(val_iterator):
                batch_info = {"batch_idx": index, **info}
                rows = count_rows(batch)
                meters.count(rows)
                if own:
                    values = dict(self.validate_batch(batch, batch_info))
                    output, target = values.pop("output", None), batch[-1]
                else:
                    output, target, loss = self.forward_batch(batch, batch_info)
                    values = {} if loss is None else {"val_loss": loss.item()}
                meters.add(values, rows)
                for metric in metrics.values():
                    metric(output, target)
        summary = meters.summary()
        averages = {name: summary[name] for name in meters.sums}
        return {NUM_SAMPLES: meters.num_samples, **averages}

    def validate_batch(self, batch: Any, batch_info: dict[str, Any]) -> dict[str, Any]:
        """Measure one batch; override it to measure something else.

        What it returns is averaged over rows; metrics look at its ``"output"``.
        """
        with torch.no_grad():
            output, _, loss = self.forward_batch(batch, batch_info)
        rows = count_rows(batch)
        values = {} if loss is None else {"val_loss": loss.item()}
        return {**values, NUM_SAMPLES: rows, "output": output}

    def forward_batch(
        self, batch: Any, batch_info: dict[str, Any]
    ) -> tuple[Any, Any, Any]:
        """Give the output, the target and the loss (None without criterion)."""
        *features, target = batch
        output = self.model(*features)
        if self._criterion is None:
            return output, target, None
        loss = self._loss(output, target)
        return output, fit_target(self._criterion, output, target), loss

    def predict(self, pred_iterator: Iterable[Any]) -> list[Any]:
        """Give the predictions of each batch."""
        self.eval_mode()
        with torch.no_grad():
            return [self.predict_batch(batch) for batch in pred_iterator]

    def predict_batch(self, pred_batch: Any) -> Any:
        """Give the model's output for a batch of features."""
        return self.model(*pred_batch)

    def state_dict(self) -> dict[str, Any]:
        """Override to keep more than models and optimizers in checkpoints."""
        return {}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Override to take back what `state_dict` gave."""

    def train_mode(self) -> None:
        """Put the models into training mode."""
        for model in self._models:
            model.train()

    def eval_mode(self) -> None:
        """Put the models into evaluation mode."""
        for model in self._models:
            model.eval()

    @property
    def config(self) -> dict[str, Any]:
        """What was given to `from_torch`."""
        return self._config

    @property
    def model(self) -> Any:
        """The first model."""
        return self._models[0]

    @property
    def models(self) -> list[torch.nn.Module]:
        """All models."""
        return self._models

    @property
    def optimizer(self) -> torch.optim.Optimizer:
        """The first optimizer."""
        return self._optimizers[0]

    @property
    def optimizers(self) -> list[torch.optim.Optimizer]:
        """All optimizers."""
        return self._optimizers

    @property
    def criterion(self) -> Any:
        """The loss."""
        return self._criterion

    @property
    def scheduler(self) -> Any:
        """The first scheduler, or None."""
        return self._schedulers[0] if self._schedulers else None

    @property
    def schedulers(self) -> list[Any]:
        """All schedulers."""
        return self._schedulers

    @property
    def world_rank(self) -> int:
        """The number of this replica."""
        return self._world_rank

    @property
    def use_fp16(self) -> bool:
        """Whether half precision was asked for."""
        return self._use_fp16

    @property
    def use_tqdm(self) -> bool:
        """Whether a progress bar was asked for."""
        return self._use_tqdm

    def _compute_gradient(self, batch: Any) -> Any:
        *features, target = batch
        output = self.model(*features)
        loss = self._loss(output, target)
        self._output = output
        self.optimizer.zero_grad()
        self._for_all_replicas(loss).backward()
        return loss

    def _loss(self, output: Any, target: Any) -> Any:
        loss = self._criterion(output, fit_target(self._criterion, output, target))
        return loss.mean() if loss.ndim else loss

    def _for_all_replicas(self, loss: Any) -> Any:
        """Scale a sum over rows so that the weighted mean over replicas is the sum."""
        turn = self._turn
        if turn is None or getattr(self._criterion, "reduction", "mean") != "sum":
            return loss
        return loss * (turn.step_rows / turn.rows)

    def _end_batch(self, meters: Meters, values: Any, batch: Any) -> None:
        self.global_step += 1
        if self._turn is not None:
            self._turn.end_batch(values or {})
        else:
            meters.count(count_rows(batch))
            meters.add(values or {}, count_rows(batch))
        self._step_schedulers("batch")

    def _step_schedulers(self, frequency: str) -> None:
        if self._scheduler_step_freq == frequency:
            for scheduler in self._schedulers:
                if not isinstance(scheduler, ReduceLROnPlateau):
                    scheduler.step()

    def _observe(self, loss: float | None) -> None:
        """Step the schedulers that wait for the loss of an epoch."""
        if loss is None or self._scheduler_step_freq not in ("batch", "epoch"):
            return
        for scheduler in self._schedulers:
            if isinstance(scheduler, ReduceLROnPlateau):
                scheduler.step(loss)


def count_rows(batch: Any) -> int:
    """Give the rows of a batch: the length of the first tensor in it."""
    while isinstance(batch, (list, tuple, dict)):
        batch = next(iter(batch.values())) if isinstance(batch, dict) else batch[0]
    return len(batch)
