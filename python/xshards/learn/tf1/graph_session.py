# SPDX-License-Identifier: Apache-2.0
"""Runs a graph in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from xshards.learn.tf1.feeding import flatten, to_feed
from xshards.learn.tf1.framework import tf
from xshards.learn.tf1.random_ops import SEED, make_repeatable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from xshards.learn.tf1.graph_model import GraphModel

__all__ = ["GraphSession", "generator"]


class _Generator:
    """What random operations of all graphs in this process draw from."""

    def __init__(self) -> None:
        self.seed = np.zeros(2, np.int64)

    def set(self, number: int) -> None:
        self.seed = np.array([number, 0], np.int64)


generator = _Generator()


class GraphSession:
    """A graph in a session of its own, with the values of a model."""

    def __init__(self, model: GraphModel) -> None:
        definition = tf.GraphDef.FromString(model.content)
        self._model = model
        self._names = model.names
        self._random = make_repeatable(definition)
        self._graph = tf.Graph()
        with self._graph.as_default():
            tf.import_graph_def(definition, name="")
        self._session = tf.Session(graph=self._graph, config=_config(model.config))
        self._calls: dict[str, Callable[..., Any]] = {}
        for name in self._names.initializers:
            self._session.run(self._graph.get_operation_by_name(name))
        self.load_weights()
        self.load_buffers()

    def close(self) -> None:
        """End the session."""
        self._calls.clear()
        self._session.close()

    def load_weights(self) -> None:
        """Take over the model's weights as they are now."""
        names = self._names
        if names.load_weights is not None:
            feeds = [one.placeholder for one in names.vectors]
            load = self._call("load_weights", [names.load_weights], feeds)
            load(*(vector.data for vector in self._model.vectors))

    def load_buffers(self) -> None:
        """Take over the model's buffers."""
        names = self._names
        self._model.buffers_changed = False
        if names.load_buffers is not None:
            feeds = [placeholder for _, placeholder, _ in names.buffers]
            load = self._call("load_buffers", [names.load_buffers], feeds)
            load(*self._model.buffers)

    def train(
        self, features: Any, target: Any
    ) -> tuple[list[np.ndarray[Any, Any]], float]:
        """Return the gradient of each vector and the loss of a batch.

        Update operations run, and the model's buffers are what they leave.
        """
        self._settle()
        self.load_weights()
        names = self._names
        assert names.loss is not None
        buffers = [value for _, _, value in names.buffers]
        gradients = [one.gradient for one in names.vectors]
        fetches = [names.loss, *gradients, *buffers]
        fetches += [] if names.updates is None else [names.updates]
        found = self._run("train", fetches, features, target, training=True)
        loss, found = found[0], found[1:]
        after = found[len(gradients) : len(gradients) + len(buffers)]
        for kept, value in zip(self._model.buffers, after, strict=True):
            np.copyto(kept, value)
        return found[: len(gradients)], float(np.mean(loss))

    def measure(
        self, features: Any, target: Any, *, outputs: bool
    ) -> tuple[dict[str, float], list[Any]]:
        """Return the loss and the metrics of a batch, and the outputs if wanted."""
        self._settle()
        names = self._names
        scalars = {**names.metrics}
        if names.loss is not None:
            scalars = {"val_loss": names.loss, **scalars}
        fetched = [*scalars.values(), *(names.outputs if outputs else [])]
        if not fetched:
            return {}, []
        found = self._run(f"measure {outputs}", fetched, features, target)
        count = len(scalars)
        values = [float(np.mean(value)) for value in found[:count]]
        return dict(zip(scalars, values, strict=True)), found[count:]

    def predict(self, features: Any) -> list[Any]:
        """Return the outputs for a batch."""
        self._settle()
        return self._run("predict", self._names.outputs, features, None)

    def _settle(self) -> None:
        if self._model.buffers_changed:
            self.load_buffers()

    def _run(
        self,
        what: str,
        fetches: Sequence[str],
        features: Any,
        target: Any,
        *,
        training: bool = False,
    ) -> list[Any]:
        names = self._names
        specs, leaves = list(names.inputs), flatten(features, names.inputs, "input")
        if target is not None and names.labels:
            specs += names.labels
            leaves += flatten(target, names.labels, "label")
        feeds = [one.name for one in specs]
        values = [to_feed(leaf, one) for leaf, one in zip(leaves, specs, strict=True)]
        for one in names.fixed:
            feeds.append(one.name)
            values.append(one.training if training else one.otherwise)
        if self._random:
            feeds.append(f"{SEED}:0")
            values.append(generator.seed)
        result = self._call(what, fetches, feeds)(*values)
        return list(result)

    def _call(
        self, what: str, fetches: Sequence[str], feeds: Sequence[str]
    ) -> Callable[..., Any]:
        key = f"{what} {len(feeds)}"
        if key not in self._calls:
            graph = self._graph
            self._calls[key] = self._session.make_callable(
                [graph.as_graph_element(name) for name in fetches],
                feed_list=[graph.as_graph_element(name) for name in feeds],
            )
        return self._calls[key]


def _config(content: bytes | None) -> Any:
    if content is not None:
        return tf.ConfigProto.FromString(content)
    # A replica has one core, and what one thread adds up is the same each time.
    return tf.ConfigProto(
        intra_op_parallelism_threads=1,
        inter_op_parallelism_threads=1,
        device_count={"GPU": 0},
    )
