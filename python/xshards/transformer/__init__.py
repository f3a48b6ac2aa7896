# SPDX-License-Identifier: Apache-2.0
"""Columns encoded and scaled: what is learnt takes one pass, natively.

Each transformer learns from shards with ``fit``, applies what it learnt with
``transform``, or both with ``fit_transform``. ``to_dict`` and ``from_dict`` carry what
was learnt elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from xshards._util.arguments import as_names, require
from xshards._util.deferred import pd
from xshards.errors import XShardsRuntimeError, XShardsTypeError, XShardsValueError
from xshards.expressions import Expression, col, lit
from xshards.interop.labels import engine_names
from xshards.shards import XShards

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Self

__all__ = ["MinMaxScaler", "StandardScaler", "StringIndex", "StringIndexer"]


class StringIndex:
    """The numbers that stand for the values of one column.

    Parameters
    ----------
    mapping : dict
        Numbers by value: 1, 2, 3 and so on.
    col_name : str
        The column.
    """

    def __init__(self, mapping: Mapping[Any, int], col_name: str) -> None:
        require(col_name, str, "col_name must be a column's name")
        numbers = sorted(mapping.values())
        if numbers != list(range(1, len(numbers) + 1)):
            msg = (
                f"the {len(numbers)} values of {col_name!r} must have the numbers 1 to "
                f"{len(numbers)}, each once, got {numbers[:10]}"
            )
            raise XShardsValueError(msg)
        self.col_name = col_name
        self._mapping = {value: int(number) for value, number in mapping.items()}

    def to_dict(self) -> dict[Any, int]:
        """Give the numbers by value."""
        return dict(self._mapping)

    @classmethod
    def from_dict(cls, indices: Mapping[Any, int], col_name: str) -> Self:
        """Make an index of numbers by value.

        Examples
        --------
        >>> from xshards.transformer import StringIndex
        >>> StringIndex.from_dict({"a": 1, "b": 2}, "city").to_dict()
        {'a': 1, 'b': 2}
        """
        return cls(indices, col_name)

    def broadcast(self) -> None:
        """Do nothing: it travels with the plan. Here for old scripts."""

    def __len__(self) -> int:
        return len(self._mapping)

    def __repr__(self) -> str:
        return f"StringIndex({self.col_name!r}, {len(self)} values)"

    def _encode(self, column: pa.DataType) -> Expression:
        """Give the number of the column's value; 0 for a value it does not have."""
        if not self._mapping:
            return lit(pa.scalar(0, pa.int64()))
        ordered = sorted(self._mapping, key=lambda value: self._mapping[value])
        place = Expression(col(self.col_name)._core.index_in(_typed(ordered, column)))
        number = place.cast(pa.int64()) + 1
        return number.call("coalesce", pa.scalar(0, pa.int64()))


class StringIndexer:
    """Put numbers in the place of values: 1 for the most frequent, 2 for the next.

    Values of equal frequency are numbered in their order. Missing values, and values
    that were not there when it learnt, get 0.

    Parameters
    ----------
    inputCol : str or list of str
        The columns, which are replaced by their numbers.

    Examples
    --------
    >>> from xshards.transformer import StringIndexer
    >>> shards = xs.from_pandas(pd.DataFrame({"city": ["Oslo", "Rome", "Rome", None]}))
    >>> indexer = StringIndexer("city")
    >>> indexer.fit_transform(shards).to_pandas()["city"].tolist()
    [2, 1, 1, 0]
    >>> indexer.to_dict()
    {'city': {'Rome': 1, 'Oslo': 2}}
    """

    def __init__(self, inputCol: str | list[str]) -> None:
        self.setInputCol(inputCol)
        self.indices_: dict[str, StringIndex] | None = None

    def setInputCol(self, inputCol: str | list[str]) -> None:
        """Choose the columns."""
        self.inputCol = inputCol
        self._columns = _as_columns("inputCol", inputCol)

    def fit(self, shards: XShards) -> Self:
        """Learn the values of the columns; returns this indexer."""
        _check_shards(shards, self._columns)
        self.indices_ = {name: _index_of(shards, name) for name in self._columns}
        return self

    def transform(self, shards: XShards) -> XShards:
        """Replace the columns by the numbers of their values."""
        _check_shards(shards, self._columns)
        learnt = _learnt(self.indices_, self)
        schema = shards.schema
        result = shards
        for name in self._columns:
            if name not in learnt:
                msg = f"this StringIndexer has not learnt column {name!r}: fit it again"
                raise XShardsRuntimeError(msg)
            result = result.with_column(
                name, learnt[name]._encode(schema.field(name).type)
            )
        return result

    def fit_transform(self, shards: XShards) -> XShards:
        """Learn the values of the columns and replace them by their numbers."""
        return self.fit(shards).transform(shards)

    def to_dict(self) -> dict[str, dict[Any, int]]:
        """Give what it learnt: numbers by value, by column."""
        learnt = _learnt(self.indices_, self)
        return {name: index.to_dict() for name, index in learnt.items()}

    @classmethod
    def from_dict(cls, learnt: Mapping[str, Mapping[Any, int]]) -> Self:
        """Make an indexer that has learnt this."""
        made = cls(list(learnt))
        made.indices_ = {
            name: StringIndex.from_dict(indices, name)
            for name, indices in learnt.items()
        }
        return made


