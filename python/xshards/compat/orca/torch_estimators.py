# SPDX-License-Identifier: Apache-2.0
"""Estimators with the methods that Orca's PyTorch backends have.

All of them are our Estimator; they differ in the order and the defaults of arguments,
and take and give SparkXShards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from xshards.compat.errors import OrcaInputError
from xshards.compat.orca import session
from xshards.compat.orca.shard_base import DATA_FRAME
from xshards.compat.orca.spark_xshards import SparkXShards
from xshards.compat.spark import blocks
from xshards.compat.spark.rdd import RDD
from xshards.learn.training.checkpoints.files import latest_checkpoint
from xshards.shards import XShards

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Self

    from xshards.learn.pytorch import Estimator
    from xshards.learn.training.estimator_base import EstimatorBase

__all__ = [
    "BigDLEstimator",
    "EstimatorFactory",
    "OrcaEstimator",
    "SparkEstimator",
    "WorkerEstimator",
    "check_backend",
    "make_estimator",
    "to_ours",
]

# What Orca's from_torch takes and ours does not.
_ORCAS_OWN = frozenset(["backend", "log_level", "log_to_driver", "workers_per_node"])


class EstimatorFactory:
    """Makes Estimators of PyTorch models."""

    def __new__(cls, *_: object, **__: object) -> NoReturn:
        """Raise: Estimators are made by `from_torch`."""
        msg = "call Estimator.from_torch to make an Estimator"
        raise OrcaInputError(msg)

    latest_checkpoint = staticmethod(latest_checkpoint)


class OrcaEstimator:
    """One of our Estimators; what is not changed here is its own."""

    def __init__(self, estimator: EstimatorBase) -> None:
        self._estimator = estimator

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._estimator, name)

    def _fit(self, data: Any, **options: Any) -> list[Any]:
        options["validation_data"] = to_ours(options.get("validation_data"))
        return self._estimator.fit(to_ours(data), **options)

    def _evaluate(self, data: Any, **options: Any) -> dict[str, Any]:
        result: dict[str, Any] = self._estimator.evaluate(to_ours(data), **options)
        return result

    def _predict(self, data: Any, **options: Any) -> Any:
        predicted = self._estimator.predict(to_ours(data), **options)
        if not isinstance(data, SparkXShards) or not isinstance(predicted, XShards):
            return predicted
        rdd = RDD(data.rdd.context, lambda: predicted, predicted.num_partitions())
        frames = data._get_class_name() == DATA_FRAME
        rdd._native = frames
        return data._create(rdd, DATA_FRAME if frames else None)


class BigDLEstimator(OrcaEstimator):
    """What Analytics Zoo gives for ``backend="bigdl"``."""

    def fit(
        self,
        data: Any,
        epochs: int = 1,
        batch_size: int | None = 32,
        validation_data: Any = None,
        validation_methods: Any = None,
        checkpoint_trigger: Any = None,
        *,
        feature_cols: Any = None,
        label_cols: Any = None,
        labels_cols: Any = None,
    ) -> Self:
        """Train for a number of epochs. A DataLoader's batch size is its own."""
        self._fit(
            data,
            epochs=epochs,
            batch_size=32 if batch_size is None else batch_size,
            validation_data=validation_data,
            validation_methods=validation_methods,
            checkpoint_trigger=checkpoint_trigger,
            feature_cols=feature_cols,
            label_cols=labels_cols if label_cols is None else label_cols,
        )
        return self

    def evaluate(
        self,
        data: Any,
        validation_methods: Any = None,
        batch_size: int | None = 32,
        *,
        feature_cols: Any = None,
        label_cols: Any = None,
        labels_cols: Any = None,
        validation_metrics: Any = None,
    ) -> dict[str, Any]:
        """Measure the loss and metrics on data."""
        if validation_metrics is not None:
            validation_methods = validation_metrics
        return self._evaluate(
            data,
            batch_size=32 if batch_size is None else batch_size,
            validation_methods=validation_methods,
            feature_cols=feature_cols,
            label_cols=labels_cols if label_cols is None else label_cols,
        )

    def predict(
        self, data: Any, batch_size: int | None = 4, feature_cols: Any = None
    ) -> Any:
        """Apply the model to data."""
        return self._predict(
            data,
            batch_size=4 if batch_size is None else batch_size,
            feature_cols=feature_cols,
        )


