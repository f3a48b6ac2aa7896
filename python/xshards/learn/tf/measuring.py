# SPDX-License-Identifier: Apache-2.0
"""Measuring and applying the model of an Estimator, and what training needs of it."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pandas as pd

from xshards.learn.checks import check_count
from xshards.learn.metrics import convert_metrics
from xshards.learn.tf.callbacks import make_callbacks, wants_batches
from xshards.learn.tf.driver_optimizer import KerasOptimizer
from xshards.learn.tf.file_methods import FileMethods
from xshards.learn.tf.fit_loop import merged_results
from xshards.learn.tf.inputs import Columns, Prepared, prepare
from xshards.learn.tf.losses import check_losses
from xshards.learn.tf.model import require_compiled
from xshards.learn.tf.predict import predict_here
from xshards.learn.training.server_mode import OptimizerServer
from xshards.shards import XShards

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xshards.learn.metrics import Metric

__all__ = ["MeasureMethods"]


class MeasureMethods(FileMethods):
    """What a Keras Estimator has besides training."""

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
            Keras' own, called on the driver.
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
        batch_size = check_count("batch_size", batch_size)
        label_cols = labels_cols if label_cols is None else label_cols
        columns = Columns(feature_cols, label_cols, sample_weight_col)
        made = self._made(data, columns, batch_size, num_steps, measures=True)
        self._prepare(made.sample)
        called = make_callbacks(self._model.keras, callbacks or [])
        source = self._job.add_source(made.open())
        try:
            called.on_test_begin()
            found = self._measure(
                source, made.batch_size or batch_size, num_steps, callbacks=called
            )
            called.on_test_end(found)
        finally:
            self._job.drop_source(source)
            made.close()
        made.finish()
        self._share_driver_changes()
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

    def _measured(
        self,
        metric: Metric,
        data: Any,
        batch_size: int,
        feature_cols: Any,
        label_cols: Any,
    ) -> Any:
        batch_size = check_count("batch_size", batch_size)
        columns = Columns(feature_cols, label_cols, None)
        made = self._made(data, columns, batch_size, None, measures=True)
        self._prepare(made.sample)
        source = self._job.add_source(made.open())
        try:
            (found,) = self._job.validate(
                source,
                batch_size=made.batch_size or batch_size,
                metrics=convert_metrics([metric], self._job.adapter.name),
            )
        finally:
            self._job.drop_source(source)
            made.close()
        made.finish()
        return found[metric.get_name()]

    def _made(
        self, data: Any, columns: Columns, size: int, steps: int | None, **more: Any
    ) -> Prepared:
        more |= {"job": self._job, "model": self._model, "context": self._context}
        return prepare(data, columns=columns, batch_size=size, steps=steps, **more)

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
        self, source: int, batch_size: int, num_steps: int | None, *, callbacks: Any
    ) -> dict[str, Any]:
        initial = self._model.metrics_at_start()
        numbers = itertools.count()

        def on_batch(buffers: list[Any]) -> None:
            number = next(numbers)
            logs = merged_results(self._model, [one[2] for one in buffers], initial)
            callbacks.on_test_batch_begin(number)
            callbacks.on_test_batch_end(number, logs)

        watched = wants_batches(callbacks, testing=True)
        answers = self._job.measure(
            source,
            batch_size=batch_size,
            metrics={},
            max_batches=num_steps,
            on_batch=on_batch if watched else None,
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
            steps = owner.optimizer.changed_steps
            if steps is not None:
                owner.server.step_counts[:] = steps
                if owner.schedule is not None:
                    owner.schedule.restore([steps - owner.steps])
