# SPDX-License-Identifier: Apache-2.0
"""``KerasModel``: a Keras model that trains here or with replicas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from xshards.compat.errors import OrcaAssertionError, OrcaInputError
from xshards.compat.tfpark.estimator import Estimator
from xshards.compat.tfpark.tf_dataset import TFDataset
from xshards.compat.tfpark.tf_optimizer import TFOptimizer
from xshards.compat.tfpark.tf_predictor import TFPredictor
from xshards.compat.tfpark.version_1 import use_version_1
from xshards.learn.tf1.framework import tf
from xshards.learn.trigger import MaxEpoch

if TYPE_CHECKING:
    from xshards.compat.tfpark.estimator import KerasEstimator

__all__ = ["KerasModel"]

use_version_1()


class KerasModel:
    """Wraps a compiled Keras model.

    Calls with arrays go to Keras itself; with ``distributed=True`` or a `TFDataset`
    replicas do the work.

    Parameters
    ----------
    model
        A compiled model.
    model_dir
        Where checkpoints of replicas go.
    optimizer
        Of BigDL, in place of the one the model was compiled with.
    """

    def __init__(
        self, model: Any, model_dir: str | None = None, optimizer: Any = None
    ) -> None:
        self.model = model
        self._model_dir = model_dir
        self._optimizer = optimizer
        self._made: TFOptimizer | None = None
        self._measuring: KerasEstimator | None = None
        self._metrics: dict[str, Any] = {}

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        epochs: int = 1,
        validation_data: Any = None,
        distributed: bool = False,  # noqa: FBT001 - as in Orca
        **kwargs: Any,
    ) -> None:
        """Train for a number of epochs."""
        if isinstance(x, TFDataset):
            if validation_data is not None:
                msg = "validation_data must be None when using TFDataset as input"
                raise OrcaAssertionError(msg)
            if x.batch_size <= 0:
                msg = (
                    "The batch_size of TFDataset must be specified when used in "
                    "KerasModel fit."
                )
                raise OrcaInputError(msg)
            self._train(x, epochs)
        elif distributed:
            tensors = self._checked(x, y)
            if validation_data is not None:
                validation_data = self._checked(*validation_data)
            dataset = TFDataset.from_ndarrays(
                tensors, batch_size=batch_size or 32, val_tensors=validation_data
            )
            self._train(dataset, epochs)
        else:
            self.model.fit(
                x, y, batch_size, epochs, validation_data=validation_data, **kwargs
            )

    def _train(self, dataset: TFDataset, epochs: int) -> None:
        if self._made is None:
            self._made = TFOptimizer.from_keras(
                self.model,
                dataset,
                model_dir=self._model_dir,
                metrics=self._metrics or None,
                optimizer=self._optimizer,
            )
        self._made.dataset = dataset
        done = self._made.estimator._job.epoch
        self._made.optimize(MaxEpoch(done + epochs))

    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        batch_per_thread: int | None = None,
        distributed: bool = False,  # noqa: FBT001 - as in Orca
    ) -> dict[str, float]:
        """Measure the loss and the metrics."""
        if not isinstance(x, TFDataset) and not distributed:
            found = self.model.evaluate(x, y, batch_per_thread, verbose=0)
            values = found if isinstance(found, list) else [found]
            return dict(zip(self.metrics_names, values, strict=True))
        if isinstance(x, TFDataset):
            if x.batch_per_thread <= 0:
                msg = _no_batch("evaluate")
                raise OrcaInputError(msg)
        else:
            size = batch_per_thread or 32
            x = TFDataset.from_ndarrays(self._checked(x, y), batch_per_thread=size)
        if self._measuring is None:
            metrics = self._metrics or None
            self._measuring = Estimator.from_keras(self.model, metrics=metrics)
        data, rows = x.read(), x.rows_at_a_time
        return self._measuring.evaluate(data, batch_size=rows)

    def predict(
        self,
        x: Any,
        batch_per_thread: int | None = None,
        distributed: bool = False,  # noqa: FBT001 - as in Orca
    ) -> Any:
        """Apply the model: to a `TFDataset`, an RDD; to arrays, arrays."""
        if isinstance(x, TFDataset):
            if x.batch_per_thread <= 0:
                msg = _no_batch("predict")
                raise OrcaInputError(msg)
            return TFPredictor.from_keras(self.model, x).predict()
        if not distributed:
            return self.model.predict(x, batch_size=batch_per_thread)
        given = _in_order(x, self.model.input_names, "model_input")
        dataset = TFDataset.from_ndarrays(given, batch_per_thread=batch_per_thread or 4)
        rows = TFPredictor.from_keras(self.model, dataset).predict().collect()
        if len(self.model.outputs) == 1:
            return np.stack(rows)
        return [np.stack(same) for same in zip(*rows, strict=True)]

    def add_metric(self, tensor: Any, name: str | None = None) -> None:
        """Measure a scalar tensor of the model too, by this name or its own.

        Replicas measure it; Keras itself does not know of it.
        """
        self._metrics[name or tensor.op.name] = tensor
        # What replicas have does not include it.
        if self._made is not None:
            self._made.estimator.shutdown()
        if self._measuring is not None:
            self._measuring.shutdown()
        self._made = self._measuring = None

    def _checked(self, x: Any, y: Any) -> tuple[list[Any], list[Any]]:
        """Return an array for each input and each output, in the model's order."""
        return (
            _in_order(x, self.model.input_names, "model_input"),
            _in_order(y, self.model.output_names, "model_target"),
        )

    @property
    def metrics_names(self) -> list[str]:
        """What Keras measures."""
        return list(self.model.metrics_names)

    def get_weights(self) -> list[Any]:
        """Return the weights."""
        return list(self.model.get_weights())

    def set_weights(self, weights: list[Any]) -> None:
        """Set the weights."""
        self.model.set_weights(weights)

    def save_weights(
        self,
        filepath: str,
        overwrite: bool = True,  # noqa: FBT001 - as in Keras
        save_format: str | None = None,
    ) -> None:
        """Write the weights."""
        self.model.save_weights(filepath, overwrite, save_format)

    def load_weights(self, filepath: str, by_name: bool = False) -> None:  # noqa: FBT001
        """Read weights."""
        self.model.load_weights(filepath, by_name)

    def save_model(self, path: str, overwrite: bool = True) -> None:  # noqa: FBT001
        """Write the whole model as an HDF5 file."""
        self.model.save(path, overwrite=overwrite, save_format="h5")

    @staticmethod
    def load_model(path: str) -> KerasModel:
        """Read what `save_model` wrote."""
        return KerasModel(tf.keras.models.load_model(path))

    def train_on_batch(self, *args: Any, **kwargs: Any) -> Any:
        """Train on one batch, here."""
        return self.model.train_on_batch(*args, **kwargs)

    def test_on_batch(self, *args: Any, **kwargs: Any) -> Any:
        """Measure one batch, here."""
        return self.model.test_on_batch(*args, **kwargs)

    def predict_on_batch(self, x: Any) -> Any:
        """Predict one batch, here."""
        return self.model.predict_on_batch(x)


def _in_order(data: Any, names: list[str], what: str) -> list[Any]:
    """Return arrays in the order of names, which a dict of them has."""
    if isinstance(data, dict):
        if not set(names) <= set(data):
            msg = (
                f"all {what} names should exist in data, got {what}: "
                f"{', '.join(names)}, data: {', '.join(map(str, data))}"
            )
            raise OrcaAssertionError(msg)
        return [data[name] for name in names]
    arrays = list(data) if isinstance(data, (list, tuple)) else [data]
    if len(arrays) != len(names):
        msg = (
            f"{what} number does not match data number, got {what}: "
            f"{', '.join(names)}, and {len(arrays)} arrays"
        )
        raise OrcaAssertionError(msg)
    return arrays


def _no_batch(what: str) -> str:
    return (
        "The batch_per_thread of TFDataset must be specified when used in KerasModel "
        f"{what}."
    )
