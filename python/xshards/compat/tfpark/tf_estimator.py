# SPDX-License-Identifier: Apache-2.0
"""``TFEstimator``: a model function, trained, measured and applied."""

from __future__ import annotations

import inspect
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xshards.compat.errors import OrcaInputError
from xshards.compat.orca import session
from xshards.compat.tfpark.structures import flatten
from xshards.compat.tfpark.tf_dataset import TFDataset
from xshards.compat.tfpark.tf_optimizer import TFOptimizer
from xshards.compat.tfpark.tf_predictor import predict_rows, predictor_of
from xshards.compat.tfpark.version_1 import use_version_1
from xshards.learn.metrics import AUC, MAE, Accuracy, Top5Accuracy
from xshards.learn.tf1 import Estimator
from xshards.learn.tf1.building import GraphParts, new_session
from xshards.learn.tf1.framework import tf
from xshards.learn.trigger import MaxIteration

if TYPE_CHECKING:
    from collections.abc import Callable

    from xshards.compat.spark.rdd import RDD

__all__ = ["TFEstimator"]

use_version_1()

_METRICS = {
    "acc": ("acc Top1Accuracy", Accuracy),
    "accuracy": ("acc Top1Accuracy", Accuracy),
    "top5acc": ("top5acc Top5Accuracy", Top5Accuracy),
    "mae": ("mae MAE", MAE),
    "auc": ("auc AUC", AUC),
}


