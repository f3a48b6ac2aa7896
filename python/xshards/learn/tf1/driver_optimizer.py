# SPDX-License-Identifier: Apache-2.0
"""Optimizers of graphs on the driver."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from xshards.learn.tf1.building import read_values
from xshards.learn.tf1.framework import tf
from xshards.learn.training.driver_optimizer import DriverOptimizer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xshards import _core
    from xshards.learn.optimizers import Optimizer as OrcaOptimizer
    from xshards.learn.tf1.building import Built
    from xshards.learn.training.clip import Clip
    from xshards.learn.training.driver_optimizer import Rule, Spec

__all__ = ["OwnerOptimizer", "RuleOptimizer"]


class _VectorOptimizer(DriverOptimizer):
    """Changes the flat vectors of a graph; each is a group of its own."""

    def __init__(self, handle: Any, built: Built) -> None:
        self.handle = handle
        self._built = built
        self.parameters = built.model.vectors

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """The shape of each vector."""
        return [vector.data.shape for vector in self.parameters]

    @property
    def num_groups(self) -> int:
        """How many vectors there are."""
        return len(self.parameters)

    def specs(self, models: Sequence[Any]) -> list[Spec]:
        """Describe the vectors."""
        return [
            (f"weights {index}", vector.data.size, vector.data.dtype.name, index)
            for index, vector in enumerate(self.parameters)
        ]

    def adopt(self, weights: Sequence[np.ndarray[Any, Any]]) -> None:
        """Have the vectors' values in shared memory."""
        for vector, shared in zip(self.parameters, weights, strict=True):
            np.copyto(shared, vector.data)
            vector.data = shared

    def release(self) -> None:
        """Give the vectors memory of their own again."""
        for vector in self.parameters:
            vector.data = vector.data.copy()

    def for_server(self) -> Any:
        """Return what replicas need of it: nothing."""
        return None


