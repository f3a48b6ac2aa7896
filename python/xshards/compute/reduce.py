# SPDX-License-Identifier: Apache-2.0
"""Reductions of columns: the engine computes values, pandas decides their dtypes.

The engine computes what many functions of many columns need in one pass. The type of a
result, its missing value and unsupported dtypes are found by calling pandas' function
on a few rows of the same dtype.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from xshards._util.deferred import pd
from xshards.compute.describe import is_number
from xshards.compute.quantiles import Extent, quantiles
from xshards.errors import XShardsNotImplementedError, XShardsTypeError
from xshards.expressions import Expression, col
from xshards.interop.frames import FrameInfo, table_to_frame

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = [
    "Column",
    "Found",
    "Reduction",
    "as_scalar",
    "as_series",
    "dtype_in_table",
    "find",
]

#: The rows of a sample: enough for every function to have a result.
_SAMPLE_ROWS = 4
_ALL_ROWS = ("count", None)
#: The functions that have a ddof, where that is not 1.
_OF_POPULATION = {"std": "stddev_pop", "var": "var_pop"}
#: What is computed of the truth of values.
_LEAST_TRUTH, _MOST_TRUTH = "least truth", "most truth"
_OF_TRUTH = {_LEAST_TRUTH: "min", _MOST_TRUTH: "max"}

#: What the engine found, by its function and the column's name; None for nothing. A NaN
#: is a result, as of infinite values.
Values = dict[tuple[str, str | None], Any]


@dataclass(frozen=True)
class Column:
    """A column as the engine and as pandas knows it."""

    name: str
    label: Any
    type: pa.DataType
    dtype: Any


@dataclass(frozen=True)
class Found:
    """What is known of a result.

    `sample` is a few rows, or none, of the column's dtype: pandas' function gives the
    result of them, or, where there is a `value`, the type that it has.
    """

    sample: pd.Series[Any]
    value: Any = None


@dataclass(frozen=True)
class Reduction:
    """A function of one column, with the options that pandas' has."""

    column: Column
    function: str
    options: Mapping[str, Any]

    def of(self, sample: pd.Series[Any]) -> Any:
        """Return what pandas makes of a sample."""
        return _by_pandas(sample, self.function, self.options)

    def check(self) -> None:
        """Raise as pandas does for such a column, or if it cannot be computed."""
        what = f"the {self.function} of column {self.column.label!r}"
        try:
            self.of(pd.Series(dtype=self.column.dtype))
        except TypeError as error:
            msg = f"{what}: {error}"
            raise XShardsTypeError(msg) from None
        counts = self.function in ("count", "nunique")
        if self._computes and not counts and _holds_other_values(self.column):
            msg = f"{what} is not supported for values of {self.column.dtype}"
            raise XShardsNotImplementedError(msg)
        if self._scales and pa.types.is_temporal(self.column.type):
            given = self.options["ddof"]
            msg = f"{what}: a column of times needs a ddof of 0 or 1, got {given}"
            raise XShardsNotImplementedError(msg)
        if self.asks_for_truth and _true_and_false(self.column.type) is None:
            msg = f"{what} needs numbers or text, got {self.column.type}"
            raise XShardsTypeError(msg)

    @property
    def asks_for_truth(self) -> bool:
        """Whether values only count as true or false."""
        return self.function in ("any", "all")

    def steps(self) -> Iterable[tuple[str, str]]:
        """Name what the engine has to compute, as functions and columns."""
        name = self.column.name
        if self._needs_count:
            yield "count", name
        if self.asks_for_truth:
            yield self._truth_step
        elif self._selects:
            yield from (("min", name), ("max", name))
        else:
            yield self._engine_step

    def found(self, shards: Any, values: Values) -> Found:
        """Make a result from the engine's values."""
        dtype = self.column.dtype
        num_rows = int(values[_ALL_ROWS])
        if num_rows < max(1, self.options.get("min_count", 0)):
            return Found(pd.Series(dtype=dtype))
        if self.asks_for_truth:
            return Found(self._truths(values, num_rows))
        lacks_values = self._lacks_values(values, num_rows)
        value = None if lacks_values else self._value(shards, values, num_rows)
        if value is None:
            # A reduction of booleans is a number, even if it is missing.
            counts_truths = self._computes and dtype == np.bool_
            return Found(_missing(np.dtype("float64") if counts_truths else dtype))
        if not self._computes:
            return Found(pd.Series([value] * _SAMPLE_ROWS, dtype=dtype))
        return Found(_some(dtype), value)

    def _truths(self, values: Values, num_rows: int) -> pd.Series[Any]:
        """Return the deciding value, or a missing one if missing values count."""
        column = self.column
        found, dtype = values[self._truth_step], column.dtype
        sides = _true_and_false(column.type)
        cells = [] if found is None or sides is None else [sides[0 if found else 1]]
        if self._needs_count and self._count(values) < num_rows:
            cells.append(np.nan)
            dtype = _missing(dtype).dtype
        if not cells:
            return _missing(dtype)
        rows = [cells[row % len(cells)] for row in range(_SAMPLE_ROWS)]
        return pd.Series(rows, dtype=object).astype(dtype)

    def _lacks_values(self, values: Values, num_rows: int) -> bool:
        """Return whether missing values make the result a missing one."""
        if not self._needs_count:
            return False
        count = self._count(values)
        few = count < self.options.get("min_count", 0)
        gaps = count < num_rows and not self.options.get("skipna", True)
        return bool(few or gaps or count <= self.options.get("ddof", -math.inf))

    def _value(self, shards: Any, values: Values, num_rows: int) -> Any:
        name = self.column.name
        if self._selects:
            if not self._count(values):
                return None
            low, high = (values[side, name] for side in ("min", "max"))
            extent = Extent(num_rows, self._count(values), low, high)
            (middle,) = quantiles(shards._select([name]), [0.5], extent)()
            return np.float64(middle)
        value = values[self._engine_step]
        if self._scales and value is not None:
            count = self._count(values)
            share = count / (count - self.options["ddof"])
            value *= share if self.function == "var" else math.sqrt(share)
        return value

    def _count(self, values: Values) -> int:
        return int(values["count", self.column.name])

    @property
    def _engine_step(self) -> tuple[str, str]:
        of_sample = self.options.get("ddof", 1) == 1
        function = self.function if of_sample else _OF_POPULATION[self.function]
        return function, self.column.name

    @property
    def _truth_step(self) -> tuple[str, str]:
        """Name what decides: the most true value for any, the least for all."""
        return _MOST_TRUTH if self.function == "any" else _LEAST_TRUTH, self.column.name

    @property
    def _computes(self) -> bool:
        """Whether the result is no value of the column."""
        return self.function not in ("min", "max", "any", "all")

    @property
    def _scales(self) -> bool:
        """Whether a variance is neither that of a sample nor that of the population."""
        return self.options.get("ddof", 1) not in (0, 1)

    @property
    def _selects(self) -> bool:
        """Whether it is a median of numbers, which need not all be held."""
        kind = self.column.type
        return self.function == "median" and (
            is_number(kind) or pa.types.is_boolean(kind)
        )

    @property
    def _needs_count(self) -> bool:
        fewer = not self.options.get("skipna", True) or self.options.get("min_count")
        return bool(fewer or self._scales or self._selects)