class WorkerEstimator(OrcaEstimator):
    """What Analytics Zoo gives for "horovod" and "torch_distributed"."""

    def fit(
        self,
        data: Any,
        epochs: int = 1,
        profile: bool | int = False,  # noqa: FBT001 - as in Orca
        reduce_results: bool = True,  # noqa: FBT001
        info: dict[str, Any] | None = None,
        *,
        batch_size: int = 32,
        feature_cols: Any = None,
        label_cols: Any = None,
        validation_data: Any = None,
        callbacks: Sequence[Any] | None = None,
    ) -> list[Any]:
        """Train for a number of epochs, on what a function of the config makes."""
        if not isinstance(profile, bool):
            # Later versions have the batch size at this position.
            profile, batch_size = False, profile
        return self._fit(
            data,
            epochs=epochs,
            batch_size=batch_size,
            profile=profile,
            reduce_results=reduce_results,
            info=info,
            feature_cols=feature_cols,
            label_cols=label_cols,
            validation_data=validation_data,
            callbacks=callbacks,
        )

    def evaluate(
        self,
        data: Any,
        num_steps: int | None = None,
        profile: bool = False,  # noqa: FBT001 - as in Orca
        info: dict[str, Any] | None = None,
        *,
        batch_size: int = 32,
        feature_cols: Any = None,
        label_cols: Any = None,
    ) -> dict[str, Any]:
        """Measure the loss and metrics on data."""
        return self._evaluate(
            data,
            batch_size=batch_size,
            num_steps=num_steps,
            profile=profile,
            info=info,
            feature_cols=feature_cols,
            label_cols=label_cols,
        )

    def predict(
        self,
        data: Any,
        batch_size: int = 32,
        feature_cols: Any = None,
        profile: bool = False,  # noqa: FBT001 - as in Orca
    ) -> Any:
        """Apply the model to data."""
        return self._predict(
            data, batch_size=batch_size, feature_cols=feature_cols, profile=profile
        )


class SparkEstimator(OrcaEstimator):
    """What BigDL 2 gives for "spark", "ray" and "horovod"."""

    def fit(
        self,
        data: Any,
        epochs: int = 1,
        batch_size: int = 32,
        profile: bool = False,  # noqa: FBT001 - as in Orca
        reduce_results: bool = True,  # noqa: FBT001
        feature_cols: Any = None,
        label_cols: Any = None,
        validation_data: Any = None,
        callbacks: Sequence[Any] | None = None,
        *,
        max_steps: int | None = None,
        info: dict[str, Any] | None = None,
    ) -> list[Any]:
        """Train for a number of epochs; `batch_size` is over all workers."""
        return self._fit(
            data,
            epochs=epochs,
            batch_size=batch_size,
            profile=profile,
            reduce_results=reduce_results,
            feature_cols=feature_cols,
            label_cols=label_cols,
            validation_data=validation_data,
            callbacks=callbacks,
            max_steps=max_steps,
            info=info,
        )

    def evaluate(
        self,
        data: Any,
        batch_size: int = 32,
        num_steps: int | None = None,
        profile: bool = False,  # noqa: FBT001 - as in Orca
        reduce_results: bool = True,  # noqa: FBT001
        feature_cols: Any = None,
        label_cols: Any = None,
        callbacks: Sequence[Any] | None = None,
        *,
        info: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Measure the loss and metrics on data."""
        return self._evaluate(
            data,
            batch_size=batch_size,
            num_steps=num_steps,
            profile=profile,
            reduce_results=reduce_results,
            feature_cols=feature_cols,
            label_cols=label_cols,
            callbacks=callbacks,
            info=info,
        )

    def predict(
        self,
        data: Any,
        batch_size: int = 32,
        feature_cols: Any = None,
        profile: bool = False,  # noqa: FBT001 - as in Orca
        callbacks: Sequence[Any] | None = None,
        output_cols: Any = None,
    ) -> Any:
        """Apply the model to data."""
        return self._predict(
            data,
            batch_size=batch_size,
            feature_cols=feature_cols,
            profile=profile,
            callbacks=callbacks,
            output_cols=output_cols,
        )


def check_backend(backend: str, known: Iterable[str]) -> None:
    """Refuse a backend that Orca does not have."""
    if backend not in known:
        names = ", ".join(known)
        msg = f"Only {names} are supported as backend, but got {backend!r}"
        raise OrcaInputError(msg)


def make_estimator(given: dict[str, Any], **changed: Any) -> Estimator:
    """Make our Estimator of the arguments that Orca's `from_torch` was given."""
    from xshards.learn import pytorch

    options = {name: one for name, one in given.items() if name not in _ORCAS_OWN}
    per_node = given["workers_per_node"]
    return pytorch.Estimator.from_torch(
        **(options | changed),
        # One per core unless more are requested.
        workers=per_node if per_node > 1 else None,
        context=session.active_context()._engine,
    )


def to_ours(data: Any) -> Any:
    """Give the engine's shards of SparkXShards; all else as it is."""
    if not isinstance(data, SparkXShards):
        return data
    if data._get_class_name() == DATA_FRAME:
        return data._frames()
    return blocks.merge_alike(data.rdd._shards())
