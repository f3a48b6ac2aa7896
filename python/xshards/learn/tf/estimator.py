# SPDX-License-Identifier: Apache-2.0
"""Trains, evaluates and applies Keras models on shards."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, Literal

from xshards.context import default_context
from xshards.errors import XShardsValueError
from xshards.learn.row_weights import check_class_weight
from xshards.learn.tf.adapter import KerasAdapter
from xshards.learn.tf.driver_optimizer import KerasOptimizer
from xshards.learn.tf.fit_loop import FitOptions, fit
from xshards.learn.tf.inputs import Columns
from xshards.learn.tf.measuring import MeasureMethods
from xshards.learn.tf.model import KerasModel, require_compiled, wrap_model
from xshards.learn.tf.operator import KerasOperator
from xshards.learn.tf.optimizer_rules import take_clipping
from xshards.learn.tf.packages import load_tensorflow
from xshards.learn.training.clip import Clip
from xshards.learn.training.commands import Parts
from xshards.learn.training.inputs import has_column
from xshards.learn.training.job import Job, check_num_replicas

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from xshards.context import Context
    from xshards.learn.tf.history import KerasHistory

__all__ = ["Estimator"]

_BACKENDS = ("ps",)


class Estimator(MeasureMethods):
    """Trains a Keras model on shards with several replicas of it.

    Make one with `from_keras`. Models of Keras 3 with TensorFlow under it and of legacy
    Keras (``tf_keras``) are trained alike.

    Parameters
    ----------
    job, model_dir, clip, context
        What `from_keras` makes.
    """

    def __init__(
        self, job: Job, *, model_dir: str | None, clip: Clip, context: Context
    ) -> None:
        super().__init__(
            job, metrics=None, model_dir=model_dir, clip=clip, context=context
        )
        self._model: KerasModel = job.parts.models[0]

    @staticmethod
    def from_keras(
        *,
        model: Any = None,
        model_creator: Callable[[dict[str, Any]], Any] | None = None,
        compile_args_creator: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
        config: dict[str, Any] | None = None,
        workers: int | None = None,
        model_dir: str | None = None,
        sync_stats: bool = False,
        seed: int | None = None,
        backend: Literal["ps"] = "ps",
        context: Context | None = None,
    ) -> Estimator:
        """Make an Estimator of a compiled Keras model.

        Parameters
        ----------
        model
            A compiled model.
        model_creator
            Instead of it: a function that takes `config` and returns a model. Replicas
            call it too, so it can make models that Keras cannot save.
        compile_args_creator
            A function that takes `config` and returns the arguments of `compile`.
        config
            Passed to functions that make something.
        workers
            How many replicas; by default one for each core of the context.
        model_dir
            Where checkpoints go.
        sync_stats
            Average the statistics of layers (BatchNormalization) over replicas after
            each epoch. Otherwise replica 0's are the model's.
        seed
            Repeats shuffling, random layers and the weights that a creator draws.
        backend
            ``"ps"``, the parameter server.
        context
            Where replicas run; by default the one of this process.

        Returns
        -------
        Estimator
            One that has not trained yet; replicas start with the first `fit`.

        Raises
        ------
        XShardsRuntimeError
            If TensorFlow is not installed.
        XShardsTypeError
            If the model is none of Keras'.
        XShardsValueError
            If there is no model or two, `workers` is less than 1, or `backend` is none
            of those above.

        Examples
        --------
        >>> import keras
        >>> from xshards.learn.tf import Estimator
        >>> model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
        >>> model.compile(keras.optimizers.SGD(0.1), "mse")
        >>> estimator = Estimator.from_keras(model=model, workers=2, seed=0)
        >>> x = np.linspace(0, 1, 64, dtype="float32").reshape(-1, 1)
        >>> shards = xs.XShards.partition({"x": x, "y": 3 * x + 1}, num_shards=4)
        >>> history = estimator.fit(shards, epochs=30, batch_size=16, verbose=0)
        >>> history["loss"][-1] < history["loss"][0] / 10
        True
        >>> estimator.predict(x[:2]).shape
        (2, 1)
        >>> estimator.shutdown()
        """
        load_tensorflow()
        if backend not in _BACKENDS:
            msg = f"backend must be one of {', '.join(_BACKENDS)}; got {backend!r}"
            raise XShardsValueError(msg)
        if (model is None) == (model_creator is None):
            msg = "give either model or model_creator to from_keras"
            raise XShardsValueError(msg)
        context = context or default_context()
        config = {} if config is None else config
        num_replicas = check_num_replicas(workers, context)
        wrapped = wrap_model(model, model_creator, compile_args_creator, config, seed)
        clip = Clip()
        job = Job(
            KerasAdapter(),
            Parts(models=[wrapped], operator_class=KerasOperator, config=config),
            [KerasOptimizer(wrapped)] if wrapped.is_compiled else [],
            num_replicas=num_replicas,
            seed=secrets.randbits(63) if seed is None else seed,
            sync_stats=sync_stats,
            clip=clip,
            context=context,
        )
        if wrapped.is_compiled:
            take_clipping(wrapped.keras.optimizer, clip)
        return Estimator(job, model_dir=model_dir, clip=clip, context=context)

    def fit(  # type: ignore[override]
        self,
        data: Any,
        epochs: int = 1,
        batch_size: int = 32,
        *,
        verbose: Any = "auto",
        callbacks: Sequence[Any] | None = None,
        validation_data: Any = None,
        class_weight: dict[int, float] | None = None,
        initial_epoch: int = 0,
        steps_per_epoch: int | None = None,
        validation_steps: int | None = None,
        validation_freq: Any = 1,
        feature_cols: Any = None,
        label_cols: Any = None,
        labels_cols: Any = None,
        sample_weight_col: str | None = None,
        checkpoint_trigger: Any = None,
        shuffle: bool = True,
        restore_best: bool = False,
        monitor: str | None = None,
        mode: Literal["min", "max"] | None = None,
        accumulate: int = 1,
    ) -> KerasHistory:
        """Train for a number of epochs.

        Parameters
        ----------
        data
            XShards of DataFrames (with `feature_cols` and `label_cols`) or of arrays
            ``{"x": ..., "y": ...}``, with ``"sample_weight"`` if rows have weights; a
            DataFrame, such a dict, or a tuple of features, target and weights; a
            tf.data.Dataset or a Keras PyDataset, with batches of its own, read while
            replicas train; or a function that takes the config, or it and the batch
            size, and returns one.
        epochs
            The number of the last epoch, as in Keras: with `initial_epoch` it is not
            how many are trained.
        batch_size
            Rows of a step, over all replicas.
        verbose
            0 shows nothing, 1 ("auto") how far an epoch is, 2 its results only.
        callbacks
            Keras' own, called on the driver. `stop_training` holds after the epoch.
        validation_data
            What to measure the model on after an epoch; as `data`.
        class_weight
            The weight of rows by their class.
        initial_epoch
            The number of the first epoch.
        steps_per_epoch, validation_steps
            End an epoch, or measuring, after this many batches. Epochs of shards and
            arrays repeat rows; the next epoch of a dataset goes on with the batches
            that follow.
        validation_freq
            Measure after each so many epochs, or after those in a list, from 1.
        feature_cols, label_cols
            The columns of a DataFrame that are the model's inputs and targets.
            `labels_cols` is another name for the second.
        sample_weight_col
            The column that weighs rows; in validation too, if its data has the column.
        checkpoint_trigger
            When to write a checkpoint to `model_dir`; of `xshards.learn.trigger`.
        shuffle
            Visit rows, or batches of a PyDataset, in another order each epoch.
        restore_best
            Give the model back the weights of its best epoch at the end; the optimizer
            stays as it is. ``history.best_epoch`` says which one it was.
        monitor
            By which result, such as "val_accuracy"; by default "val_loss", or "loss"
            without `validation_data`.
        mode
            Whether "min" or "max" is better; by default "max" for accuracies and the
            like.
        accumulate
            How many batches make one update, as one batch of that many times the size
            would, in the memory of one. Steps are then updates.

        Returns
        -------
        KerasHistory
            What Keras' History has, as a dict of lists: the value of the loss, each
            metric, and those on validation data, of each epoch. It has `plot` and
            `to_pandas` too, and is itself what Keras calls ``history.history``.

        Raises
        ------
        XShardsRuntimeError
            If the model is not compiled.
        XShardsTypeError
            If data or a callback is none, or a number is no whole one.
        XShardsValueError
            If a number is too small, a column is missing, there are no rows, or rows
            have other shapes than the model's inputs; or if the loss is NaN: the model
            is then as it was before that batch.
        XShardsWorkerError
            If a replica died, and could not be replaced.

        Examples
        --------
        >>> import keras
        >>> from xshards.learn.tf import Estimator
        >>> model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
        >>> model.compile("adam", "mse", metrics=["mae"])
        >>> estimator = Estimator.from_keras(model=model, workers=1)
        >>> frame = pd.DataFrame({"a": [0.0, 1.0], "b": [2.0, 3.0], "y": [1.0, 3.0]})
        >>> history = estimator.fit(
        ...     frame,
        ...     epochs=2,
        ...     batch_size=2,
        ...     verbose=0,
        ...     feature_cols=["a", "b"],
        ...     label_cols="y",
        ...     validation_data=frame,
        ... )
        >>> sorted(history)
        ['loss', 'mae', 'val_loss', 'val_mae']
        >>> len(history["loss"])
        2
        >>> estimator.shutdown()
        """
        require_compiled(self._model)
        options = FitOptions(
            epochs=epochs,
            batch_size=batch_size,
            verbose=1 if verbose == "auto" else int(verbose),
            callbacks=list(callbacks or []),
            class_weight=check_class_weight(class_weight),
            initial_epoch=initial_epoch,
            steps_per_epoch=steps_per_epoch,
            validation_steps=validation_steps,
            validation_freq=validation_freq,
            checkpoint_trigger=checkpoint_trigger,
            shuffle=shuffle,
            restore_best=restore_best,
            monitor=monitor,
            mode=mode,
            accumulate=accumulate,
        )
        options.check()
        label_cols = labels_cols if label_cols is None else label_cols
        columns = Columns(feature_cols, label_cols, sample_weight_col)
        seed = self._job.seed + self._job.epoch if shuffle else None
        train = self._made(
            data, columns, options.batch_size, options.num_batches, seed=seed
        )
        train.repeat(options.num_batches)
        validation = None
        if validation_data is not None:
            if sample_weight_col and not has_column(validation_data, sample_weight_col):
                columns = Columns(feature_cols, label_cols, None)
            validation = self._made(
                validation_data,
                columns,
                options.batch_size,
                options.validation_steps,
                measures=True,
            )
        self._prepare(train.sample, weighted=class_weight is not None)
        return fit(self, train, validation, options)
