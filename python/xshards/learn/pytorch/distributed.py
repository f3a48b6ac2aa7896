# SPDX-License-Identifier: Apache-2.0
"""Gradients averaged by torch.distributed over gloo, for replicas that update alone."""

from __future__ import annotations

import datetime
import os
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import TCPStore
from torch.nn.parallel import DistributedDataParallel

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from xshards.learn.training.replica_turn import Turn

__all__ = [
    "FIND_UNUSED",
    "add_up",
    "join_group",
    "make_store",
    "run_without_rows",
    "wrap",
]

#: The key of the config that has torch look for parameters a batch does not reach.
FIND_UNUSED = "find_unused_parameters"
_HOST = "127.0.0.1"
# The driver ends replicas whose peers are gone; this is for what it cannot see.
_TIMEOUT = datetime.timedelta(minutes=30)


def make_store() -> TCPStore:
    """Open the place where replicas find each other; in the driver."""
    return TCPStore(_HOST, 0, is_master=True, wait_for_workers=False)


def join_group(port: int, rank: int, num_replicas: int) -> None:
    """Become one of the processes that average gradients.

    Nobody leaves the group: replicas end by a signal, so the teardown that hangs now
    and then while a model is alive never runs.
    """
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"  # all replicas are on this machine
    store = TCPStore(_HOST, port, is_master=False)
    dist.init_process_group(
        "gloo", store=store, rank=rank, world_size=num_replicas, timeout=_TIMEOUT
    )


def wrap(
    models: Sequence[torch.nn.Module], config: dict[str, Any], turn: Turn
) -> list[torch.nn.Module]:
    """Have the gradients of models averaged by rows as they are computed."""
    return [
        _wrapped(model, config, turn)
        if any(parameter.requires_grad for parameter in model.parameters())
        else model
        for model in models
    ]


def run_without_rows(
    models: Sequence[torch.nn.Module], batch: Sequence[Any], turn: Turn
) -> None:
    """Take part in the averages of a batch of which this replica has no rows.

    `batch` is any batch; its results are discarded.
    """
    for model in models:
        if not isinstance(model, DistributedDataParallel):
            continue
        was_training = model.module.training
        model.module.eval()  # the statistics of layers stay as they are
        outputs = list(_tensors(model(*batch[:-1])))
        if turn.weighted and turn.share_weight is not None and model is models[0]:
            turn.share_weight(0.0)  # as the others do, once they have their loss
        total: Any = torch.stack([output.sum() for output in outputs]).sum()
        total.backward()
        model.module.train(was_training)


def add_up(value: float) -> float:
    """Return the sum of a number over all replicas; all of them call it."""
    total = torch.tensor(value, dtype=torch.float64)
    dist.all_reduce(total)
    return float(total)


def _wrapped(
    model: torch.nn.Module, config: dict[str, Any], turn: Turn
) -> DistributedDataParallel:
    wrapped = DistributedDataParallel(
        model,
        forward_sync_buffers=False,
        gradient_as_bucket_view=True,
        find_unused_parameters=bool(config.get(FIND_UNUSED, False)),
    )

    def weigh(module: object, inputs: object, output: Any) -> None:
        """Weigh the gradient by rows: torch averages by replica."""
        even = turn.rows * turn.num_replicas == turn.step_rows
        if not turn.training or (even and not turn.weighted):
            return
        for tensor in _tensors(output):
            if tensor.requires_grad:
                tensor.register_hook(lambda gradient: gradient * _share(turn))

    wrapped.register_forward_hook(weigh)
    return wrapped


def _share(turn: Turn) -> float:
    """Return this replica's part of the batch, 1 if all have the same.

    Known only after the loss, where rows have weights.
    """
    if turn.weight is None or turn.step_weight is None:
        return turn.rows * turn.num_replicas / turn.step_rows
    if turn.step_weight == 0:
        return 0.0
    return turn.weight * turn.num_replicas / turn.step_weight


def _tensors(output: Any) -> Iterator[Any]:
    if isinstance(output, torch.Tensor):
        yield output
    elif isinstance(output, dict):
        for part in output.values():
            yield from _tensors(part)
    elif isinstance(output, (list, tuple)):
        for part in output:
            yield from _tensors(part)
