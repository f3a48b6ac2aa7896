# SPDX-License-Identifier: Apache-2.0
"""How a replica's gradients become new weights: by the server, or in the replicas."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import torch

from xshards import _core
from xshards.learn.pytorch.distributed import join_group, run_without_rows, wrap
from xshards.learn.pytorch.local_optimizer import LocalOptimizer, put_together
from xshards.learn.pytorch.server_optimizer import ServerOptimizer
from xshards.learn.pytorch.weights_view import WeightsView
from xshards.learn.training.board import Board
from xshards.learn.training.replica_turn import Position

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xshards.learn.training.commands import Local, Parts, SetUp
    from xshards.learn.training.replica_turn import Turn

__all__ = ["LocalExchange", "ServerExchange"]


class ServerExchange:
    """Replicas push gradients and see the weights of the parameter server."""

    #: Whether a replica without rows needs some that do not count.
    stand_in = False

    def __init__(self, command: SetUp, descriptors: list[int]) -> None:
        regions, boards = descriptors[::2], descriptors[1::2]
        self._clients = [
            _core.ReplicaClient.attach(region, command.rank) for region in regions
        ]
        self._views = [
            WeightsView(client, shapes)
            for client, shapes in zip(self._clients, command.shapes, strict=True)
        ]
        for region in regions:
            os.close(region)  # the mappings stay
        self._boards = [Board(board) for board in boards]
        self._optimizers: list[ServerOptimizer] = []
        #: Of each optimizer, to unpack models with.
        self.parameters = [
            [torch.nn.Parameter(tensor) for tensor in view.tensors]
            for view in self._views
        ]

    def make_optimizers(self, parts: Parts, turn: Turn) -> list[ServerOptimizer]:
        """Make what user code steps."""
        self._optimizers = [
            ServerOptimizer(
                groups, defaults, client=client, view=view, board=board, turn=turn
            )
            for (groups, defaults), client, view, board in zip(
                parts.optimizers, self._clients, self._views, self._boards, strict=True
            )
        ]
        return self._optimizers

    def make_models(self, parts: Parts, turn: Turn) -> list[Any]:
        """Give the models that user code runs."""
        return parts.models

    def positions(self) -> list[Position | None]:
        """Say where the replica was that this one replaces, for each optimizer."""
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


class LocalExchange:
    """Replicas run optimizers themselves, on gradients that torch averages."""

    stand_in = True
    parameters: Sequence[Sequence[torch.Tensor]] = ()

    def __init__(self, command: SetUp, local: Local) -> None:
        self._local = local
        if local.port is not None:
            join_group(local.port, command.rank, command.num_replicas)
        self._given: list[torch.nn.Module] = []
        self._models: list[torch.nn.Module] = []
        self._optimizers: list[LocalOptimizer] = []

    def make_optimizers(self, parts: Parts, turn: Turn) -> list[LocalOptimizer]:
        """Take the optimizers that came with the models."""
        self._optimizers = [
            LocalOptimizer(put_together(*parts_of_one), steps)
            for parts_of_one, steps in zip(
                parts.optimizers, self._local.steps, strict=True
            )
        ]
        return self._optimizers

    def make_models(self, parts: Parts, turn: Turn) -> list[Any]:
        """Give the models that user code runs."""
        self._given = parts.models
        averaged = self._local.port is not None and self._optimizers
        self._models = (
            wrap(parts.models, parts.config, turn) if averaged else parts.models
        )
        return self._models

    def positions(self) -> list[Position | None]:
        """Say what this replica reported before it was set up anew."""
        return [Position.decode(state) for state in self._local.states]

    def step_without_rows(self, batch: Any) -> None:
        """Take part in a step to which this replica has no rows to give."""
        for optimizer in self._optimizers:
            optimizer.as_torch.zero_grad()
        run_without_rows(self._models, batch)
        for optimizer in self._optimizers:
            optimizer.as_torch.step()

    def state(self) -> tuple[list[int], list[list[Any]], list[dict[str, Any]]]:
        """Give the updates made, the parameters and the optimizers' states."""
        return (
            [optimizer.num_steps for optimizer in self._optimizers],
            [
                [one.detach().numpy() for one in model.parameters()]
                for model in self._given
            ],
            [optimizer.state_dict() for optimizer in self._optimizers],
        )

    def refresh(self) -> None:
        """Do nothing: the weights are this replica's own."""

    def call_driver(self) -> None:
        """Do nothing: the driver waits for messages."""

    def changed(self) -> int:
        """Count nothing: code may change the weights."""
        return 0

    def close(self) -> None:
        """Do nothing: a process is set up once."""
