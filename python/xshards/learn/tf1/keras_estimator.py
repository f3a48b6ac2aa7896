# SPDX-License-Identifier: Apache-2.0
"""Trains Keras models of version 1 graphs on shards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xshards.learn.tf1.estimator import Estimator
from xshards.learn.tf1.keras_model import (
    counted_metrics,
    keras_backend,
    keras_optimizer,
    keras_parts,
)
from xshards.learn.tf1.optimizers import is_orca

if TYPE_CHECKING:
    import os
    from typing import Self

    from xshards.context import Context

__all__ = ["KerasEstimator"]


class KerasEstimator(Estimator):
    """Trains a compiled Keras model in a graph; see `from_keras`.

    The model given is the one that is trained: it has the weights after each `fit`.
    """

    #: The model.
    keras_model: Any

    @classmethod
    def from_keras(
        cls,
        keras_model: Any,
        *,
        metrics: Any = None,
        optimizer: Any = None,
        model_dir: str | None = None,
        workers: int | None = None,
        seed: int | None = None,
        context: Context | None = None,
    ) -> Self:
        """Make an Estimator of a compiled Keras model.

        Parameters
        ----------
        keras_model
            A model of Keras 2, made in a graph.
        metrics
            Of `xshards.learn.metrics`, in place of those it was compiled with; or a
            dict of scalar tensors by name, beside those.
        optimizer
            Of `xshards.learn.optimizers`, in place of the one it was compiled with.
        model_dir, workers, seed, context
            As `Estimator.from_graph` has them.

        Returns
        -------
        KerasEstimator
            One that has not trained yet.

        Raises
        ------
        XShardsTypeError
            If the model is none of Keras 2.
        XShardsValueError
            If it is not compiled or runs eagerly.
        """
        tensors: dict[str, Any] = {}
        if isinstance(metrics, dict):
            tensors, metrics = metrics, None
        parts = keras_parts(keras_model, metrics=metrics is None)
        parts.metrics |= tensors
        with parts.graph.as_default():
            sess = keras_backend(keras_model).get_session()
        own = keras_optimizer(keras_model)
        made = cls.from_parts(
            parts,
            optimizer=optimizer if is_orca(optimizer) else optimizer or own,
            metrics=counted_metrics(keras_model) if metrics is None else metrics,
            sess=sess,
            model_dir=model_dir,
            workers=workers,
            seed=seed,
            context=context,
        )
        made.keras_model = keras_model
        return made

    def get_model(self) -> Any:
        """Return the model itself, with what it has learned.

        Returns
        -------
        model
            The one that was given.
        """
        return self.keras_model

    def save_keras_model(
        self,
        path: str | os.PathLike[str],
        overwrite: bool = True,  # noqa: FBT001 - as in Orca
    ) -> None:
        """Write the whole model as an HDF5 file.

        Parameters
        ----------
        path
            The file.
        overwrite
            Whether to replace one that is there.
        """
        with self.sess.graph.as_default(), self.sess.as_default():
            self.keras_model.save(str(path), overwrite=overwrite, save_format="h5")

    def save_keras_weights(
        self,
        filepath: str | os.PathLike[str],
        overwrite: bool = True,  # noqa: FBT001 - as in Orca
        save_format: str | None = None,
    ) -> None:
        """Write the model's weights.

        Parameters
        ----------
        filepath
            The file.
        overwrite
            Whether to replace one that is there.
        save_format
            As Keras has it.
        """
        with self.sess.graph.as_default(), self.sess.as_default():
            self.keras_model.save_weights(str(filepath), overwrite, save_format)

    def load_keras_weights(
        self,
        filepath: str | os.PathLike[str],
        by_name: bool = False,  # noqa: FBT001 - as in Orca
    ) -> None:
        """Read weights into the model.

        Parameters
        ----------
        filepath
            What `save_keras_weights` wrote.
        by_name
            As Keras has it.
        """
        with self.sess.graph.as_default(), self.sess.as_default():
            self.keras_model.load_weights(str(filepath), by_name=by_name)
        self._pull()
