# SPDX-License-Identifier: Apache-2.0
"""A compiled Keras model in a graph, as the parts of a graph."""

from __future__ import annotations

import importlib
from typing import Any

from xshards.errors import (
    XShardsNotImplementedError,
    XShardsTypeError,
    XShardsValueError,
)
from xshards.learn.tf1.building import GraphParts
from xshards.learn.tf1.framework import tf

__all__ = ["keras_backend", "keras_optimizer", "keras_parts"]

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
        Include those it was compiled with.
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


def _metrics(model: Any) -> dict[str, Any]:
    """Return the mean over rows of each metric that a model was compiled with."""
    found: dict[str, Any] = {}
    several = len(model.outputs) > 1
    with model.total_loss.graph.as_default():
        for output, target, name, metrics in zip(
            model.outputs,
            model._targets,
            model.output_names,
            model._per_output_metrics,
            strict=True,
        ):
            for key, metric in metrics.items():
                function = getattr(metric, "_fn", None)
                if function is None:
                    msg = (
                        f"{key} is not a mean over rows, so replicas cannot measure it "
                        "in the graph; give metrics of xshards.learn.metrics instead"
                    )
                    raise XShardsNotImplementedError(msg)
                terms = function(target, output, **metric._fn_kwargs)
                full = key if not several or key.startswith(name) else f"{name}_{key}"
                found[full] = tf.reduce_mean(tf.cast(terms, tf.float32))
    return found
