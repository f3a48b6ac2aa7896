# SPDX-License-Identifier: Apache-2.0
"""What Orca's Estimators of Keras models have for the model itself and for files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from xshards.compat.errors import OrcaInputError
from xshards.errors import XShardsFileNotFoundError, XShardsValueError
from xshards.learn.tf import Estimator
from xshards.learn.tf.packages import keras_of, load_tensorflow
from xshards.learn.training.job import check_num_replicas

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["KerasFiles"]

_NO_WEIGHTS = (
    "Failed to set model weights, please provide real tensor data (of the correct "
    "dtype) as sample_input in the {} method"
)


class KerasFiles:
    """One of our Estimators, or none before `load` where nothing makes a model.

    Parameters
    ----------
    options : dict
        The arguments of `xshards.learn.tf.Estimator.from_keras`.
    """

    def __init__(self, options: dict[str, Any]) -> None:
        self._options = options
        self._estimator: Estimator | None = None
        if options["model_creator"] is not None:
            self._estimator = Estimator.from_keras(**options)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._ready(), name)

    @property
    def num_workers(self) -> int:
        """How many replicas train."""
        return check_num_replicas(self._options["workers"], self._options["context"])

    def get_model(
        self,
        sample_input: Any = None,
        set_weights: bool = True,  # noqa: FBT001 - as in Orca
    ) -> Any:
        """Return a model of its own with what was learned.

        `sample_input` makes the variables of a model that has seen no data yet;
        without `set_weights` the model is as its creator makes it.
        """
        creator: Callable[..., Any] | None = self._options["model_creator"]
        if not set_weights and creator is not None:
            return creator(self._options["config"])
        self._build(sample_input)
        return self._ready().get_model()

    def save_checkpoint(self, checkpoint: str) -> str:
        """Write the weights, the optimizer's state and the epoch to one file."""
        self._ready().save_checkpoint(checkpoint)
        return str(checkpoint)

    def load_checkpoint(self, checkpoint: str, sample_input: Any = None) -> None:
        """Read what `save_checkpoint` wrote.

        A model that has made no variables yet needs `sample_input`, one batch of its
        input.
        """
        if not Path(checkpoint).is_file():
            msg = f"there is no file {checkpoint} to load"
            raise XShardsFileNotFoundError(msg)
        self._build(sample_input)
        estimator = self._ready()
        try:
            estimator.load_checkpoint(checkpoint)
        except XShardsValueError as error:
            if estimator._model.keras.variables:
                raise
            msg = _NO_WEIGHTS.format("load")
            raise OrcaInputError(msg) from error

    def save(
        self,
        filepath: str,
        overwrite: bool = True,  # noqa: FBT001 - as in Keras
        include_optimizer: bool = True,  # noqa: FBT001
        save_format: str | None = None,
        signatures: Any = None,
        options: Any = None,
    ) -> None:
        """Write the model: HDF5 for ``.h5``, a SavedModel otherwise, as Keras does."""
        model = self._whole()
        Path(filepath).parent.mkdir(parents=True, exist_ok=True)
        given: dict[str, Any] = {"overwrite": overwrite}
        if keras_of(model).__name__ == "tf_keras":
            given |= {"save_format": save_format, "options": options}
            given["include_optimizer"] = include_optimizer
            if signatures is not None:
                given["signatures"] = signatures
        model.save(str(filepath), **given)

    def load(
        self,
        filepath: str,
        custom_objects: dict[str, Any] | None = None,
        compile: bool = True,  # noqa: FBT001 - as in Keras
        options: Any = None,
    ) -> None:
        """Take the model that `save`, or Keras itself, wrote for the Estimator's.

        Of a model with code of its own, which a SavedModel does not have, only the
        weights are taken, for the one that the creator makes.
        """
        if not Path(filepath).exists():
            msg = f"there is no file {filepath} to load"
            raise XShardsFileNotFoundError(msg)
        keras = self._keras()
        given: dict[str, Any] = {"custom_objects": custom_objects, "compile": compile}
        if keras.__name__ == "tf_keras" and options is not None:
            given["options"] = options
        try:
            model = keras.models.load_model(str(filepath), **given)
        except Exception as error:  # depends on what is wrong
            msg = f"{filepath} is no model that {keras.__name__} can load: {error}"
            raise OrcaInputError(msg) from error
        if self._estimator is not None:
            self._estimator.shutdown()
        if self._options["model_creator"] is not None and _lacks_code(model):
            self._set_weights(model, "load")
            return
        own = ("model_creator", "compile_args_creator")
        rest = {name: one for name, one in self._options.items() if name not in own}
        self._estimator = Estimator.from_keras(model=model, **rest)

    def save_weights(
        self,
        filepath: str,
        overwrite: bool = True,  # noqa: FBT001 - as in Keras
        save_format: str | None = None,
        options: Any = None,
    ) -> None:
        """Write the weights: HDF5 for ``.h5``, TensorFlow's format otherwise."""
        model = self._whole()
        Path(filepath).parent.mkdir(parents=True, exist_ok=True)
        given: dict[str, Any] = {"overwrite": overwrite}
        if keras_of(model).__name__ == "tf_keras":
            given |= {"save_format": save_format, "options": options}
        model.save_weights(str(filepath), **given)

    def load_weights(
        self,
        filepath: str,
        by_name: bool = False,  # noqa: FBT001 - as in Keras
        skip_mismatch: bool = False,  # noqa: FBT001
        options: Any = None,
    ) -> None:
        """Read what `save_weights` wrote, layer by layer or by the layers' names."""
        estimator = self._ready()
        if not by_name and options is None:
            estimator.load_weights(filepath)
            return
        estimator.shutdown()
        model = self._whole()
        model.load_weights(str(filepath), by_name, skip_mismatch, options)
        estimator._model.shared_again()

    def shutdown(self) -> None:
        """End the replicas."""
        if self._estimator is not None:
            self._estimator.shutdown()

    def _ready(self) -> Estimator:
        if self._estimator is None:
            msg = (
                "this Estimator has no model: give model_creator to from_keras, or "
                "call load with a file that has one"
            )
            raise OrcaInputError(msg)
        return self._estimator

    def _whole(self) -> Any:
        """Return the model, with the state of its optimizer."""
        estimator = self._ready()
        estimator._complete()
        return estimator._model.keras

    def _set_weights(self, loaded: Any, method: str) -> None:
        """Give the creator's model the weights of a loaded one."""
        held = self._ready()._model
        signature = loaded.save_spec(dynamic_batch=False)
        if signature is not None and not held.keras.built:
            (features, *_), _ = signature
            held.build_layers(_zeros(features))
        try:
            held.keras.set_weights(loaded.get_weights())
        except ValueError as error:
            raise OrcaInputError(_NO_WEIGHTS.format(method)) from error
        held.shared_again()

    def _build(self, sample_input: Any) -> None:
        """Have a model make its variables by a batch of its input."""
        if sample_input is not None:
            self._ready()._model.build_layers(sample_input)

    def _keras(self) -> Any:
        if self._estimator is not None:
            return keras_of(self._estimator._model.keras)
        keras = load_tensorflow().keras
        return keras_of(keras.layers.Layer())


def _lacks_code(model: Any) -> bool:
    """Whether legacy Keras made classes up, for ones that a SavedModel names only."""
    modules = [type(one).__module__ for one in model._flatten_layers()]
    return any(one.endswith("saved_model.load") for one in modules)


def _zeros(specs: Any) -> Any:
    """Return one row of zeros for each description of a batch."""
    nest = load_tensorflow().nest
    return nest.map_structure(
        lambda one: np.zeros([1, *one.shape[1:]], one.dtype.as_numpy_dtype), specs
    )
