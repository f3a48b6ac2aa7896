# SPDX-License-Identifier: Apache-2.0
"""The operator of torch: derive from it to train in another way."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.optim.lr_scheduler import ReduceLROnPlateau

from xshards.learn.pytorch.closures import needs_closure
from xshards.learn.pytorch.target_shapes import fit_target
from xshards.learn.pytorch.weighted_loss import (
    class_shares,
    gives_weights,
    weighted_mean,
)
from xshards.learn.training.meters import NUM_SAMPLES
from xshards.learn.training.operator import Operator
from xshards.learn.training.source import count_rows

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

__all__ = ["TrainingOperator"]


class _Weights(NamedTuple):
    """The weights of rows, and the total weight of the batch."""

    #: What the user gave; None if the loss alone decides.
    given: torch.Tensor | None
    total: float
    #: Whether the total may differ from the number of rows.
    uneven: bool


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
        """Compute the loss of a batch, and update the weights by its gradient.

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

        Examples
        --------
        >>> import torch
        >>> from xshards.learn.pytorch import TrainingOperator
        >>> model = torch.nn.Linear(1, 1)
        >>> optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        >>> operator = TrainingOperator({}, [model], [optimizer], 0, torch.nn.MSELoss())
        >>> batch = (torch.ones(3, 1), torch.ones(3, 1))
        >>> sorted(operator.train_batch(batch, {"batch_idx": 0}))
        ['num_samples', 'train_loss']
        """
        return self.train_batches([batch], batch_info)

    def train_batches(
        self, batches: Sequence[Any], batch_info: dict[str, Any]
    ) -> dict[str, Any]:
        """Make one update of several batches, as if they were one.

        Parameters
        ----------
        batches
            Each as in `train_batch`.
        batch_info
            ``batch_idx``, ``global_step`` and what was given to `fit` as `info`.

        Returns
        -------
        dict
            As `train_batch` returns it, for all batches together.

        Examples
        --------
        >>> import torch
        >>> from xshards.learn.pytorch import TrainingOperator
        >>> model = torch.nn.Linear(1, 1)
        >>> optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        >>> operator = TrainingOperator({}, [model], [optimizer], 0, torch.nn.MSELoss())
        >>> batch = (torch.ones(3, 1), torch.ones(3, 1))
        >>> operator.train_batches([batch, batch], {"batch_idx": 0})["num_samples"]
        6
        """
        rows = sum(count_rows(batch) for batch in batches)
        if self._closure_wanted:
            loss: Any = self.optimizer.step(lambda: self._compute_gradient(batches))
            return {"train_loss": loss.item(), NUM_SAMPLES: rows}
        loss = self._compute_gradient(batches)
        values = {"train_loss": loss.item(), NUM_SAMPLES: rows}
        self._before_step(values, batches)
        self.optimizer.step()
        return values

    def forward_batch(
        self, batch: Any, batch_info: dict[str, Any]
    ) -> tuple[Any, Any, Any]:
        """Run the model on a batch of training or validation data.

        Parameters
        ----------
        batch
            The features, and the target last.
        batch_info
            ``batch_idx``, ``global_step`` and what was given to `fit` as `info`.

        Returns
        -------
        (Tensor, Tensor, Tensor or None)
            The output, the target and the loss (None without a criterion).

        Examples
        --------
        >>> import torch
        >>> from xshards.learn.pytorch import TrainingOperator
        >>> model = torch.nn.Linear(1, 1)
        >>> optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        >>> operator = TrainingOperator({}, [model], [optimizer], 0, torch.nn.MSELoss())
        >>> batch = (torch.ones(3, 1), torch.ones(3, 1))
        >>> output, target, loss = operator.forward_batch(batch, {})
        >>> output.shape, loss.shape
        (torch.Size([3, 1]), torch.Size([]))
        """
        *features, target = batch
        with self.autocast():
            output = self.model(*features)
            if self._criterion is None:
                return output, target, None
            weights = self._weights_of(batch)
            if weights.uneven:
                self.weigh(weights.total)
            loss = self._loss(output, target, weights)
        return output, fit_target(self._criterion, output, target), loss

    def predict_batch(self, pred_batch: Any) -> Any:
        """Run the model on a batch of features.

        Parameters
        ----------
        pred_batch
            The features.

        Returns
        -------
        Tensor
            The model's output, or what else the model returns.

        Examples
        --------
        >>> import torch
        >>> from xshards.learn.pytorch import TrainingOperator
        >>> model = torch.nn.Linear(1, 1)
        >>> operator = TrainingOperator({}, [model], [], 0)
        >>> operator.predict_batch([torch.ones(3, 1)]).shape
        torch.Size([3, 1])
        """
        with self.autocast():
            return self.model(*pred_batch)

    def autocast(self) -> AbstractContextManager[object]:
        """Return a context in which torch computes in the precision asked for.

        Returns
        -------
        context manager
            `torch.autocast` with ``precision="bf16"``; else one that changes nothing.

        Examples
        --------
        >>> import torch
        >>> from xshards.learn.pytorch import TrainingOperator
        >>> model = torch.nn.Linear(1, 1)
        >>> operator = TrainingOperator({}, [model], [], 0)
        >>> with operator.autocast():
        ...     model(torch.ones(2, 1)).dtype
        torch.float32
        """
        if self._precision is None:
            return contextlib.nullcontext()
        return torch.autocast("cpu", dtype=torch.bfloat16)

    def train_mode(self) -> None:
        """Put the models into training mode.

        Examples
        --------
        >>> import torch
        >>> from xshards.learn.pytorch import TrainingOperator
        >>> model = torch.nn.Linear(1, 1)
        >>> TrainingOperator({}, [model], [], 0).train_mode()
        >>> model.training
        True
        """
        for model in self._models:
            model.train()

    def eval_mode(self) -> None:
        """Put the models into evaluation mode.

        Examples
        --------
        >>> import torch
        >>> from xshards.learn.pytorch import TrainingOperator
        >>> model = torch.nn.Linear(1, 1)
        >>> TrainingOperator({}, [model], [], 0).eval_mode()
        >>> model.training
        False
        """
        for model in self._models:
            model.eval()

    def _inference_mode(self) -> AbstractContextManager[object]:
        return torch.no_grad()

    @property
    def weighs_rows(self) -> bool:
        """Whether every batch is weighed: the loss has weights of classes."""
        return gives_weights(self._criterion)

    def _compute_gradient(self, batches: Sequence[Any]) -> Any:
        """Leave the gradient of several batches together; returns their loss."""
        weights = [self._weights_of(batch) for batch in batches]
        whole = sum(one.total for one in weights)
        self.optimizer.zero_grad()
        result: Any = 0.0
        for number, (batch, own) in enumerate(zip(batches, weights, strict=True)):
            with self._averaged(last=number == len(batches) - 1):
                *features, target = batch
                with self.autocast():
                    self._output = self.model(*features)
                    loss = self._loss(self._output, target, own)
                if number == 0 and any(one.uneven for one in weights):
                    self.weigh(whole)
                if len(batches) > 1 and not self._summed:
                    loss = loss * (own.total / whole if whole else 0.0)
                self._for_all_replicas(loss).backward()
            result = loss if len(batches) == 1 else result + loss.detach()
        return result

    def _averaged(self, *, last: bool) -> AbstractContextManager[object]:
        """Have replicas that update themselves average the last gradient alone."""
        stack = contextlib.ExitStack()
        for model in self._models:
            if not last and hasattr(model, "no_sync"):
                stack.enter_context(model.no_sync())
        return stack

    @property
    def _summed(self) -> bool:
        return getattr(self._criterion, "reduction", "mean") == "sum"

    def _loss(self, output: Any, target: Any, weights: _Weights) -> Any:
        criterion = self._criterion
        target = fit_target(criterion, output, target)
        if weights.given is not None:
            return weighted_mean(
                criterion, output, target, weights.given, weights.total
            )
        if weights.total == 0:
            return output.sum() * 0  # torch would divide by nothing
        loss = criterion(output, target)
        return loss.mean() if loss.ndim else loss

    def _weights_of(self, batch: Any) -> _Weights:
        """Find what the rows of a batch count."""
        if self._turn is not None:
            self._turn.hold(batch)
        target = batch[-1]
        found = self.row_weights(target)
        given = None if found is None else torch.from_numpy(found)
        shares = None if self._summed else class_shares(self._criterion, target)
        if self._summed or (given is None and shares is None):
            # All replicas say what their batches count, or none.
            uneven = given is not None or self.weighs_rows
            return _Weights(given, float(count_rows(batch)), uneven)
        counts = given if shares is None else shares
        if given is not None and shares is not None:
            counts = given * shares
        assert counts is not None
        return _Weights(given, float(counts.sum()), uneven=True)

    def _for_all_replicas(self, loss: Any) -> Any:
        """Scale a sum over rows so that the weighted mean over replicas is the sum."""
        turn = self._turn
        if turn is None or not self._summed:
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