class RuleOptimizer(_VectorOptimizer):
    """An optimizer that the parameter server runs.

    Parameters
    ----------
    handle
        The optimizer of tf.train or of `xshards.learn.optimizers`.
    built
        The graph.
    rules
        The rule of each vector.
    chosen
        The optimizer of `xshards.learn.optimizers` whose schedule to follow.
    """

    def __init__(
        self,
        handle: Any,
        built: Built,
        rules: list[Rule],
        chosen: OrcaOptimizer | None = None,
    ) -> None:
        super().__init__(handle, built)
        self._rules = [(name, dict(options)) for name, options in rules]
        self._chosen = chosen
        self._state: dict[int, tuple[int, dict[str, np.ndarray[Any, Any]]]] = {}
        self.base_rate = self._rules[0][1]["learning_rate"]
        if chosen is not None:
            self.monitor = chosen.monitor

    def rules(self) -> list[Rule]:
        """Return the rule of each vector."""
        return [(name, dict(options)) for name, options in self._rules]

    def set_options(self, options: Sequence[Mapping[str, Any]]) -> None:
        """Change options of the rules."""
        for (_, kept), values in zip(self._rules, options, strict=True):
            kept.update(values)

    def make_schedule(self) -> _core.LearningRateSchedule | None:
        """Return the schedule of the learning rate, if there is one."""
        return None if self._chosen is None else self._chosen.schedule

    def rate_options(self, rate: float) -> list[dict[str, Any]] | None:
        """Return options that set this learning rate; None if all have it."""
        if all(options["learning_rate"] == rate for _, options in self._rules):
            return None
        return [{"learning_rate": rate} for _ in self._rules]

    @property
    def learning_rate(self) -> float | None:
        """The rate of the first vector, for summaries."""
        return self._rules[0][1]["learning_rate"]

    def store_state(
        self, index: int, steps: int, values: Mapping[str, np.ndarray[Any, Any]]
    ) -> None:
        """Keep copies of what the server has for a vector."""
        self._state[index] = (
            steps,
            {name: one.copy() for name, one in values.items()},
        )

    def stored_state(
        self, index: int, names: Sequence[str]
    ) -> tuple[int, Mapping[str, np.ndarray[Any, Any]]]:
        """Return the steps and values of a vector."""
        steps, values = self._state.get(index, (0, {}))
        return (steps, values) if set(names) <= set(values) else (0, {})

    def state_dict(self) -> dict[str, Any]:
        """Return a copy of state and options."""
        return {
            "rules": [[name, dict(options)] for name, options in self._rules],
            "state": [
                [index, steps, {name: one.copy() for name, one in values.items()}]
                for index, (steps, values) in self._state.items()
            ],
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take over what `state_dict` returned."""
        self._rules = [(name, dict(options)) for name, options in state["rules"]]
        self._state = {
            int(index): (int(steps), dict(values))
            for index, steps, values in state["state"]
        }


class OwnerOptimizer(_VectorOptimizer):
    """An optimizer that runs as itself, in the user's session.

    Parameters
    ----------
    handle
        The optimizer, for messages.
    built
        The graph.
    train_op
        What updates the variables.
    gradients
        The tensors of the graph to feed with the gradient of each variable, in the
        order the variables have in the vectors.
    session
        Where it runs.
    variable_norm
        Clip the gradient of each variable to this norm.
    rate
        A tensor of the learning rate, for summaries.
    own
        Variables of the optimizer that are not listed in the graph's collection.
    """

    def __init__(
        self,
        handle: Any,
        built: Built,
        *,
        train_op: Any,
        gradients: list[Any],
        session: Any,
        variable_norm: float | None = None,
        rate: Any = None,
        own: Sequence[Any] = (),
    ) -> None:
        super().__init__(handle, built)
        self._session = session
        self._gradients = gradients
        self._norm = variable_norm
        self._rate = rate
        self._trained = [one for some in built.trained for one in some]
        known = {one.op.name for one in own}
        self._own = [
            *own,
            *(
                one
                for one in _state_variables(built, train_op)
                if one.op.name not in known
            ),
        ]
        _initialize(session, self._own)
        self._run = session.make_callable(train_op, feed_list=gradients)
        with built.graph.as_default():
            reads = [one.read_value() for one in self._trained]
        self._read = session.make_callable(reads, feed_list=[])

    def rules(self) -> None:
        """Return None: TensorFlow updates."""
        return

    def step(
        self,
        gradients: Sequence[Sequence[tuple[float, np.ndarray[Any, Any]]]],
        clip: Clip,
    ) -> None:
        """Feed the gradients to TensorFlow, and share the weights they lead to."""
        totals = [
            _weighted_sum(parts, vector.data)
            for parts, vector in zip(gradients, self.parameters, strict=True)
        ]
        _clip(totals, clip)
        self._run(*self._by_variable(totals))
        values = iter(self._read())
        for vector, variables in zip(self.parameters, self._built.trained, strict=True):
            parts = [np.asarray(next(values)).reshape(-1) for _ in variables]
            np.concatenate(parts, out=vector.data)

    def set_options(self, options: Sequence[Mapping[str, Any]]) -> None:
        """Do nothing: replicas have no options of it."""

    @property
    def learning_rate(self) -> float | None:
        """The rate, if TensorFlow says it."""
        return None if self._rate is None else float(self._session.run(self._rate))

    def store_state(
        self, index: int, steps: int, values: Mapping[str, np.ndarray[Any, Any]]
    ) -> None:
        """Do nothing: the session has the state."""

    def stored_state(
        self, index: int, names: Sequence[str]
    ) -> tuple[int, Mapping[str, np.ndarray[Any, Any]]]:
        """Return nothing: the session has the state."""
        return 0, {}

    def state_dict(self) -> dict[str, Any]:
        """Return a copy of the optimizer's variables."""
        values = read_values(self._session, self._own)
        return {
            one.op.name: value for one, value in zip(self._own, values, strict=True)
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Write the optimizer's variables."""
        with self._built.graph.as_default():
            for variable in self._own:
                if variable.op.name in state:
                    variable.load(state[variable.op.name], self._session)

    def _by_variable(self, totals: list[np.ndarray[Any, Any]]) -> list[Any]:
        found = []
        names = self._built.model.names.vectors
        for vector, total in zip(names, totals, strict=True):
            begin = 0
            for _, shape in vector.variables:
                size = int(np.prod(shape, dtype=np.int64))
                part = total[begin : begin + size]
                if self._norm is not None:
                    part = _to_norm(part, self._norm)
                found.append(part.reshape(shape))
                begin += size
        return found


def _state_variables(built: Built, train_op: Any) -> list[Any]:
    """Return the variables that a training operation has besides the model's."""
    graph = built.graph
    names = [getattr(train_op, "op", train_op).name]
    part = tf.graph_util.extract_sub_graph(graph.as_graph_def(), names)
    needed = {node.name for node in part.node}
    known = {one.op.name for some in built.trained for one in some}
    known |= {name for name, _, _ in built.model.names.buffers}
    with graph.as_default():
        return [
            one
            for one in tf.global_variables()
            if one.op.name in needed and one.op.name not in known
        ]


def _initialize(session: Any, variables: list[Any]) -> None:
    """Initialize the variables that the user's session does not know yet."""
    with session.graph.as_default():
        ready = session.run([tf.is_variable_initialized(one) for one in variables])
        fresh = [
            one for one, done in zip(variables, ready, strict=True) if not bool(done)
        ]
        session.run([one.initializer for one in fresh])


def _weighted_sum(
    parts: Sequence[tuple[float, np.ndarray[Any, Any]]], like: np.ndarray[Any, Any]
) -> np.ndarray[Any, Any]:
    if len(parts) == 1 and parts[0][0] == 1:
        return parts[0][1].copy()
    total = np.zeros_like(like)
    for weight, gradient in parts:
        total += like.dtype.type(weight) * gradient
    return total


def _clip(totals: list[np.ndarray[Any, Any]], clip: Clip) -> None:
    if clip.constant is not None:
        for total in totals:
            np.clip(total, *clip.constant, out=total)
    if clip.norm is not None:
        norm = float(np.sqrt(sum(float(np.vdot(one, one)) for one in totals)))
        if norm > clip.norm:
            for total in totals:
                total *= total.dtype.type(clip.norm / norm)


def _to_norm(part: np.ndarray[Any, Any], limit: float) -> np.ndarray[Any, Any]:
    norm = float(np.linalg.norm(part))
    return part if norm <= limit else part * part.dtype.type(limit / norm)
