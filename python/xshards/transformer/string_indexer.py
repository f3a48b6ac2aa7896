# SPDX-License-Identifier: Apache-2.0
"""Replacement of values by numbers, the most frequent value first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from xshards._util.arguments import require
from xshards.errors import XShardsRuntimeError, XShardsValueError
from xshards.expressions import Expression, col, lit
from xshards.interop.labels import engine_names
from xshards.transformer.checks import as_columns, check_shards, learnt_by

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from xshards.shards import XShards

__all__ = ["StringIndex", "StringIndexer"]


class StringIndex:
    """The numbers that stand for the values of one column.

    Parameters
    ----------
    mapping : dict
        Numbers by value: 1, 2, 3 and so on, or from 0 on.
    col_name : str
        The column.

    Examples
    --------
    >>> from xshards.transformer import StringIndex
    >>> len(StringIndex({"a": 1, "b": 2}, "city"))
    2
    """

    def __init__(self, mapping: Mapping[Any, int], col_name: str) -> None:
        require(col_name, str, "col_name must be a column's name")
        numbers = sorted(mapping.values())
        first = 0 if numbers[:1] == [0] else 1
        if numbers != list(range(first, first + len(numbers))):
            msg = (
                f"the {len(numbers)} values of {col_name!r} must have the numbers 1 to "
                f"{len(numbers)}, each once, or those from 0 on; got {numbers[:10]}"
            )
            raise XShardsValueError(msg)
        self._first = first
        self.col_name = col_name
        self._mapping = {value: int(number) for value, number in mapping.items()}

    def to_dict(self) -> dict[Any, int]:
        """Return the numbers by value.

        Returns
        -------
        dict of int

        Examples
        --------
        >>> from xshards.transformer import StringIndex
        >>> StringIndex({"a": 1}, "city").to_dict()
        {'a': 1}
        """
        return dict(self._mapping)

    @classmethod
    def from_dict(cls, indices: Mapping[Any, int], col_name: str) -> Self:
        """Make an index of numbers by value.

        Parameters
        ----------
        indices : dict of int
            The numbers by value: 1, 2, 3 and so on, or from 0 on.
        col_name : str
            The column.

        Returns
        -------
        StringIndex

        Raises
        ------
        ValueError
            If the numbers are others.

        Examples
        --------
        >>> from xshards.transformer import StringIndex
        >>> StringIndex.from_dict({"a": 1, "b": 2}, "city").to_dict()
        {'a': 1, 'b': 2}
        """
        return cls(indices, col_name)

    def broadcast(self) -> None:
        """Do nothing: an index is sent with the plan. Kept for old scripts.

        Examples
        --------
        >>> from xshards.transformer import StringIndex
        >>> StringIndex({"a": 1}, "city").broadcast()
        """

    def __len__(self) -> int:
        return len(self._mapping)

    def __repr__(self) -> str:
        return f"StringIndex({self.col_name!r}, {len(self)} values)"

    def _encode(self, column: pa.DataType) -> Expression:
        """Return the number of the column's value; for others, the one before all."""
        none = pa.scalar(self._first - 1, pa.int64())
        if not self._mapping:
            return lit(none)
        ordered = sorted(self._mapping, key=lambda value: self._mapping[value])
        place = Expression(col(self.col_name)._core.index_in(_typed(ordered, column)))
        number = place.cast(pa.int64()) + self._first
        return number.call("coalesce", none)


