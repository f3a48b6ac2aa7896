# SPDX-License-Identifier: Apache-2.0
"""Columns of numbers scaled by what is learnt of their values in one pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from xshards._util.arguments import require
from xshards._util.deferred import pd
from xshards.errors import XShardsRuntimeError, XShardsTypeError, XShardsValueError
from xshards.expressions import col
from xshards.transformer.checks import as_columns, check_shards, learnt_by

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from xshards.shards import XShards

__all__ = ["MinMaxScaler", "StandardScaler"]


class _Scaler:
    """The base of scalers: columns in, one column out, a linear map per column."""

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
        """Choose the columns to scale and the column to write.

        Parameters
        ----------
        inputCol : str or list of str
            The columns to scale.
        outputCol : str
            The column to write.

        Raises
        ------
        ValueError
            If one of the two is missing.

        Examples
        --------
        >>> from xshards.transformer import StandardScaler
        >>> scaler = StandardScaler()
        >>> scaler.setInputOutputCol("a", "b")
        >>> scaler.outputCol
        'b'
        """
        if inputCol is None or outputCol is None:
            msg = "inputCol and outputCol must be given together"
            raise XShardsValueError(msg)
        require(outputCol, str, "outputCol must be a column's name")
        self.inputCol, self.outputCol = inputCol, outputCol
        self._columns = as_columns("inputCol", inputCol)

    def fit(self, shards: XShards) -> Self:
        """Learn the statistics of the columns in one pass.

        Parameters
        ----------
        shards : XShards
            DataFrame shards that have the columns.

        Returns
        -------
        self
            This scaler.

        Raises
        ------
        KeyError
            If a column is missing.
        TypeError
            If a column holds no numbers.

        Examples
        --------
        >>> from xshards.transformer import MinMaxScaler
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1, 2, 5]}))
        >>> scaler = MinMaxScaler(inputCol="a", outputCol="b")
        >>> scaler.fit(shards).to_dict()
        {'a': {'min': 1.0, 'max': 5.0}}
        """
        self._check(shards)
        wanted = {name: list(self._AGGREGATES) for name in self._columns}
        row = shards.group_by([], wanted).to_pandas().iloc[0]
        self.statistics_ = {
            name: {f: _number(row[f"{f}({name})"]) for f in self._AGGREGATES}
            for name in self._columns
        }
        return self

    def transform(self, shards: XShards) -> XShards:
        """Add the column of scaled values; of vectors if there are several columns.

        Parameters
        ----------
        shards : XShards
            DataFrame shards that have the columns.

        Returns
        -------
        XShards
            With the column `outputCol`.

        Raises
        ------
        RuntimeError
            If it was not fitted, or not on these columns.

        Examples
        --------
        >>> from xshards.transformer import MinMaxScaler
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1, 2, 5]}))
        >>> scaler = MinMaxScaler(inputCol="a", outputCol="b")
        >>> scaler.fit(shards).transform(shards).to_pandas()["b"].tolist()
        [0.0, 0.25, 1.0]
        """
        self._check(shards)
        learnt = learnt_by(self.statistics_, self)
        missing = [name for name in self._columns if name not in learnt]
        if missing:
            msg = f"{type(self).__name__} was not fitted on {missing}: call fit again"
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
        """Learn the statistics of the columns and scale them.

        Parameters
        ----------
        shards : XShards
            DataFrame shards that have the columns.

        Returns
        -------
        XShards
            With the column `outputCol`.

        Examples
        --------
        >>> from xshards.transformer import MinMaxScaler
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1, 2, 5]}))
        >>> scaler = MinMaxScaler(inputCol="a", outputCol="b")
        >>> scaler.fit_transform(shards).to_pandas()["b"].tolist()
        [0.0, 0.25, 1.0]
        """
        return self.fit(shards).transform(shards)

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return what it learnt: statistics by column.

        Returns
        -------
        dict of dict of float

        Raises
        ------
        RuntimeError
            If it was not fitted.

        Examples
        --------
        >>> from xshards.transformer import StandardScaler
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1, 2, 5]}))
        >>> scaler = StandardScaler(inputCol="a", outputCol="b").fit(shards)
        >>> sorted(scaler.to_dict()["a"])
        ['mean', 'std']
        """
        learnt = learnt_by(self.statistics_, self)
        return {name: dict(found) for name, found in learnt.items()}

    @classmethod
    def from_dict(
        cls, learnt: Mapping[str, Mapping[str, float]], **options: Any
    ) -> Self:
        """Make a scaler of statistics that another one learnt.

        Parameters
        ----------
        learnt : dict
            What `to_dict` gave.
        **options
            Those of the class.

        Returns
        -------
        scaler
            Ready to transform.

        Raises
        ------
        ValueError
            If the statistics are those of another kind of scaler.

        Examples
        --------
        >>> from xshards.transformer import MinMaxScaler
        >>> learnt = {"a": {"min": 0.0, "max": 10.0}}
        >>> scaler = MinMaxScaler.from_dict(learnt, inputCol="a", outputCol="b")
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1, 2, 5]}))
        >>> scaler.transform(shards).to_pandas()["b"].tolist()
        [0.1, 0.2, 0.5]
        """
        return cls(**options)._load(learnt)

    def _line(self, found: Mapping[str, float]) -> tuple[float, float]:
        """Return the slope and offset that scale a column of these statistics."""
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
        check_shards(shards, self._columns)
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


def _number(value: Any) -> float:
    return float("nan") if pd.isna(value) else float(value)
