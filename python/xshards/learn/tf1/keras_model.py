# SPDX-License-Identifier: Apache-2.0
"""A compiled Keras model in a graph, as the parts of a graph."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from xshards.errors import XShardsTypeError, XShardsValueError
from xshards.learn.tf1.building import GraphParts
from xshards.learn.tf1.framework import tf
from xshards.learn.tf1.keras_metrics import KerasMetric, is_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["counted_metrics", "keras_backend", "keras_optimizer", "keras_parts"]

_LEGACY = (
    "set TF_USE_LEGACY_KERAS=1 before TensorFlow is imported, call "
    "tf.disable_v2_behavior(), and build the model then"
)


def keras_backend(model: Any) -> Any:
    """Return the module `backend` of the Keras that a model is of."""
    package = type(model).__mro__[-2].__module__
    names = [kind.__module__.split(".")[0] for kind in type(model).__mro__]
    if "keras" in names:
        msg = f"expected a model of Keras 2, got one of Keras 3: {_LEGACY}"
        raise XShardsTypeError(msg)
    if "tf_keras" not in names:
        msg = f"expected a Keras model, got {type(model).__name__} of {package}"
        raise XShardsTypeError(msg)
    return importlib.import_module("tf_keras.src.backend")


def keras_parts(
    model: Any, *, metrics: bool = True, trained: bool = True
) -> GraphParts:
    """Return the tensors of a model that were made when it was compiled.

    Parameters
    ----------
    model
        A model in a graph.
    metrics
        Include those it was compiled with that are means over rows; for the others
        see `counted_metrics`.
    trained
        Include loss and updates, so that it must be compiled.
    """
    backend = keras_backend(model)
    if not model.inputs or not hasattr(model.inputs[0], "graph"):
        msg = f"expected a Keras model in a graph; {model.name} runs eagerly: {_LEGACY}"
        raise XShardsValueError(msg)
    parts = GraphParts(
        inputs=list(model.inputs),
        outputs=list(model.outputs),
        input_keys=list(model.input_names),
    )
    phase = backend.learning_phase()
    if hasattr(phase, "op") and phase.graph is parts.graph:
        parts.fixed = {phase: (True, False)}
    if not trained:
        return parts
    if getattr(model, "optimizer", None) is None or not hasattr(model, "total_loss"):
        msg = (
            "expected a compiled Keras model: call "
            f"{model.name}.compile(optimizer, loss) first"
        )
        raise XShardsValueError(msg)
    parts.loss = model.total_loss
    parts.labels = [one for one in model._targets if one is not None]
    parts.label_keys = list(model.output_names)
    parts.variables = list(model._collected_trainable_weights)
    parts.updates = list(model.updates)
    if metrics:
        parts.metrics = _metrics(model)
    return parts


def keras_optimizer(model: Any) -> Any:
    """Return the optimizer a model was compiled with; one of tf.train is wrapped."""
    inner = getattr(model.optimizer, "optimizer", None)
    return inner if isinstance(inner, tf.train.Optimizer) else model.optimizer


def counted_metrics(model: Any) -> list[KerasMetric]:
    """Return the metrics that a model was compiled with and that are no means."""
    several = len(model.outputs) > 1
    return [
        KerasMetric(metric, full, (number, name) if several else None)
        for number, name, full, metric in _compiled_metrics(model)
        if not is_mean(metric)
    ]


def _metrics(model: Any) -> dict[str, Any]:
    """Return the mean over rows of each metric that is one."""
    found: dict[str, Any] = {}
    with model.total_loss.graph.as_default():
        for number, _, full, metric in _compiled_metrics(model):
            if is_mean(metric):
                output, target = model.outputs[number], model._targets[number]
                terms = metric._fn(target, output, **metric._fn_kwargs)
                found[full] = tf.reduce_mean(tf.cast(terms, tf.float32))
    return found


def _compiled_metrics(model: Any) -> Iterator[tuple[int, str, str, Any]]:
    """Yield number and name of the output, name and object of each metric."""
    several = len(model.outputs) > 1
    for number, (name, metrics) in enumerate(
        zip(model.output_names, model._per_output_metrics, strict=True)
    ):
        for key, metric in metrics.items():
            full = key if not several or key.startswith(name) else f"{name}_{key}"
            yield number, name, full, metric
