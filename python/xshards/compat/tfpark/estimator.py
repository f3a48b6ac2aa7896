# SPDX-License-Identifier: Apache-2.0
"""``orca.learn.tf.estimator``: Estimators of TensorFlow 1 graphs and Keras models."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pandas as pd

from xshards.compat.errors import OrcaAssertionError, OrcaInputError
from xshards.compat.orca import session
from xshards.compat.orca.orca_context import OrcaContext
from xshards.compat.orca.shard_base import DATA_FRAME
from xshards.compat.orca.spark_xshards import SparkXShards
from xshards.compat.orca.tf_data import Dataset, flat_leaves
from xshards.compat.orca.torch_estimators import OrcaEstimator
from xshards.compat.tfpark.tf_predictor import rows_of_predictions
from xshards.compat.tfpark.version_1 import use_version_1
from xshards.errors import XShardsFileNotFoundError, XShardsTypeError
from xshards.learn.tf1 import Estimator as GraphEstimator
from xshards.learn.tf1 import KerasEstimator as GraphKerasEstimator
from xshards.learn.tf1.datasets import is_dataset
from xshards.learn.tf1.framework import tf
from xshards.learn.trigger import EveryEpoch, Trigger
from xshards.shards import XShards

if TYPE_CHECKING:
    from typing import Self

__all__ = ["Estimator", "KerasEstimator", "TensorFlowEstimator"]

use_version_1()

# BigDL's names of what Keras measures.
_BIGDL_NAMES = {
    "acc": "acc Top1Accuracy",
    "accuracy": "acc Top1Accuracy",
    "mae": "mae MAE",
    "auc": "auc AUC",
}


class Estimator:
    """Makes Estimators of TensorFlow 1 graphs and of Keras models in them."""

    #: Where the triggers are, as messages name it.
    _triggers = "zoo.util.triggers"

    def __new__(cls, *_: object, **__: object) -> Any:
        """Refuse: Estimators are made by `from_graph` and `from_keras`."""
        msg = "call Estimator.from_graph or Estimator.from_keras to make an Estimator"
        raise OrcaInputError(msg)

    @classmethod
    def from_graph(
        cls,
        *,
        inputs: Any,
        outputs: Any = None,
        labels: Any = None,
        loss: Any = None,
        optimizer: Any = None,
        metrics: dict[str, Any] | None = None,
        clip_norm: float | None = None,
        clip_value: float | tuple[float, float] | None = None,
        updates: Any = None,
        sess: Any = None,
        model_dir: str | None = None,
        backend: str = "bigdl",
    ) -> TensorFlowEstimator:
        """Make an Estimator of tensors, as `xshards.learn.tf1.Estimator` has it."""
        _check_backend(backend)
        try:
            made = GraphEstimator.from_graph(
                inputs=inputs,
                outputs=outputs,
                labels=labels,
                loss=loss,
                optimizer=optimizer,
                metrics=metrics,
                clip_norm=clip_norm,
                clip_value=clip_value,
                updates=updates,
                sess=sess,
                model_dir=_local(model_dir),
                context=session.active_context()._engine,
            )
        except XShardsTypeError as error:
            raise OrcaAssertionError(str(error)) from error
        given = {"labels": labels, "loss": loss, "optimizer": optimizer}
        given |= {"output": outputs, "metrics": metrics}
        return TensorFlowEstimator(made, given, cls._triggers)

    @classmethod
    def from_keras(
        cls,
        keras_model: Any,
        metrics: Any = None,
        model_dir: str | None = None,
        optimizer: Any = None,
        backend: str = "bigdl",
    ) -> KerasEstimator:
        """Make an Estimator of a compiled Keras model in a graph.

        `metrics` and `optimizer` are Orca's own and replace the model's.
        """
        _check_backend(backend)
        made = GraphKerasEstimator.from_keras(
            keras_model,
            metrics=metrics,
            optimizer=optimizer,
            model_dir=_local(model_dir),
            context=session.active_context()._engine,
        )
        given = {"metrics": True, "output": True}
        return KerasEstimator(made, given, cls._triggers)

    @classmethod
    def load_keras_model(cls, path: str) -> KerasEstimator:
        """Make an Estimator of a model that `save_keras_model` wrote."""
        return cls.from_keras(tf.keras.models.load_model(path))


class TensorFlowEstimator(OrcaEstimator):
    """An Estimator with the methods and texts that Orca's has."""

    _estimator: Any

    def __init__(
        self, estimator: GraphEstimator, given: dict[str, Any], triggers: str
    ) -> None:
        super().__init__(estimator)
        self._given = given
        self._triggers = triggers
        # Set by load_orca_checkpoint: epochs is the number to reach, then.
        self._resumed = False
        self._trained = False

    @property
    def sess(self) -> Any:
        """The session that has the variables."""
        return self._estimator.sess

    def fit(
        self,
        data: Any,
        epochs: int = 1,
        batch_size: int = 32,
        feature_cols: Any = None,
        label_cols: Any = None,
        validation_data: Any = None,
        session_config: Any = None,
        checkpoint_trigger: Any = None,
        auto_shard_files: bool = False,  # noqa: FBT001 - as in Orca
        feed_dict: dict[Any, Any] | None = None,
        *,
        labels_cols: Any = None,
    ) -> Self:
        """Train for a number of epochs, with a checkpoint after each in `model_dir`.

        A `batch_size` is over all cores; any is taken. With
        ``OrcaContext.train_data_store = "DISK_n"`` triggers must be those of
        ``zoo.util.triggers`` or ``bigdl.dllib.utils.triggers``; how much of the data is
        in memory is decided by the memory of the session, beyond which it is on disk,
        whatever n is.
        """
        for name in ("labels", "loss", "optimizer"):
            _require(self._given, name, f"{name} is None; it should not be None in")
        label_cols = labels_cols if label_cols is None else label_cols
        _check_data(data, "training", feature_cols, label_cols)
        if validation_data is not None:
            _check_same_kind(data, validation_data)
        _check_trigger(checkpoint_trigger, self._triggers)
        done, self._resumed = self._estimator._job.epoch if self._resumed else 0, False
        if epochs <= done:
            return self
        self._place_summaries()
        has_place = self._estimator._model_dir is not None
        self._fit(
            self._rows(data),
            epochs=epochs - done,
            batch_size=batch_size,
            feature_cols=feature_cols,
            label_cols=label_cols,
            validation_data=self._rows(validation_data),
            session_config=session_config,
            checkpoint_trigger=(checkpoint_trigger or EveryEpoch())
            if has_place
            else None,
            feed_dict=feed_dict,
        )
        self._trained = True
        return self

    def evaluate(
        self,
        data: Any,
        batch_size: int = 32,
        feature_cols: Any = None,
        label_cols: Any = None,
        auto_shard_files: bool = False,  # noqa: FBT001 - as in Orca
        *,
        labels_cols: Any = None,
    ) -> dict[str, Any]:
        """Measure the metrics on data."""
        _require(self._given, "metrics", "metrics is None, it should not be None in")
        label_cols = labels_cols if label_cols is None else label_cols
        _check_data(data, "evaluation", feature_cols, label_cols)
        found = self._evaluate(
            self._rows(data),
            batch_size=batch_size,
            feature_cols=feature_cols,
            label_cols=label_cols,
        )
        return self._named(found)

    def predict(
        self,
        data: Any,
        batch_size: int = 4,
        feature_cols: Any = None,
        auto_shard_files: bool = False,  # noqa: FBT001 - as in Orca
    ) -> Any:
        """Apply the graph to data; shards gain the key ``prediction``.

        An orca Dataset gives an RDD with the outputs of each row.
        """
        text = "output is None, it should not be None in"
        _require(self._given, "output", text, "prediction")
        if is_dataset(data):
            msg = "tf.data.Dataset currently cannot be used for prediction"
            raise OrcaAssertionError(msg)
        _check_data(data, "prediction", feature_cols, None)
        if isinstance(data, Dataset):
            predicted = self._estimator.predict(self._rows(data), batch_size)
            return rows_of_predictions(predicted)
        return self._predict(data, batch_size=batch_size, feature_cols=feature_cols)

    def load_orca_checkpoint(
        self, path: str, version: int | None = None, prefix: str | None = None
    ) -> None:
        """Go on from a checkpoint; the next `fit` trains up to its `epochs`."""
        try:
            self._estimator.load_orca_checkpoint(path, version, prefix)
        except XShardsFileNotFoundError as error:
            msg = "Cannot find tf checkpoint, please check your checkpoint path."
            raise OrcaInputError(msg) from error
        self._resumed = True

    def save(self, path: str) -> None:
        """Write the session's variables as tf.train.Saver does."""
        self._estimator.save_tf_checkpoint(path)

    def load(self, path: str) -> None:
        """Read what `save` wrote."""
        self._estimator.load_tf_checkpoint(path)

    def get_model(self) -> Any:
        """Refuse for graphs; the model itself for Keras."""
        return self._estimator.get_model()

    def get_train_summary(self, tag: str = "Loss") -> list[list[int | float]] | None:
        """Read a value of each iteration; None before `fit` or without a place."""
        if self._estimator._log_dir is None or not self._trained:
            return None
        return list(self._estimator.get_train_summary(tag))

    def get_validation_summary(
        self, tag: str = "Loss"
    ) -> list[list[int | float]] | None:
        """Read a value of each validation; None before `fit` or without a place."""
        if self._estimator._log_dir is None or not self._trained:
            return None
        tags = [tag]
        tags += [
            name for name, full in _BIGDL_NAMES.items() if full.split(" ")[-1] == tag
        ]
        for one in tags:
            found: list[Any] = self._estimator.get_validation_summary(one)
            if found:
                return found
        return []

    def set_constant_gradient_clipping(self, min: float, max: float) -> None:
        """Refuse: `from_graph` takes clip_value."""
        _refuse_clipping("clip_value")

    def set_l2_norm_gradient_clipping(self, clip_norm: float) -> None:
        """Refuse: `from_graph` takes clip_norm."""
        _refuse_clipping("clip_norm")

    def clear_gradient_clipping(self) -> None:
        """Refuse: `from_graph` decides."""
        _refuse_clipping("clip_norm")

    def shutdown(self) -> None:
        """End the replicas and close the session."""
        self._estimator.shutdown()
        self._estimator.sess.close()

    def _rows(self, data: Any) -> Any:
        """Return the rows of an orca Dataset as the graph takes them."""
        if not isinstance(data, Dataset):
            return data
        inputs = len(self._estimator._built.model.names.inputs)
        return data._shards(partial(flat_leaves, num_features=inputs))

    def _named(self, found: dict[str, Any]) -> dict[str, Any]:
        return {
            name: value
            for name, value in found.items()
            if name not in ("num_samples", "val_loss")
        }

    def _place_summaries(self) -> None:
        estimator = self._estimator
        if estimator._log_dir is None and estimator._model_dir is not None:
            estimator._log_dir = Path(estimator._model_dir, "summaries")


