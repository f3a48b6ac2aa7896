# SPDX-License-Identifier: Apache-2.0
"""Which torch optimizers the parameter server can run itself."""

from __future__ import annotations

from typing import Any

import torch

__all__ = ["native_rules"]

# The optimizers that the server has, by its names for them.
_NAMES: dict[type[torch.optim.Optimizer], str] = {
    torch.optim.SGD: "sgd",
    torch.optim.Adam: "adam",
    torch.optim.AdamW: "adamw",
    torch.optim.Adagrad: "adagrad",
    torch.optim.Adadelta: "adadelta",
    torch.optim.Adamax: "adamax",
    torch.optim.RMSprop: "rmsprop",
}

# The options that change what a step computes: torch's names and the server's.
_OPTIONS = {
    "lr": "learning_rate",
    "eps": "epsilon",
    "lr_decay": "learning_rate_decay",
    "initial_accumulator_value": "initial_accumulator",
    "weight_decay": "weight_decay",
    "decoupled_weight_decay": "decoupled_weight_decay",
    "momentum": "momentum",
    "dampening": "dampening",
    "nesterov": "nesterov",
    "amsgrad": "amsgrad",
    "rho": "rho",
    "alpha": "alpha",
    "centered": "centered",
    "maximize": "maximize",
}

# Options of torch's implementation that do not change results, and those that
# schedulers add.
_NO_EFFECT = frozenset(
    [
        "params",
        "param_names",
        "foreach",
        "fused",
        "initial_lr",
        "max_lr",
        "min_lr",
        "base_momentum",
        "max_momentum",
        "swa_lr",
    ]
)
# Without effect only while they are off.
_MUST_BE_OFF = frozenset(["differentiable", "capturable"])


def native_rules(
    optimizer: torch.optim.Optimizer,
) -> list[tuple[str, dict[str, float]]] | None:
    """Spell an optimizer as update rules of the parameter server.

    Parameters
    ----------
    optimizer
        Any torch optimizer. Nothing of it is changed.

    Returns
    -------
    list of (str, dict) or None
        One rule for each of its parameter groups. None if the server would not do
        exactly what `optimizer.step()` does: a subclass, hooks around steps, an option
        it does not know, or one given as a tensor.

    Examples
    --------
    >>> import torch
    >>> from xshards.learn.pytorch.optimizer_rules import native_rules
    >>> weights = [torch.nn.Parameter(torch.zeros(3))]
    >>> native_rules(torch.optim.Adadelta(weights, lr=0.5))
    [('adadelta', {'learning_rate': 0.5, 'rho': 0.9, 'epsilon': 1e-06,
      'weight_decay': 0.0, 'maximize': 0.0})]
    >>> native_rules(torch.optim.LBFGS(weights)) is None
    True
    """
    # A subclass may do anything in its step, so the type is compared, not its bases.
    name = _NAMES.get(type(optimizer))
    if name is None or _has_hooks(optimizer):
        return None
    rules = []
    for group in optimizer.param_groups:
        # torch starts all groups from the constructor's value, whatever their own
        # options are.
        start = optimizer.defaults.get("initial_accumulator_value")
        if start is not None:
            group = {**group, "initial_accumulator_value": start}
        rule = _rule_of(group, optimizer.defaults)
        if rule is None:
            return None
        rules.append((name, rule))
    return rules


def _has_hooks(optimizer: torch.optim.Optimizer) -> bool:
    hooks = ("_optimizer_step_pre_hooks", "_optimizer_step_post_hooks")
    return any(getattr(optimizer, name, None) for name in hooks)


def _rule_of(
    group: dict[str, Any], defaults: dict[str, Any]
) -> dict[str, float] | None:
    rule: dict[str, float] = {}
    for key, value in group.items():
        if key in _NO_EFFECT or (key in _MUST_BE_OFF and not value):
            continue
        spelled = _spell(key, value) if key in defaults else None
        if spelled is None:
            return None
        rule.update(spelled)
    return rule


def _spell(key: str, value: Any) -> dict[str, float] | None:
    if key == "betas":
        named = dict(zip(("beta1", "beta2"), value, strict=True))
    elif key in _OPTIONS:
        named = {_OPTIONS[key]: value}
    else:
        return None
    # A tensor can change between steps without notice.
    if not all(isinstance(number, (bool, int, float)) for number in named.values()):
        return None
    return {name: float(number) for name, number in named.items()}
