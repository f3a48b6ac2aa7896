# SPDX-License-Identifier: Apache-2.0
"""``TFOptimizer``: trains the variables that a loss depends on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from xshards.compat.errors import OrcaInputError
from xshards.compat.orca import session
from xshards.compat.tfpark.files import export_training_graph
from xshards.compat.tfpark.structures import flatten
from xshards.compat.tfpark.tf_dataset import TFDataset, find_dataset
from xshards.compat.tfpark.val_metrics import OnTensors
from xshards.compat.tfpark.version_1 import use_version_1
from xshards.compat.tfpark.zoo_optimizer import marked_gradients
from xshards.learn.metrics.metric import describe_metrics
from xshards.learn.tf1 import Estimator, KerasEstimator
from xshards.learn.tf1.building import GraphParts, as_list
from xshards.learn.tf1.driver_optimizer import OwnerOptimizer
from xshards.learn.trigger import (
    EveryEpoch,
    MaxEpoch,
    MaxIteration,
    Or,
    TrainingState,
)

if TYPE_CHECKING:
    from typing import Self

    import numpy as np

    from xshards.learn.tf1.building import Built

__all__ = ["TFOptimizer"]

use_version_1()

_NO_END = 1 << 30


class TFOptimizer:
    """Trains the variables that a loss depends on, with replicas of the graph.

    Parameters
    ----------
    loss
        A scalar tensor that depends on a `TFDataset`.
    optim_method
        An optimizer of BigDL or of tf.train; or a dict of BigDL's by prefixes of
        variables' names.
    sess
        A session in which variables have values; a new one by default.
    dataset
        The dataset, if it is not to be found from the loss.
    """

    def __init__(
        self,
        loss: Any,
        optim_method: Any = None,
        sess: Any = None,
        dataset: TFDataset | None = None,
        **options: Any,
    ) -> None:
        made = self.from_loss(
            loss, optim_method, session=sess, dataset=dataset, **options
        )
        self.__dict__.update(made.__dict__)

    @classmethod
    def _of(cls, estimator: Estimator, dataset: TFDataset) -> Self:
        made = object.__new__(cls)
        made.estimator = estimator
        made.dataset = dataset
        made.tf_model = _TFModel(estimator)
        return made

    estimator: Estimator
    dataset: TFDataset
    tf_model: _TFModel

    @property
    def sess(self) -> Any:
        """The session, which has the trained values after `optimize`."""
        return self.estimator.sess

    @classmethod
    def from_loss(
        cls,
        loss: Any,
        optim_method: Any,
        session: Any = None,
        inputs: Any = None,
        dataset: TFDataset | None = None,
        val_outputs: Any = None,
        val_labels: Any = None,
        val_method: Any = None,
        clip_norm: float | None = None,
        clip_value: Any = None,
        metrics: dict[str, Any] | None = None,
        tensor_with_value: dict[Any, Any] | None = None,
        session_config: Any = None,
        model_dir: str | None = None,
        updates: Any = None,
    ) -> Self:
        """Make one of a loss.

        `inputs` are (features, labels) where they are not the dataset's placeholders;
        `tensor_with_value` has a value to train with and one to validate with;
        `val_method` measures `val_outputs` on the dataset's validation data, by
        `val_labels` or else by the dataset's labels.
        """
        dataset = find_dataset([loss]) if dataset is None else dataset
        parts = _parts(dataset, loss, inputs)
        parts.outputs = as_list(val_outputs)
        if val_method is not None and val_labels is not None:
            count = len(parts.outputs)
            val_method = [OnTensors(one, count) for one in describe_metrics(val_method)]
            parts.outputs += as_list(val_labels)
        parts.metrics = dict(metrics or {})
        parts.fixed = dict(tensor_with_value or {})
        parts.updates = as_list(updates)
        if optim_method is None:
            msg = "expected an optimizer as optim_method, got None"
            raise OrcaInputError(msg)
        estimator = Estimator.from_parts(
            parts,
            optimizer=optim_method,
            metrics=val_method,
            clip_norm=clip_norm,
            clip_value=clip_value,
            sess=session,
            config=session_config,
            model_dir=model_dir,
            context=_engine(),
        )
        return cls._of(estimator, dataset)

    @classmethod
    def from_keras(
        cls,
        keras_model: Any,
        dataset: TFDataset,
        session_config: Any = None,
        model_dir: str | None = None,
        metrics: Any = None,
        optimizer: Any = None,
    ) -> Self:
        """Make one of a compiled Keras model; `optimizer` of BigDL replaces its own.

        `metrics` are scalar tensors by name beside those it was compiled with, or
        metrics of Orca in their place.
        """
        estimator = KerasEstimator.from_keras(
            keras_model,
            metrics=metrics,
            optimizer=optimizer,
            model_dir=model_dir,
            context=_engine(),
        )
        estimator._set_feeds(None, session_config)
        return cls._of(estimator, dataset)

    @classmethod
    def from_train_op(
        cls,
        train_op: Any,
        loss: Any,
        *,
        inputs: Any = None,
        labels: Any = None,
        metrics: dict[str, Any] | None = None,
        updates: Any = None,
        sess: Any = None,
        dataset: TFDataset | None = None,
        tensor_with_value: dict[Any, Any] | None = None,
        session_config: Any = None,
        model_dir: str | None = None,
    ) -> Self:
        """Make one of what ``ZooOptimizer(...).minimize(loss)`` returned."""
        dataset = find_dataset([loss]) if dataset is None else dataset
        given = None if inputs is None else (inputs, labels)
        parts = _parts(dataset, loss, given)
        parts.metrics = dict(metrics or {})
        parts.fixed = dict(tensor_with_value or {})
        parts.updates = as_list(updates)
        marked = marked_gradients(train_op)
        parts.gradients = [mark for mark, _ in marked]
        parts.variables = [variable for _, variable in marked]
        by_name = {variable.op.name: mark for mark, variable in marked}
        if sess is None:
            from xshards.learn.tf1.building import new_session

            sess = new_session(loss.graph)

        def make(built: Built) -> OwnerOptimizer:
            trained = [one for some in built.trained for one in some]
            return OwnerOptimizer(
                train_op,
                built,
                train_op=train_op,
                gradients=[by_name[one.op.name] for one in trained],
                session=sess,
            )

        estimator = Estimator.from_parts(
            parts,
            make=make,
            sess=sess,
            config=session_config,
            model_dir=model_dir,
            context=_engine(),
        )
        return cls._of(estimator, dataset)

    @staticmethod
    def export_training_model(
        export_dir: str,
        loss: Any,
        sess: Any,
        inputs: Any,
        labels: Any = None,
        predictions: Any = None,
        metrics: dict[str, Any] | None = None,
        tensor_with_value: dict[Any, Any] | None = None,
        updates: Any = None,
    ) -> None:
        """Write a graph with its gradients, the variables' values and all names.

        See `xshards.compat.tfpark.files.export_training_graph`.
        """
        export_training_graph(
            export_dir,
            loss,
            sess,
            inputs=as_list(inputs),
            labels=as_list(labels),
            predictions=as_list(predictions),
            metrics=dict(metrics or {}),
            tensor_with_value=dict(tensor_with_value or {}),
            updates=as_list(updates),
        )

    def set_train_summary(self, summary: Any) -> None:
        """Write what training gives to the files of a TrainSummary."""
        self.estimator._log_dir = Path(summary.log_dir).parent

    def set_val_summary(self, summary: Any) -> None:
        """Write what validation gives to the files of a ValidationSummary."""
        self.estimator._log_dir = Path(summary.log_dir).parent

    def set_constant_gradient_clipping(
        self, min_value: float, max_value: float
    ) -> None:
        """Limit each element of the gradient."""
        self.estimator.set_constant_gradient_clipping(min_value, max_value)

    def set_gradient_clipping_by_l2_norm(self, clip_norm: float) -> None:
        """Limit the norm of the whole gradient."""
        self.estimator.set_l2_norm_gradient_clipping(clip_norm)

    def load_checkpoint(self, path: str, version: int | None = None) -> None:
        """Set the variables and the epoch to those of a checkpoint."""
        self.estimator.load_orca_checkpoint(path, version)

    def optimize(self, end_trigger: Any = None, checkpoint_trigger: Any = None) -> None:
        """Train until a trigger fires; by default for one epoch."""
        if self.dataset.batch_size <= 0:
            msg = (
                "The batch_size of TFDataset must be specified when used for training."
            )
            raise OrcaInputError(msg)
        end = MaxEpoch(1) if end_trigger is None else end_trigger
        estimator = self.estimator
        options: dict[str, Any] = {
            "batch_size": self.dataset.batch_size,
            "shuffle": self.dataset.shuffle,
            "validation_data": self.dataset.read_validation(),
        }
        if estimator._model_dir is not None:
            options["checkpoint_trigger"] = checkpoint_trigger or EveryEpoch()
        data = self.dataset.read()
        for epochs, steps in _rounds(estimator, end):
            estimator.fit(data, epochs, max_steps=steps, **options)


class _TFModel:
    """What scripts look at the weights by."""

    def __init__(self, estimator: Estimator) -> None:
        self.training_helper_layer = self
        self._estimator = estimator

    def get_weights(self) -> list[np.ndarray[Any, Any]]:
        """Return the trained arrays, in the order of the variables' names."""
        trained = [one for some in self._estimator._built.trained for one in some]
        ordered = sorted(trained, key=lambda one: one.op.name)
        return list(self._estimator.sess.run(ordered))


