# SPDX-License-Identifier: Apache-2.0
"""Trains, evaluates and applies Keras models on shards."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from xshards.context import default_context
from xshards.errors import XShardsTypeError, XShardsValueError
from xshards.learn.tf.adapter import KerasAdapter
from xshards.learn.tf.driver_optimizer import KerasOptimizer
from xshards.learn.tf.file_methods import FileMethods
from xshards.learn.tf.fit_loop import FitOptions, fit, merged_results
from xshards.learn.tf.inputs import Columns, Prepared, prepare
from xshards.learn.tf.losses import check_losses
from xshards.learn.tf.model import KerasModel, require_compiled
from xshards.learn.tf.operator import KerasOperator
from xshards.learn.tf.packages import is_keras_model, keras_of, load_tensorflow
from xshards.learn.tf.predict import predict_here
from xshards.learn.training.clip import Clip
from xshards.learn.training.commands import Parts
from xshards.learn.training.job import Job, check_num_replicas
from xshards.learn.training.server_mode import OptimizerServer
from xshards.shards import XShards

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from xshards.context import Context

__all__ = ["Estimator"]

_BACKENDS = ("ps",)


class Estimator(FileMethods):
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
        wrapped = _wrapped(model, model_creator, compile_args_creator, config, seed)
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
            _take_clipping(wrapped.keras.optimizer, clip)
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
    ) -> dict[str, list[Any]]:
        """Train for a number of epochs.

        Parameters
        ----------
        data
            XShards of DataFrames (with `feature_cols` and `label_cols`) or of arrays
            ``{"x": ..., "y": ...}``, with ``"sample_weight"`` if rows have weights; a
            DataFrame, such a dict, or a tuple of features, target and weights; a
            tf.data.Dataset or a Keras PyDataset, with batches and an order of its own,
            or a function that takes the config, or it and the batch size, and returns
            one.
        epochs
            The number of the last epoch, as in Keras: with `initial_epoch` it is not
            how many are trained.
        batch_size
            Rows of a step, over all replicas.
        verbose
            0 shows nothing, 1 and 2 results of each epoch.
        callbacks
            Keras' own, called on the driver. `stop_training` holds after the epoch.
        validation_data
            What to measure the model on after an epoch; as `data`.
        class_weight
            The weight of rows by their class.
        initial_epoch
            The number of the first epoch.
        steps_per_epoch, validation_steps
            End an epoch, or measuring, after this many batches.
        validation_freq
            Measure after each so many epochs, or after those in a list, from 1.
        feature_cols, label_cols
            The columns of a DataFrame that are the model's inputs and targets.
            `labels_cols` is another name for the second.
        sample_weight_col
            The column that weighs rows.
        checkpoint_trigger
            When to write a checkpoint to `model_dir`; of `xshards.learn.trigger`.
        shuffle
            Visit rows in another order each epoch.

        Returns
        -------
        dict of str to list
            What Keras' History has: the value of the loss, each metric, and those on
            validation data, of each epoch.

        Raises
        ------
        XShardsRuntimeError
            If the model is not compiled.
        XShardsTypeError
            If data or a callback is none.
        XShardsValueError
            If a number is too small, a column is missing, there are no rows, or rows
            have other shapes than the model's inputs.
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
            class_weight=class_weight,
            initial_epoch=initial_epoch,
            steps_per_epoch=steps_per_epoch,
            validation_steps=validation_steps,
            validation_freq=validation_freq,
            checkpoint_trigger=checkpoint_trigger,
            shuffle=shuffle,
        )
        options.check()
        label_cols = labels_cols if label_cols is None else label_cols
        columns = Columns(feature_cols, label_cols, sample_weight_col)
        train = self._made(data, columns, batch_size, steps_per_epoch)
        validation = None
        if validation_data is not None:
            validation = self._made(
                validation_data, columns, batch_size, validation_steps
            )
        self._prepare(train.sample, weighted=class_weight is not None)
        return fit(self, train, validation, options)

    def evaluate(  # type: ignore[override]
        self,
        data: Any,
        batch_size: int = 32,
        num_steps: int | None = None,
        *,
        verbose: Any = 0,
        callbacks: Sequence[Any] | None = None,
        feature_cols: Any = None,
        label_cols: Any = None,
        labels_cols: Any = None,
        sample_weight_col: str | None = None,
    ) -> dict[str, Any]:
        """Measure the loss and metrics on data.

        Parameters
        ----------
        data
            As for `fit`.
        batch_size
            Rows at a time, over all replicas.
        num_steps
            End after this many batches.
        verbose
            Taken for Keras' sake; has no effect.
        callbacks
            Keras' own; their `on_test_begin` and `on_test_end` are called.
        feature_cols, label_cols, labels_cols, sample_weight_col
            As for `fit`.

        Returns
        -------
        dict
            The loss and each metric.

        Raises
        ------
        XShardsRuntimeError
            If the model is not compiled.
        XShardsTypeError
            If data is none.
        XShardsValueError
            If `batch_size` is too small, a column is missing or there are no rows.

        Examples
        --------
        >>> import keras
        >>> from xshards.learn.tf import Estimator
        >>> layer = keras.layers.Dense(1, kernel_initializer="ones")
        >>> model = keras.Sequential([keras.Input((1,)), layer])
        >>> model.compile("sgd", "mse", metrics=["mae"])
        >>> estimator = Estimator.from_keras(model=model, workers=1)
        >>> x = np.ones((6, 1), dtype="float32")
        >>> estimator.evaluate({"x": x, "y": 3 * x})
        {'loss': 4.0, 'mae': 2.0}
        >>> estimator.shutdown()
        """
        require_compiled(self._model)
        if batch_size is None or batch_size < 1:
            msg = f"batch_size must be at least 1, got {batch_size}"
            raise XShardsValueError(msg)
        label_cols = labels_cols if label_cols is None else label_cols
        columns = Columns(feature_cols, label_cols, sample_weight_col)
        made = self._made(data, columns, batch_size, num_steps)
        self._prepare(made.sample)
        source = self._job.add_source(made.first)
        for one in callbacks or []:
            one.set_model(self._model.keras)
            one.on_test_begin()
        try:
            found = self._measure(source, made.batch_size or batch_size, num_steps)
        finally:
            self._job.drop_source(source)
        for one in callbacks or []:
            one.on_test_end(found)
        return found

    def predict(  # type: ignore[override]
        self,
        data: Any,
        batch_size: int = 32,
        feature_cols: Any = None,
        *,
        steps: int | None = None,
        output_cols: Any = None,
    ) -> Any:
        """Apply the model to data.

        Parameters
        ----------
        data
            As for `fit`; a target is not needed. A tuple of arrays is one for each
            input.
        batch_size
            Rows at a time.
        feature_cols
            The columns that are the model's input.
        steps
            Predict only this many batches of a dataset.
        output_cols
            Names for the new columns of DataFrames, one for each output of the model.

        Returns
        -------
        XShards, DataFrame or array
            XShards of arrays gain ``"prediction"`` beside ``"x"``, DataFrames a column
            ``prediction``; shards keep their order and sizes. Arrays and datasets give
            an array (a list of them for a model with several outputs).

        Raises
        ------
        XShardsTypeError
            If data is none.
        XShardsValueError
            If `batch_size` is too small or a column is missing.

        Examples
        --------
        >>> import keras
        >>> from xshards.learn.tf import Estimator
        >>> layer = keras.layers.Activation("softsign")
        >>> model = keras.Sequential([keras.Input((1,)), layer])
        >>> estimator = Estimator.from_keras(model=model)
        >>> estimator.predict(np.array([[1.0], [3.0]], dtype="float32"))
        array([[0.5 ],
               [0.75]], dtype=float32)
        """
        if isinstance(data, (XShards, pd.DataFrame)):
            return super().predict(
                data, batch_size, feature_cols, output_cols=output_cols
            )
        return predict_here(
            self._model, data, batch_size, steps, self._job.parts.config
        )

    def _made(
        self, data: Any, columns: Columns, batch_size: int, steps: int | None
    ) -> Prepared:
        adapter = self._job.adapter
        assert isinstance(adapter, KerasAdapter)
        return prepare(
            data,
            adapter=adapter,
            model=self._model,
            columns=columns,
            config=self._job.parts.config,
            batch_size=batch_size,
            steps=steps,
            context=self._context,
        )

    def _prepare(self, sample: Any, *, weighted: bool = False) -> None:
        """Make all variables, then what shares them."""
        if self._job.num_replicas > 1:
            weighted = weighted or sample[2] is not None
            check_losses(self._model.keras, weighted=weighted)
        if self._model.sample is None:
            self._model.build(sample)
        self._job.begin()
        self._share_driver_changes()

    def _measure(
        self, source: int, batch_size: int, num_steps: int | None
    ) -> dict[str, Any]:
        initial = self._model.metrics_at_start()
        answers = self._job.measure(
            source, batch_size=batch_size, metrics={}, max_batches=num_steps
        )
        states = [result["metrics"] for result, *_ in answers]
        return merged_results(self._model, states, initial)

    def _share_driver_changes(self) -> None:
        """Have the server follow what callbacks or users changed on the driver."""
        for owner in self._job.servers:
            assert isinstance(owner, OptimizerServer)
            assert isinstance(owner.optimizer, KerasOptimizer)
            owner.optimizer.share_changes()
            owner.set_options([{}])


