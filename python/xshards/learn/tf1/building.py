# SPDX-License-Identifier: Apache-2.0
"""Adds to a user's graph what training needs, and makes a `GraphModel` of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from xshards.errors import XShardsTypeError, XShardsValueError
from xshards.learn.tf1.framework import tf
from xshards.learn.tf1.graph_model import (
    FixedFeed,
    FlatVector,
    GraphModel,
    GraphNames,
    TensorSpec,
    VectorNames,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "Built",
    "GraphParts",
    "as_list",
    "build_model",
    "fixed_feed",
    "new_session",
    "read_values",
]

_SCOPE = "xshards"


@dataclass
class GraphParts:
    """Tensors of a user's graph, by what they are for."""

    inputs: list[Any]
    labels: list[Any] = field(default_factory=list)
    outputs: list[Any] = field(default_factory=list)
    loss: Any = None
    metrics: dict[str, Any] = field(default_factory=dict)
    #: Operations to run with each step, as those of batch normalisation.
    updates: list[Any] = field(default_factory=list)
    #: Tensors with one value in training and another one otherwise.
    fixed: dict[Any, tuple[Any, Any]] = field(default_factory=dict)
    #: The variables to train and their gradients; by default all that the loss needs.
    variables: list[Any] | None = None
    gradients: list[Any] | None = None
    #: What users call inputs and labels.
    input_keys: list[str] | None = None
    label_keys: list[str] | None = None
    output_keys: list[str] | None = None
    #: Clip the gradient of each variable to this norm, in each replica.
    clip_norm: float | None = None
    #: For each variable to train, the number of the vector it belongs to.
    groups: dict[str, int] = field(default_factory=dict)

    @property
    def graph(self) -> Any:
        """The graph that they are in."""
        known = [*self.inputs, *self.outputs, *self.labels]
        known += [] if self.loss is None else [self.loss]
        known += list(self.metrics.values())
        if not known:
            msg = "expected at least one tensor as inputs, outputs or loss; got none"
            raise XShardsValueError(msg)
        for one in known:
            if not hasattr(one, "graph") or not hasattr(one, "op"):
                msg = (
                    "inputs, outputs, labels, loss and metrics are tensors of a graph; "
                    f"got {type(one).__name__}: build the model inside of "
                    "tf.Graph().as_default(), or call tf.disable_v2_behavior() first"
                )
                raise XShardsTypeError(msg)
        graphs = {id(one.graph) for one in known}
        if len(graphs) > 1:
            msg = "expected tensors of one graph; these are of several: " + ", ".join(
                one.name for one in known
            )
            raise XShardsValueError(msg)
        return known[0].graph


def as_list(value: Any) -> list[Any]:
    """Return one or several tensors as a list."""
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


def fixed_feed(tensor: Any, values: Any) -> FixedFeed:
    """Return what to feed a tensor: one value, or one to train and one otherwise."""
    pair = values if isinstance(values, (tuple, list)) else (values, values)
    kind = tensor.dtype.as_numpy_dtype
    training, otherwise = (np.asarray(value, kind) for value in pair)
    return FixedFeed(tensor.name, training, otherwise)


def new_session(graph: Any, config: Any = None) -> Any:
    """Make a session in which all variables have their initial values."""
    session = tf.Session(graph=graph, config=config)
    with graph.as_default():
        session.run(
            [
                tf.global_variables_initializer(),
                tf.local_variables_initializer(),
                tf.tables_initializer(),
            ]
        )
    return session


def read_values(session: Any, variables: Sequence[Any]) -> list[np.ndarray[Any, Any]]:
    """Read variables; says which of them has no value yet."""
    try:
        return [np.asarray(value) for value in session.run(list(variables))]
    except tf.errors.FailedPreconditionError as error:
        msg = (
            "a variable of the session has no value: run "
            "tf.global_variables_initializer() or restore a checkpoint before; "
            f"{error.message.splitlines()[0]}"
        )
        raise XShardsValueError(msg) from error


