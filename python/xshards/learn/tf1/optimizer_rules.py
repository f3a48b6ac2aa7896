# SPDX-License-Identifier: Apache-2.0
"""Which optimizers of tf.train the parameter server can run itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xshards.learn.tf1.framework import tf

if TYPE_CHECKING:
    from xshards.learn.training.driver_optimizer import Rule

__all__ = ["native_rule"]

# By class: the server's rule, its options by the names of attributes, and attributes
# that must have a certain value for the server to compute the same.
_RULES: dict[Any, tuple[str, dict[str, str], dict[str, float]]] = {
    tf.train.GradientDescentOptimizer: ("sgd", {"learning_rate": "_learning_rate"}, {}),
    tf.train.MomentumOptimizer: (
        "sgd",
        {
            "learning_rate": "_learning_rate",
            "momentum": "_momentum",
            "nesterov": "_use_nesterov",
        },
        {},
    ),
    tf.train.AdadeltaOptimizer: (
        "adadelta",
        {"learning_rate": "_lr", "rho": "_rho", "epsilon": "_epsilon"},
        {},
    ),
    tf.train.AdagradOptimizer: (
        "adagrad",
        {
            "learning_rate": "_learning_rate",
            "initial_accumulator": "_initial_accumulator_value",
        },
        {},
    ),
    tf.train.FtrlOptimizer: (
        "ftrl",
        {
            "learning_rate": "_learning_rate",
            "learning_rate_power": "_learning_rate_power",
            "initial_accumulator": "_initial_accumulator_value",
            "l1": "_l1_regularization_strength",
            "l2": "_l2_regularization_strength",
        },
        {"_l2_shrinkage_regularization_strength": 0.0},
    ),
}
# Options that TensorFlow does not have, where the server's default is not 0.
_MORE = {"adagrad": {"epsilon": 0.0}}


def native_rule(optimizer: Any) -> Rule | None:
    """Spell an optimizer of tf.train as an update rule of the parameter server.

    Parameters
    ----------
    optimizer
        Any object. Nothing of it is changed.

    Returns
    -------
    (str, dict) or None
        None if the server would not do exactly what TensorFlow does: another class, or
        a learning rate that is a tensor.

    Examples
    --------
    >>> from xshards.learn.tf1.framework import tf
    >>> from xshards.learn.tf1.optimizer_rules import native_rule
    >>> native_rule(tf.train.MomentumOptimizer(0.5, 0.9))
    ('sgd', {'learning_rate': 0.5, 'momentum': 0.9, 'nesterov': 0.0})
    >>> native_rule(tf.train.AdamOptimizer()) is None
    True
    """
    # A subclass may do anything, so the type is compared, not its bases.
    found = _RULES.get(type(optimizer))
    if found is None:
        return None
    name, options, needed = found
    values = {option: getattr(optimizer, one) for option, one in options.items()}
    if any(getattr(optimizer, one, value) != value for one, value in needed.items()):
        return None
    if not all(isinstance(one, (bool, int, float)) for one in values.values()):
        return None
    spelled = {option: float(one) for option, one in values.items()}
    return name, {**spelled, **_MORE.get(name, {})}
