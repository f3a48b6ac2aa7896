# SPDX-License-Identifier: Apache-2.0
"""The optimizer that users give, for a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xshards.errors import XShardsTypeError, XShardsValueError
from xshards.learn.optimizers import Optimizer as OrcaOptimizer
from xshards.learn.tf1.driver_optimizer import OwnerOptimizer, RuleOptimizer
from xshards.learn.tf1.framework import tf
from xshards.learn.tf1.optimizer_rules import native_rule

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xshards.learn.tf1.building import Built
    from xshards.learn.training.driver_optimizer import DriverOptimizer

__all__ = ["groups_of", "is_orca", "make_optimizer"]


def is_orca(optimizer: Any) -> bool:
    """Tell optimizers of `xshards.learn.optimizers`, one or several by prefix."""
    if isinstance(optimizer, dict):
        return all(isinstance(one, OrcaOptimizer) for one in optimizer.values())
    return isinstance(optimizer, OrcaOptimizer)


def groups_of(optimizer: Any, variables: Sequence[Any]) -> dict[str, int]:
    """Say which of several optimizers, by prefix, each variable belongs to."""
    if not isinstance(optimizer, dict):
        return {}
    groups: dict[str, int] = {}
    for variable in variables:
        found = [
            number
            for number, prefix in enumerate(optimizer)
            if variable.op.name.startswith(prefix)
        ]
        if len(found) != 1:
            msg = (
                f"each variable needs exactly one optimizer; {variable.op.name} "
                f"matches {len(found)} of the prefixes {', '.join(optimizer)}"
            )
            raise XShardsValueError(msg)
        groups[variable.op.name] = found[0]
    return groups


def make_optimizer(
    optimizer: Any, built: Built, session: Any, *, clip_norm: float | None = None
) -> DriverOptimizer:
    """Make the driver's optimizer: a rule of the server's if it has the same one."""
    if is_orca(optimizer):
        return _of_orca(optimizer, built)
    rule = native_rule(optimizer) if clip_norm is None else None
    if rule is not None:
        return RuleOptimizer(optimizer, built, [rule] * len(built.model.vectors))
    if isinstance(optimizer, tf.train.Optimizer):
        return _of_train(optimizer, built, session, clip_norm)
    if hasattr(optimizer, "apply_gradients") and hasattr(optimizer, "get_config"):
        return _of_keras(optimizer, built, session, clip_norm)
    msg = (
        "optimizer is wrong: it should be an instance of tf.train.Optimizer or one of "
        f"xshards.learn.optimizers; got {type(optimizer).__name__}"
    )
    raise XShardsTypeError(msg)


def _of_orca(optimizer: Any, built: Built) -> RuleOptimizer:
    if not isinstance(optimizer, dict):
        rule = optimizer.rule()
        rules = [rule] * len(built.model.vectors)
        return RuleOptimizer(optimizer, built, rules, chosen=optimizer)
    rules = []
    for variables in built.trained:
        name = variables[0].op.name
        (one,) = [part for prefix, part in optimizer.items() if name.startswith(prefix)]
        if one.schedule is not None:
            msg = (
                "several optimizers by prefix have constant learning rates; "
                f"{one!r} has a schedule"
            )
            raise XShardsValueError(msg)
        rules.append(one.rule())
    return RuleOptimizer(next(iter(optimizer.values())), built, rules)


def _placeholders(built: Built) -> list[Any]:
    return [
        tf.placeholder(variable.dtype.base_dtype, shape, name="fed_gradient")
        for names, variables in zip(
            built.model.names.vectors, built.trained, strict=True
        )
        for (_, shape), variable in zip(names.variables, variables, strict=True)
    ]


def _of_train(
    optimizer: Any, built: Built, session: Any, clip_norm: float | None
) -> OwnerOptimizer:
    variables = [one for some in built.trained for one in some]
    with built.graph.as_default():
        listed = built.graph.get_collection_ref(tf.GraphKeys.GLOBAL_VARIABLES)
        before = len(listed)
        feeds = _placeholders(built)
        train_op = optimizer.apply_gradients(
            zip(feeds, variables, strict=True),
            global_step=tf.train.get_global_step(built.graph),
        )
        # A tf.train.Saver of the user's would look for them in files of the model.
        del listed[before:]
        own = list(optimizer.variables())
    return OwnerOptimizer(
        optimizer,
        built,
        train_op=train_op,
        gradients=feeds,
        session=session,
        variable_norm=clip_norm,
        rate=_rate(optimizer, ("_lr_t", "_learning_rate_tensor")),
        own=own,
    )


def _of_keras(
    optimizer: Any, built: Built, session: Any, clip_norm: float | None
) -> OwnerOptimizer:
    variables = [one for some in built.trained for one in some]
    with built.graph.as_default():
        feeds = _placeholders(built)
        clipped = _keras_clipped(optimizer, feeds)
        train_op = optimizer.apply_gradients(zip(clipped, variables, strict=True))
        decayed = getattr(optimizer, "_decayed_lr", None)
        rate = None if decayed is None else decayed(tf.float32)
    return OwnerOptimizer(
        optimizer,
        built,
        train_op=train_op,
        gradients=feeds,
        session=session,
        variable_norm=clip_norm,
        rate=rate,
    )


def _keras_clipped(optimizer: Any, gradients: list[Any]) -> list[Any]:
    """Clip as the optimizer's own minimize does; applying gradients does not."""
    clip = getattr(optimizer, "_clip_gradients", None)
    return list(clip(gradients)) if clip is not None else gradients


def _rate(optimizer: Any, names: Sequence[str]) -> Any:
    found: Mapping[str, Any] = vars(optimizer)
    return next((found[name] for name in names if found.get(name) is not None), None)
