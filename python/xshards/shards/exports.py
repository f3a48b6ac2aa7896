# SPDX-License-Identifier: Apache-2.0
"""All data of XShards in the containers of other libraries."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from xshards.errors import XShardsTypeError, XShardsValueError
from xshards.shards.payload_ops import ShardOps

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Exports"]


class Exports(ShardOps):
    """Gather everything as NumPy arrays, torch tensors or a Polars frame."""

    def to_numpy(self) -> Any:
        """Gather all rows in one array.

        Array shards are put together along their first dimension; nested ones keep
        their nesting.

        Examples
        --------
        >>> xs.from_pandas(pd.DataFrame({"a": [1, 2], "b": [3, 4]})).to_numpy()
        array([[1, 3],
               [2, 4]])
        >>> xs.partition({"x": np.arange(3)}, 2).to_numpy()
        {'x': array([0, 1, 2])}
        """
        if self._holds_frames():
            return self.to_pandas().to_numpy()
        return self._concatenated()

    def to_torch(self) -> Any:
        """Gather all rows as torch tensors, a column each, by name.

        Array shards are put together along their first dimension; nested ones keep
        their nesting. The tensors share no memory with the shards.

        Raises
        ------
        TypeError
            If a column holds something else than numbers and truth values.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1, 2]}))
        >>> shards.to_torch()  # doctest: +SKIP
        {'a': tensor([1, 2])}
        """
        import torch

        if not self._holds_frames():
            return _map_leaves(torch.from_numpy, self._concatenated())
        frame = self.to_pandas()
        columns = {frame.name: frame} if frame.ndim == 1 else dict(frame.items())
        tensors = {}
        for name, column in columns.items():
            values = column.to_numpy()
            if values.dtype.kind not in "biuf":
                msg = (
                    f"column {name!r} holds {column.dtype}; a tensor needs numbers: "
                    "select other columns, or convert it first"
                )
                raise XShardsTypeError(msg)
            tensors[name] = torch.from_numpy(_own(values))
        return tensors

    def to_polars(self) -> Any:
        """Gather all rows in one Polars DataFrame.

        Examples
        --------
        >>> xs.from_pandas(pd.DataFrame({"a": [1, 2]})).to_polars()  # doctest: +SKIP
        """
        import polars

        return polars.from_arrow(self.to_arrow())

    def _concatenated(self) -> Any:
        """Put array shards together along the first dimension, keeping nests."""
        kinds = self._kinds()
        if kinds != {"Tensors"}:
            msg = (
                f"these shards hold {self._kind_name()}; only arrays and DataFrames "
                "can be put together: use collect(), or transform_shard first"
            )
            raise XShardsTypeError(msg)
        payloads = [p for held in self._run(self._core.collect) for p in held]
        parts = [payload.tensors() for payload in payloads]
        structures = {structure for _, structure in parts}
        if len(structures) != 1:
            msg = f"the shards are nested in different ways: {sorted(structures)}"
            raise XShardsValueError(msg)
        leaves = zip(*(leaves for leaves, _ in parts), strict=True)
        arrays = [np.concatenate([_array(*leaf) for leaf in same]) for same in leaves]
        return _nested(json.loads(structures.pop()), iter(arrays))


def _array(dtype: str, shape: list[int], data: Any) -> np.ndarray[Any, Any]:
    return np.frombuffer(data, dtype=np.dtype(dtype)).reshape(shape)


def _own(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    values = np.ascontiguousarray(values)
    return values if values.flags.writeable else values.copy()


def _nested(structure: Any, leaves: Any) -> Any:
    if structure == 0:
        return next(leaves)
    kind, parts, *keys = structure
    values = [_nested(part, leaves) for part in parts]
    if kind == "dict":
        return dict(zip(keys[0], values, strict=True))
    return tuple(values) if kind == "tuple" else values


def _map_leaves(function: Callable[[Any], Any], value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _map_leaves(function, part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_map_leaves(function, part) for part in value)
    return function(value)
