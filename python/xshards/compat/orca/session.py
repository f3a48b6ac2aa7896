# SPDX-License-Identifier: Apache-2.0
"""The session an Orca script starts and stops."""

from __future__ import annotations

import atexit
import os
import warnings
from typing import TYPE_CHECKING

import xshards
from xshards.compat.errors import OrcaInputError
from xshards.compat.later import not_yet
from xshards.compat.spark.spark_context import SparkConf, SparkContext
from xshards.context import default_context

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["active", "active_context", "start", "stop_orca_context"]

MODES = (
    "local",
    "yarn-client",
    "yarn-cluster",
    "k8s-client",
    "k8s-cluster",
    "standalone",
    "spark-submit",
    "bigdl-submit",
)

_active: SparkContext | None = None


def start(
    cluster_mode: str,
    *,
    cores: int | str | None,
    memory: str,
    num_nodes: int,
    conf: Mapping[str, str] | None = None,
) -> SparkContext:
    """Start a session, or go on with the active one.

    Parameters
    ----------
    cluster_mode : str
        Only "local"; the names of clusters are known.
    cores : int, "*" or None
        Into how many partitions data is cut where nobody says. As many of the machine's
        cores work at once, all of them at most; "*" or None means all.
    memory : str
        The memory budget, as "2g"; data beyond it goes to disk.
    num_nodes : int
        More than one makes no sense on one machine: a warning, then ignored.
    conf : dict, optional
        Settings of Spark: kept, and without effect.
    """
    global _active
    _check_mode(cluster_mode)
    count = _machine_cores() if cores in (None, "*") else _as_cores(cores)
    if num_nodes != 1:
        warnings.warn(
            f"num_nodes={num_nodes} is ignored: local mode runs on one node",
            stacklevel=4,
        )
    if _active is not None:
        if cores is not None and count != _active.defaultParallelism:
            warnings.warn(
                f"a session with {_active.defaultParallelism} cores is active; "
                f"call stop_orca_context() before asking for cores={cores!r}",
                stacklevel=4,
            )
        return _active
    engine = xshards.init(cores=min(count, _machine_cores()), memory=memory)
    _active = SparkContext(engine, count, SparkConf(dict(conf or {})))
    atexit.register(stop_orca_context)
    return _active


def active() -> SparkContext | None:
    """Give the session's context, if one is active."""
    return _active


def active_context(conf: SparkConf | None = None) -> SparkContext:
    """Give the session's context, made with the engine's own defaults if none is."""
    global _active
    if _active is None:
        engine = default_context()
        _active = SparkContext(engine, engine.cores, conf)
        atexit.register(stop_orca_context)
    return _active


def stop_orca_context() -> None:
    """End the session. Safe to call twice, and without one."""
    global _active
    stopped, _active = _active, None
    if stopped is None:
        return
    atexit.unregister(stop_orca_context)
    if default_context() is stopped._engine:
        xshards.stop()
    else:
        stopped._engine.close()


def _check_mode(cluster_mode: str) -> None:
    mode = cluster_mode.lower() if isinstance(cluster_mode, str) else cluster_mode
    if mode not in MODES:
        msg = f"cluster_mode can only be {', '.join(MODES)}, but got: {cluster_mode!r}"
        raise OrcaInputError(msg)
    if mode != "local":
        name = f"cluster_mode={cluster_mode!r}"
        raise not_yet(name, "clusters")


def _as_cores(cores: int | str | None) -> int:
    if isinstance(cores, bool) or not isinstance(cores, int) or cores < 1:
        msg = f"cores should be a positive integer or '*', got {cores!r}"
        raise OrcaInputError(msg)
    return cores


def _machine_cores() -> int:
    return len(os.sched_getaffinity(0))
