# SPDX-License-Identifier: Apache-2.0
"""The optimizer of a Keras model on the driver."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from xshards.errors import XShardsValueError
from xshards.learn.tf.optimizer_rules import NativeRule, native_rule, schedule_of
from xshards.learn.tf.packages import load_tensorflow
from xshards.learn.tf.variables import address_of, show, specs_of
from xshards.learn.training.driver_optimizer import DriverOptimizer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xshards.learn.tf.model import KerasModel
    from xshards.learn.tf.variables import Weight
    from xshards.learn.training.clip import Clip
    from xshards.learn.training.driver_optimizer import Rule, Spec

__all__ = ["KerasOptimizer"]


class KerasOptimizer(DriverOptimizer):
    """What the training core sees of a Keras model's optimizer.

    While training runs, the model's variables are views of the shared weights. So are
    the optimizer's own variables of the server's states, once somebody wants to see
    them (`Job.take_state`); before that they are not made.
    """

    def __init__(self, model: KerasModel) -> None:
        self._model = model
        self._shared: list[np.ndarray[Any, Any]] = []
        self._states: dict[tuple[str, int], np.ndarray[Any, Any]] = {}
        self._steps: int | None = None  # when the states were last stored
        self._rule: NativeRule | None = None
        self._scheduled: float | None = None
        model.on_assign = self.share_changes

    @property
    def handle(self) -> Any:
        """The optimizer of Keras."""
        return self._model.keras.optimizer

    @property
    def parameters(self) -> Sequence[Weight]:  # type: ignore[override]
        """The trainable variables."""
        return self._model.weights

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """The shape of each variable."""
        return [weight.shape for weight in self.parameters]

    @property
    def num_groups(self) -> int:
        """How many groups the rule has."""
        return 1 if self._rule is None else self._rule.num_groups

    def specs(self, models: Sequence[Any]) -> list[Spec]:
        """Describe the variables."""
        weights = self.parameters
        if not weights:
            msg = "the model has no trainable variable"
            raise XShardsValueError(msg)
        rule = self._rule
        groups = [0] * len(weights) if rule is None else rule.groups
        return specs_of(weights, groups)

    def rules(self) -> list[Rule] | None:
        """Return the rule of each group; None if only Keras can update."""
        self._rule = native_rule(self.handle, self.parameters)
        if self._rule is None:
            self.build()  # for all variables, not only those of the first gradients
        return None if self._rule is None else self._rule.rules(self.learning_rate)

    def adopt(self, weights: Sequence[np.ndarray[Any, Any]]) -> None:
        """Copy the variables to shared arrays and make them views of these."""
        self._shared = list(weights)
        for weight, values in zip(self.parameters, weights, strict=True):
            values[:] = weight.numpy().reshape(-1)
            show(weight.variable, values)

    def release(self) -> None:
        """Give the variables memory of their own again."""
        for weight in self.parameters:
            weight.variable.assign(weight.numpy())
        for name, index in self._states:
            variable = self._variable(name, index)
            variable.assign(np.array(variable.numpy()))
        self._shared, self._states, self._steps = [], {}, None

    def share_changes(self) -> None:
        """Write what code on the driver gave variables to the memory they showed."""
        for weight, values in zip(self.parameters, self._shared, strict=False):
            _share(weight.variable, values)
        for (name, index), values in self._states.items():
            _share(self._variable(name, index), values)

    def step(
        self,
        gradients: Sequence[Sequence[tuple[float, np.ndarray[Any, Any]]]],
        clip: Clip,
    ) -> None:
        """Update the variables by Keras' own rule."""
        tensorflow = load_tensorflow()
        pairs = [
            (_mean(parts, weight.shape), weight.variable)
            for parts, weight in zip(gradients, self.parameters, strict=True)
            if parts
        ]
        values = _clipped([gradient for gradient, _ in pairs], clip)
        tensors = [tensorflow.convert_to_tensor(one) for one in values]
        variables = [variable for _, variable in pairs]
        self.handle.apply_gradients(zip(tensors, variables, strict=True))
        self.share_changes()

    def set_options(self, options: Sequence[Mapping[str, Any]]) -> None:
        """Take the rate of a schedule; all else is in the optimizer, which is here."""
        for one in options:
            self._scheduled = one.get("learning_rate", self._scheduled)

    @property
    def learning_rate(self) -> float:
        """The learning rate of the next step."""
        if self._scheduled is not None:
            return self._scheduled
        return float(np.asarray(self.handle.learning_rate))

    def make_schedule(self) -> Any:
        """Return the optimizer's schedule of the learning rate, if it has one."""
        schedule = schedule_of(self.handle)
        if self._rule is None or schedule is None:
            return None  # an optimizer that Keras runs follows its own
        return _Schedule(schedule, int(self.handle.iterations.numpy()))

    def rate_options(self, rate: float) -> list[dict[str, Any]] | None:
        """Return options that set this learning rate; None if it is set."""
        return None if rate == self._scheduled else [{"learning_rate": rate}]

    def build(self) -> None:
        """Make the optimizer's variables, if they are not made yet."""
        if not _is_built(self.handle):
            self.handle.build(self._model.keras.trainable_variables)

    def store_state(
        self, index: int, steps: int, values: Mapping[str, np.ndarray[Any, Any]]
    ) -> None:
        """Make Keras' variables show what the server has for a variable."""
        self.build()
        for name, state in values.items():
            self._states[name, index] = state
            if not _shows(self._variable(name, index), state):
                show(self._variable(name, index), state)
        # A variable without a gradient counts no steps.
        self._steps = steps if index == 0 else max(steps, self._steps or 0)
        assert self._rule is not None
        self._rule.store_steps(self._steps)

    @property
    def changed_steps(self) -> int | None:
        """The updates that code on the driver set since they were stored, if any."""
        steps = int(self.handle.iterations.numpy())
        return None if self._steps in (None, steps) else steps

    def stored_state(
        self, index: int, names: Sequence[str]
    ) -> tuple[int, dict[str, np.ndarray[Any, Any]]]:
        """Return the steps and flat values for a variable."""
        steps = int(self.handle.iterations.numpy())
        if not _is_built(self.handle):
            return steps, {}
        return steps, {
            name: np.asarray(self._variable(name, index).numpy()).reshape(-1)
            for name in names
        }

    def _variable(self, name: str, index: int) -> Any:
        """Return the optimizer's variable for a state of a variable of the model."""
        assert self._rule is not None
        return self._rule.variables(name)[index]

    def state_dict(self) -> dict[str, Any]:
        """Return a copy of all variables of the optimizer."""
        return {"variables": [np.array(one.numpy()) for one in _variables(self.handle)]}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take over what `state_dict` returned."""
        self.build()
        own = _variables(self.handle)
        saved = state["variables"]
        shapes = [tuple(one.shape) for one in own]
        if shapes != [np.shape(one) for one in saved]:
            msg = (
                f"the checkpoint is of another optimizer or model: it has "
                f"{len(saved)} variables of the optimizer, {self.name} has {len(own)}, "
                "or their shapes differ"
            )
            raise XShardsValueError(msg)
        for variable, values in zip(own, saved, strict=True):
            variable.assign(values)
        self.share_changes()

    def for_server(self) -> Any:
        """Return the number of variables, all that a replica needs to know."""
        return len(self.parameters)


class _Schedule:
    """A schedule of Keras, as the parameter server asks for it.

    Its state is the number of updates that the optimizer made before those that the
    server counts.
    """

    def __init__(self, schedule: Any, iterations: int) -> None:
        self._schedule = schedule
        self.state = [float(iterations)]

    def rate_at(self, base_rate: float, iteration: int) -> float:
        """Return the rate of the update after a number of them."""
        return float(np.asarray(self._schedule(int(self.state[0]) + iteration)))

    def restore(self, state: Sequence[float]) -> None:
        """Take over what another one had as `state`."""
        self.state = list(state)


def _is_built(optimizer: Any) -> bool:
    """Whether an optimizer of either generation has made its variables."""
    return bool(getattr(optimizer, "built", getattr(optimizer, "_built", False)))


def _share(variable: Any, values: np.ndarray[Any, Any]) -> None:
    if not _shows(variable, values):
        values[:] = np.asarray(variable.numpy()).reshape(-1)
        show(variable, values)


def _shows(variable: Any, values: np.ndarray[Any, Any]) -> bool:
    return address_of(variable) == int(values.__array_interface__["data"][0])


def _variables(optimizer: Any) -> list[Any]:
    found = optimizer.variables
    return list(found() if callable(found) else found)


def _mean(
    parts: Sequence[tuple[float, np.ndarray[Any, Any]]], shape: tuple[int, ...]
) -> np.ndarray[Any, Any]:
    weight, first = parts[0]
    total = first * first.dtype.type(weight)
    for weight, gradient in parts[1:]:
        total += gradient * gradient.dtype.type(weight)
    mean: np.ndarray[Any, Any] = total.reshape(shape)
    return mean


def _clipped(
    gradients: list[np.ndarray[Any, Any]], clip: Clip
) -> list[np.ndarray[Any, Any]]:
    if clip.constant is not None:
        gradients = [np.clip(one, *clip.constant) for one in gradients]
    if clip.norm is not None:
        norm = np.sqrt(sum(float(np.sum(np.square(one))) for one in gradients))
        scale = min(1.0, clip.norm / (norm + 1e-6))
        gradients = [one * one.dtype.type(scale) for one in gradients]
    return gradients