def _wrapped(
    model: Any,
    creator: Callable[..., Any] | None,
    compile_creator: Callable[..., Any] | None,
    config: dict[str, Any],
    seed: int | None,
) -> KerasModel:
    if creator is not None:
        if seed is not None:
            keras_module = load_tensorflow().keras
            keras_module.utils.set_random_seed(seed)
        return KerasModel.created(creator, compile_creator, config)
    if not is_keras_model(model):
        msg = f"model must be a Keras model, got {type(model).__name__}"
        raise XShardsTypeError(msg)
    keras = keras_of(model)
    if keras.__name__ == "keras" and keras.backend.backend() != "tensorflow":
        msg = (
            "models of Keras are trained with TensorFlow under it; it computes with "
            f"{keras.backend.backend()}: set KERAS_BACKEND=tensorflow before the import"
        )
        raise XShardsValueError(msg)
    if compile_creator is not None:
        model.compile(**compile_creator(config))
    return KerasModel(model, config=config)


def _take_clipping(optimizer: Any, clip: Clip) -> None:
    """Have the server clip as the optimizer was told to."""
    value = getattr(optimizer, "clipvalue", None)
    if value is not None:
        clip.constant = (-float(value), float(value))
    norm = getattr(optimizer, "global_clipnorm", None)
    if norm is not None:
        clip.norm = float(norm)