def _rounds(estimator: Estimator, end: Any) -> Any:
    """Yield how many epochs and steps to train at a time, until a trigger fires."""
    while True:
        epoch, step = estimator._job.epoch, estimator._job.num_steps
        bounded = _most(end, MaxEpoch), _most(end, MaxIteration)
        if epoch >= bounded[0] or step >= bounded[1]:
            return
        epochs, steps = bounded[0] - epoch, bounded[1] - step
        limit = None if bounded[1] == _NO_END else steps
        if isinstance(end, (MaxEpoch, MaxIteration)):
            yield epochs, limit
            return
        yield 1, limit
        loss = getattr(estimator._job, "observed", None)
        state = TrainingState(
            estimator._job.epoch, estimator._job.num_steps, loss, None, True
        )
        if end.fires(state):
            return


def _most(trigger: Any, kind: type) -> int:
    """Return after how many epochs or steps a trigger fires whatever else happens."""
    if isinstance(trigger, kind):
        return int(vars(trigger)["max"])
    if isinstance(trigger, Or):
        return min(_most(one, kind) for one in trigger.triggers)
    return _NO_END


def _parts(dataset: TFDataset, loss: Any, inputs: Any) -> GraphParts:
    """Return the placeholders that a dataset feeds, or others in their place."""
    with loss.graph.as_default():
        if inputs is None:
            features, labels = dataset.feature_tensors, dataset.label_tensors
        elif isinstance(inputs, tuple) and len(inputs) == 2:
            features, labels = inputs
        else:
            features, labels = inputs, None
    return GraphParts(inputs=flatten(features), labels=flatten(labels), loss=loss)


def _engine() -> Any:
    return session.active_context()._engine
