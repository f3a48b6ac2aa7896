# SPDX-License-Identifier: Apache-2.0
"""Trains, evaluates and applies models on shards, whatever their framework."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Literal

from xshards._util.public_names import name_methods
from xshards.errors import XShardsRuntimeError
from xshards.learn.callbacks.main import split_callbacks
from xshards.learn.checks import check_count
from xshards.learn.metrics import convert_metrics
from xshards.learn.metrics.metric import describe_metrics
from xshards.learn.row_weights import check_class_weight
from xshards.learn.training.checkpoints.methods import CheckpointMethods
from xshards.learn.training.checkpoints.state import write_file
from xshards.learn.training.clip_methods import ClipMethods
from xshards.learn.training.fit_loop import FitOptions, fit
from xshards.learn.training.inputs import make_input
from xshards.learn.training.predict import predict
from xshards.learn.training.report_methods import ReportMethods
from xshards.learn.training.summaries.summary_methods import SummaryMethods

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xshards.context import Context
    from xshards.learn.history import History
    from xshards.learn.training.clip import Clip
    from xshards.learn.training.inputs import Input
    from xshards.learn.training.job import Job

__all__ = ["EstimatorBase"]


class EstimatorBase(CheckpointMethods, ClipMethods, SummaryMethods, ReportMethods):
    """Trains a model on shards with several replicas of it.

    A framework's Estimator derives from it and adds a function that makes one.

    Parameters
    ----------
    job
        The model in training.
    metrics
        What to measure by default: names such as "accuracy", or objects of
        `xshards.learn.metrics`.
    model_dir
        Where checkpoints go; None for nowhere.
    clip
        The job's, changed by the methods for clipping.
    context
        Where data is made ready.
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
        self._metrics = describe_metrics(metrics)
        self._model_dir = model_dir
        self._clip = clip
        self._context = context

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
        restore_best: bool = False,
        monitor: str | None = None,
        mode: Literal["min", "max"] | None = None,
        class_weight: dict[int, float] | None = None,
        sample_weight_col: str | None = None,
        accumulate: int = 1,
    ) -> History:
        """Train for a number of epochs.

        Parameters
        ----------
        data
            XShards of DataFrames (with `feature_cols` and `label_cols`) or of arrays
            ``{"x": ..., "y": ...}``; a DataFrame or arrays; a data loader of the
            framework's own, or a function that takes the config, or it and the batch
            size, and returns one.
        epochs
            How often to visit all rows.
        batch_size
            Rows of a step, over all replicas. A data loader has its own.
        feature_cols, label_cols
            The columns of a DataFrame that are the model's input and its target.
            `labels_cols` is another name for the second.
        validation_data
            What to measure the model on after each epoch; as `data`.
        validation_methods
            What to measure, such as ``["accuracy", "auc"]``: names or objects of
            `xshards.learn.metrics`; by default the Estimator's metrics.
        checkpoint_trigger
            When to write a checkpoint to `model_dir`; of `xshards.learn.trigger`.
        callbacks
            Called in replicas at each stage; of `xshards.learn.callbacks`.
        max_steps
            End after this many updates.
        profile
            Report the seconds of each epoch too.
        reduce_results
            Merge what replicas report; a list of each one's otherwise.
        info
            Passed on to the training operator.
        shuffle
            Visit rows in another order each epoch.
        restore_best
            Restore the weights of the best epoch at the end; the optimizer
            stays as it is. ``history.best_epoch`` says which one it was.
        monitor
            By which result, such as "val_accuracy"; by default "val_loss", or
            "train_loss" without `validation_data`.
        mode
            Whether "min" or "max" is better; by default "max" for accuracies and the
            like.
        class_weight
            What rows of each class count in the loss of training, such as
            ``{0: 1.0, 1: 5.0}``; 1 for classes that are not named. The loss of a batch,
            over all replicas, is the sum of each row's times its weight, divided by the
            sum of weights.
        sample_weight_col
            A column of what each row counts in the loss. Validation uses it too, if its
            data has the column. Of arrays, weights are a third element
            ``(x, y, weights)`` or ``{"x": ..., "y": ..., "sample_weight": ...}``.
        accumulate
            How many batches make one update, as one batch of that many times the size
            would, in the memory of one. ``batch_count`` and `max_steps` count updates.

        Returns
        -------
        History
            A list with a dict for each epoch: epoch, batch_count, num_samples,
            train_loss, last_train_loss, val_loss and val_<metric>. It has `plot`,
            `to_pandas` and, as ``history``, the values of each result in a list.

        Raises
        ------
        XShardsRuntimeError
            If the Estimator has no optimizer or no loss.
        XShardsTypeError
            If data or a callback has an unsupported type, or a number is not whole.
        XShardsValueError
            If a number is too small, a column is missing or there are no rows; or if
            the loss is NaN: the model is then as it was before that batch.
        XShardsWorkerError
            If a replica died, and could not be replaced.

        Examples
        --------
        >>> import torch
        >>> from xshards.learn.metrics import MAE
        >>> from xshards.learn.pytorch import Estimator
        >>> frame = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "y": [1.0, 3.0, 5.0, 7.0]})
        >>> model = torch.nn.Linear(1, 1)
        >>> estimator = Estimator.from_torch(
        ...     model=model,
        ...     optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
        ...     loss=torch.nn.MSELoss(),
        ...     metrics=[MAE()],
        ...     workers=2,
        ... )
        >>> history = estimator.fit(
        ...     xs.from_pandas(frame, num_partitions=2),
        ...     epochs=2,
        ...     batch_size=2,
        ...     feature_cols=["a"],
        ...     label_cols="y",
        ...     validation_data=frame,
        ... )
        >>> [(one["epoch"], one["num_samples"]) for one in history]
        [(1, 4), (2, 4)]
        >>> sorted(history[-1])
        ['batch_count', 'epoch', 'last_train_loss', 'num_samples', 'train_loss',
         'val_MAE', 'val_loss']
        >>> len(history.history["train_loss"])
        2
        >>> estimator.shutdown()
        """
        self._require("fit", optimizer=True)
        split_callbacks(callbacks)  # raises for anything but callbacks
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
            restore_best=restore_best,
            monitor=monitor,
            mode=mode,
            class_weight=check_class_weight(class_weight),
            sample_weight_col=sample_weight_col,
            accumulate=accumulate,
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
        sample_weight_col: str | None = None,
    ) -> Any:
        """Measure the loss and metrics on data.

        Parameters
        ----------
        data
            As for `fit`.
        batch_size
            Rows at a time, over all replicas.
        num_steps
            End after this many batches.
        feature_cols, label_cols
            The columns of a DataFrame that are the model's input and its target.
            `labels_cols` is another name for the second.
        validation_methods
            What to measure: names or objects of `xshards.learn.metrics`; by default
            the Estimator's metrics. `validation_metrics` is another name for it.
        profile
            Report the seconds it took too.
        reduce_results
            Merge what replicas report; a list of each one's otherwise.
        info
            Passed on to the training operator.
        callbacks
            Called in replicas at each stage.
        sample_weight_col
            A column of what each row counts in the loss; metrics count rows alike.

        Returns
        -------
        dict
            num_samples, val_loss and the metrics by their names. A list of them, one
            for each replica, with ``reduce_results=False``.

        Raises
        ------
        XShardsTypeError
            If data, a metric or a callback has an unsupported type.
        XShardsValueError
            If `batch_size` is too small, a column is missing or there are no rows.

        Examples
        --------
        >>> import torch
        >>> from xshards.learn.pytorch import Estimator
        >>> estimator = Estimator.from_torch(
        ...     model=torch.nn.Identity(), loss=torch.nn.MSELoss(), workers=1
        ... )
        >>> x = np.ones((6, 1), dtype="float32")
        >>> estimator.evaluate({"x": x, "y": 3 * x}, validation_methods=["mae"])
        {'num_samples': 6, 'val_loss': 4.0, 'mae': 2.0}
        >>> estimator.shutdown()
        """
        self._require("evaluate")
        split_callbacks(callbacks)  # raises for anything but callbacks
        given = validation_methods if validation_metrics is None else validation_metrics
        metrics = convert_metrics(
            self._metrics if given is None else given, self._job.adapter.name
        )
        batch_size = check_count("batch_size", batch_size)
        self._job.begin()
        source = self._job.add_source(
            self._input(
                data,
                feature_cols,
                labels_cols if label_cols is None else label_cols,
                sample_weight_col,
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
        profile
            Accepted for compatibility with Orca; has no effect.
        callbacks
            Called in workers before and after each batch.
        output_cols
            Names for the new columns of DataFrames, one for each output of the model.

        Returns
        -------
        XShards, DataFrame or array
            XShards of arrays gain ``"prediction"`` beside ``"x"``, DataFrames a column
            ``prediction``; shards keep their order and sizes. Arrays, and what a data
            loader gives, become an array (a list of them for a model with several
            outputs).

        Raises
        ------
        XShardsTypeError
            If data or a callback has an unsupported type.
        XShardsValueError
            If `batch_size` is too small or a column is missing.

        Examples
        --------
        >>> import torch
        >>> from xshards.learn.pytorch import Estimator
        >>> estimator = Estimator.from_torch(model=torch.nn.Softsign())
        >>> estimator.predict(np.array([[1.0], [3.0]], dtype="float32"))
        array([[0.5 ],
               [0.75]], dtype=float32)
        >>> estimator.predict(pd.DataFrame({"a": [1.0, 3.0]}), feature_cols=["a"])
             a  prediction
        0  1.0        0.50
        1  3.0        0.75
        """
        batch_size = check_count("batch_size", batch_size)
        split_callbacks(callbacks)  # raises for anything but callbacks
        return predict(
            self._job, data, batch_size, feature_cols, output_cols, callbacks or []
        )

    def get_model(self) -> Any:
        """Copy the model as it is now.

        Returns
        -------
        model, or list of models
            As they were given to the Estimator, with what they have learned.

        Examples
        --------
        >>> import torch
        >>> from xshards.learn.pytorch import Estimator
        >>> Estimator.from_torch(model=torch.nn.Linear(2, 1)).get_model()
        Linear(in_features=2, out_features=1, bias=True)
        """
        models = [self._job.adapter.copy_model(one) for one in self._job.parts.models]
        return models[0] if len(models) == 1 else models

    def shutdown(self, force: bool = False) -> None:  # noqa: FBT001 - Orca's
        """End the replicas. The model stays, and may be used and trained again.

        Parameters
        ----------
        force
            Accepted for compatibility with Orca; has no effect.

        Examples
        --------
        >>> import torch
        >>> from xshards.learn.pytorch import Estimator
        >>> estimator = Estimator.from_torch(model=torch.nn.Linear(2, 1))
        >>> estimator.shutdown()
        """
        self._job.close()

    def _save_for_callback(self, path: str, weights_only: bool) -> None:  # noqa: FBT001
        state = self.get_state_dict()
        content = {"models": state["models"]} if weights_only else state
        write_file(self._job.adapter, content, path)

    def _input(
        self,
        data: Any,
        feature_cols: Any,
        label_cols: Any,
        sample_weight_col: str | None = None,
    ) -> Input:
        return make_input(
            data,
            adapter=self._job.adapter,
            model=self._job.parts.models[0],
            feature_cols=feature_cols,
            label_cols=label_cols,
            sample_weight_col=sample_weight_col,
            config=self._job.parts.config,
            context=self._context,
        )

    def _require(self, method: str, *, optimizer: bool = False) -> None:
        adapter = self._job.adapter
        if optimizer and not self._job.optimizers:
            msg = f"{method} needs an optimizer: give one to {adapter.factory}"
            raise XShardsRuntimeError(msg)
        own = self._job.parts.operator_class is not adapter.operator_class
        if self._job.parts.criterion is None and method == "fit" and not own:
            msg = f"{method} needs a loss: give one to {adapter.factory}"
            raise XShardsRuntimeError(msg)


name_methods(EstimatorBase, "Estimator")
