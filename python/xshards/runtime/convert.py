# SPDX-License-Identifier: Apache-2.0
"""Payloads to the Python values functions see, and back."""

from __future__ import annotations

import json
import pickle
from typing import Any

import cloudpickle
import numpy as np
import pyarrow as pa

from xshards import _core
from xshards._util.deferred import pd
from xshards.errors import XShardsValueError
from xshards.interop.engine_types import normalise
from xshards.interop.frames import FrameInfo, frame_to_table, table_to_frame
from xshards.interop.labels import engine_names, hidden_names
from xshards.interop.plain_tables import without_tensors
from xshards.interop.writable_arrays import Lend, owned, writable

__all__ = ["FORMATS", "is_indexed", "to_payload", "to_value"]

#: How a function may get a shard of rows.
FORMATS = ("pandas", "arrow", "polars", "numpy")


def to_value(
    payload: _core.Payload,
    form: str,
    info: FrameInfo | None = None,
    *,
    use_threads: bool = False,
    lend: Lend | None = None,
) -> Any:
    """Convert a payload to its Python value; the caller may change it in place.

    Memory that is lent is not copied.
    """
    match payload.kind:
        case "Table":
            return _to_frame(
                payload.table(), form, info, use_threads=use_threads, lend=lend
            )
        case "Tensors":
            leaves, structure = payload.tensors()
            arrays = [
                writable(data, lend).view(np.dtype(dtype)).reshape(shape)
                for dtype, shape, data in leaves
            ]
            return _nest(json.loads(structure), arrays)
        case _:
            content, *buffers = payload.object()
            return pickle.loads(content, buffers=[writable(b, lend) for b in buffers])


def is_indexed(payload: _core.Payload) -> bool:
    """Return whether a payload is rows that came with an index of their own."""
    return payload.kind == "Table" and bool(hidden_names(payload.table().schema))


def to_payload(value: Any, *, indexed: bool = False) -> _core.Payload:
    """Choose how a value is kept: rows, arrays, or a pickled object.

    The index of a frame is kept if it is named or holds other than integers; unnamed
    integers only where the rows it was made from were `indexed` (they may be what is
    left of row numbers after rows were dropped).
    """
    if isinstance(value, pd.DataFrame | pd.Series):
        table, found = frame_to_table(value, keep="all" if indexed else "names")
        return _core.Payload.from_table(found.store(table))
    if isinstance(value, pa.Table | pa.RecordBatch) or hasattr(
        value, "__arrow_c_stream__"
    ):
        return _core.Payload.from_table(normalise(pa.table(value), ours=True))
    arrays: list[np.ndarray[Any, Any]] = []
    structure = _flatten(value, arrays)
    if structure is not None and arrays:
        leaves = [
            (array.dtype.str, list(array.shape), _raw_buffer(array)) for array in arrays
        ]
        return _core.Payload.from_tensors(leaves, json.dumps(structure))
    buffers: list[pickle.PickleBuffer] = []
    pickled = cloudpickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    return _core.Payload.from_object(
        pa.py_buffer(pickled), [pa.py_buffer(buffer.raw()) for buffer in buffers]
    )


def _to_frame(
    table: pa.Table,
    form: str,
    info: FrameInfo | None,
    *,
    use_threads: bool,
    lend: Lend | None,
) -> Any:
    match form:
        case "pandas":
            return table_to_frame(table, info, use_threads=use_threads, lend=lend)
        case "arrow":
            return table.drop(hidden_names(table.schema))
        case "polars":
            import polars

            table = table.drop(hidden_names(table.schema))
            return polars.from_arrow(without_tensors(table))
        case "numpy":
            value = table_to_frame(table, info, use_threads=use_threads, lend=lend)
            frame = value.to_frame() if value.ndim == 1 else value
            # Labels may repeat, but arrays are identified by name.
            names = engine_names(list(frame.columns))
            columns = (column for _, column in frame.items())
            return {
                name: owned(column.to_numpy())
                for name, column in zip(names, columns, strict=True)
            }
    msg = f"format must be one of {', '.join(FORMATS)}, got {form!r}"
    raise XShardsValueError(msg)


def _flatten(value: Any, arrays: list[np.ndarray[Any, Any]]) -> Any:
    """Describe nested arrays, adding them to `arrays`; None if it is something else."""
    if type(value) is np.ndarray:
        if value.dtype.hasobject or value.dtype.names is not None:
            return None
        arrays.append(np.ascontiguousarray(value).reshape(value.shape))
        return 0
    if type(value) in (list, tuple):
        parts = [_flatten(part, arrays) for part in value]
        return None if None in parts else [type(value).__name__, parts]
    if type(value) is dict and all(isinstance(key, str) for key in value):
        parts = [_flatten(part, arrays) for part in value.values()]
        return None if None in parts else ["dict", parts, list(value)]
    return None


def _nest(structure: Any, arrays: list[Any]) -> Any:
    if structure == 0:
        return arrays.pop(0)
    kind, parts, *keys = structure
    values = [_nest(part, arrays) for part in parts]
    match kind:
        case "list":
            return values
        case "tuple":
            return tuple(values)
    return dict(zip(keys[0], values, strict=True))


def _raw_buffer(array: np.ndarray[Any, Any]) -> pa.Buffer:
    return pa.py_buffer(array.view(np.uint8) if array.ndim else array.tobytes())
