# SPDX-License-Identifier: Apache-2.0
"""Trains, evaluates and applies PyTorch models on shards."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Literal

import torch

from xshards._util.public_names import name_methods
from xshards.context import default_context
from xshards.errors import XShardsRuntimeError, XShardsValueError
from xshards.learn.metrics import convert_metrics
from xshards.learn.pytorch.building import (
    make_loss,
    make_models,
    make_optimizers,
    seeded,
)
from xshards.learn.pytorch.callbacks import with_main_callback
from xshards.learn.pytorch.training_operator import TrainingOperator
from xshards.learn.training.checkpoint_methods import CheckpointMethods
from xshards.learn.training.checkpoint_state import write_file
from xshards.learn.training.clip import Clip
from xshards.learn.training.commands import Parts
from xshards.learn.training.fit_loop import FitOptions, fit
from xshards.learn.training.inputs import make_input
from xshards.learn.training.job import Job, check_num_replicas
from xshards.learn.training.predict import predict
from xshards.learn.training.summary_methods import SummaryMethods

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from xshards.context import Context

__all__ = ["Estimator"]

_BACKENDS = ("ps", "torch_distributed")


class Estimator(CheckpointMethods, SummaryMethods):
    """Trains a PyTorch model on shards with several replicas of it.

    Make one with `from_torch`.
    """

    def __init__(
        self,
        job: Job,
        *,
        metrics: Any,
        model_dir: str | None,
        clip: Clip,
        context: Context,
    ) -> None:
        self._job = job
        job.on_save = self._save_for_callback
        self._metrics = metrics
        self._model_dir = model_dir
        self._clip = clip
        self._context = context

    @staticmethod
    def from_torch(
        *,
        model: Any,
        optimizer: Any = None,
        loss: Any = None,
        metrics: Any = None,
        scheduler_creator: Callable[..., Any] | None = None,
        scheduler_step_freq: Literal["batch", "epoch", "manual"] | None = "batch",
        training_operator_cls: type[TrainingOperator] = TrainingOperator,
        initialization_hook: Callable[[], object] | None = None,
        config: dict[str, Any] | None = None,
        use_tqdm: bool = False,
        workers: int | None = None,
        workers_per_node: int = 1,
        model_dir: str | None = None,
        sync_stats: bool = False,
        seed: int | None = None,
        backend: Literal["ps", "torch_distributed"] = "ps",
        context: Context | None = None,
    ) -> Estimator:
        """Make an Estimator of a model, an optimizer and a loss.

        Parameters
        ----------
        model
            A module, or a function that takes `config` and returns one or several.
        optimizer
            A torch optimizer of the model's parameters, one of
            `xshards.learn.optimizers`, or a function that takes the model and `config`.
            Not needed to evaluate and predict.
        loss
            A loss: an instance or a function of outputs and targets; or a function that
            takes `config` and returns one.
        metrics
            What to measure besides the loss; of `xshards.learn.metrics`.
        scheduler_creator
            A function that takes the optimizer and `config` and returns a scheduler of
            torch.
        scheduler_step_freq
            When the scheduler steps.
        training_operator_cls
            What to do with batches, if not the usual.
        initialization_hook
            Called in every replica before anything else.
        workers
            How many replicas; by default one for each core of the context, times
            `workers_per_node` if that is given.
        model_dir
            Where checkpoints go.
        sync_stats
            Average the buffers of modules (the running statistics of BatchNorm) over
            replicas after each epoch. Otherwise replica 0's are the model's.
        seed
            Repeats shuffling, dropout and the weights a creator draws.
        backend
            ``"ps"``, the parameter server; or ``"torch_distributed"``, torch's
            DistributedDataParallel over gloo, with which the death of a replica ends
            training, and a model whose parameters do not all get a gradient in every
            step needs ``config={"find_unused_parameters": True}``.

        Examples
        --------
        >>> import torch
        >>> from xshards.learn.pytorch import Estimator
        >>> x = np.linspace(0, 1, 64, dtype="float32").reshape(-1, 1)
        >>> model = torch.nn.Linear(1, 1)
        >>> estimator = Estimator.from_torch(
        ...     model=model,
        ...     optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
        ...     loss=torch.nn.MSELoss(),
        ...     workers=2,
        ...     seed=0,
        ... )
        >>> shards = xs.XShards.partition({"x": x, "y": 3 * x + 1}, num_shards=4)
        >>> history = estimator.fit(shards, epochs=30, batch_size=16)
        >>> history[-1]["train_loss"] < history[0]["train_loss"] / 10
        True
        >>> estimator.predict(x[:2]).shape
        (2, 1)
        >>> estimator.shutdown()
        """
        if backend not in _BACKENDS:
            msg = f"backend must be one of {', '.join(_BACKENDS)}; got {backend!r}"
            raise XShardsValueError(msg)
        if scheduler_step_freq not in ("batch", "epoch", "manual", None):
            msg = (
                'scheduler_step_freq must be "batch", "epoch" or "manual", got '
                f"{scheduler_step_freq!r}"
            )
            raise XShardsValueError(msg)
        context = context or default_context()
        config = {} if config is None else config
        with seeded(seed):
            models = make_models(model, config)
        parts = Parts(
            models=models,
            optimizers=[],
            criterion=make_loss(loss, config),
            scheduler_creator=scheduler_creator,
            scheduler_step_freq=scheduler_step_freq,
            operator_class=training_operator_cls,
            initialization_hook=initialization_hook,
            config=config,
            use_tqdm=use_tqdm,
            operator_state={},
        )
        clip = Clip()
        if workers is None and workers_per_node > 1:
            workers = workers_per_node
        job = Job(
            parts,
            make_optimizers(optimizer, models, config),
            num_replicas=check_num_replicas(workers, context),
            seed=torch.initial_seed() % (1 << 63) if seed is None else seed,
            sync_stats=sync_stats,
            clip=clip,
            context=context,
            distributed=backend == "torch_distributed",
        )
        return Estimator(
            job, metrics=metrics, model_dir=model_dir, clip=clip, context=context
        )

    def fit(
        self,
        data: Any,
        epochs: int = 1,
        batch_size: int = 32,
        *,
        feature_cols: Any = None,
        label_cols: Any = None,
        labels_cols: Any = None,
        validation_data: Any = None,
        validation_methods: Any = None,
        checkpoint_trigger: Any = None,
        callbacks: Sequence[Any] | None = None,
        max_steps: int | None = None,
        profile: bool = False,
        reduce_results: bool = True,
        info: dict[str, Any] | None = None,
        shuffle: bool = True,
    ) -> list[Any]:
        """Train for a number of epochs.

        Parameters
        ----------
        data
            XShards of DataFrames (with `feature_cols` and `label_cols`) or of arrays
            ``{"x": ..., "y": ...}``; a DataFrame or arrays; a torch DataLoader or
            Dataset; a function that takes the config, or it and the batch size, and
            returns one of these two.
        epochs
            How many.
        batch_size
            Rows of a step, over all replicas. A DataLoader has its own.
        feature_cols, label_cols
            The columns of a DataFrame that are the model's input and its target.
        validation_data
            What to measure the model on after each epoch; as `data`.
        validation_methods
            What to measure; by default the Estimator's metrics.
        checkpoint_trigger
            When to write a checkpoint to `model_dir`.
        callbacks
            Called in replicas at each stage.
        max_steps
            End after so many updates.
        profile
            Report the seconds of each epoch too.
        reduce_results
            Merge what replicas report; a list of each one's otherwise.
        info
            Passed on to the training operator.
        shuffle
            Visit rows in another order each epoch.

        Returns
        -------
        list of dict
            For each epoch: epoch, batch_count, num_samples, train_loss,
            last_train_loss, val_loss and val_<metric>.
        """
        self._require("fit", optimizer=True)
        with_main_callback(callbacks)  # refuses what are no callbacks
        options = FitOptions(
            epochs=epochs,
            batch_size=batch_size,
            feature_cols=feature_cols,
            label_cols=labels_cols if label_cols is None else label_cols,
            validation_data=validation_data,
            metrics=self._metrics if validation_methods is None else validation_methods,
            checkpoint_trigger=checkpoint_trigger,
            callbacks=list(callbacks or []),
            max_steps=max_steps,
            profile=profile,
            reduce_results=reduce_results,
            info=info or {},
            shuffle=shuffle,
        )
        return fit(self, data, options)

    def evaluate(
        self,
        data: Any,
        batch_size: int = 32,
        num_steps: int | None = None,
        *,
        feature_cols: Any = None,
        label_cols: Any = None,
        labels_cols: Any = None,
        validation_methods: Any = None,
        validation_metrics: Any = None,
        profile: bool = False,
        reduce_results: bool = True,
        info: dict[str, Any] | None = None,
        callbacks: Sequence[Any] | None = None,
    ) -> Any:
        """Measure the loss and metrics on data.

        Parameters are those of `fit`; `num_steps` limits the batches.

        Returns
        -------
        dict
            num_samples, val_loss and the metrics by their names. A list of them, one
            for each replica, with ``reduce_results=False``.
        """
        self._require("evaluate")
        with_main_callback(callbacks)  # refuses what are no callbacks
        given = validation_methods if validation_metrics is None else validation_metrics
        metrics = convert_metrics(self._metrics if given is None else given)
        _check_batch_size(batch_size)
        self._job.begin()
        source = self._job.add_source(
            self._input(
                data, feature_cols, labels_cols if label_cols is None else label_cols
            )
        )
        begin = time.perf_counter()
        try:
            self._job.set_callbacks(list(callbacks or []), 0)
            results = self._job.validate(
                source,
                batch_size=batch_size,
                metrics=metrics,
                max_batches=num_steps,
                info=info,
                reduce_results=reduce_results,
            )
        finally:
            self._job.set_callbacks([], 0)
            self._job.drop_source(source)
        if profile:
            seconds = time.perf_counter() - begin
            for one in results:
                one["seconds"] = seconds
        return results[0] if reduce_results else results

    def predict(
        self,
        data: Any,
        batch_size: int = 32,
        feature_cols: Any = None,
        *,
        profile: bool = False,
        callbacks: Sequence[Any] | None = None,
        output_cols: Any = None,
    ) -> Any:
        """Apply the model to data.

        Parameters
        ----------
        data
            As for `fit`; a target is not needed.
        batch_size
            Rows at a time.
        feature_cols
            The columns that are the model's input.

        Returns
        -------
        XShards, DataFrame or array
            XShards of arrays gain ``"prediction"`` beside ``"x"``, DataFrames a column
            ``prediction``; shards keep their order and sizes. Arrays, and what a
            DataLoader gives, become an array (a list of them for a model with several
            outputs).
        """
        _check_batch_size(batch_size)
        with_main_callback(callbacks)  # refuses what are no callbacks
        return predict(
            self, data, batch_size, feature_cols, output_cols, callbacks or []
        )

    def get_model(self) -> Any:
        """Give a copy of the model (or of the list of models) as it is now."""
        import copy

        models = [copy.deepcopy(model) for model in self._job.parts.models]
        return models[0] if len(models) == 1 else models

    def set_constant_gradient_clipping(self, min: float, max: float) -> None:
        """Limit every element of the gradient to an interval, from the next fit on."""
        if min > max:
            msg = f"min must be at most max, got {min} and {max}"
            raise XShardsValueError(msg)
        self._clip.constant = (float(min), float(max))

    def set_l2_norm_gradient_clipping(self, clip_norm: float) -> None:
        """Limit the L2 norm of the whole gradient, from the next fit on."""
        if clip_norm <= 0:
            msg = f"clip_norm must be more than 0, got {clip_norm}"
            raise XShardsValueError(msg)
        self._clip.norm = float(clip_norm)

    def clear_gradient_clipping(self) -> None:
        """Clip gradients no more, from the next fit on."""
        self._clip.constant = self._clip.norm = None

    def shutdown(self, force: bool = False) -> None:  # noqa: FBT001 - Orca's
        """End the replicas. The model stays, and may be used and trained again."""
        self._job.close()

    def _save_for_callback(self, path: str, weights_only: bool) -> None:  # noqa: FBT001
        state = self.get_state_dict()
        write_file({"models": state["models"]} if weights_only else state, path)

    def _input(self, data: Any, feature_cols: Any, label_cols: Any) -> Any:
        return make_input(
            data,
            model=self._job.parts.models[0],
            feature_cols=feature_cols,
            label_cols=label_cols,
            config=self._job.parts.config,
            context=self._context,
        )

    def _require(self, method: str, *, optimizer: bool = False) -> None:
        if optimizer and not self._job.optimizers:
            msg = f"{method} needs an optimizer: give one to from_torch"
            raise XShardsRuntimeError(msg)
        own = self._job.parts.operator_class is not TrainingOperator
        if self._job.parts.criterion is None and method == "fit" and not own:
            msg = f"{method} needs a loss: give one to from_torch"
            raise XShardsRuntimeError(msg)


name_methods(Estimator, "Estimator")


def _check_batch_size(batch_size: int) -> None:
    if batch_size is None or batch_size < 1:
        msg = f"batch_size must be at least 1, got {batch_size}"
        raise XShardsValueError(msg)
