# SPDX-License-Identifier: Apache-2.0
"""Arrow columns as numpy arrays that may be changed in place.

A worker process maps its input privately: it may write to it, and the kernel copies the
pages that it touches. So what a function gets need not be copied first. Elsewhere, and
where a column's values lie otherwise in Arrow than in numpy, they are copied.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from xshards._util.deferred import pd

__all__ = ["Lend", "owned", "table_to_blocks", "writable"]

Array = np.ndarray[Any, Any]
#: Lends the memory behind a buffer: its bytes, writable, and the block of memory they
#: belong to; None if it is not to be changed.
Lend = Callable[[pa.Buffer], tuple[Array, int] | None]


def writable(buffer: pa.Buffer, lend: Lend | None) -> Array:
    """Return the bytes of a buffer, writable; a copy if they cannot be lent."""
    loan = None if lend is None else lend(buffer)
    if loan is not None:
        return loan[0]
    return np.frombuffer(buffer, dtype=np.uint8).copy()


def owned(values: Array) -> Array:
    """Make an array writable that only its caller has; copied if its memory is not.

    pandas returns read-only arrays, even if they are not shared.
    """
    try:
        values.flags.writeable = True
    except ValueError:
        return values.copy()
    return values


def table_to_blocks(table: pa.Table, lend: Lend, *, use_threads: bool) -> pd.DataFrame:
    """Convert a table to a frame whose columns can all be changed in place.

    Numbers and times are views of the table's memory where it is lent, and has NaN or
    NaT below its nulls; columns of one type that lie at equal distances make up one
    block.
    """
    views: dict[int, tuple[Array, int]] = {}
    for position, column in enumerate(table.columns):
        view = _lend_column(column, lend)
        if view is not None:
            views[position] = view
    blocks = _join_views(views)
    for position, column in enumerate(table.columns):
        if position not in views:
            blocks.append((_convert(column, use_threads), np.array([position])))
    internals: Any = pd.api.internals  # type: ignore[attr-defined]
    frame: pd.DataFrame = internals.create_dataframe_from_blocks(
        blocks,
        index=pd.RangeIndex(table.num_rows),
        columns=pd.Index(table.column_names, dtype="str"),
    )
    return frame


def _convert(column: pa.ChunkedArray, use_threads: bool) -> Any:  # noqa: FBT001
    series = column.to_pandas(use_threads=use_threads)
    if isinstance(series.dtype, np.dtype):
        return owned(series.to_numpy()).reshape(1, -1)
    # A copy, except for strings, whose memory is immutable.
    return series.array if series.dtype == "str" else series.array.copy()


def _lend_column(column: pa.ChunkedArray, lend: Lend) -> tuple[Array, int] | None:
    dtype = _numpy_dtype(column.type)
    if dtype is None or column.num_chunks != 1:
        return None
    chunk = column.chunk(0)
    values = chunk.buffers()[1]
    if values is None or len(chunk) == 0 or not _nulls_show(chunk, dtype):
        return None
    start = chunk.offset * dtype.itemsize
    loan = lend(values.slice(start, len(chunk) * dtype.itemsize))
    return None if loan is None else (loan[0].view(dtype), loan[1])


def _nulls_show(chunk: pa.Array, dtype: np.dtype[Any]) -> bool:
    """Return whether the slots of nulls hold numpy's missing values."""
    if chunk.null_count == 0:
        return True
    if dtype.kind not in "fmM":
        return False
    present, values = chunk.buffers()
    first = chunk.offset // 8 * 8  # the bits of this row begin a byte
    skipped, end = chunk.offset - first, chunk.offset + len(chunk)
    bits = np.frombuffer(present, np.uint8, offset=first // 8)
    valid = np.unpackbits(bits, count=end - first, bitorder="little")[skipped:]
    below = np.frombuffer(values, dtype)[chunk.offset : end][valid == 0]
    missing = np.isnan(below) if dtype.kind == "f" else np.isnat(below)
    return bool(missing.all())


def _numpy_dtype(arrow: pa.DataType) -> np.dtype[Any] | None:
    """Return the dtype that pandas uses for this type, if bits are the same."""
    if pa.types.is_integer(arrow) or pa.types.is_floating(arrow):
        dtype: np.dtype[Any] = np.dtype(arrow.to_pandas_dtype())
        return dtype
    if pa.types.is_timestamp(arrow) and arrow.tz is None:
        return np.dtype(f"datetime64[{arrow.unit}]")
    if pa.types.is_duration(arrow):
        return np.dtype(f"timedelta64[{arrow.unit}]")
    return None


def _join_views(
    views: dict[int, tuple[Array, int]],
) -> list[tuple[Any, Array]]:
    """Make blocks of columns: pandas is slow with many, and warns of more than 100."""
    alike: dict[tuple[np.dtype[Any], int], list[int]] = defaultdict(list)
    for position, (view, block) in views.items():
        alike[view.dtype, block].append(position)
    blocks: list[tuple[Any, Array]] = []
    for positions in alike.values():
        for run in _equidistant(positions, [_address(views[p][0]) for p in positions]):
            first = views[run[0]][0]
            step = _address(views[run[1]][0]) - _address(first) if run[1:] else 0
            # All are in one block of memory, which the first keeps alive.
            joined = np.lib.stride_tricks.as_strided(
                first, (len(run), len(first)), (step, first.itemsize)
            )
            blocks.append((joined, np.array(run)))
    return blocks


def _equidistant(positions: list[int], addresses: list[int]) -> list[list[int]]:
    """Cut into the longest runs in which the addresses rise by equal steps."""
    runs: list[list[int]] = []
    step = 0
    for index, position in enumerate(positions):
        distance = addresses[index] - addresses[index - 1] if index else 0
        if runs and distance > 0 and (len(runs[-1]) == 1 or distance == step):
            runs[-1].append(position)
            step = distance
        else:
            runs.append([position])
    return runs


def _address(array: Array) -> int:
    return int(array.__array_interface__["data"][0])
