# SPDX-License-Identifier: Apache-2.0
"""The optimizer that user code sees in a replica."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from xshards.errors import XShardsRuntimeError
from xshards.learn.pytorch.parameters import trained

if TYPE_CHECKING:
    from collections.abc import Callable

    from xshards import _core
    from xshards.learn.pytorch.weights_view import WeightsView
    from xshards.learn.training.board import Board
    from xshards.learn.training.replica_turn import Turn

__all__ = ["JobStoppedError", "ServerOptimizer"]

_FOREVER = 1e9


class JobStoppedError(Exception):
    """The driver wants no more of this replica."""


class ServerOptimizer(torch.optim.Optimizer):
    """Pushes gradients in `step`, waits for the update, and shows the new weights.

    The parameter server, not this object, keeps the optimizer's state. Options that are
    changed here, as learning-rate schedulers do, hold from the next step on.
    """

    def __init__(
        self,
        groups: list[dict[str, Any]],
        defaults: dict[str, Any],
        *,
        client: _core.ReplicaClient,
        view: WeightsView,
        board: Board,
        turn: Turn,
    ) -> None:
        super().__init__(groups, defaults)
        #: Unused: the server clips.
        self.clip: Any = None
        self.rows = 0  # behind the gradients since the last step
        self.options_changed = False
        #: Batches up to this one have been pushed by the replica this one replaces.
        self.pushed_through = -1
        self._client = client
        self._view = view
        self._board = board
        self._turn = turn
        self._trained = [parameter for _, parameter in trained(self.param_groups)]
        self._frozen = [
            parameter
            for group in self.param_groups
            for parameter in group["params"]
            if not parameter.requires_grad
        ]
        self._gradients = [
            torch.from_numpy(client.gradient(index)).view(parameter.shape)
            for index, parameter in enumerate(self._trained)
        ]
        self._views = [
            (parameter, tensor, tensor.data_ptr())
            for parameter, tensor in zip(self._trained, view.tensors, strict=True)
        ]
        self._presence = client.presence
        self._all_present = False
        self._written = self.options()

    @property
    def as_torch(self) -> torch.optim.Optimizer:
        """What user code gets."""
        return self

    @property
    def num_steps(self) -> int:
        """Updates that this replica and those it replaces took part in."""
        return self._client.steps

    def options(self) -> list[dict[str, Any]]:
        """Give what the groups have besides parameters."""
        return [
            {name: value for name, value in group.items() if name != "params"}
            for group in self.param_groups
        ]

    def set_options(self, options: list[dict[str, Any]]) -> None:
        """Take over options that another replica had changed."""
        for group, values in zip(self.param_groups, options, strict=True):
            group.update(values)
        self._written = self.options()
        self.options_changed = True

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
        if self._turn.batch > self.pushed_through:
            self._write_gradients()
            self._tell_options()
            self._push(self.rows)
        self.rows = 0
        for hook in self._optimizer_step_post_hooks.values():
            hook(self, (), {})
        return loss

    # Tells torch not to wrap it: that costs more than the step of a small model.
    step.hooked = True  # type: ignore[attr-defined]

    def step_without_rows(self) -> None:
        """Take part in a step to which this replica has no rows to give."""
        if self._turn.batch > self.pushed_through:
            self._tell_options()
            self._push(0)
        self.rows = 0

    def catch_up(self) -> None:
        """Wait until the last gradient, of whoever pushed it, has been taken."""
        outcome = self._client.wait(_FOREVER)
        if outcome != "ready":
            raise JobStoppedError
        self.refresh()

    def refresh(self) -> None:
        """Show the weights as they are now.

        Code of the model may have given a parameter other memory (``p.data = ...``,
        another memory format): it gets a copy then.
        """
        self._view.refresh()
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

    def _tell_options(self) -> None:
        options = self.options()
        if options != self._written:
            self._written = options
            self.options_changed = True
            if self._turn.rank == 0:
                self._board.write(options)

    def _push(self, rows: int) -> None:
        self._client.push(rows, self._turn.position())
        self.catch_up()
