# SPDX-License-Identifier: Apache-2.0
"""Files of arrays and plain values, nested in dicts and lists; they run no code."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["read_state", "write_state"]

_OUTLINE = "outline"


def write_state(state: Any, path: Path) -> None:
    """Write arrays as numpy does, and how they are nested as JSON."""
    arrays: list[np.ndarray[Any, Any]] = []
    text = json.dumps(_outline(state, arrays))
    with path.open("wb") as file:
        np.savez(
            file,
            allow_pickle=False,
            **{_OUTLINE: np.array(text)},
            **{f"array_{number}": one for number, one in enumerate(arrays)},
        )


def read_state(path: Path) -> Any:
    """Read what `write_state` wrote."""
    with np.load(path, allow_pickle=False) as file:
        return _filled(json.loads(str(file[_OUTLINE])), file)


def _outline(value: Any, arrays: list[np.ndarray[Any, Any]]) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        arrays.append(np.asarray(value))
        return {"array": len(arrays) - 1}
    if isinstance(value, dict):
        return {"dict": [[key, _outline(one, arrays)] for key, one in value.items()]}
    if isinstance(value, (list, tuple)):
        return {"list": [_outline(one, arrays) for one in value]}
    return {"value": value}


def _filled(outline: Any, file: Any) -> Any:
    ((kind, content),) = outline.items()
    if kind == "array":
        return file[f"array_{content}"]
    if kind == "dict":
        return {key: _filled(one, file) for key, one in content}
    if kind == "list":
        return [_filled(one, file) for one in content]
    return content
