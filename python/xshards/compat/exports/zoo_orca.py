# SPDX-License-Identifier: Apache-2.0
"""What ``zoo.orca`` exports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xshards.compat.orca import session
from xshards.compat.orca.orca_context import OrcaContext
from xshards.compat.orca.session import stop_orca_context

if TYPE_CHECKING:
    from xshards.compat.spark.spark_context import SparkContext

__all__ = ["OrcaContext", "init_orca_context", "stop_orca_context"]


def init_orca_context(
    cluster_mode: str = "local",
    cores: int | str | None = 2,
    memory: str = "2g",
    num_nodes: int = 1,
    init_ray_on_spark: bool = False,  # noqa: FBT001 - as in Orca
    **kwargs: Any,
) -> SparkContext:
    """Start a session, or go on with the active one.

    As `xshards.compat.exports.bigdl_orca.init_orca_context`, with other defaults.

    Examples
    --------
    >>> sc = init_orca_context()
    >>> sc.parallelize(range(4)).glom().collect()
    [[0, 1], [2, 3]]
    >>> stop_orca_context()
    """
    return session.start(
        cluster_mode,
        cores=cores,
        memory=memory,
        num_nodes=num_nodes,
        conf=kwargs.get("conf"),
    )
