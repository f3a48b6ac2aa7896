# SPDX-License-Identifier: Apache-2.0
"""Everything that is needed to go on training, as plain values and tensors.

A file of it is read without unpickling anything else: no code in it runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from xshards.errors import XShardsFileNotFoundError, XShardsValueError
from xshards.learn.training.checkpoints.files import written_whole
from xshards.learn.training.meters import Meters
from xshards.learn.training.replica_turn import Position

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from xshards.learn.training.adapter import ModelAdapter
    from xshards.learn.training.job import Job

__all__ = ["load_state", "read_file", "state_of", "write_file"]


def state_of(job: Job) -> dict[str, Any]:
    """Copy what a job has: models, optimizers, schedulers, and where it is."""
    positions = job.positions()
    in_epoch = _epoch_in_progress(job, positions)
    if in_epoch:
        job.take_buffers(positions[0])
    job.take_state()
    first = positions[0][0] if in_epoch else None
    return {
        "epoch": job.epoch - 1 if in_epoch else job.epoch,
        "models": [job.adapter.model_state(model) for model in job.parts.models],
        "optimizers": [optimizer.state_dict() for optimizer in job.optimizers],
        "schedulers": first.schedulers if first else job.schedulers or [],
        "options": first.options if first else job.options or [],
        "operator": job.parts.operator_state,
        "schedules": [
            [] if server.schedule is None else list(server.schedule.state)
            for server in job.servers
        ],
        "steps": [server.steps for server in job.servers],
        "replicas": [
            [None if one is None else _plain(job.adapter, one) for one in of_one]
            for of_one in positions
        ],
        "in_epoch": in_epoch,
        "seed": job.seed,
        "observed": job.observed,
    }


def load_state(job: Job, state: dict[str, Any]) -> None:
    """Take over what `state_of` gave, or a part of it."""
    job.stop_replicas()
    models = state.get("models")
    if models is not None:
        _check_count("models", models, job.parts.models)
        for model, values in zip(job.parts.models, models, strict=True):
            job.adapter.load_model_state(model, values)
    optimizers = state.get("optimizers")
    if optimizers and job.optimizers:
        _check_count("optimizers", optimizers, job.optimizers)
        for optimizer, values in zip(job.optimizers, optimizers, strict=True):
            optimizer.load_state_dict(values)
    job.epoch = int(state.get("epoch", job.epoch))
    # The order of rows continues, so that an interrupted epoch has each row once.
    job.seed = int(state.get("seed", job.seed))
    job.observed = state.get("observed")
    job.schedulers = state.get("schedulers") or None
    job.options = state.get("options") or None
    job.parts.operator_state = state.get("operator") or {}
    if job.optimizers:
        job.begin()
        for server in job.servers:
            server.load_optimizer_state()
        for server, values in zip(
            job.servers, state.get("schedules") or [], strict=False
        ):
            if server.schedule is not None and values:
                server.schedule.restore(values)
        _load_positions(job, state)


def write_file(
    adapter: ModelAdapter, state: dict[str, Any], path: str | os.PathLike[str]
) -> None:
    """Write a state; a crash leaves the old file or the new one."""
    with written_whole(path) as aside:
        adapter.write_file(state, aside)


def read_file(adapter: ModelAdapter, path: str | os.PathLike[str]) -> Any:
    """Read a file of tensors and plain values, and refuse any other."""
    if not Path(path).is_file():
        msg = f"there is no file {path} to load"
        raise XShardsFileNotFoundError(msg)
    try:
        return adapter.read_file(Path(path))
    except Exception as error:  # frameworks raise different exceptions
        msg = (
            f"{path} is not a file of weights and plain values, so it is not loaded: "
            f"{error}"
        )
        raise XShardsValueError(msg) from error


def _epoch_in_progress(job: Job, positions: list[list[Position | None]]) -> bool:
    if not job.training or not positions:
        return False
    return all(
        one is not None and one.epoch == job.epoch - 1
        for of_one in positions
        for one in of_one
    )


def _load_positions(job: Job, state: dict[str, Any]) -> None:
    saved = state.get("replicas") or [[] for _ in job.servers]
    steps = state.get("steps") or [0 for _ in job.servers]
    if len(saved) != len(job.servers):
        saved, steps = [[] for _ in job.servers], [0 for _ in job.servers]
    positions = [
        _for_replicas([_position(job.adapter, one) for one in of_one], job.num_replicas)
        for of_one in saved
    ]
    job.restore(steps, positions)


def _for_replicas(
    saved: list[Position | None], num_replicas: int
) -> list[Position | None]:
    """Assign positions to replicas, also if their number has changed."""
    if len(saved) == num_replicas or not saved or saved[0] is None:
        return (saved + [None] * num_replicas)[:num_replicas]
    first = saved[0]
    meters = Meters.merged([one.meters for one in saved if one is not None])
    others = Meters()
    others.num_batches = meters.num_batches
    return [
        Position(**{**first.__dict__, "meters": (others if rank else meters).state()})
        for rank in range(num_replicas)
    ]


def _plain(adapter: ModelAdapter, position: Position) -> dict[str, Any]:
    values = dict(position.__dict__)
    values["buffers"] = [adapter.to_tensor(np.array(one)) for one in position.buffers]
    *counts, last = position.meters
    numbers = {name: one for name, one in last.items() if isinstance(one, (int, float))}
    values["meters"] = [*counts, numbers]
    return values


def _position(adapter: ModelAdapter, values: dict[str, Any] | None) -> Position | None:
    if values is None:
        return None
    values = dict(values)
    values["buffers"] = [adapter.to_numpy(one) for one in values["buffers"]]
    values["meters"] = tuple(values["meters"])
    return Position(**values)


def _check_count(what: str, saved: Sequence[Any], own: Sequence[Any]) -> None:
    if len(saved) != len(own):
        msg = f"the file has {len(saved)} {what}, this Estimator has {len(own)}"
        raise XShardsValueError(msg)