@dataclass
class Built:
    """A model and the variables of the user's graph that it has."""

    model: GraphModel
    #: Of each vector.
    trained: list[list[Any]]
    buffers: list[Any]
    #: What writes flat vectors, and buffers, to the user's session.
    graph: Any

    def pull(self, session: Any) -> bool:
        """Take the variables' values out of a session; tells if buffers changed."""
        values = read_values(session, [one for some in self.trained for one in some])
        position = iter(values)
        for vector, variables in zip(self.model.vectors, self.trained, strict=True):
            parts = [next(position).reshape(-1) for _ in variables]
            np.copyto(vector.data, np.concatenate(parts))
        found = read_values(session, self.buffers)
        changed = False
        for kept, value in zip(self.model.buffers, found, strict=True):
            if not np.array_equal(kept, value, equal_nan=kept.dtype.kind == "f"):
                np.copyto(kept, value)
                changed = True
        self.model.buffers_changed |= changed
        return changed

    def push(self, session: Any) -> None:
        """Write the model's values to the variables of a session."""
        names, model = self.model.names, self.model
        find = self.graph.as_graph_element
        if names.load_weights is not None:
            feeds = {
                find(one.placeholder): vector.data
                for one, vector in zip(names.vectors, model.vectors, strict=True)
            }
            session.run(find(names.load_weights), feeds)
        if names.load_buffers is not None:
            feeds = {
                find(placeholder): value
                for (_, placeholder, _), value in zip(
                    names.buffers, model.buffers, strict=True
                )
            }
            session.run(find(names.load_buffers), feeds)


def build_model(parts: GraphParts, session: Any, config: Any = None) -> Built:
    """Add gradients and assignments to the graph, and make a model of it."""
    graph = parts.graph
    with graph.as_default(), tf.name_scope(_SCOPE):
        gradients, trained = _gradients(parts)
        names = GraphNames(
            inputs=_specs(parts.inputs, parts.input_keys),
            labels=_specs(parts.labels, parts.label_keys),
            outputs=[one.name for one in parts.outputs],
            loss=None if parts.loss is None else parts.loss.name,
            metrics={name: one.name for name, one in parts.metrics.items()},
            fixed=[fixed_feed(one, pair) for one, pair in parts.fixed.items()],
            output_keys=parts.output_keys,
        )
        values = read_values(session, trained)
        vectors, by_vector = _add_vectors(parts, names, gradients, trained, values)
        buffers = _add_buffers(parts, names, trained, session)
        _add_initializers(names, graph)
        content = _sub_graph(graph, names).SerializeToString()
    encoded = None if config is None else config.SerializeToString()
    held = read_values(session, buffers)
    model = GraphModel(content, names, vectors, [one.copy() for one in held], encoded)
    return Built(model, by_vector, buffers, graph)


def _specs(tensors: Sequence[Any], keys: Sequence[str] | None) -> list[TensorSpec]:
    keys = keys or [one.op.name for one in tensors]
    return [
        TensorSpec(
            one.name,
            np.dtype(one.dtype.as_numpy_dtype).name,
            None if one.shape.rank is None else tuple(one.shape.as_list()),
            key,
        )
        for one, key in zip(tensors, keys, strict=True)
    ]


def _gradients(parts: GraphParts) -> tuple[list[Any], list[Any]]:
    """Return the variables that the loss depends on, and their gradients."""
    if parts.loss is None:
        return [], []
    variables = parts.variables
    if variables is None:
        variables = tf.trainable_variables()
    gradients = parts.gradients
    if gradients is None:
        if not variables:
            msg = (
                f"expected a loss that depends on variables; {parts.loss.name} does not"
            )
            raise XShardsValueError(msg)
        gradients = tf.gradients(parts.loss, variables)
    pairs = [
        (_clipped(tf.convert_to_tensor(gradient), parts.clip_norm), variable)
        for gradient, variable in zip(gradients, variables, strict=True)
        if gradient is not None
    ]
    if not pairs:
        msg = f"expected a loss that depends on variables; {parts.loss.name} does not"
        raise XShardsValueError(msg)
    return [one for one, _ in pairs], [one for _, one in pairs]


def _clipped(gradient: Any, norm: float | None) -> Any:
    return gradient if norm is None else tf.clip_by_norm(gradient, norm)


