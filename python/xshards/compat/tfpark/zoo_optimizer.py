# SPDX-License-Identifier: Apache-2.0
"""``ZooOptimizer``: marks the gradients of a training operation."""

from __future__ import annotations

from typing import Any

from xshards.compat.errors import OrcaInputError
from xshards.compat.tfpark.version_1 import use_version_1
from xshards.learn.tf1.framework import tf

__all__ = ["ZooOptimizer", "marked_gradients"]

use_version_1()

# An attribute of graphs; files of a graph would have to hold a collection.
_OF_GRAPH = "_xshards_marked_gradients"


class ZooOptimizer(tf.train.Optimizer):  # type: ignore[misc]
    """Minimizes as another optimizer does, on gradients of all replicas.

    Parameters
    ----------
    optimizer
        One of tf.train.
    """

    def __init__(self, optimizer: Any, name: str | None = None) -> None:
        super().__init__(use_locking=False, name=name or "ZooOptimizer")
        self._optimizer = optimizer

    def compute_gradients(self, *args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        """Compute gradients and mark them, so that others can be fed in their place."""
        marked = []
        for gradient, variable in self._optimizer.compute_gradients(*args, **kwargs):
            if gradient is None:
                marked.append((gradient, variable))
                continue
            dense = tf.convert_to_tensor(gradient)
            mark = tf.identity(dense, name="zoo_identity_op_for_grad")
            known = getattr(mark.graph, _OF_GRAPH, [])
            setattr(mark.graph, _OF_GRAPH, [*known, (mark, variable)])
            marked.append((mark, variable))
        return marked

    def apply_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """Apply gradients as the other optimizer does."""
        return self._optimizer.apply_gradients(*args, **kwargs)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """Return a slot of the other optimizer."""
        return self._optimizer.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        """Name the slots of the other optimizer."""
        return self._optimizer.get_slot_names(*args, **kwargs)

    def variables(self) -> Any:
        """Return the variables of the other optimizer."""
        return self._optimizer.variables()


def marked_gradients(train_op: Any) -> list[tuple[Any, Any]]:
    """Return the marked gradients that a training operation uses, and variables."""
    operation = getattr(train_op, "op", train_op)
    graph = operation.graph
    part = tf.graph_util.extract_sub_graph(graph.as_graph_def(), [operation.name])
    needed = {node.name for node in part.node}
    found = [
        (mark, variable)
        for mark, variable in getattr(graph, _OF_GRAPH, [])
        if mark.op.name in needed
    ]
    if not found:
        msg = (
            "expected a train_op made by ZooOptimizer(optimizer).minimize(loss); "
            f"{operation.name} is not"
        )
        raise OrcaInputError(msg)
    return found
