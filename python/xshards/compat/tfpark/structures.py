# SPDX-License-Identifier: Apache-2.0
"""Nested tensors: lists, tuples and dicts of them, and of what describes them.

Workers run this, so it does not load TensorFlow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from xshards.compat.errors import OrcaInputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd

__all__ = [
    "TensorMeta",
    "features_and_target",
    "flatten",
    "longest_string",
    "map_structure",
    "metas_of",
    "predicted_rows",
    "records_of",
    "stack_rows",
]


@dataclass(frozen=True)
class TensorMeta:
    """One tensor of an element: what it is called, and what rows of it are."""

    name: str
    #: numpy's name; "object" for strings.
    dtype: str
    shape: tuple[int | None, ...]


def flatten(value: Any) -> list[Any]:
    """List the leaves; dicts are in the order of their keys' names."""
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in flatten(value[key])]
    if isinstance(value, (list, tuple)):
        return [leaf for one in value for leaf in flatten(one)]
    return [] if value is None else [value]


def map_structure(function: Callable[[Any], Any], value: Any) -> Any:
    """Make the same structure of other leaves."""
    if isinstance(value, dict):
        made = {key: map_structure(function, value[key]) for key in sorted(value)}
        return {key: made[key] for key in value}
    if isinstance(value, (list, tuple)):
        return type(value)(map_structure(function, one) for one in value)
    return None if value is None else function(value)


def metas_of(spec: Any, prefix: str, to_numpy: Callable[[Any], str]) -> Any:
    """Make descriptions of what users give: (dtype, shape), lists or dicts of such."""
    if spec is None:
        return None
    if isinstance(spec, dict):
        return {key: _meta(key, one, to_numpy) for key, one in spec.items()}
    if isinstance(spec, list):
        return [
            _meta(f"list_{prefix}_{number}", one, to_numpy)
            for number, one in enumerate(spec)
        ]
    return _meta(f"{prefix}0", spec, to_numpy)


def _meta(name: str, spec: Any, to_numpy: Callable[[Any], str]) -> TensorMeta:
    if not isinstance(spec, tuple) or len(spec) != 2:
        msg = f"expected (dtype, shape) for the tensor {name}, got {spec!r}"
        raise OrcaInputError(msg)
    kind, shape = spec
    return TensorMeta(name, to_numpy(kind), tuple(shape))


def stack_rows(
    features: Sequence[TensorMeta],
    labels: Sequence[TensorMeta],
    width: int,
    elements: Any,
) -> list[dict[str, Any]]:
    """Make one dict of arrays of the elements of a partition.

    Elements are flat lists or (features, labels). Strings become bytes of a fixed
    `width`, after their lengths: partitions of arrays have rows of one shape.
    """
    rows = [flatten(_only_features(one, labels)) for one in elements]
    if not rows:
        return []
    metas = [*features, *labels]
    for row in rows:
        if len(row) != len(metas):
            names = ", ".join(one.name for one in metas)
            msg = f"each element has {len(metas)} arrays ({names}); got {len(row)}"
            raise OrcaInputError(msg)
    arrays = [
        _column([row[index] for row in rows], meta, width)
        for index, meta in enumerate(metas)
    ]
    return [features_and_target(arrays, len(features))]


def features_and_target(arrays: list[Any], num_features: int) -> dict[str, Any]:
    """Return arrays as a shard has them: one target alone, as metrics take it."""
    # Without labels there is still a target, which no graph looks at.
    target = arrays[num_features:] or [np.zeros(len(arrays[0]), np.int8)]
    alone = len(target) == 1
    return {"x": arrays[:num_features], "y": target[0] if alone else target}


def _only_features(element: Any, labels: Sequence[TensorMeta]) -> Any:
    """Leave labels out that a dataset of features alone does not want."""
    pair = isinstance(element, tuple) and len(element) == 2
    return element[0] if pair and not labels else element


def _column(values: list[Any], meta: TensorMeta, width: int) -> Any:
    if meta.dtype == "object":
        return _encoded(values, width)
    shape = tuple(-1 if one is None else one for one in meta.shape)
    arrays = [np.asarray(one, meta.dtype) for one in values]
    if shape and shape.count(-1) <= 1 and arrays[0].size:
        arrays = [
            one if one.ndim == len(shape) else one.reshape(shape) for one in arrays
        ]
    return np.stack(arrays)


def _encoded(values: list[Any], width: int) -> np.ndarray[Any, Any]:
    made = np.zeros((len(values), 4 + width), np.uint8)
    for row, value in zip(made, values, strict=True):
        content = value.encode() if isinstance(value, str) else bytes(value)
        row[:4] = np.frombuffer(np.int32(len(content)).tobytes(), np.uint8)
        row[4 : 4 + len(content)] = np.frombuffer(content, np.uint8)
    return made


def longest_string(element: Any) -> int:
    """Return the bytes of the longest string in an element."""
    return max(
        len(one.encode() if isinstance(one, str) else one)
        for one in flatten(element)
        if isinstance(one, (str, bytes))
    )


def records_of(frame: pd.DataFrame) -> list[bytes]:
    """Return the records of a part of a TFRecord file."""
    return list(frame["record"])


def predicted_rows(shard: Any) -> list[Any]:
    """Return the predictions of a shard, one for each row."""
    found = shard["prediction"]
    if isinstance(found, dict):
        keys = list(found)
        return [
            dict(zip(keys, row, strict=True))
            for row in zip(*found.values(), strict=True)
        ]
    if isinstance(found, (list, tuple)):
        return [list(row) for row in zip(*found, strict=True)]
    return list(np.asarray(found))
