# SPDX-License-Identifier: Apache-2.0
"""All rows of XShards in the containers of other libraries."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from xshards._util.deferred import pd
from xshards.errors import XShardsTypeError, XShardsValueError
from xshards.interop.frames import table_to_frame
from xshards.interop.nested_arrays import array_of, map_leaves, nest
from xshards.interop.plain_tables import refuse_opaque, without_notes
from xshards.shards.base import Base

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Exports"]


class Exports(Base):
    """Gather all rows as pandas, Arrow, NumPy, torch or Polars objects."""

    def to_pandas(self) -> Any:
        """Gather all rows in one DataFrame; a Series after ``shards["column"]``.

        Rows are numbered from 0, unless the data came with an index of its own.

        Returns
        -------
        DataFrame or Series

        Raises
        ------
        TypeError
            If the shards hold no rows.

        Examples
        --------
        >>> xs.from_pandas(pd.DataFrame({"a": [1, 2]})).to_pandas()
           a
        0  1
        1  2
        """
        try:
            table = self._run(self._core.to_table)
            return table_to_frame(table, self._known_info(table.schema))
        except XShardsTypeError as error:
            if "no common type" not in str(error):
                raise
        return self._concat()

    def _concat(self) -> Any:
        """Gather partitions whose columns differ in type, as ``pd.concat`` does."""
        parts = self.collect()
        counted = all(isinstance(part.index, pd.RangeIndex) for part in parts)
        return pd.concat(parts, ignore_index=counted)

    def to_arrow(self) -> pa.Table:
        """Gather all rows in one ``pyarrow.Table``, without the index.

        Returns
        -------
        pyarrow.Table

        Raises
        ------
        TypeError
            If a column holds Python objects that Arrow has no type for.

        Examples
        --------
        >>> xs.from_pandas(pd.DataFrame({"a": [1, 2]})).to_arrow().num_rows
        2
        """
        plain = self._without_index()
        table = plain._run(plain._core.to_table)
        refuse_opaque(table.schema, "an Arrow table")
        return without_notes(table)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Export all rows by the Arrow PyCapsule protocol."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_numpy(self) -> Any:
        """Gather all rows in one array.

        Array shards are put together along their first dimension; nested ones keep
        their nesting.

        Returns
        -------
        ndarray, or dicts, lists and tuples of them

        Raises
        ------
        TypeError
            If the shards hold neither rows nor arrays.

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

        Returns
        -------
        dict of torch.Tensor, or tensors nested as the arrays are

        Raises
        ------
        TypeError
            If a column holds anything but numbers and booleans.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1, 2]}))
        >>> shards.to_torch()  # doctest: +SKIP
        {'a': tensor([1, 2])}
        """
        import torch

        if not self._holds_frames():
            return map_leaves(torch.from_numpy, self._concatenated())
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

        Returns
        -------
        polars.DataFrame

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
                "can be concatenated: use collect(), or transform_shard first"
            )
            raise XShardsTypeError(msg)
        payloads = [p for held in self._run(self._core.collect) for p in held]
        parts = [payload.tensors() for payload in payloads]
        structures = {structure for _, structure in parts}
        if len(structures) != 1:
            msg = f"the shards differ in their nesting: {sorted(structures)}"
            raise XShardsValueError(msg)
        leaves = zip(*(leaves for leaves, _ in parts), strict=True)
        arrays = [np.concatenate([array_of(*leaf) for leaf in same]) for same in leaves]
        return nest(json.loads(structures.pop()), iter(arrays))


def _own(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    values = np.ascontiguousarray(values)
    return values if values.flags.writeable else values.copy()
