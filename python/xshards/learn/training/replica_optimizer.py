# SPDX-License-Identifier: Apache-2.0
"""Optimizers as replicas have them."""

# ruff: noqa: B027 - what is optional does nothing by default
from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from xshards.learn.training.clip import Clip

if TYPE_CHECKING:
    from xshards import _core
    from xshards.learn.training.board import Board
    from xshards.learn.training.replica_turn import Turn
    from xshards.learn.training.weights_view import WeightsView

__all__ = ["JobStoppedError", "ReplicaOptimizer", "ServerLink", "ServerOptimizerBase"]

_FOREVER = 1e9


class JobStoppedError(Exception):
    """Raised in a replica that the driver has closed."""


class ReplicaOptimizer(ABC):
    """One optimizer in a replica, as the training core sees it."""

    #: Updates that this replica and those it replaces took part in.
    num_steps: int
    #: Rows whose gradients have been computed since the last step, or their weights.
    rows: float = 0
    #: Batches up to this one have been pushed by the replica this one replaces.
    pushed_through: int = -1
    #: Whether the options of groups are not those of the set-up any more.
    options_changed: bool = False
    #: How to clip, where the replica updates; set before each epoch.
    clip: Clip = Clip()

    @property
    @abstractmethod
    def handle(self) -> Any:
        """The optimizer that user code gets."""

    @abstractmethod
    def options(self) -> list[dict[str, Any]]:
        """Return what the groups have in addition to parameters, in plain values."""

    @abstractmethod
    def set_options(self, options: list[dict[str, Any]]) -> None:
        """Take over options that another replica had changed."""

    def check_frozen(self) -> None:
        """Refuse parameters that were frozen at the start and are not any more."""

    def catch_up(self) -> None:
        """Wait until the last gradient, of whoever pushed it, has been taken."""


class ServerLink:
    """A replica's connection to the parameter server of one optimizer."""

    def __init__(
        self,
        client: _core.ReplicaClient,
        view: WeightsView,
        board: Board,
        turn: Turn,
    ) -> None:
        self.client = client
        self.view = view
        self.board = board
        self.turn = turn


class ServerOptimizerBase(ReplicaOptimizer):
    """Pushes gradients to the parameter server, waits for the update, shows weights.

    Derive the framework's optimizer from it, call `bind` at the end of `__init__`, and
    have its step write gradients to ``link.client`` and call `push`. The parameter
    server, not this object, keeps the optimizer's state. Options that are changed here,
    as learning-rate schedulers do, hold from the next step on.
    """

    def bind(self, link: ServerLink) -> None:
        """Connect to the server, when the options of groups are known."""
        self.link = link
        self._turn = link.turn
        self._client = link.client
        self._written = self.options()

    @property
    def num_steps(self) -> int:  # type: ignore[override]
        """Updates that this replica and those it replaces took part in."""
        return self._client.steps

    @property
    def is_due(self) -> bool:
        """Whether this batch has still to be pushed; see `pushed_through`."""
        return self._turn.batch > self.pushed_through

    def push(self, rows: float) -> None:
        """Push gradients of a number of rows, and wait for the weights they lead to.

        If rows have weights it is their sum.
        """
        self._tell_options()
        self._client.push(rows, self._turn.position())
        self.catch_up()

    def step_without_rows(self) -> None:
        """Take part in a step to which this replica has no rows to give."""
        if self.is_due:
            self.push(0)
        self.rows = 0

    def catch_up(self) -> None:
        """Wait until the last gradient, of whoever pushed it, has been taken."""
        outcome = self._client.wait(_FOREVER)
        if outcome != "ready":
            raise JobStoppedError
        self.refresh()

    def refresh(self) -> None:
        """Show the weights as they are now.

        Extend it if code of the model can give a parameter other memory.
        """
        self.link.view.refresh()

    def options_were_set(self) -> None:
        """Note that `set_options` was called: the driver has these already."""
        self._written = self.options()
        self.options_changed = True

    def _tell_options(self) -> None:
        options = self.options()
        if options != self._written:
            self._written = options
            self.options_changed = True
            if self._turn.rank == 0:
                self.link.board.write(options)