def _add_vectors(
    parts: GraphParts,
    names: GraphNames,
    gradients: Sequence[Any],
    variables: Sequence[Any],
    values: Sequence[np.ndarray[Any, Any]],
) -> tuple[list[FlatVector], list[list[Any]]]:
    together: dict[tuple[int, str], list[int]] = {}
    for index, variable in enumerate(variables):
        group = parts.groups.get(variable.op.name, 0)
        kind = variable.dtype.base_dtype.name
        together.setdefault((group, kind), []).append(index)
    vectors, by_vector, loads = [], [], []
    for (_, kind), members in sorted(together.items()):
        own = [variables[index] for index in members]
        arrays = [values[index] for index in members]
        flat = tf.placeholder(kind, [sum(one.size for one in arrays)], name="weights")
        cut = tf.split(flat, [one.size for one in arrays])
        for variable, array, part in zip(own, arrays, cut, strict=True):
            shaped = tf.reshape(part, array.shape)
            loads.append(variable.assign(shaped, read_value=False))
        flatten = [tf.reshape(gradients[index], [-1]) for index in members]
        gradient = tf.concat(flatten, axis=0, name="gradient")
        shapes = [
            (one.op.name, array.shape) for one, array in zip(own, arrays, strict=True)
        ]
        names.vectors.append(VectorNames(flat.name, gradient.name, shapes))
        vectors.append(FlatVector(np.concatenate([one.reshape(-1) for one in arrays])))
        by_vector.append(own)
    if loads:
        names.load_weights = tf.group(*loads, name="load_weights").name
    return vectors, by_vector


def _add_buffers(
    parts: GraphParts, names: GraphNames, trained: Sequence[Any], session: Any
) -> list[Any]:
    """Add reads and assignments of all other variables that anything depends on."""
    graph = parts.graph
    wanted = _fetched(names) + [one.name for one in _operations(parts.updates)]
    needed = {node.name for node in _extract(graph, wanted).node}
    own = {one.op.name for one in trained}
    buffers = [
        one
        for one in tf.global_variables()
        if one.op.name in needed and one.op.name not in own
    ]
    if parts.updates:
        names.updates = tf.group(*_operations(parts.updates), name="updates").name
    with tf.control_dependencies(_operations(parts.updates)):
        after = [tf.identity(one.read_value(), name="buffer") for one in buffers]
    loads = []
    for variable, value, read in zip(
        buffers, read_values(session, buffers), after, strict=True
    ):
        kind = variable.dtype.base_dtype
        placeholder = tf.placeholder(kind, value.shape, name="buffer_value")
        loads.append(variable.assign(placeholder, read_value=False))
        names.buffers.append((variable.op.name, placeholder.name, read.name))
    if loads:
        names.load_buffers = tf.group(*loads, name="load_buffers").name
    return buffers


def _operations(updates: Sequence[Any]) -> list[Any]:
    return [getattr(one, "op", one) for one in updates]


def _add_initializers(names: GraphNames, graph: Any) -> None:
    if graph.get_collection(tf.GraphKeys.TABLE_INITIALIZERS):
        names.initializers.append(tf.tables_initializer(name="init_tables").name)
    needed = {node.name for node in _extract(graph, _fetched(names)).node}
    local = [one for one in tf.local_variables() if one.op.name in needed]
    if local:
        made = tf.variables_initializer(local, name="init_local")
        names.initializers.append(made.name)


def _fetched(names: GraphNames) -> list[str]:
    """Name the operations of everything that is run or fed."""
    tensors = [*names.outputs, *names.metrics.values()]
    tensors += [one.name for one in (*names.inputs, *names.labels)]
    tensors += [one.name for one in names.fixed]
    tensors += [] if names.loss is None else [names.loss]
    for vector in names.vectors:
        tensors += [vector.placeholder, vector.gradient]
    for _, placeholder, read in names.buffers:
        tensors += [placeholder, read]
    operations = [names.load_weights, names.load_buffers, names.updates]
    operations += names.initializers
    found = [one.split(":")[0] for one in tensors]
    return list(dict.fromkeys(found + [one for one in operations if one]))


def _extract(graph: Any, names: Sequence[str]) -> Any:
    whole = graph.as_graph_def(add_shapes=False)
    part = tf.graph_util.extract_sub_graph(whole, list(names))
    part.library.CopyFrom(whole.library)
    return part


def _sub_graph(graph: Any, names: GraphNames) -> Any:
    part = _extract(graph, _fetched(names))
    kept = {node.name for node in part.node}
    for node in part.node:
        node.device = ""
        if "_class" in node.attr:
            near = [
                one
                for one in node.attr["_class"].list.s
                if one.decode().removeprefix("loc:@") in kept
            ]
            del node.attr["_class"].list.s[:]
            node.attr["_class"].list.s.extend(near)
    return part
