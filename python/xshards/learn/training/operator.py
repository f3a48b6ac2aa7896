# SPDX-License-Identifier: Apache-2.0
"""The base class of operators, which train on the batches of a replica."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from xshards.errors import XShardsNotImplementedError
from xshards.learn.checks import is_nan, nan_loss
from xshards.learn.training.meters import NUM_SAMPLES, Meters
from xshards.learn.training.operator_parts import OperatorParts
from xshards.learn.training.source import MicroBatches, count_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager


__all__ = ["Operator"]


class Operator(OperatorParts, ABC):
    """Trains, validates and predicts with a model on the batches of one replica.

    A framework derives from it and implements `train_batch`, `forward_batch` and
    `predict_batch`; users derive from that class to train in another way.

    Parameters
    ----------
    config
        What was given to the Estimator.
    models, optimizers
        One or several of each, in the order their creators returned them.
    world_rank
        The number of this replica.
    criterion
        The loss.
    schedulers
        What the scheduler creator made.
    use_fp16, use_tqdm
        Whether half precision and a progress bar were asked for.
    """

    def setup(self, config: dict[str, Any]) -> None:
        """Set up what batches need; override it, by default nothing.

        Parameters
        ----------
        config
            What was given to the Estimator.

        Examples
        --------
        >>> from xshards.learn.pytorch import TrainingOperator
        >>> class Penalised(TrainingOperator):
        ...     def setup(self, config):
        ...         self.penalty = config.get("penalty", 0.01)
        """

    def train_epoch(self, iterator: Iterable[Any], info: dict[str, Any]) -> Any:
        """Train on all batches, by `train_batch`.

        Parameters
        ----------
        iterator
            The batches of this replica.
        info
            What was given to `fit` as `info`.

        Returns
        -------
        dict
            The averages of what `train_batch` returned.

        Examples
        --------
        >>> from xshards.learn.pytorch import TrainingOperator
        >>> class Labelled(TrainingOperator):
        ...     def train_epoch(self, iterator, info):
        ...         return {**super().train_epoch(iterator, info), "info": info}
        """
        self.train_mode()
        meters = Meters() if self._turn is None else self._turn.meters
        for index, batch in enumerate(iterator):
            batch_info = {"batch_idx": index, "global_step": self.global_step, **info}
            values = self._train(batch, batch_info)
            self._end_batch(meters, values, batch)
        return meters.summary()

    @abstractmethod
    def train_batch(self, batch: Any, batch_info: dict[str, Any]) -> dict[str, Any]:
        """Compute the loss of a batch, and update the weights by its gradient.

        Before the step the result goes to ``self._turn.pending``, for a successor.

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

    def train_batches(
        self, batches: Sequence[Any], batch_info: dict[str, Any]
    ) -> dict[str, Any]:
        """Make one update of several batches, as if they were one.

        Each loss is weighted by its batch's rows, or the sum of their weights.

        Parameters
        ----------
        batches, batch_info
            As in `train_batch`, with several batches.

        Returns
        -------
        dict
            As `train_batch` returns it, for all batches together.

        Raises
        ------
        XShardsNotImplementedError
            If the operator cannot accumulate.
        """
        msg = f"{type(self).__name__} cannot accumulate: use larger batches"
        raise XShardsNotImplementedError(msg)

    @abstractmethod
    def forward_batch(
        self, batch: Any, batch_info: dict[str, Any]
    ) -> tuple[Any, Any, Any]:
        """Run the model on a batch of training or validation data.

        Parameters
        ----------
        batch, batch_info
            As in `train_batch`.

        Returns
        -------
        (output, target, loss)
            The loss is None without a criterion.
        """

    @abstractmethod
    def predict_batch(self, pred_batch: Any) -> Any:
        """Run the model on a batch of features.

        Parameters
        ----------
        pred_batch
            The features.

        Returns
        -------
        tensor
            The model's output.
        """

    def row_weights(self, target: Any) -> Any:
        """Return the weight of each row of the batch in the loss.

        With weights, the loss is the sum of each row's times its weight, divided by the
        sum of weights, which goes to `weigh`.

        Parameters
        ----------
        target
            The target of the batch.

        Returns
        -------
        array or None
            One weight per row; None if rows count alike.

        Examples
        --------
        >>> import torch
        >>> from xshards.learn.pytorch import TrainingOperator
        >>> operator = TrainingOperator({}, [torch.nn.Linear(1, 1)], [], 0)
        >>> operator.row_weights(torch.ones(3)) is None
        True
        """
        return None if self._turn is None else self._turn.row_weights(target)

    def weigh(self, total: float) -> None:
        """Set the weight of the batch, if it is not its number of rows.

        Gradients and losses of replicas, and losses of batches, are averaged by it.

        Parameters
        ----------
        total
            The sum of the rows' weights.

        Examples
        --------
        >>> from xshards.learn.pytorch import TrainingOperator
        >>> class Weighted(TrainingOperator):
        ...     def train_batch(self, batch, batch_info):
        ...         self.weigh(float(self.row_weights(batch[-1]).sum()))
        ...         return super().train_batch(batch, batch_info)
        """
        if self._turn is not None:
            self._turn.weigh(total)

    @property
    def weighs_rows(self) -> bool:
        """Whether every batch is weighed, for the loss itself gives rows weights."""
        return False

    def validate(
        self,
        val_iterator: Iterable[Any],
        info: dict[str, Any],
        metrics: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Measure the model on all batches, without changing it.

        Parameters
        ----------
        val_iterator
            The batches of this replica.
        info
            What was given to `evaluate` as `info`.
        metrics
            Metrics by name, which are called with each output and target.

        Returns
        -------
        dict
            ``num_samples``, and the averages over rows.

        Examples
        --------
        >>> import torch
        >>> from xshards.learn.pytorch import TrainingOperator
        >>> operator = TrainingOperator({}, [torch.nn.Linear(1, 1)], [], 0)
        >>> operator.validate([(torch.ones(3, 1), torch.ones(3, 1))], {})
        {'num_samples': 3}
        """
        self.eval_mode()
        meters = Meters()
        metrics = metrics or {}
        own = type(self).validate_batch is not Operator.validate_batch
        with self._inference_mode():
            for index, batch in enumerate(val_iterator):
                batch_info = {"batch_idx": index, **info}
                rows = count_rows(batch)
                meters.count(rows)
                self._hold(batch)
                if own:
                    values = dict(self.validate_batch(batch, batch_info))
                    output, target = values.pop("output", None), batch[-1]
                else:
                    output, target, loss = self.forward_batch(batch, batch_info)
                    values = {} if loss is None else {"val_loss": loss.item()}
                meters.add(values, rows, self._weight)
                for metric in metrics.values():
                    metric(output, target)
        summary = meters.summary()
        averages = {name: summary[name] for name in meters.sums}
        if self._turn is not None:
            self._turn.validation_weight = meters.weights.get("val_loss")
        return {NUM_SAMPLES: meters.num_samples, **averages}

    def validate_batch(self, batch: Any, batch_info: dict[str, Any]) -> dict[str, Any]:
        """Measure one batch; override it to measure something else.

        Parameters
        ----------
        batch, batch_info
            As in `train_batch`.

        Returns
        -------
        dict
            Values, which are averaged over rows; metrics are given its ``"output"``.

        Examples
        --------
        >>> from xshards.learn.pytorch import TrainingOperator
        >>> class Counted(TrainingOperator):
        ...     def validate_batch(self, batch, batch_info):
        ...         return {**super().validate_batch(batch, batch_info), "one": 1.0}
        """
        with self._inference_mode():
            output, _, loss = self.forward_batch(batch, batch_info)
        rows = count_rows(batch)
        values = {} if loss is None else {"val_loss": loss.item()}
        return {**values, NUM_SAMPLES: rows, "output": output}

    def predict(self, pred_iterator: Iterable[Any]) -> list[Any]:
        """Predict batch by batch.

        Parameters
        ----------
        pred_iterator
            Batches of features.

        Returns
        -------
        list
            What `predict_batch` returned for each.

        Examples
        --------
        >>> import torch
        >>> from xshards.learn.pytorch import TrainingOperator
        >>> operator = TrainingOperator({}, [torch.nn.Linear(1, 1)], [], 0)
        >>> [len(output) for output in operator.predict([[torch.ones(3, 1)]])]
        [3]
        """
        self.eval_mode()
        with self._inference_mode():
            return [self.predict_batch(batch) for batch in pred_iterator]

    def state_dict(self) -> dict[str, Any]:
        """Return state to keep in checkpoints; override it, by default nothing.

        Returns
        -------
        dict
            Plain values and tensors, in addition to models and optimizers.

        Examples
        --------
        >>> from xshards.learn.pytorch import TrainingOperator
        >>> class Counted(TrainingOperator):
        ...     def state_dict(self):
        ...         return {"seen": self.seen}
        """
        return {}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore what `state_dict` returned; override it, by default nothing.

        Parameters
        ----------
        state_dict
            The state of a checkpoint.

        Examples
        --------
        >>> from xshards.learn.pytorch import TrainingOperator
        >>> class Counted(TrainingOperator):
        ...     def load_state_dict(self, state_dict):
        ...         self.seen = state_dict["seen"]
        """

    def autocast(self) -> AbstractContextManager[object]:
        """Return a context in which the model computes in the precision asked for.

        Returns
        -------
        context manager
            One that changes nothing by default.
        """
        return contextlib.nullcontext()

    def train_mode(self) -> None:
        """Put the models into training mode."""

    def eval_mode(self) -> None:
        """Put the models into evaluation mode."""

    def _train(self, batch: Any, batch_info: dict[str, Any]) -> dict[str, Any]:
        if isinstance(batch, MicroBatches):
            return self.train_batches(batch, batch_info)
        return self.train_batch(batch, batch_info=batch_info)

    def _takes_windows(self) -> bool:
        """Whether it can make several updates in one call; see `_train_windows`."""
        return False

    def _train_windows(
        self,
        shares: Iterable[tuple[int, int, int, Any]],
        info: dict[str, Any],
        step_without_rows: Callable[[Any], None],
    ) -> Any:
        """Train on all batches, several in one call of the framework.

        Called in place of `train_epoch` where nothing has to be done between updates.
        `shares` has the number of each batch, its rows here and in all replicas, and
        the batch; `step_without_rows` takes part in the update of one without rows.
        """
        msg = f"{type(self).__name__} makes each update in a call of its own"
        raise XShardsNotImplementedError(msg)

    def _before_step(self, values: dict[str, Any], batches: Sequence[Any]) -> None:
        """Note what a step reports, before it; refuses to step down a loss of NaN."""
        turn = self._turn
        if turn is None:
            return
        turn.pending = values
        if is_nan(values.get("train_loss")):
            where = f"in batch {turn.batch} of epoch {turn.epoch + 1}"
            raise nan_loss(batches, where, turn.columns, turn.adapter.to_numpy)

    def _hold(self, batch: Any) -> None:
        if self._turn is not None:
            self._turn.weight = None
            self._turn.hold(batch)

    @property
    def _weight(self) -> float | None:
        return None if self._turn is None else self._turn.weight

    def _inference_mode(self) -> AbstractContextManager[object]:
        return contextlib.nullcontext()

    def _end_batch(self, meters: Meters, values: Any, batch: Any) -> None:
        self.global_step += 1
        if self._turn is not None:
            self._turn.end_batch(values or {})
        else:
            meters.count(count_rows(batch))
            meters.add(values or {}, count_rows(batch))
        self._step_schedulers("batch")

    def _step_schedulers(self, frequency: str) -> None:
        """Step the schedulers, if they step at the end of a "batch" or an "epoch"."""
        if self._scheduler_step_freq == frequency:
            for scheduler in self._schedulers:
                scheduler.step()

    def _observe(self, loss: float | None) -> None:
        """Step the schedulers that wait for the loss of an epoch."""
