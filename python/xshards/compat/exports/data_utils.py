# SPDX-License-Identifier: Apache-2.0
"""What ``orca.data.utils`` exports."""

from __future__ import annotations

from typing import Any, NoReturn

import pyarrow as pa

import xshards
from xshards.compat.errors import OrcaTypeError
from xshards.compat.exports.nncontext import get_node_and_core_number
from xshards.compat.later import not_yet
from xshards.compat.orca import session
from xshards.compat.orca.orca_context import OrcaContext
from xshards.compat.orca.shard_base import DATA_FRAME
from xshards.compat.orca.spark_xshards import SparkXShards
from xshards.compat.spark.rdd import RDD

__all__ = [
    "get_node_and_core_number",
    "spark_df_to_pd_sparkxshards",
    "spark_df_to_ray_dataset",
    "spark_xshards_to_ray_dataset",
]


def spark_df_to_pd_sparkxshards(
    df: Any,
    squeeze: bool = False,  # noqa: FBT001 - as in Orca
    index_col: Any = None,
    dtype: Any = None,
    index_map: Any = None,
) -> SparkXShards:
    """Make shards of a Spark DataFrame, or of anything else that gives Arrow data."""
    context = session.active_context()
    if hasattr(df, "toArrow"):
        table = df.toArrow()
    elif hasattr(df, "__arrow_c_stream__"):
        table = df
    else:
        msg = f"expected a Spark DataFrame or Arrow data, got {type(df).__name__}"
        raise OrcaTypeError(msg)
    size = OrcaContext._shard_size
    rows = pa.table(table).num_rows
    count = context.defaultParallelism if size is None else max(1, -(-rows // size))
    shards = xshards.from_arrow(table, count, context=context._engine)
    if dtype is not None:
        shards = shards.astype(dtype)
    rdd = RDD(context, lambda: shards)
    if index_col is not None:
        rdd = rdd.map(lambda frame: frame.set_index(index_col))
    if squeeze:
        rdd = rdd.map(lambda frame: frame.squeeze("columns"))
    rdd._native = index_col is None and not squeeze
    return SparkXShards(rdd, class_name=DATA_FRAME if rdd._native else None)


def spark_df_to_ray_dataset(df: Any) -> NoReturn:
    """Not there yet."""
    name = "spark_df_to_ray_dataset"
    raise not_yet(name, "shards on Ray")


def spark_xshards_to_ray_dataset(shards: Any) -> NoReturn:
    """Not there yet."""
    name = "spark_xshards_to_ray_dataset"
    raise not_yet(name, "shards on Ray")
