# SPDX-License-Identifier: Apache-2.0
"""Arrays of a batch as what the placeholders of a graph take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from xshards.errors import XShardsValueError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xshards.learn.tf1.graph_model import TensorSpec

__all__ = ["flatten", "to_feed"]


def flatten(value: Any, specs: Sequence[TensorSpec], what: str) -> list[Any]:
    """Return one array for each tensor, out of nested ones or the columns of one."""
    if isinstance(value, (tuple, list)) and len(value) == 1:
        value = value[0]
    if isinstance(value, dict):
        leaves = _by_name(value, specs, what)
    else:
        leaves = list(_leaves(value))
    if len(leaves) == 1 and len(specs) > 1 and _has_columns(leaves[0], len(specs)):
        leaves = [leaves[0][:, number] for number in range(len(specs))]
    if len(leaves) != len(specs):
        names = ", ".join(one.key or one.name for one in specs)
        msg = (
            f"the graph has {len(specs)} {what}s ({names}), the data has {len(leaves)}"
        )
        raise XShardsValueError(msg)
    return leaves


def to_feed(value: Any, spec: TensorSpec) -> np.ndarray[Any, Any]:
    """Return an array of the tensor's dtype, with or without a last axis of one.

    Rows of bytes are strings where the tensor is of strings; see `_strings`.
    """
    array = np.asarray(value)
    if spec.dtype == "object" and array.dtype == np.uint8 and array.ndim == 2:
        array = _strings(array)
    if spec.dtype != "object" and array.dtype != spec.dtype:
        array = array.astype(spec.dtype)
    shape = spec.shape
    if shape is None:
        return array
    if len(shape) == array.ndim + 1 and shape[-1] in (1, None):
        array = array[..., None]
    elif len(shape) == array.ndim - 1 and array.shape[-1] == 1:
        array = array[..., 0]
    if not _fits(array.shape, shape):
        wanted = ["?" if one is None else str(one) for one in shape]
        msg = (
            f"{spec.key or spec.name} takes arrays of shape ({', '.join(wanted)}); got "
            f"{array.shape}"
        )
        raise XShardsValueError(msg)
    return array


def _strings(rows: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the strings of rows that hold a length, in four bytes, and bytes."""
    made = np.empty(len(rows), object)
    for number, row in enumerate(rows):
        size = int.from_bytes(row[:4].tobytes(), "little")
        made[number] = row[4 : 4 + size].tobytes()
    return made


def _fits(found: tuple[int, ...], wanted: tuple[int | None, ...]) -> bool:
    return len(found) == len(wanted) and all(
        two is None or one == two for one, two in zip(found, wanted, strict=True)
    )


def _has_columns(value: Any, count: int) -> bool:
    return getattr(value, "ndim", 0) == 2 and value.shape[1] == count


def _by_name(
    value: dict[str, Any], specs: Sequence[TensorSpec], what: str
) -> list[Any]:
    keys = [one.key for one in specs]
    if set(keys) <= set(value):
        return [value[key] for key in keys]
    if len(value) == len(specs) == 1:
        return list(value.values())
    if len(value) == len(specs) and not set(keys) & set(value):
        # As TensorFlow orders what is in a dict.
        return [value[key] for key in sorted(value)]
    msg = (
        f"all model_{what} names should exist in data: the graph has "
        f"{', '.join(keys)}, the data {', '.join(map(str, value))}"
    )
    raise XShardsValueError(msg)


def _leaves(value: Any) -> Any:
    if isinstance(value, dict):
        for key in sorted(value):
            yield from _leaves(value[key])
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from _leaves(one)
    else:
        yield value
