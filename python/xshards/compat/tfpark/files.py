# SPDX-License-Identifier: Apache-2.0
"""``zoo.util.tf``: files of TensorFlow sessions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from xshards.compat.errors import OrcaInputError
from xshards.compat.tfpark.version_1 import use_version_1
from xshards.learn.tf1.framework import tf

__all__ = [
    "GRAPH_FILE",
    "META_FILE",
    "export_tf",
    "get_checkpoint_state",
    "load_tf_checkpoint",
    "save_tf_checkpoint",
]

use_version_1()

GRAPH_FILE = "frozen_inference_graph.pb"
META_FILE = "graph_meta.json"


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