def find(shards: Any, wanted: Sequence[Reduction]) -> list[Found]:
    """Compute reductions, all but medians of numbers in one pass."""
    for one in wanted:
        one.check()
    halves = {one.column.name for one in wanted if _is_half(one.column.type)}
    # Which neither the engine nor Arrow compares or adds up.
    shards = shards.with_columns({name: col(name).astype("float32") for name in halves})
    asked = {one.column.name: one.column for one in wanted if one.asks_for_truth}
    truths = dict(zip(asked, _free_names(shards.schema.names), strict=False))
    shards = shards.with_columns(
        {truths[n]: _truth(column) for n, column in asked.items()}
    )
    steps = list(
        dict.fromkeys([_ALL_ROWS, *(s for one in wanted for s in one.steps())])
    )
    named = [
        (_OF_TRUTH[step], truths[name], str(n))
        if step in _OF_TRUTH and name is not None
        else (step, name, str(n))
        for n, (step, name) in enumerate(steps)
    ]
    grouped = shards._grouped([], named)
    table = grouped._run(grouped._core.to_table)
    frame = table_to_frame(table, FrameInfo.load(table.schema))
    values = {
        step: None if table.column(n).null_count else frame.iloc[:, n].iloc[0]
        for n, step in enumerate(steps)
    }
    return [one.found(shards, values) for one in wanted]


