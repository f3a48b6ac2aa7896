# SPDX-License-Identifier: Apache-2.0
"""What ``zoo.common.nncontext`` and ``bigdl.dllib.nncontext`` export.

Star-imports of these also brought modules, and scripts came to rely on them.
"""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from typing import Any, NoReturn

import numpy as np

from xshards.compat.later import not_yet
from xshards.compat.orca import session
from xshards.compat.orca.orca_context import OrcaContext, ZooContext
from xshards.compat.spark.spark_context import SparkConf, SparkContext

__all__ = [
    "OrcaContext",
    "SparkConf",
    "SparkContext",
    "ZooContext",
    "getOrCreateSparkContext",
    "get_node_and_core_number",
    "get_spark_context",
    "init_nncontext",
    "init_spark_conf",
    "init_spark_on_k8s",
    "init_spark_on_local",
    "init_spark_on_yarn",
    "init_spark_on_yarn_cluster",
    "init_spark_standalone",
    "np",
    "os",
    "stop_spark_standalone",
    "sys",
    "tempfile",
    "warnings",
]


def init_nncontext(
    conf: SparkConf | str | None = None,
    cluster_mode: str = "local",
    spark_log_level: str = "WARN",
    redirect_spark_log: bool = True,  # noqa: FBT001 - as in Orca
    **kwargs: Any,
) -> SparkContext:
    """Give the active context, made on all cores if there is none.

    Examples
    --------
    >>> sc = init_nncontext("my application")
    >>> sc.getConf().get("spark.app.name")
    'my application'
    >>> sc.stop()
    """
    if session.active() is not None:
        return session.active_context()
    settings = SparkConf().setAppName(conf) if isinstance(conf, str) else conf
    memory = str(kwargs.get("memory", "2g"))
    return session.start(
        cluster_mode,
        cores=kwargs.get("cores"),
        memory=memory,
        num_nodes=1,
        conf=dict(settings.getAll()) if settings is not None else None,
    )


def init_spark_on_local(
    cores: int | str = 2,
    conf: dict[str, str] | None = None,
    python_location: str | None = None,
    spark_log_level: str = "WARN",
    redirect_spark_log: bool = True,  # noqa: FBT001 - as in Orca
) -> SparkContext:
    """Start a session on this machine, or go on with the active one."""
    return session.start("local", cores=cores, memory="2g", num_nodes=1, conf=conf)


def get_spark_context(sparkConf: SparkConf | None = None) -> SparkContext:
    """Give the active context, made if there is none."""
    return session.active_context(conf=sparkConf)


def getOrCreateSparkContext(
    conf: SparkConf | None = None, appName: str | None = None
) -> SparkContext:
    """Give the active context, made if there is none."""
    return session.active_context(conf=conf)


def get_node_and_core_number() -> tuple[int, int]:
    """Give the number of nodes, which is one, and of cores that were asked for."""
    return 1, session.active_context().defaultParallelism


def init_spark_conf(conf: dict[str, str] | None = None) -> SparkConf:
    """Make settings to start a session with."""
    return SparkConf(conf)


def init_spark_on_yarn(*_args: object, **_kwargs: object) -> NoReturn:
    """Not there yet."""
    name = "init_spark_on_yarn"
    raise not_yet(name, "clusters")


def init_spark_on_yarn_cluster(*_args: object, **_kwargs: object) -> NoReturn:
    """Not there yet."""
    name = "init_spark_on_yarn_cluster"
    raise not_yet(name, "clusters")


def init_spark_on_k8s(*_args: object, **_kwargs: object) -> NoReturn:
    """Not there yet."""
    name = "init_spark_on_k8s"
    raise not_yet(name, "clusters")


def init_spark_standalone(*_args: object, **_kwargs: object) -> NoReturn:
    """Not there yet."""
    name = "init_spark_standalone"
    raise not_yet(name, "clusters")


def stop_spark_standalone() -> None:
    """Do nothing: no cluster was started."""