class TFEstimator:
    """Trains a model that a function makes, anew in each call.

    Parameters
    ----------
    model_fn
        Takes features, and of labels, mode, params and config those that it names;
        returns an object with mode, predictions, loss and train_op.
    model_dir
        Where variables are kept between calls; a temporary folder by default.
    config, params
        Passed to `model_fn`.
    """

    def __init__(
        self,
        model_fn: Callable[..., Any],
        model_dir: str | None = None,
        config: Any = None,
        params: Any = None,
    ) -> None:
        self._model_fn = model_fn
        self.model_dir = model_dir or tempfile.mkdtemp(prefix="tfestimator-")
        self._config = config
        self._params = params

    @classmethod
    def from_model_fn(
        cls,
        model_fn: Callable[..., Any],
        model_dir: str | None = None,
        config: Any = None,
        params: Any = None,
        warm_start_from: Any = None,
    ) -> TFEstimator:
        """Make one of a model function."""
        return cls(model_fn, model_dir, config, params)

    def train(
        self, input_fn: Callable[..., Any], steps: int | None = None
    ) -> TFEstimator:
        """Train for a number of steps, from where the last call ended."""
        with tf.Graph().as_default() as graph:
            step = tf.train.get_or_create_global_step()
            dataset = _called(input_fn, "train")
            if dataset.batch_size <= 0:
                msg = (
                    "The batch_size of TFDataset must be specified when used for "
                    "training."
                )
                raise OrcaInputError(msg)
            spec = self._spec(dataset, "train")
            sess = self._session(graph, None)
            updates = graph.get_collection(tf.GraphKeys.UPDATE_OPS)
            optimizer = TFOptimizer.from_train_op(
                spec.train_op, spec.loss, sess=sess, dataset=dataset, updates=updates
            )
            begin = self._last_step()
            optimizer.optimize(MaxIteration(steps or 1))
            optimizer.estimator.shutdown()
            done = begin + (steps or 1)
            _set_step(step, done, sess)
            folder = Path(self.model_dir)
            folder.mkdir(parents=True, exist_ok=True)
            tf.train.Saver().save(sess, str(folder / "model"), global_step=done)
            sess.close()
        return self

    def evaluate(
        self,
        input_fn: Callable[..., Any],
        eval_methods: list[str],
        steps: int | None = None,
        checkpoint_path: str | None = None,
    ) -> dict[str, float]:
        """Measure the model of the newest checkpoint, or a fresh one."""
        unknown = [one for one in eval_methods if one not in (*_METRICS, "loss")]
        if unknown:
            known = ", ".join([*_METRICS, "loss"])
            msg = f"eval_methods are {known}; got {', '.join(unknown)}"
            raise OrcaInputError(msg)
        with tf.Graph().as_default() as graph:
            tf.train.get_or_create_global_step()
            dataset = _batched(_called(input_fn, "eval"))
            spec = self._spec(dataset, "eval")
            named = [_METRICS[one] for one in eval_methods if one != "loss"]
            parts = GraphParts(
                inputs=flatten(dataset.feature_tensors),
                labels=flatten(dataset.label_tensors),
                outputs=_outputs(spec.predictions)[0],
                loss=spec.loss if "loss" in eval_methods else None,
            )
            sess = self._session(graph, checkpoint_path)
            estimator = Estimator.from_parts(
                parts,
                metrics=[make() for _, make in named],
                sess=sess,
                context=session.active_context()._engine,
            )
            size = dataset.rows_at_a_time
            found = estimator.evaluate(dataset.read(), size, steps)
            estimator.shutdown()
            sess.close()
        result = {name: found[make().get_name()] for name, make in named}
        return result | ({"loss": found["val_loss"]} if "val_loss" in found else {})

    def predict(
        self,
        input_fn: Callable[..., Any],
        checkpoint_path: str | None = None,
        predict_keys: list[str] | str | None = None,
    ) -> RDD:
        """Return an RDD with the predictions of each element."""
        with tf.Graph().as_default() as graph:
            tf.train.get_or_create_global_step()
            dataset = _batched(_called(input_fn, "infer"))
            spec = self._spec(dataset, "infer")
            outputs, keys = _outputs(spec.predictions, predict_keys)
            parts = GraphParts(
                inputs=flatten(dataset.feature_tensors),
                outputs=outputs,
                output_keys=keys,
            )
            sess = self._session(graph, checkpoint_path)
            # The values are taken over now, so the session is not needed any more.
            rows = predict_rows(predictor_of(parts, sess), dataset)
            sess.close()
        return rows

    def _spec(self, dataset: TFDataset, mode: str) -> Any:
        given = {"mode": mode, "params": self._params, "config": self._config}
        given["labels"] = None if mode == "infer" else dataset.label_tensors
        names = inspect.signature(self._model_fn).parameters
        chosen = {name: value for name, value in given.items() if name in names}
        return self._model_fn(dataset.feature_tensors, **chosen)

    def _session(self, graph: Any, path: str | None) -> Any:
        sess = new_session(graph)
        found = path or tf.train.latest_checkpoint(self.model_dir)
        if found is not None:
            tf.train.Saver().restore(sess, found)
        return sess

    def _last_step(self) -> int:
        found = tf.train.latest_checkpoint(self.model_dir)
        return 0 if found is None else int(found.rpartition("-")[2])


def _called(input_fn: Callable[..., Any], mode: str) -> TFDataset:
    takes = "mode" in inspect.signature(input_fn).parameters
    dataset = input_fn(mode=mode) if takes else input_fn()
    if not isinstance(dataset, TFDataset):
        msg = f"input_fn should return a TFDataset, got {type(dataset).__name__}"
        raise OrcaInputError(msg)
    return dataset


def _set_step(step: Any, value: int, sess: Any) -> None:
    sess.run(step.assign(value, read_value=False))


def _batched(dataset: TFDataset) -> TFDataset:
    """Feed rows in batches, also where nobody said how many."""
    dataset.has_batch = True
    return dataset


def _outputs(
    predictions: Any, wanted: list[str] | str | None = None
) -> tuple[list[Any], list[str] | None]:
    if not isinstance(predictions, dict):
        return flatten(predictions), None
    keys = [wanted] if isinstance(wanted, str) else wanted or list(predictions)
    return [predictions[key] for key in keys], keys