def as_scalar(wanted: Reduction, found: Found) -> Any:
    """Return a result as pandas gives that of a Series."""
    result = wanted.of(found.sample)
    value = found.value
    if value is None:
        return result
    if value is not pd.NA and isinstance(result, np.number | float):
        return type(result)(value)
    return int(value) if wanted.function == "nunique" else value


def as_series(
    function: str,
    options: Mapping[str, Any],
    found: Sequence[Found],
    labels: pd.Index[Any],
) -> pd.Series[Any]:
    """Return results of one function as pandas gives those of a DataFrame."""
    samples = {n: one.sample.reset_index(drop=True) for n, one in enumerate(found)}
    results: pd.Series[Any] = _by_pandas(pd.DataFrame(samples), function, options)
    cells = [
        result if one.value is None else one.value
        for result, one in zip(results, found, strict=True)
    ]
    return pd.Series(cells, labels, dtype=results.dtype)


def dtype_in_table(wanted: Sequence[Reduction], found: Sequence[Found]) -> Any:
    """Return the dtype of results of one column under each other in a DataFrame."""
    samples = [one.sample for one in found]
    sample = next((one for one in samples if one.notna().any()), samples[0])
    functions = [one.function for one in wanted]
    return _by_pandas(sample.to_frame(), "agg", {"func": functions}).dtypes.iloc[0]


def _by_pandas(sample: Any, function: str, options: Mapping[str, Any]) -> Any:
    """Call pandas' function on a sample, of which one row stands for `min_count`."""
    given = dict(options)
    if "min_count" in given:
        given["min_count"] = min(given["min_count"], 1)
    with np.errstate(all="ignore"):
        return getattr(sample, function)(**given)


def _holds_other_values(column: Column) -> bool:
    """Return whether the engine has numbers or times where pandas has other values."""
    kinds = pa.types
    if _is_object(column.dtype):
        return bool(kinds.is_temporal(column.type))
    return bool(column.dtype.kind == "O" and is_number(column.type))


def _is_half(column: pa.DataType) -> bool:
    return bool(pa.types.is_float16(column))


def _some(dtype: Any) -> pd.Series[Any]:
    """Return a few values of a dtype; missing ones where it has no numbers."""
    if dtype.kind not in "biufmM" and not _is_object(dtype):
        return _missing(dtype)
    return pd.Series([0, 1] + [0] * (_SAMPLE_ROWS - 2)).astype(dtype)


def _is_object(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind == "O"


def _missing(dtype: Any) -> pd.Series[Any]:
    return pd.Series(dtype=dtype).reindex(range(_SAMPLE_ROWS))


def _free_names(taken: Iterable[str]) -> Iterable[str]:
    """Return names that no column has."""
    known = set(taken)
    names = (f"truth {n}" for n in itertools.count())
    return (name for name in names if name not in known)


def _true_and_false(column: pa.DataType) -> tuple[Any, Any] | None:
    """Return values of a type that are true and false; None if they are not known."""
    kinds = pa.types
    if kinds.is_large_string(column) or kinds.is_string(column):
        return "x", ""
    if kinds.is_duration(column):
        return pd.Timedelta(1, "s"), pd.Timedelta(0)
    if kinds.is_decimal(column):
        return Decimal(1), Decimal(0)
    known = (is_number, kinds.is_boolean, kinds.is_null)
    return (1, 0) if any(one(column) for one in known) else None


def _truth(column: Column) -> Expression:
    """Return whether a value is true; missing where it is."""
    value = col(column.name)
    sides = _true_and_false(column.type)
    if sides is None or pa.types.is_boolean(column.type):
        return value
    differs: Expression = value != sides[1]
    return differs.where(value.notna())