class KerasEstimator(TensorFlowEstimator):
    """An Estimator of a compiled Keras model."""

    def __init__(self, estimator: Any, given: dict[str, Any], triggers: str) -> None:
        given = dict.fromkeys(("labels", "loss", "optimizer"), True) | given
        super().__init__(estimator, given, triggers)

    def save(self, path: str, overwrite: bool = True) -> None:  # noqa: FBT001
        """Write the whole model as an HDF5 file."""
        self._estimator.save_keras_model(path, overwrite)

    def load(self, path: str) -> None:
        """Read the weights of what `save` wrote."""
        self._estimator.load_keras_weights(path)

    def set_constant_gradient_clipping(self, min: float, max: float) -> None:
        """Limit each element of the gradient."""
        self._estimator.set_constant_gradient_clipping(min, max)

    def set_l2_norm_gradient_clipping(self, clip_norm: float) -> None:
        """Limit the norm of the whole gradient."""
        self._estimator.set_l2_norm_gradient_clipping(clip_norm)

    def clear_gradient_clipping(self) -> None:
        """Clip no more."""
        self._estimator.clear_gradient_clipping()

    def shutdown(self) -> None:
        """End the replicas; the session is Keras' own and stays."""
        self._estimator.shutdown()

    def _named(self, found: dict[str, Any]) -> dict[str, Any]:
        named = {"loss": found["val_loss"]} if "val_loss" in found else {}
        for name, value in super()._named(found).items():
            named[_BIGDL_NAMES.get(name, name)] = value
        return named


