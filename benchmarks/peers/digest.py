# SPDX-License-Identifier: Apache-2.0
"""Turns an engine's result into a summary that is equal for equal results.

Engines differ in what they call a type, in the order of rows and columns, and in the
last bits of a computed float. A summary sees through these: numbers are float64 (the
data has no integers that do not fit), a timestamp is its text, NaN and null are one
missing value, columns come by name. Small results are kept whole and compared number by
number; of large ones, whose numbers are all copied from the input, the hash is kept.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

KEPT_WHOLE = 20_000  # rows

_MISSING = np.uint64(0x9E3779B97F4A7C15)


def summarize(value: Any, check: str, keys: list[str]) -> dict[str, Any]:
    """Summarise a result, as the task's `check` asks.

    "rows" is a table in any order, "sorted" one in the order of `keys`, and
    "partitions" a list of tables each of which has all rows of its `keys`.
    """
    if check == "partitions":
        value = [part for part in value if part.num_rows > 0]
        found = sum(
            len(part.select(keys).group_by(keys).aggregate([])) for part in value
        )
        whole = pa.concat_tables(value, promote_options="permissive")
        there = len(whole.select(keys).group_by(keys).aggregate([]))
        return {
            "partitions": len(value),
            "keys in more than one partition": found - there,
            **rows_summary(whole),
        }
    summary = rows_summary(value)
    if check == "sorted":
        places = mix(np.arange(value.num_rows, dtype=np.uint64))
        for key in keys:
            hashes = column_hashes(value[key])
            summary[f"order of {key}"] = int((hashes * places).sum(dtype=np.uint64))
    return summary


def rows_summary(table: pa.Table) -> dict[str, Any]:
    """Summarise rows whatever their order."""
    table = table.select(sorted(table.column_names))
    summary: dict[str, Any] = {
        "rows": table.num_rows,
        "columns": table.column_names,
    }
    if table.num_rows <= KEPT_WHOLE:
        columns = [canonical(column).to_pylist() for column in table.columns]
        summary["values"] = sorted(
            (
                [None if v != v else v for v in row]
                for row in zip(*columns, strict=True)
            ),
            key=_text_first,
        )
        return summary
    of_rows = np.zeros(table.num_rows, np.uint64)
    for position, column in enumerate(table.columns):
        hashes = column_hashes(column)
        name = table.column_names[position]
        summary[f"hash of {name}"] = int(hashes.sum(dtype=np.uint64))
        of_rows += hashes * np.uint64(2 * position + 1)
    summary["hash of rows"] = int(mix(of_rows).sum(dtype=np.uint64))
    return summary


def _text_first(row: list[Any]) -> tuple[Any, ...]:
    # Text is exact; numbers may differ in their last bits, which must not change the
    # order.
    text = [value or "" for value in row if isinstance(value, str | None)]
    numbers = [f"{value:.6e}" for value in row if isinstance(value, float)]
    return (len(text), text, numbers)


def canonical(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Bring a column to float64 or string."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
        column = column.cast(kind)
    if pa.types.is_timestamp(kind):
        return pc.strftime(column.cast(pa.timestamp("s")), "%Y-%m-%d %H:%M:%S")
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return column.cast(pa.float64())
    if pa.types.is_decimal(kind) or pa.types.is_boolean(kind) or pa.types.is_null(kind):
        return column.cast(pa.float64())
    return column.cast(pa.large_string())


def column_hashes(column: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """Hash the values of a column to uint64; missing values all get the same."""
    if isinstance(column, pa.ChunkedArray):
        parts = [column_hashes(chunk) for chunk in column.chunks]
        return np.concatenate(parts) if parts else np.zeros(0, np.uint64)
    if is_number(column.type):
        values = canonical(column)
        missing = np.asarray(values.is_null(nan_is_null=True))
        numbers = values.fill_null(0.0).to_numpy(zero_copy_only=False) + 0.0  # no -0.0
        hashes = mix(numbers.view(np.uint64))
        hashes[missing] = _MISSING
        return hashes
    # Each distinct value once.
    encoded = (
        column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    )
    texts = canonical(encoded.dictionary).to_pylist()
    table = np.array([_text_hash(text) for text in texts] or [0], np.uint64)
    picks = encoded.indices.fill_null(0).to_numpy(zero_copy_only=False)
    hashes = table[picks]
    hashes[np.asarray(encoded.is_null())] = _MISSING
    return hashes


def is_number(kind: pa.DataType) -> bool:
    """Tell whether `canonical` gives float64."""
    return (
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_null(kind)
    )


def mix(values: np.ndarray) -> np.ndarray:
    """Scramble 64-bit words (the finisher of splitmix64)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _text_hash(text: str | None) -> int:
    if text is None:
        return int(_MISSING)
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
