# SPDX-License-Identifier: Apache-2.0
"""The torch optimizer that user code sees in a replica of a parameter server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from xshards.errors import XShardsRuntimeError
from xshards.learn.pytorch.parameters import trained
from xshards.learn.training.replica_optimizer import ServerOptimizerBase

if TYPE_CHECKING:
    from collections.abc import Callable

    from xshards.learn.training.replica_optimizer import ServerLink

__all__ = ["ServerOptimizer"]


class ServerOptimizer(ServerOptimizerBase, torch.optim.Optimizer):
    """Pushes gradients in `step`, waits for the update, and shows the new weights."""

    def __init__(
        self, groups: list[dict[str, Any]], defaults: dict[str, Any], link: ServerLink
    ) -> None:
        torch.optim.Optimizer.__init__(self, groups, defaults)
        self._trained = [parameter for _, parameter in trained(self.param_groups)]
        self._frozen = [
            parameter
            for group in self.param_groups
            for parameter in group["params"]
            if not parameter.requires_grad
        ]
        self._gradients = [
            torch.from_numpy(link.client.gradient(index)).view(parameter.shape)
            for index, parameter in enumerate(self._trained)
        ]
        tensors = [torch.from_numpy(values) for values in link.view.values]
        self._views = [
            (parameter, tensor.view(parameter.shape), tensor.data_ptr())
            for parameter, tensor in zip(self._trained, tensors, strict=True)
        ]
        self._presence = link.client.presence
        self._all_present = False
        self.bind(link)

    @property
    def handle(self) -> torch.optim.Optimizer:
        """The optimizer that user code gets."""
        return self

    def options(self) -> list[dict[str, Any]]:
        """Return what the groups have in addition to parameters."""
        return [
            {name: value for name, value in group.items() if name != "params"}
            for group in self.param_groups
        ]

    def set_options(self, options: list[dict[str, Any]]) -> None:
        """Take over options that another replica had changed."""
        for group, values in zip(self.param_groups, options, strict=True):
            group.update(values)
        self.options_were_set()

    def zero_grad(self, set_to_none: bool = True) -> None:  # noqa: FBT001 - torch's
        """Drop the gradients, without asking a profiler as torch's own does."""
        if not set_to_none:
            super().zero_grad(set_to_none=False)
            return
        for parameter in self._trained:
            parameter.grad = None

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Hand the gradients over and wait for the weights they lead to."""
        for hook in self._optimizer_step_pre_hooks.values():
            hook(self, (), {})
        loss = None if closure is None else closure()
        if self.is_due:
            self._write_gradients()
            self.push(self.rows)
        self.rows = 0
        for hook in self._optimizer_step_post_hooks.values():
            hook(self, (), {})
        return loss

    # Prevents torch from wrapping it, which costs more than the step of a small model.
    step.hooked = True  # type: ignore[attr-defined]

    def refresh(self) -> None:
        """Show the weights as they are now.

        Code of the model may have given a parameter other memory (``p.data = ...``,
        another memory format): it gets a copy then.
        """
        super().refresh()
        for parameter, tensor, address in self._views:
            if parameter.data_ptr() != address:
                parameter.data.copy_(tensor)

    def check_frozen(self) -> None:
        """Refuse parameters that were frozen at the start and are not any more."""
        if any(parameter.requires_grad for parameter in self._frozen):
            msg = (
                "a parameter that was frozen when training began requires a gradient "
                "now; the parameter server does not have it: unfreeze it before fit"
            )
            raise XShardsRuntimeError(msg)

    def _write_gradients(self) -> None:
        gradients = [parameter.grad for parameter in self._trained]
        if all(
            gradient is not None and not gradient.is_sparse for gradient in gradients
        ):
            with torch.no_grad():
                torch._foreach_copy_(self._gradients, gradients)  # type: ignore[arg-type]
            if not self._all_present:
                self._presence[:] = 1
                self._all_present = True
            return
        self._all_present = False
        for index, gradient in enumerate(gradients):
            self._presence[index] = gradient is not None
            if gradient is not None:
                dense = gradient.detach()
                dense = dense.to_dense() if dense.is_sparse else dense
                self._gradients[index].copy_(dense)
