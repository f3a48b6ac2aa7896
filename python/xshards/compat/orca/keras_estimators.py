# SPDX-License-Identifier: Apache-2.0
"""``orca.learn.tf2``: Estimators with the methods that Orca's have for Keras models.

All of them are `xshards.learn.tf.Estimator`; the two dialects differ in the order and
the defaults of arguments, in what `fit` returns and in what `save` writes.
"""

from __future__ import annotations

import inspect
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import pandas as pd

from xshards.compat.errors import OrcaAssertionError, OrcaInputError, OrcaTypeError
from xshards.compat.orca import session
from xshards.compat.orca.keras_files import KerasFiles
from xshards.compat.orca.shard_base import DATA_FRAME
from xshards.compat.orca.spark_xshards import SparkXShards
from xshards.compat.orca.tf_data import Dataset, as_features_and_target
from xshards.compat.orca.torch_estimators import to_ours
from xshards.compat.spark.rdd import RDD
from xshards.learn.tf.packages import is_of_keras
from xshards.learn.training.checkpoints.files import latest_checkpoint
from xshards.learn.trigger import EveryEpoch
from xshards.shards import XShards

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from xshards.learn.tf import Estimator

__all__ = ["BigDLKerasEstimator", "KerasFactory", "ZooKerasEstimator", "make_options"]


class KerasFactory:
    """Makes Estimators of Keras models."""

    def __new__(cls, *_: object, **__: object) -> NoReturn:
        """Raise: Estimators are made by `from_keras`."""
        msg = "call Estimator.from_keras to make an Estimator"
        raise OrcaInputError(msg)

    latest_checkpoint = staticmethod(latest_checkpoint)


def make_options(
    *,
    backend: str,
    model_creator: Callable[[dict[str, Any]], Any] | None,
    compile_args_creator: Callable[[dict[str, Any]], dict[str, Any]] | None,
    config: dict[str, Any] | None,
    workers_per_node: int,
    model_dir: str | None = None,
) -> dict[str, Any]:
    """Check the arguments of Orca's `from_keras`; return those of ours."""
    config = {} if config is None else dict(config)
    if "batch_size" in config:
        msg = (
            "Please do not specify batch_size in config. Input batch_size in the "
            "fit/evaluate function of the estimator instead."
        )
        raise OrcaInputError(msg)
    if backend == "horovod" and compile_args_creator is None:
        msg = "compile_args_creator should not be None, when backend is set to horovod"
        raise OrcaAssertionError(msg)
    return {
        "model_creator": model_creator,
        "compile_args_creator": compile_args_creator,
        "config": config,
        # One per core unless more are requested.
        "workers": workers_per_node if workers_per_node > 1 else None,
        "model_dir": model_dir,
        "context": session.active_context()._engine,
    }