def _check_backend(backend: str) -> None:
    if backend != "bigdl":
        msg = f"only bigdl backend is supported for now, got {backend!r}"
        raise OrcaAssertionError(msg)


def _local(model_dir: str | None) -> str | None:
    """Return a folder of the Databricks file system as what it is on a node."""
    if model_dir is not None and str(model_dir).startswith("dbfs:/"):
        return "/dbfs/" + str(model_dir).removeprefix("dbfs:/")
    return model_dir


def _require(
    given: dict[str, Any], name: str, text: str, where: str | None = None
) -> None:
    if given.get(name) is None:
        where = where or ("evaluate" if name == "metrics" else "training")
        msg = f"{text} {where}"
        raise OrcaAssertionError(msg)


def _kind(data: Any) -> str | None:
    if isinstance(data, (SparkXShards, XShards)):
        return "SparkXShards"
    if isinstance(data, pd.DataFrame):
        return "Spark DataFrame"
    if isinstance(data, Dataset):
        return "orca.data.tf.Dataset"
    if is_dataset(data):
        return "tf.data.Dataset"
    return "arrays" if isinstance(data, (dict, tuple, list)) else None


def _holds_frames(data: Any) -> bool:
    if isinstance(data, SparkXShards):
        return data._get_class_name() == DATA_FRAME
    if isinstance(data, XShards):
        return bool(data._holds_frames())
    return isinstance(data, pd.DataFrame)


