# SPDX-License-Identifier: Apache-2.0
"""Descriptions of nested arrays: path, dtype and shape of each."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from xshards.interop.nested_arrays import part_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xshards._core import Payload

__all__ = ["describe"]


def describe(payload: Payload) -> list[str]:
    """Describe the arrays of a payload, one per line: ``['x'][0]  float32 (3, 2)``."""
    leaves, structure = payload.tensors()
    paths = list(_paths(json.loads(structure), ""))
    width = max((len(path) for path in paths), default=0)
    lines = [
        f"{path.ljust(width)}  {np.dtype(dtype)} {tuple(shape)}"
        for path, (dtype, shape, _) in zip(paths, leaves, strict=True)
    ]
    return [line.strip() for line in lines]


def _paths(structure: Any, path: str) -> Iterator[str]:
    if structure == 0:
        yield path
        return
    for name, part in zip(part_names(structure), structure[1], strict=True):
        yield from _paths(part, f"{path}[{name!r}]")
