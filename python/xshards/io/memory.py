# SPDX-License-Identifier: Apache-2.0
"""Ways into XShards for data in memory: pandas, Arrow and arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from xshards import _core
from xshards._util.arguments import as_count, require
from xshards._util.deferred import pd
from xshards.context import default_context
from xshards.errors import XShardsTypeError
from xshards.interop.engine_types import normalise
from xshards.interop.frames import frame_to_table
from xshards.io.cut_arrays import count_shards, cut
from xshards.shards import XShards

if TYPE_CHECKING:
    from xshards.context import Context

__all__ = ["from_arrow", "from_pandas", "partition"]


def from_pandas(
    data: pd.DataFrame | pd.Series[Any],
    num_partitions: int | None = None,
    *,
    context: Context | None = None,
) -> XShards:
    """Cut a DataFrame or Series into shards, sharing its memory where possible.

    Values, dtypes, labels and index come back with `XShards.to_pandas`: categories,
    time zones, labels of any type, and objects that Arrow has no type for (these are
    pickled). The engine's name of a column is its label as text: after
    ``pd.DataFrame([[1, 2]])``, ``shards[0]`` and ``xs.col("0")`` are the first column.
    The second column of a name is named ``name.1``.

    A RangeIndex numbers rows: operations that change which rows there are, or their
    order, number them from 0. Any other index goes with its rows, as in pandas.

    Parameters
    ----------
    data : DataFrame or Series
        What to cut; do not change it afterwards.
    num_partitions : int, optional
        How many partitions; as many as the context has cores by default.
    context : Context, optional
        Where to run; the session's by default.

    Returns
    -------
    XShards

    Raises
    ------
    TypeError
        If `data` is neither a DataFrame nor a Series.

    Examples
    --------
    >>> xs.from_pandas(pd.DataFrame({"a": [1, 2, 3]}), num_partitions=2)
    XShards: 2 partitions
      a  int64
    """
    require(data, (pd.DataFrame, pd.Series), "from_pandas takes a DataFrame or Series")
    table, info = frame_to_table(data, keep="labels")
    where = context or default_context()
    core = _core.XShards.from_table(
        where._core, table, as_count("num_partitions", num_partitions)
    )
    return XShards(core, where, info, in_memory=True)


def from_arrow(
    data: Any,
    num_partitions: int | None = None,
    *,
    context: Context | None = None,
) -> XShards:
    """Cut Arrow data into shards, sharing its memory.

    Parameters
    ----------
    data : Arrow data
        A ``pyarrow.Table``, or anything with ``__arrow_c_stream__`` or
        ``__arrow_c_array__``, such as a Polars or DuckDB frame.
    num_partitions, context
        See `from_pandas`.

    Returns
    -------
    XShards

    Raises
    ------
    TypeError
        If `data` is not Arrow data.

    Examples
    --------
    >>> import pyarrow as pa
    >>> len(xs.from_arrow(pa.table({"a": [1, 2, 3]})))
    3
    """
    if isinstance(data, pa.Table):
        table = data
    elif hasattr(data, "__arrow_c_stream__"):
        table = pa.table(data)
    elif hasattr(data, "__arrow_c_array__"):
        table = pa.Table.from_batches([pa.record_batch(data)])
    else:
        msg = f"from_arrow takes Arrow data, got {type(data).__name__}"
        raise XShardsTypeError(msg)
    where = context or default_context()
    table = normalise(table)
    core = _core.XShards.from_table(
        where._core, table, as_count("num_partitions", num_partitions)
    )
    return XShards(core, where, in_memory=True)


def partition(
    data: Any,
    num_shards: int | None = None,
    *,
    context: Context | None = None,
) -> XShards:
    """Cut arrays, or what holds them, into shards as ``numpy.array_split`` does.

    The data is copied once, to memory that worker processes share; what you do with it
    afterwards does not reach the shards.

    Parameters
    ----------
    data : ndarray, or dict, list or tuple of ndarrays
        Nested as deep as you like, with arrays of one length: every shard has the same
        nesting. Leaves may also be torch tensors, which come back as ndarrays, and
        DataFrames or Series. A DataFrame, Series or Arrow table itself gives DataFrame
        shards (see `from_pandas`); a list without arrays in it is cut into lists.
    num_shards : int, optional
        How many shards, at most as many as there are rows; by default as many as the
        context has cores.
    context : Context, optional
        Where to run; the session's by default.

    Returns
    -------
    XShards

    Raises
    ------
    ValueError
        If arrays differ in length, or there are fewer rows than shards.
    TypeError
        If there is something else among the leaves.

    Examples
    --------
    >>> xs.partition(np.arange(5), 2).collect()
    [array([0, 1, 2]), array([3, 4])]
    >>> pairs = xs.partition({"x": np.zeros((4, 3)), "y": np.arange(4)}, num_shards=2)
    >>> [shard["x"].shape for shard in pairs.collect()]
    [(2, 3), (2, 3)]
    >>> xs.partition(["a", "b", "c"], 2).collect()
    [['a', 'b'], ['c']]
    """
    where = context or default_context()
    if isinstance(data, pd.DataFrame | pd.Series):
        count = count_shards(len(data), num_shards, where.cores)
        return from_pandas(data, count, context=where)
    if isinstance(data, pa.Table | pa.RecordBatch):
        count = count_shards(data.num_rows, num_shards, where.cores)
        return from_arrow(data, count, context=where)
    payloads = cut(data, num_shards, where.cores)
    core = _core.XShards.from_payloads(where._core, payloads)
    return XShards(core, where, in_memory=True)
