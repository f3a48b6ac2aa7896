# SPDX-License-Identifier: Apache-2.0
"""What is done with a batch: the class to derive from for training of another kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.optim.lr_scheduler import ReduceLROnPlateau

from xshards.learn.pytorch.closures import needs_closure
from xshards.learn.pytorch.target_shapes import fit_target
from xshards.learn.training.meters import NUM_SAMPLES
from xshards.learn.training.operator import Operator
from xshards.learn.training.source import count_rows

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

__all__ = ["TrainingOperator"]


class TrainingOperator(Operator):
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
        self._closure_wanted = bool(optimizers) and needs_closure(optimizers[0])
        super().__init__(
            config,
            models,
            optimizers,
            world_rank,
            criterion,
            schedulers,
            use_fp16,
            use_tqdm,
        )

    def train_batch(self, batch: Any, batch_info: dict[str, Any]) -> dict[str, Any]:
        """Compute the loss of a batch, and step down its gradient.

        Parameters
        ----------
        batch
            The features, and the target last.
        batch_info
            ``batch_idx``, ``global_step`` and what was given to `fit` as `info`.

        Returns
        -------
        dict
            ``train_loss``, ``num_samples`` and what else is to be averaged over rows.
        """
        if self._closure_wanted:
            loss: Any = self.optimizer.step(lambda: self._compute_gradient(batch))
            return {"train_loss": loss.item(), NUM_SAMPLES: count_rows(batch)}
        loss = self._compute_gradient(batch)
        values = {"train_loss": loss.item(), NUM_SAMPLES: count_rows(batch)}
        if self._turn is not None:
            self._turn.pending = values
        self.optimizer.step()
        return values

    def forward_batch(
        self, batch: Any, batch_info: dict[str, Any]
    ) -> tuple[Any, Any, Any]:
        """Return the output, the target and the loss (None without criterion)."""
        *features, target = batch
        output = self.model(*features)
        if self._criterion is None:
            return output, target, None
        loss = self._loss(output, target)
        return output, fit_target(self._criterion, output, target), loss

    def predict_batch(self, pred_batch: Any) -> Any:
        """Return the model's output for a batch of features."""
        return self.model(*pred_batch)

    def train_mode(self) -> None:
        """Put the models into training mode."""
        for model in self._models:
            model.train()

    def eval_mode(self) -> None:
        """Put the models into evaluation mode."""
        for model in self._models:
            model.eval()

    def _inference_mode(self) -> AbstractContextManager[object]:
        return torch.no_grad()

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

    def _step_schedulers(self, frequency: str) -> None:
        if self._scheduler_step_freq == frequency:
            for scheduler in self._schedulers:
                if not isinstance(scheduler, ReduceLROnPlateau):
                    scheduler.step()

    def _observe(self, loss: float | None) -> None:
        if loss is None or self._scheduler_step_freq not in ("batch", "epoch"):
            return
        for scheduler in self._schedulers:
            if isinstance(scheduler, ReduceLROnPlateau):
                scheduler.step(loss)