class StringIndexer:
    """Replace values by numbers: 1 for the most frequent, 2 for the next.

    Values of equal frequency are numbered in their order. Missing values, and values
    that were not there when it learnt, get the number before the first: 0, or -1.

    Parameters
    ----------
    inputCol : str or list of str
        The columns, which are replaced by their numbers.
    start : 0 or 1
        The number of the most frequent value. Class indices of losses begin at 0.

    Examples
    --------
    >>> from xshards.transformer import StringIndexer
    >>> shards = xs.from_pandas(pd.DataFrame({"city": ["Oslo", "Rome", "Rome", None]}))
    >>> indexer = StringIndexer("city")
    >>> indexer.fit_transform(shards).to_pandas()["city"].tolist()
    [2, 1, 1, 0]
    >>> indexer.to_dict()
    {'city': {'Rome': 1, 'Oslo': 2}}
    >>> from_zero = StringIndexer("city", start=0)
    >>> from_zero.fit_transform(shards).to_pandas()["city"].tolist()
    [1, 0, 0, -1]
    """

    def __init__(self, inputCol: str | list[str], *, start: int = 1) -> None:
        if start not in (0, 1):
            msg = f"start must be 0 or 1, got {start!r}"
            raise XShardsValueError(msg)
        self.start = int(start)
        self.setInputCol(inputCol)
        self.indices_: dict[str, StringIndex] | None = None

    def setInputCol(self, inputCol: str | list[str]) -> None:
        """Choose the columns.

        Parameters
        ----------
        inputCol : str or list of str
            The columns to index.

        Examples
        --------
        >>> from xshards.transformer import StringIndexer
        >>> indexer = StringIndexer("a")
        >>> indexer.setInputCol(["a", "b"])
        >>> indexer.inputCol
        ['a', 'b']
        """
        self.inputCol = inputCol
        self._columns = as_columns("inputCol", inputCol)

    def fit(self, shards: XShards) -> Self:
        """Learn the values of the columns.

        Parameters
        ----------
        shards : XShards
            DataFrame shards that have the columns.

        Returns
        -------
        self
            This indexer.

        Raises
        ------
        KeyError
            If a column is missing.

        Examples
        --------
        >>> from xshards.transformer import StringIndexer
        >>> shards = xs.from_pandas(pd.DataFrame({"city": ["Oslo", "Rome", "Rome"]}))
        >>> StringIndexer("city").fit(shards).to_dict()
        {'city': {'Rome': 1, 'Oslo': 2}}
        """
        check_shards(shards, self._columns)
        self.indices_ = {
            name: _index_of(shards, name, self.start) for name in self._columns
        }
        return self

    def transform(self, shards: XShards) -> XShards:
        """Replace the columns by the numbers of their values.

        Parameters
        ----------
        shards : XShards
            DataFrame shards that have the columns.

        Returns
        -------
        XShards

        Raises
        ------
        RuntimeError
            If it was not fitted, or not on these columns.

        Examples
        --------
        >>> from xshards.transformer import StringIndexer
        >>> shards = xs.from_pandas(pd.DataFrame({"city": ["Oslo", "Rome", "Rome"]}))
        >>> indexer = StringIndexer("city").fit(shards)
        >>> indexer.transform(shards).to_pandas()["city"].tolist()
        [2, 1, 1]
        """
        check_shards(shards, self._columns)
        learnt = learnt_by(self.indices_, self)
        schema = shards.schema
        encoded = {}
        for name in self._columns:
            if name not in learnt:
                msg = f"StringIndexer was not fitted on {name!r}: call fit again"
                raise XShardsRuntimeError(msg)
            encoded[name] = learnt[name]._encode(schema.field(name).type)
        return shards.with_columns(encoded)

    def fit_transform(self, shards: XShards) -> XShards:
        """Learn the values of the columns and replace them by their numbers.

        Parameters
        ----------
        shards : XShards
            DataFrame shards that have the columns.

        Returns
        -------
        XShards

        Examples
        --------
        >>> from xshards.transformer import StringIndexer
        >>> shards = xs.from_pandas(pd.DataFrame({"city": ["Oslo", "Rome", "Rome"]}))
        >>> StringIndexer("city").fit_transform(shards).to_pandas()["city"].tolist()
        [2, 1, 1]
        """
        return self.fit(shards).transform(shards)

    def to_dict(self) -> dict[str, dict[Any, int]]:
        """Return what it learnt: numbers by value, by column.

        Returns
        -------
        dict of dict of int

        Raises
        ------
        RuntimeError
            If it was not fitted.

        Examples
        --------
        >>> from xshards.transformer import StringIndexer
        >>> shards = xs.from_pandas(pd.DataFrame({"city": ["Oslo", "Rome", "Rome"]}))
        >>> StringIndexer("city").fit(shards).to_dict()
        {'city': {'Rome': 1, 'Oslo': 2}}
        """
        learnt = learnt_by(self.indices_, self)
        return {name: index.to_dict() for name, index in learnt.items()}

    @classmethod
    def from_dict(cls, learnt: Mapping[str, Mapping[Any, int]]) -> Self:
        """Make an indexer of what another one learnt.

        Parameters
        ----------
        learnt : dict of dict of int
            What `to_dict` gave.

        Returns
        -------
        StringIndexer

        Examples
        --------
        >>> from xshards.transformer import StringIndexer
        >>> indexer = StringIndexer.from_dict({"city": {"Rome": 1, "Oslo": 2}})
        >>> shards = xs.from_pandas(pd.DataFrame({"city": ["Oslo", "Rome", "Rome"]}))
        >>> indexer.transform(shards).to_pandas()["city"].tolist()
        [2, 1, 1]
        """
        zero = any(0 in indices.values() for indices in learnt.values())
        made = cls(list(learnt), start=0 if zero else 1)
        made.indices_ = {
            name: StringIndex.from_dict(indices, name)
            for name, indices in learnt.items()
        }
        return made


def _index_of(shards: XShards, name: str, start: int) -> StringIndex:
    (count,) = engine_names([name, "count"])[-1:]
    counts = shards._grouped([name], [("count", None, count)]).to_pandas()
    counts = counts.dropna(subset=[name])
    ordered = counts.sort_values([count, name], ascending=[False, True])
    values = ordered[name].tolist()
    made = StringIndex({value: i for i, value in enumerate(values, start)}, name)
    made._first = start  # also where there are no values
    return made


def _typed(values: list[Any], column: pa.DataType) -> pa.Array:
    """Convert values to the type of the column they are looked up in, if possible."""
    if pa.types.is_dictionary(column):
        column = column.value_type
    try:
        return pa.array(values, type=column)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        array = pa.array(values)
        text = pa.types.is_string(array.type)
        return array.cast(pa.large_string()) if text else array
