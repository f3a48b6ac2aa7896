# SPDX-License-Identifier: Apache-2.0
"""``zoo.util.tf``: files of TensorFlow sessions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from xshards.compat.errors import OrcaInputError
from xshards.compat.tfpark.version_1 import use_version_1
from xshards.learn.tf1.framework import tf

__all__ = [
    "GRAPH_FILE",
    "META_FILE",
    "TRAINING_META_FILE",
    "export_tf",
    "export_training_graph",
    "get_checkpoint_state",
    "load_tf_checkpoint",
    "save_tf_checkpoint",
]

use_version_1()

GRAPH_FILE = "frozen_inference_graph.pb"
META_FILE = "graph_meta.json"
TRAINING_META_FILE = "training_meta.json"


def save_tf_checkpoint(sess: Any, checkpoint_path: str, saver: Any = None) -> None:
    """Write the variables of a session; see tf.train.Saver."""
    with sess.graph.as_default():
        Path(checkpoint_path).parent.mkdir(parents=True, exist_ok=True)
        (saver or tf.train.Saver()).save(sess, checkpoint_path)


def load_tf_checkpoint(sess: Any, checkpoint_path: str, saver: Any = None) -> None:
    """Read the variables of a session; see tf.train.Saver."""
    with sess.graph.as_default():
        (saver or tf.train.Saver()).restore(sess, checkpoint_path)


def get_checkpoint_state(checkpoint_dir: str) -> Any:
    """Return the newest checkpoints of a folder, with absolute paths."""
    return tf.train.get_checkpoint_state(str(Path(checkpoint_dir).absolute()))


def export_tf(
    sess: Any,
    folder: str,
    inputs: list[Any],
    outputs: list[Any],
    generate_backward: bool = False,  # noqa: FBT001 - as in Orca
    allow_non_differentiable_input: bool = True,  # noqa: FBT001
) -> None:
    """Write a frozen graph and the names of its inputs and outputs to a folder.

    Parameters
    ----------
    sess
        Has the values of variables.
    folder
        Where; made if it is not there.
    inputs, outputs
        Tensors of the session's graph.
    generate_backward
        Keep variables out of the frozen graph's reach so that `TFNet.backward` works;
        gradients are made when the graph is loaded, so nothing has to be written.
    allow_non_differentiable_input
        Has no effect: gradients of integers are zeros.
    """
    frozen = tf.graph_util.convert_variables_to_constants(
        sess, sess.graph.as_graph_def(), [one.op.name for one in outputs]
    )
    known = {node.name for node in frozen.node}
    for one in inputs:
        if one.op.name not in known:
            msg = f'Node "{one.op.name}" doesn\'t exist in the graph'
            raise OrcaInputError(msg)
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    (target / GRAPH_FILE).write_bytes(frozen.SerializeToString())
    names = {
        "input_names": [one.name for one in inputs],
        "output_names": [one.name for one in outputs],
    }
    (target / META_FILE).write_text(json.dumps(names))


def export_training_graph(
    folder: str,
    loss: Any,
    sess: Any,
    *,
    inputs: list[Any],
    labels: list[Any],
    predictions: list[Any],
    metrics: dict[str, Any],
    tensor_with_value: dict[Any, Any],
    updates: list[Any],
) -> None:
    """Write a graph that another program can train.

    ``model.meta`` and the files beside it have the graph, with gradients, and the
    variables as `tf.train.import_meta_graph` and a Saver read them;
    ``training_meta.json`` says what in it is called how.

    Parameters
    ----------
    folder
        Where; made if it is not there.
    loss
        A scalar.
    sess
        Has the values of variables.
    inputs, labels, predictions
        Tensors of the session's graph.
    metrics
        Scalar tensors by name.
    tensor_with_value
        Tensors with a value to train with and one to validate with.
    updates
        Operations to run with each step.
    """
    with loss.graph.as_default():
        variables = tf.trainable_variables()
        found = zip(variables, tf.gradients(loss, variables), strict=True)
        trained = [
            (variable, tf.convert_to_tensor(gradient))
            for variable, gradient in found
            if gradient is not None
        ]
        Path(folder).mkdir(parents=True, exist_ok=True)
        tf.train.Saver().save(sess, str(Path(folder, "model")))
    names = {
        "inputs": [one.name for one in inputs],
        "labels": [one.name for one in labels],
        "predictions": [one.name for one in predictions],
        "loss": loss.name,
        "metrics": {name: one.name for name, one in metrics.items()},
        "variables": [variable.op.name for variable, _ in trained],
        "grad_variables": [gradient.name for _, gradient in trained],
        "updates": [getattr(one, "op", one).name for one in updates],
        "default_tensor_value": {
            one.name: np.asarray(values).tolist()
            for one, values in tensor_with_value.items()
        },
    }
    Path(folder, TRAINING_META_FILE).write_text(json.dumps(names))