class _Scaler:
    """What the scalers share: columns in, one column out, a line for each column."""

    #: What is learnt of each column: the names of aggregates.
    _AGGREGATES: tuple[str, ...] = ()

    def __init__(
        self,
        inputCol: str | list[str] | None,
        outputCol: str | None,
    ) -> None:
        self.statistics_: dict[str, dict[str, float]] | None = None
        if inputCol is not None or outputCol is not None:
            self.setInputOutputCol(inputCol, outputCol)

    def setInputOutputCol(
        self,
        inputCol: str | list[str] | None,
        outputCol: str | None,
    ) -> None:
        """Choose the columns to scale and the column to write."""
        if inputCol is None or outputCol is None:
            msg = "inputCol and outputCol go together"
            raise XShardsValueError(msg)
        require(outputCol, str, "outputCol must be a column's name")
        self.inputCol, self.outputCol = inputCol, outputCol
        self._columns = _as_columns("inputCol", inputCol)

    def fit(self, shards: XShards) -> Self:
        """Learn what the columns' values are like; returns this scaler."""
        self._check(shards)
        wanted = {name: list(self._AGGREGATES) for name in self._columns}
        row = shards.group_by([], wanted).to_pandas().iloc[0]
        self.statistics_ = {
            name: {f: _number(row[f"{f}({name})"]) for f in self._AGGREGATES}
            for name in self._columns
        }
        return self

    def transform(self, shards: XShards) -> XShards:
        """Add the column of scaled values; a vector each, where there are several."""
        self._check(shards)
        learnt = _learnt(self.statistics_, self)
        missing = [name for name in self._columns if name not in learnt]
        if missing:
            msg = f"{type(self).__name__} has not learnt {missing}: fit it again"
            raise XShardsRuntimeError(msg)
        lines = [self._line(learnt[name]) for name in self._columns]
        if isinstance(self.inputCol, str):
            slope, offset = lines[0]
            value = col(self.inputCol).cast("float64") * slope + offset
            return shards.with_column(self.outputCol, value)
        slopes, offsets = zip(*lines, strict=True)
        return shards.transform_shard(
            _scale_to_vectors, self._columns, self.outputCol, slopes, offsets
        )

    def fit_transform(self, shards: XShards) -> XShards:
        """Learn what the columns' values are like and scale them."""
        return self.fit(shards).transform(shards)

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Give what it learnt: statistics by column."""
        learnt = _learnt(self.statistics_, self)
        return {name: dict(found) for name, found in learnt.items()}

    def _line(self, found: Mapping[str, float]) -> tuple[float, float]:
        """Give the slope and offset that scale a column of these statistics."""
        raise NotImplementedError

    def _load(self, learnt: Mapping[str, Mapping[str, float]]) -> Self:
        for name, found in learnt.items():
            if set(found) != set(self._AGGREGATES):
                msg = (
                    f"{type(self).__name__} learns {list(self._AGGREGATES)} of a "
                    f"column, got {list(found)} for {name!r}"
                )
                raise XShardsValueError(msg)
        self.statistics_ = {name: dict(found) for name, found in learnt.items()}
        return self

    def _check(self, shards: XShards) -> None:
        if not hasattr(self, "_columns"):
            msg = f"{type(self).__name__} needs columns: call setInputOutputCol first"
            raise XShardsRuntimeError(msg)
        _check_shards(shards, self._columns)
        schema = shards.schema
        for name in self._columns:
            kind = schema.field(name).type
            if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
                msg = f"{type(self).__name__} scales numbers; column {name!r} is {kind}"
                raise XShardsTypeError(msg)


class MinMaxScaler(_Scaler):
    """Scale columns so that their values go from `min` to `max`.

    A column whose values are all equal becomes the middle of the two. Missing values
    stay missing.

    Parameters
    ----------
    min, max : float
        Where values go.
    inputCol : str or list of str
        The columns; with a list, the scaled values of a row are one vector.
    outputCol : str
        The column to write.

    Examples
    --------
    >>> from xshards.transformer import MinMaxScaler
    >>> shards = xs.from_pandas(pd.DataFrame({"a": [1, 2, 5]}))
    >>> scaler = MinMaxScaler(inputCol="a", outputCol="b")
    >>> scaler.fit_transform(shards).to_pandas()["b"].tolist()
    [0.0, 0.25, 1.0]
    >>> scaler.to_dict()
    {'a': {'min': 1.0, 'max': 5.0}}
    """

    _AGGREGATES = ("min", "max")

    def __init__(
        self,
        min: float = 0.0,
        max: float = 1.0,
        inputCol: str | list[str] | None = None,
        outputCol: str | None = None,
    ) -> None:
        if not min < max:
            msg = f"min must be less than max, got {min} and {max}"
            raise XShardsValueError(msg)
        self.min, self.max = float(min), float(max)
        super().__init__(inputCol, outputCol)

    @classmethod
    def from_dict(
        cls, learnt: Mapping[str, Mapping[str, float]], **options: Any
    ) -> Self:
        """Make a scaler that has learnt this; options are those of the class."""
        return cls(**options)._load(learnt)

    def _line(self, found: Mapping[str, float]) -> tuple[float, float]:
        spread = found["max"] - found["min"]
        if spread == 0:
            return 0.0, (self.min + self.max) / 2
        slope = (self.max - self.min) / spread
        return slope, self.min - found["min"] * slope


class StandardScaler(_Scaler):
    """Scale columns to a standard deviation of 1 and, `withMean`, a mean of 0.

    The deviation is that of a sample. A column whose values are all equal becomes 0
    where it is scaled. Missing values stay missing.

    Parameters
    ----------
    withMean : bool, default False
        Whether to move the mean to 0.
    withStd : bool, default True
        Whether to scale the standard deviation to 1.
    inputCol : str or list of str
        The columns; with a list, the scaled values of a row are one vector.
    outputCol : str
        The column to write.

    Examples
    --------
    >>> from xshards.transformer import StandardScaler
    >>> shards = xs.from_pandas(pd.DataFrame({"a": [1.0, 2.0, 3.0]}))
    >>> scaler = StandardScaler(withMean=True, inputCol="a", outputCol="b")
    >>> scaler.fit_transform(shards).to_pandas()["b"].tolist()
    [-1.0, 0.0, 1.0]
    """

    _AGGREGATES = ("mean", "std")

    def __init__(
        self,
        withMean: bool = False,  # noqa: FBT001 - as scripts call it
        withStd: bool = True,  # noqa: FBT001
        inputCol: str | list[str] | None = None,
        outputCol: str | None = None,
    ) -> None:
        self.withMean, self.withStd = withMean, withStd
        super().__init__(inputCol, outputCol)

    @classmethod
    def from_dict(
        cls, learnt: Mapping[str, Mapping[str, float]], **options: Any
    ) -> Self:
        """Make a scaler that has learnt this; options are those of the class."""
        return cls(**options)._load(learnt)

    def _line(self, found: Mapping[str, float]) -> tuple[float, float]:
        slope = 1.0
        if self.withStd:
            slope = 0.0 if found["std"] == 0 else 1 / found["std"]
        return slope, -found["mean"] * slope if self.withMean else 0.0


def _scale_to_vectors(
    frame: pd.DataFrame,
    columns: list[str],
    output: str,
    slopes: tuple[float, ...],
    offsets: tuple[float, ...],
) -> pd.DataFrame:
    values = frame[columns].to_numpy(dtype=np.float64, na_value=np.nan)
    frame[output] = list(values * np.array(slopes) + np.array(offsets))
    return frame


def _index_of(shards: XShards, name: str) -> StringIndex:
    (count,) = engine_names([name, "count"])[-1:]
    counts = shards._grouped([name], [("count", None, count)]).to_pandas()
    counts = counts.dropna(subset=[name])
    ordered = counts.sort_values([count, name], ascending=[False, True])
    values = ordered[name].tolist()
    return StringIndex({value: i for i, value in enumerate(values, 1)}, name)


def _typed(values: list[Any], column: pa.DataType) -> pa.Array:
    """Give values the type of the column they are looked for in, if they fit it."""
    if pa.types.is_dictionary(column):
        column = column.value_type
    try:
        return pa.array(values, type=column)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        array = pa.array(values)
        text = pa.types.is_string(array.type)
        return array.cast(pa.large_string()) if text else array


def _as_columns(what: str, columns: str | Iterable[str]) -> list[str]:
    names = as_names(what, columns)
    if not names:
        msg = f"{what} must name at least one column"
        raise XShardsValueError(msg)
    return names


def _check_shards(shards: XShards, columns: list[str]) -> None:
    require(shards, XShards, "transformers work on XShards")
    shards._check_columns(columns, shards.schema.names)


def _learnt(found: Any, transformer: object) -> Any:
    if found is None:
        name = type(transformer).__name__
        msg = f"this {name} has learnt nothing yet: call fit or fit_transform first"
        raise XShardsRuntimeError(msg)
    return found


def _number(value: Any) -> float:
    return float("nan") if pd.isna(value) else float(value)
