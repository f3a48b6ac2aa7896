# SPDX-License-Identifier: Apache-2.0
"""Saving and loading the model of an Estimator in Keras' formats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xshards.learn.tf.driver_optimizer import KerasOptimizer
from xshards.learn.tf.model import KerasModel
from xshards.learn.tf.optimizer_rules import change_clipping
from xshards.learn.tf.saving import (
    load_keras_model,
    load_saved_weights,
    read_weights,
    save_keras_model,
    write_weights,
)
from xshards.learn.training.estimator_base import EstimatorBase

if TYPE_CHECKING:
    import os

__all__ = ["FileMethods"]


class FileMethods(EstimatorBase):
    """What a Keras Estimator has for files."""

    _model: KerasModel

    def save(  # type: ignore[override]
        self,
        filepath: str | os.PathLike[str],
        *,
        overwrite: bool = True,
        save_format: str | None = None,
    ) -> str:
        """Write the model, as it is now, in one of Keras' formats.

        Parameters
        ----------
        filepath
            A file that ends in ``.keras`` or ``.h5``; anything else is the directory of
            a SavedModel.
        overwrite
            Replace what is there.
        save_format
            Taken for Keras 2's sake; the name decides.

        Returns
        -------
        str
            The file.

        Raises
        ------
        XShardsValueError
            If there is such a file and `overwrite` is False, or Keras cannot write the
            model in this format.

        Examples
        --------
        >>> import tempfile
        >>> import keras
        >>> from xshards.learn.tf import Estimator
        >>> model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
        >>> model.compile("sgd", "mse")
        >>> estimator = Estimator.from_keras(model=model)
        >>> file = estimator.save(tempfile.mkdtemp() + "/model.keras")
        >>> estimator.load(file)
        """
        self._complete()
        save_keras_model(self._model.keras, filepath, overwrite=overwrite)
        return str(filepath)

    def load(  # type: ignore[override]
        self,
        filepath: str | os.PathLike[str],
        *,
        custom_objects: dict[str, Any] | None = None,
    ) -> None:
        """Take the model that a file holds, with its optimizer, for the Estimator's.

        Parameters
        ----------
        filepath
            What `save`, or Keras itself, wrote. Of a SavedModel that Keras 3 exported
            only the weights are taken. The state of the optimizer is taken of
            ``.keras`` files, and of HDF5 by legacy Keras.
        custom_objects
            Classes and functions that the file names.

        Raises
        ------
        XShardsFileNotFoundError
            If there is no such file.
        XShardsValueError
            If it is no model, or its weights are those of another model.
        """
        loaded = load_keras_model(self._model.keras, filepath, custom_objects)
        self._job.close()
        if loaded is None:
            load_saved_weights(self._model.keras, filepath)
            return
        former = self._model.keras.optimizer if self._model.is_compiled else None
        self._model = KerasModel(loaded)
        if self._model.is_compiled:
            change_clipping(self._clip, former, loaded.optimizer)
        self._job.replace_models(
            [self._model],
            [KerasOptimizer(self._model)] if self._model.is_compiled else [],
        )

    def save_weights(self, filepath: str | os.PathLike[str]) -> None:
        """Write the weights, as they are now.

        Parameters
        ----------
        filepath
            Ends in ``.weights.h5``; legacy Keras takes other names too.

        Raises
        ------
        XShardsValueError
            If Keras writes no weights to such a file.

        Examples
        --------
        >>> import tempfile
        >>> import keras
        >>> from xshards.learn.tf import Estimator
        >>> model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
        >>> model.compile("sgd", "mse")
        >>> estimator = Estimator.from_keras(model=model)
        >>> file = tempfile.mkdtemp() + "/model.weights.h5"
        >>> estimator.save_weights(file)
        >>> estimator.load_weights(file)
        """
        self._complete()
        write_weights(self._model.keras, filepath)

    def load_weights(self, filepath: str | os.PathLike[str]) -> None:
        """Read the weights that `save_weights` wrote.

        Parameters
        ----------
        filepath
            The file.

        Raises
        ------
        XShardsFileNotFoundError
            If there is no such file.
        XShardsValueError
            If it has no weights, or those of another model. The model's stay.
        """
        self._job.close()
        self._complete()
        read_weights(self._model.keras, filepath)
        self._model.shared_again()

    def _complete(self) -> None:
        """Have all that belongs in a file on the driver: the optimizer's state too."""
        if self._job.servers:
            self._job.take_state()
        for optimizer in self._job.optimizers:
            assert isinstance(optimizer, KerasOptimizer)
            optimizer.build()
