# SPDX-License-Identifier: Apache-2.0
"""Dicts, lists and tuples of arrays: their structure apart from their leaves.

A structure is what the engine keeps as JSON beside the arrays of a payload: 0 for an
array, else ``["dict", parts, keys]``, ``["list", parts]`` or ``["tuple", parts]``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["array_of", "count_leaves", "map_leaves", "nest", "part_names"]


def array_of(dtype: str, shape: list[int], data: Any) -> np.ndarray[Any, Any]:
    """View the buffer of a leaf as an array."""
    return np.frombuffer(data, dtype=np.dtype(dtype)).reshape(shape)


def nest(structure: Any, leaves: Iterator[Any]) -> Any:
    """Put leaves back into their dicts, lists and tuples, in order."""
    if structure == 0:
        return next(leaves)
    kind, parts, *keys = structure
    values = [nest(part, leaves) for part in parts]
    if kind == "dict":
        return dict(zip(keys[0], values, strict=True))
    return tuple(values) if kind == "tuple" else values


def part_names(structure: Any) -> list[Any]:
    """Return the keys of a dict's parts, or the positions of a list's or tuple's."""
    kind, parts, *keys = structure
    return list(keys[0]) if kind == "dict" else list(range(len(parts)))


def count_leaves(structure: Any) -> int:
    """Return the number of arrays in a structure."""
    if structure == 0:
        return 1
    return sum(count_leaves(part) for part in structure[1])


def map_leaves(function: Callable[[Any], Any], value: Any) -> Any:
    """Apply a function to every leaf of nested values, keeping their nesting."""
    if isinstance(value, dict):
        return {key: map_leaves(function, part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map_leaves(function, part) for part in value)
    return function(value)