def _check_data(data: Any, where: str, feature_cols: Any, label_cols: Any) -> None:
    if _kind(data) is None and not (where == "prediction" and hasattr(data, "shape")):
        msg = (
            "data must be SparkXShards or orca.data.tf.Dataset or Spark DataFrame or "
            f"tf.data.Dataset; got {type(data).__name__}"
        )
        raise OrcaAssertionError(msg)
    if not _holds_frames(data):
        return
    if feature_cols is None:
        msg = f"feature columns is None; it should not be None in {where}"
        raise OrcaAssertionError(msg)
    if label_cols is None and where != "prediction":
        msg = f"label columns is None; it should not be None in {where}"
        raise OrcaAssertionError(msg)


def _check_same_kind(data: Any, validation: Any) -> None:
    if _kind(data) != _kind(validation):
        msg = (
            "train data and validation data should be both "
            f"{_kind(data)}; got {type(validation).__name__} to validate on"
        )
        raise OrcaAssertionError(msg)


def _check_trigger(trigger: Any, module: str) -> None:
    on_disk = OrcaContext.train_data_store.startswith("DISK")
    known = trigger is None or isinstance(trigger, (Trigger, str))
    if on_disk and not known:
        msg = f"Please use a trigger defined in {module}, got {trigger!r}"
        raise OrcaAssertionError(msg)


def _refuse_clipping(option: str) -> NoReturn:
    msg = f"not supported for graphs: give {option} to Estimator.from_graph instead"
    raise OrcaInputError(msg)
