# SPDX-License-Identifier: Apache-2.0
"""What ``bigdl.orca`` exports."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from xshards.compat.errors import OrcaInputError
from xshards.compat.later import not_yet
from xshards.compat.orca import session
from xshards.compat.orca.orca_context import OrcaContext
from xshards.compat.orca.safe_pickle import SafePickle
from xshards.compat.orca.session import stop_orca_context

if TYPE_CHECKING:
    from xshards.compat.spark.spark_context import SparkContext

__all__ = ["OrcaContext", "SafePickle", "init_orca_context", "stop_orca_context"]


def init_orca_context(
    cluster_mode: str | None = None,
    runtime: str = "spark",
    cores: int | str | None = None,
    memory: str = "2g",
    num_nodes: int = 1,
    init_ray_on_spark: bool = False,  # noqa: FBT001 - as in Orca
    init_executor_gateway: bool = True,  # noqa: FBT001 - as in Orca
    **kwargs: Any,
) -> SparkContext:
    """Start a session, or go on with the active one.

    Parameters
    ----------
    cluster_mode : str, optional
        "local", the default; clusters come later.
    runtime : {"spark", "ray"}
        "ray" comes later.
    cores : int or "*", optional
        Into how many partitions data is cut where nobody says; that many of the
        machine's cores work at once, or all it has. All by default.
    memory : str, default "2g"
        The memory budget; data beyond it goes to disk.
    num_nodes : int
        One.
    init_ray_on_spark, init_executor_gateway : bool
        Without effect: there is neither Ray nor a JVM.
    **kwargs
        What Orca takes for Spark and Ray; `conf` is kept, the others are ignored.

    Returns
    -------
    SparkContext
        A context with `parallelize` and the like.

    Examples
    --------
    >>> sc = init_orca_context(cores=2, memory="1g")
    >>> sc.defaultParallelism
    2
    >>> stop_orca_context()
    """
    if runtime not in ("spark", "ray"):
        msg = f"runtime can only be spark or ray, but got: {runtime!r}"
        raise OrcaInputError(msg)
    if runtime == "ray":
        if cluster_mode is not None:
            msg = "Currently, cluster_mode must be None when runtime is ray"
            raise OrcaInputError(msg)
        name = "runtime='ray'"
        raise not_yet(name, "clusters")
    if cluster_mode is not None and session.active() is not None:
        warnings.warn(
            f"a session is active already; cluster_mode={cluster_mode!r} is ignored",
            stacklevel=2,
        )
    return session.start(
        "local" if cluster_mode is None else cluster_mode,
        cores=cores,
        memory=memory,
        num_nodes=num_nodes,
        conf=kwargs.get("conf"),
    )