class _KerasEstimator(KerasFiles):
    """What both dialects have."""

    def _fit(
        self,
        data: Any,
        batch_size: Any,
        validation_data: Any,
        data_config: dict[str, Any] | None,
        **options: Any,
    ) -> dict[str, list[Any]]:
        _check_batch_size(data, batch_size)
        if validation_data is not None:
            _check_same_kind(data, validation_data)
        given = partial(
            self._given, batch_size=batch_size, config=dict(data_config or {})
        )
        if self._options["model_dir"] is not None:
            options["checkpoint_trigger"] = EveryEpoch()
        return self._ready().fit(
            given(data, "fit"),
            batch_size=batch_size or 1,
            validation_data=(
                None if validation_data is None else given(validation_data, "fit")
            ),
            **options,
        )

    def evaluate(
        self,
        data: Any,
        batch_size: int | None = 32,
        num_steps: int | None = None,
        verbose: Any = 1,
        sample_weight: Any = None,
        callbacks: Sequence[Any] | None = None,
        data_config: dict[str, Any] | None = None,
        feature_cols: Any = None,
        label_cols: Any = None,
    ) -> dict[str, Any]:
        """Measure the loss and the metrics, by the names ``validation_...``."""
        _check_batch_size(data, batch_size)
        if sample_weight is not None:
            msg = (
                "weights of rows are a part of the data: give dicts with "
                "'sample_weight' beside 'x' and 'y', or a dataset with a third element"
            )
            raise OrcaInputError(msg)
        found = self._ready().evaluate(
            self._given(data, "evaluate", batch_size, dict(data_config or {})),
            batch_size or 1,
            num_steps,
            verbose=verbose,
            callbacks=callbacks,
            feature_cols=feature_cols,
            label_cols=label_cols,
        )
        return {f"validation_{name}": value for name, value in found.items()}

    def _predict(
        self, data: Any, batch_size: int | None, feature_cols: Any, output_cols: Any
    ) -> Any:
        _check_batch_size(data, 1 if batch_size is None else batch_size)
        estimator = self._ready()
        options = {"feature_cols": feature_cols, "output_cols": output_cols}
        batch_size = 32 if batch_size is None else batch_size
        if isinstance(data, Dataset):
            return self._predict_dataset(data, batch_size)
        if not isinstance(data, (SparkXShards, XShards, pd.DataFrame)):
            msg = (
                "Only xshards, Spark DataFrame or orca TF Dataset are supported for "
                f"predict, got {type(data).__name__}"
            )
            raise OrcaTypeError(msg)
        predicted = estimator.predict(to_ours(data), batch_size, **options)
        frames = _holds_frames(data)
        if frames and output_cols is None and _num_outputs(estimator) > 1:
            names = [f"prediction_{n}" for n in range(_num_outputs(estimator))]
            predicted = (
                predicted.transform_shard(_one_column, names)
                if isinstance(predicted, XShards)
                else _one_column(predicted, names)
            )
        if not isinstance(data, SparkXShards):
            return predicted
        rdd = RDD(data.rdd.context, lambda: predicted, predicted.num_partitions())
        rdd._native = frames
        return data._create(rdd, DATA_FRAME if frames else None)

    def _predict_dataset(self, data: Dataset, batch_size: int) -> SparkXShards:
        arrange = partial(as_features_and_target, whole=self._has_own_steps())
        predicted = self._ready().predict(data._shards(arrange), batch_size)
        context = session.active_context()
        rdd = RDD(context, lambda: predicted, predicted.num_partitions())
        return SparkXShards(rdd.map(_unwrapped))

    def _given(
        self, data: Any, method: str, batch_size: Any, config: dict[str, Any]
    ) -> Any:
        """Return what our Estimator takes for what Orca's does."""
        if isinstance(data, Dataset):
            arrange = partial(as_features_and_target, whole=self._has_own_steps())
            return data._shards(arrange)
        if isinstance(data, (SparkXShards, XShards, pd.DataFrame)):
            return to_ours(data)
        if callable(data):
            return _Creator(data, batch_size, config)
        msg = (
            "data should be SparkXShards, a Spark DataFrame, an orca TF Dataset or a "
            f"function that makes a tf.data.Dataset; {method} got "
            f"{type(data).__name__}"
        )
        raise OrcaTypeError(msg)

    def _has_own_steps(self) -> bool:
        model = self._ready()._model.keras
        return not is_of_keras(type(model).train_step)


class ZooKerasEstimator(_KerasEstimator):
    """What Analytics Zoo gives."""

    def fit(
        self,
        data: Any,
        epochs: int = 1,
        batch_size: int | None = 32,
        verbose: Any = 1,
        callbacks: Sequence[Any] | None = None,
        validation_data: Any = None,
        class_weight: dict[int, float] | None = None,
        steps_per_epoch: int | None = None,
        validation_steps: int | None = None,
        validation_freq: Any = 1,
        data_config: dict[str, Any] | None = None,
        feature_cols: Any = None,
        label_cols: Any = None,
    ) -> dict[str, Any]:
        """Train; returns the last epoch's results by the names ``train_...``."""
        history = self._fit(
            data,
            batch_size,
            validation_data,
            data_config,
            epochs=epochs,
            verbose=verbose,
            callbacks=callbacks,
            class_weight=class_weight,
            steps_per_epoch=steps_per_epoch,
            validation_steps=validation_steps,
            validation_freq=validation_freq,
            feature_cols=feature_cols,
            label_cols=label_cols,
        )
        return {f"train_{name}": values[-1] for name, values in history.items()}

    def predict(
        self,
        data: Any,
        batch_size: int | None = None,
        verbose: Any = 1,
        steps: int | None = None,
        callbacks: Sequence[Any] | None = None,
        data_config: dict[str, Any] | None = None,
        feature_cols: Any = None,
    ) -> Any:
        """Apply the model to all rows; shards gain the key or column ``prediction``."""
        return self._predict(data, batch_size, feature_cols, None)

    def save(self, checkpoint: str) -> str:  # type: ignore[override]
        """Write the weights, the optimizer's state and the epoch to one file."""
        return self.save_checkpoint(checkpoint)

    def load(  # type: ignore[override]
        self, checkpoint: str, sample_input: Any = None
    ) -> None:
        """Read what `save` wrote."""
        self.load_checkpoint(checkpoint, sample_input)


