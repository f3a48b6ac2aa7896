# SPDX-License-Identifier: Apache-2.0
"""What gives a replica's gradients to the parameter server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xshards.learn.training.replica_optimizer import ServerOptimizerBase

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xshards.learn.training.replica_optimizer import ServerLink

__all__ = ["ServerOptimizer"]


class ServerOptimizer(ServerOptimizerBase):
    """Copies gradients to the replica's slice and waits for the update.

    The model's variables are views of the shared weights: nothing is copied back. All
    options of the optimizer are the driver's, which sets them between updates.
    """

    def __init__(self, num_weights: int, link: ServerLink) -> None:
        self._slices = [link.client.gradient(index) for index in range(num_weights)]
        self._present: list[bool] = []
        self.bind(link)

    @property
    def handle(self) -> ServerOptimizer:
        """What the operator steps."""
        return self

    def options(self) -> list[dict[str, Any]]:
        """Return nothing: replicas change no options."""
        return []

    def set_options(self, options: list[dict[str, Any]]) -> None:
        """Take nothing over."""

    def step(self, gradients: Sequence[Any], present: list[bool]) -> None:
        """Hand over the gradients of variables that have one."""
        if self.is_due:
            if present != self._present:
                self.link.client.presence[:] = present
                self._present = list(present)
            own = (one for one, here in zip(self._slices, present, strict=True) if here)
            for values, gradient in zip(own, gradients, strict=True):
                values[:] = gradient.numpy().reshape(-1)
            self.push(self.rows)
        self.rows = 0
