# SPDX-License-Identifier: Apache-2.0
"""An optimizer of this package's own rules, as torch knows optimizers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import torch

if TYPE_CHECKING:
    from collections.abc import Iterable

    from xshards import _core
    from xshards.learn.optimizers import Optimizer as OrcaOptimizer

__all__ = ["RuleOptimizer"]


class RuleOptimizer(torch.optim.Optimizer):
    """Holds parameters and the rule by which the parameter server changes them."""

    def __init__(
        self, parameters: Iterable[torch.nn.Parameter], chosen: OrcaOptimizer
    ) -> None:
        self.chosen = chosen
        name, options = chosen.rule()
        self._name = name
        self._options = dict(options)
        super().__init__(parameters, {"lr": float(options["learning_rate"])})
        self.base_rate = float(options["learning_rate"])

    @property
    def schedule(self) -> _core.LearningRateSchedule | None:
        """How its learning rate goes on."""
        return self.chosen.schedule

    def rules(self) -> list[tuple[str, dict[str, float]]]:
        """Return the rule of each group."""
        return [
            (self._name, {**self._options, "learning_rate": float(group["lr"])})
            for group in self.param_groups
        ]

    def step(self, closure: Any = None) -> NoReturn:
        """Refuse: the parameter server takes the steps."""
        msg = "this optimizer only runs in a parameter server"
        raise NotImplementedError(msg)