class BigDLKerasEstimator(_KerasEstimator):
    """What BigDL 2 gives, whatever the backend."""

    def fit(
        self,
        data: Any,
        epochs: int = 1,
        batch_size: int | None = 32,
        verbose: Any = 1,
        callbacks: Sequence[Any] | None = None,
        validation_data: Any = None,
        class_weight: dict[int, float] | None = None,
        initial_epoch: int = 0,
        steps_per_epoch: int | None = None,
        validation_steps: int | None = None,
        validation_freq: Any = 1,
        data_config: dict[str, Any] | None = None,
        feature_cols: Any = None,
        label_cols: Any = None,
    ) -> dict[str, list[Any]]:
        """Train; returns Keras' history: the results of each epoch."""
        return self._fit(
            data,
            batch_size,
            validation_data,
            data_config,
            epochs=epochs,
            verbose=verbose,
            callbacks=callbacks,
            class_weight=class_weight,
            initial_epoch=initial_epoch,
            steps_per_epoch=steps_per_epoch,
            validation_steps=validation_steps,
            validation_freq=validation_freq,
            feature_cols=feature_cols,
            label_cols=label_cols,
        )

    def predict(
        self,
        data: Any,
        batch_size: int | None = 32,
        verbose: Any = 1,
        steps: int | None = None,
        callbacks: Sequence[Any] | None = None,
        data_config: dict[str, Any] | None = None,
        feature_cols: Any = None,
        min_partition_num: int | None = None,
        output_cols: Any = None,
    ) -> Any:
        """Apply the model to all rows; shards gain the key or column ``prediction``."""
        return self._predict(data, batch_size, feature_cols, output_cols)


class _Creator:
    """A function that makes a dataset, called as Orca does.

    It gets a config with the batch size over all replicas in it, and that size.
    """

    def __init__(
        self, function: Callable[..., Any], batch_size: Any, config: dict[str, Any]
    ) -> None:
        self._function = function
        self._batch_size = batch_size
        self._config = config

    def __call__(self, config: dict[str, Any], _batch_size: int) -> Any:
        config = {**config, **self._config, "batch_size": self._batch_size}
        parameters = inspect.signature(self._function).parameters
        one = len(parameters) == 1
        return self._function(*([config] if one else [config, self._batch_size]))


def _check_batch_size(data: Any, batch_size: Any) -> None:
    if batch_size is None and callable(data):
        return  # its batches are made already
    whole = isinstance(batch_size, int) and not isinstance(batch_size, bool)
    if not whole or batch_size < 1:
        msg = f"batch_size should be a positive integer, got {batch_size!r}"
        raise OrcaInputError(msg)


def _check_same_kind(data: Any, validation: Any) -> None:
    kinds = (Dataset, (SparkXShards, XShards, pd.DataFrame))
    for kind in kinds:
        if isinstance(data, kind) != isinstance(validation, kind):
            msg = (
                "Validation data type should be the same as train data, but got type: "
                f"{type(validation).__name__} beside {type(data).__name__}"
            )
            raise OrcaTypeError(msg)


def _holds_frames(data: Any) -> bool:
    if isinstance(data, SparkXShards):
        return data._get_class_name() == DATA_FRAME
    if isinstance(data, XShards):
        return bool(data._holds_frames())
    return isinstance(data, pd.DataFrame)


def _num_outputs(estimator: Estimator) -> int:
    try:
        return len(estimator._model.keras.outputs or [None])
    except (AttributeError, ValueError):  # not built yet
        return 1


def _one_column(frame: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Put the outputs of a model in one column, as a list in each row."""
    columns = [frame.pop(name) for name in names]
    frame["prediction"] = [
        [one.tolist() if hasattr(one, "tolist") else one for one in row]
        for row in zip(*columns, strict=True)
    ]
    return frame


def _unwrapped(shard: dict[str, Any]) -> dict[str, Any]:
    """Put predictions beside the keys that a dict of features has."""
    features = shard["x"]
    if isinstance(features, dict) and set(shard) == {"x", "prediction"}:
        return {**features, "prediction": shard["prediction"]}
    return shard
