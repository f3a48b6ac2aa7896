# SPDX-License-Identifier: Apache-2.0
"""How a replica's gradients become new weights: by the server, or in the replicas."""

# ruff: noqa: B027 - what is optional does nothing by default
from __future__ import annotations

import os
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from xshards import _core
from xshards.learn.training.board import Board
from xshards.learn.training.replica_optimizer import ServerLink, ServerOptimizerBase
from xshards.learn.training.replica_turn import Position
from xshards.learn.training.weights_view import WeightsView

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xshards.learn.training.adapter import ModelAdapter
    from xshards.learn.training.commands import Parts
    from xshards.learn.training.replica_optimizer import ReplicaOptimizer
    from xshards.learn.training.replica_turn import Turn

__all__ = ["Exchange", "ServerExchange"]


class Exchange(ABC):
    """A replica's side of an update mode; see `UpdateMode` for the driver's."""

    #: Whether a replica without rows needs some that do not count.
    stand_in: bool = False
    #: Of each optimizer, to unpack models with.
    parameters: Sequence[Sequence[object]] = ()

    @abstractmethod
    def make_optimizers(self, parts: Parts, turn: Turn) -> Sequence[ReplicaOptimizer]:
        """Make the optimizer that user code steps."""

    @abstractmethod
    def positions(self) -> list[Position | None]:
        """Return the position of the replica that this one replaces, per optimizer."""

    @abstractmethod
    def step_without_rows(self, batch: Any) -> None:
        """Take part in a step to which this replica has no rows to give."""

    def make_models(self, parts: Parts, turn: Turn) -> list[Any]:
        """Return the models that user code runs."""
        return parts.models

    def state(self) -> tuple[list[int], list[list[Any]], list[dict[str, Any]]]:
        """Return updates made, parameters of each model, states of optimizers."""
        raise NotImplementedError

    def refresh(self) -> None:
        """Show the weights as they are now."""

    def call_driver(self) -> None:
        """Have the driver look for a message, not only for gradients."""

    def changed(self) -> int:
        """Count parameters that were changed in place outside of the optimizer."""
        return 0

    def close(self) -> None:
        """Make room for another set-up."""


class ServerExchange(Exchange):
    """Replicas push gradients and see the weights of the parameter server."""

    def __init__(
        self,
        adapter: ModelAdapter,
        rank: int,
        shapes: Sequence[Sequence[tuple[int, ...]]],
        kinds: Sequence[Sequence[str | None]],
        descriptors: list[int],
    ) -> None:
        self._adapter = adapter
        regions, boards = descriptors[::2], descriptors[1::2]
        self._clients = [_core.ReplicaClient.attach(region, rank) for region in regions]
        self._views = [
            WeightsView(client, of_one)
            for client, of_one in zip(self._clients, shapes, strict=True)
        ]
        for region in regions:
            os.close(region)  # the mappings stay
        self._boards = [Board(board) for board in boards]
        self._optimizers: list[ServerOptimizerBase] = []
        self.parameters = [
            [
                adapter.parameter(values, shape)
                if kind is None
                else adapter.narrow_parameter(values, shape, kind)
                for values, shape, kind in zip(
                    view.values, view.shapes, of_one, strict=True
                )
            ]
            for view, of_one in zip(self._views, kinds, strict=True)
        ]

    def make_optimizers(self, parts: Parts, turn: Turn) -> list[ServerOptimizerBase]:
        """Make the optimizer that user code steps."""
        links = zip(self._clients, self._views, self._boards, strict=True)
        self._optimizers = [
            self._adapter.server_optimizer(description, ServerLink(*link, turn))
            for description, link in zip(parts.optimizers, links, strict=True)
        ]
        return self._optimizers

    def positions(self) -> list[Position | None]:
        """Return the position of the replica that this one replaces, per optimizer."""
        return [Position.decode(client.state) for client in self._clients]

    def step_without_rows(self, batch: Any) -> None:
        """Take part in a step to which this replica has no rows to give."""
        for optimizer in self._optimizers:
            optimizer.step_without_rows()

    def refresh(self) -> None:
        """Show the weights as they are now."""
        for optimizer in self._optimizers:
            optimizer.refresh()

    def call_driver(self) -> None:
        """Have the driver look for a message, not only for gradients."""
        for client in self._clients:
            client.call()

    def changed(self) -> int:
        """Count parameters that were changed in place outside of the optimizer."""
        return sum(len(view.changed()) for view in self._views)

    def close(self) -> None:
        """Make room for another set-up."""
        for client in self._clients:
            client.detach()
        for board in self._boards:
            board.close()
