# SPDX-License-Identifier: Apache-2.0
"""Which optimizers of Keras the parameter server can run itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from xshards.learn.tf.packages import keras_of
from xshards.learn.training.clip import Clip

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xshards.learn.training.driver_optimizer import Rule

__all__ = [
    "NativeRule",
    "change_clipping",
    "native_rule",
    "schedule_of",
    "take_clipping",
]

# After so many steps Nadam's product of momentums is 0 in floats.
_NADAM_STEPS = 1000


# By class: the server's rule, the options it has (Keras' name and the server's), and
# where Keras keeps what the server calls by its own names.
_COMMON = {"beta_1": "beta1", "beta_2": "beta2", "epsilon": "epsilon"}
_ADAM = (
    "keras_adam",
    {**_COMMON, "amsgrad": "amsgrad"},
    {
        "momentum": "_momentums",
        "velocity": "_velocities",
        "velocity_hat": "_velocity_hats",
    },
)
_RULES: dict[str, tuple[str, dict[str, str], dict[str, str]]] = {
    "SGD": (
        "keras_sgd",
        {"momentum": "momentum", "nesterov": "nesterov"},
        {"momentum": "momentums"},
    ),
    "Adam": _ADAM,
    "AdamW": _ADAM,
    "RMSprop": (
        "keras_rmsprop",
        {
            "rho": "rho",
            "momentum": "momentum",
            "epsilon": "epsilon",
            "centered": "centered",
        },
        {
            "velocity": "_velocities",
            "average_gradient": "_average_gradients",
            "momentum": "_momentums",
        },
    ),
    "Adagrad": (
        "keras_adagrad",
        {"initial_accumulator_value": "initial_accumulator", "epsilon": "epsilon"},
        {"accumulator": "_accumulators"},
    ),
    "Adadelta": (
        "keras_adadelta",
        {"rho": "rho", "epsilon": "epsilon"},
        {
            "accumulated_grad": "_accumulated_grads",
            "accumulated_delta_var": "_accumulated_delta_vars",
        },
    ),
    "Adamax": ("keras_adamax", _COMMON, {"momentum": "_m", "norm": "_u"}),
    "Nadam": (
        "keras_nadam",
        _COMMON,
        {"momentum": "_momentums", "velocity": "_velocities"},
    ),
    "Ftrl": (
        "keras_ftrl",
        {
            "learning_rate_power": "learning_rate_power",
            "initial_accumulator_value": "initial_accumulator",
            "l1_regularization_strength": "l1",
            "l2_regularization_strength": "l2",
            "l2_shrinkage_regularization_strength": "l2_shrinkage",
            "beta": "beta",
        },
        {"accumulator": "_accumulators", "linear": "_linears"},
    ),
    "Lion": ("keras_lion", {"beta_1": "beta1", "beta_2": "beta2"}, {}),
}


class NativeRule:
    """An optimizer of Keras as an update rule of the parameter server.

    There are two groups if weights are to decay: those that do, and those that do not.
    """

    def __init__(self, optimizer: Any, weights: Sequence[Any]) -> None:
        self._optimizer = optimizer
        self._name, self._options, self._lists = _RULES[type(optimizer).__name__]
        decays = optimizer.weight_decay
        spared = [
            bool(decays) and not optimizer._use_weight_decay(one.variable)
            for one in weights
        ]
        #: Of each variable.
        self.groups = [int(one) for one in spared]
        self.num_groups = 1 + any(spared)

    def rules(self, learning_rate: float) -> list[Rule]:
        """Return the rule of each group at a learning rate."""
        options = {
            theirs: float(getattr(self._optimizer, ours))
            for ours, theirs in self._options.items()
        }
        options["learning_rate"] = learning_rate
        decay = float(self._optimizer.weight_decay or 0)
        rules = [(self._name, {**options, "weight_decay": decay})]
        if self.num_groups == 2:
            rules.append((self._name, {**options, "weight_decay": 0.0}))
        return rules

    def variables(self, name: str) -> Sequence[Any]:
        """Return the optimizer's variables that hold one state of the server."""
        if self._name == "keras_lion":
            lists = getattr(self._optimizer, "_momentums", None)
            found = self._optimizer.momentums if lists is None else lists
        else:
            found = getattr(self._optimizer, self._lists[name])
        return list(found)

    def store_steps(self, steps: int) -> None:
        """Set what Keras keeps of the number of steps."""
        optimizer = self._optimizer
        optimizer.iterations.assign(steps)
        if self._name == "keras_nadam":
            numbers = np.arange(1, min(steps, _NADAM_STEPS) + 1)
            momentums = optimizer.beta_1 * (1 - 0.5 * 0.96**numbers)
            optimizer._u_product.assign(np.prod(momentums))
            if hasattr(optimizer, "_u_product_counter"):  # of legacy Keras
                optimizer._u_product_counter = steps + 1


def native_rule(optimizer: Any, weights: Sequence[Any]) -> NativeRule | None:
    """Spell an optimizer as an update rule of the parameter server.

    Parameters
    ----------
    optimizer
        Any optimizer of Keras, built. Nothing of it is changed.
    weights
        The trainable variables.

    Returns
    -------
    NativeRule or None
        None if the server would not do exactly what the optimizer does: a subclass, an
        average of weights, gradients that are clipped one by one or accumulated, or
        variables with constraints.
    """
    # A subclass may do anything in its step, so the type is compared, not its bases.
    kind = getattr(keras_of(optimizer).optimizers, type(optimizer).__name__, None)
    if kind is not type(optimizer) or kind.__name__ not in _RULES:
        return None
    not_native = (
        getattr(optimizer, "use_ema", False),
        getattr(optimizer, "clipnorm", None),
        getattr(optimizer, "gradient_accumulation_steps", None),
        getattr(optimizer, "loss_scale_factor", None),
        getattr(optimizer, "adaptive_epsilon", False),
    )
    if any(not_native) or _is_function(optimizer):
        return None
    if any(getattr(one.variable, "constraint", None) is not None for one in weights):
        return None
    return NativeRule(optimizer, weights)


def schedule_of(optimizer: Any) -> Any:
    """Return the schedule that an optimizer has in the place of a learning rate."""
    rate = getattr(optimizer, "_learning_rate", None)
    base = keras_of(optimizer).optimizers.schedules.LearningRateSchedule
    return rate if isinstance(rate, base) else None


def take_clipping(optimizer: Any, clip: Clip) -> None:
    """Have the server clip as the optimizer was told to."""
    value = getattr(optimizer, "clipvalue", None)
    if value is not None:
        clip.constant = (-float(value), float(value))
    norm = getattr(optimizer, "global_clipnorm", None)
    if norm is not None:
        clip.norm = float(norm)


def change_clipping(clip: Clip, former: Any, optimizer: Any) -> None:
    """Clip as another optimizer does from now on; what users set stays."""
    before = Clip()
    if former is not None:
        take_clipping(former, before)
    if clip.constant == before.constant:
        clip.constant = None
    if clip.norm == before.norm:
        clip.norm = None
    take_clipping(optimizer, clip)


def _is_function(optimizer: Any) -> bool:
    rate = getattr(optimizer, "_learning_rate", None)
    a_variable = hasattr(rate, "assign")
    return callable(rate) and not a_variable and schedule_of(optimizer) is None
