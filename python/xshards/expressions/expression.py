# SPDX-License-Identifier: Apache-2.0
"""Column expressions: ``xs.col("a") > 3``.

An expression says how a value is computed from the columns of a row. It is data, not a
Python function: the engine runs it on its own threads and the optimizer can see through
it.
"""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from xshards import _core
from xshards._util.arguments import require
from xshards._util.public_names import name_methods
from xshards.errors import (
    XShardsTypeError,
    XShardsValueError,
)
from xshards.expressions.constants import (
    arrays_of,
    as_arrow_type,
    beyond_integers,
    constant,
    is_plain,
    target_of,
)
from xshards.expressions.datetime import DatetimeMethods
from xshards.expressions.operators import Operators
from xshards.expressions.string import StringMethods

if TYPE_CHECKING:
    import builtins
    from collections.abc import Iterable, Mapping

__all__ = ["Expression", "col", "lit"]

_COMPARISONS = frozenset(
    ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]
)


class Expression(Operators):
    """A value computed from the columns of a row; made by `col` and `lit`.

    Operators give new expressions, with pandas' results and dtypes: a comparison with a
    missing value is false (``!=`` true) or, in the nullable dtypes, missing; ``/``
    gives floats; ``//`` and ``%`` round down. A plain number takes the dtype of the
    column it meets. One thing is not as in pandas, where dtypes depend on the values:
    an integer ``//`` a column that holds 0 is missing there, not infinite.

    Examples
    --------
    >>> import xshards as xs
    >>> (xs.col("a") + 1 > 3) & xs.col("b").notna()
    <Expression ...>
    """

    __slots__ = ("_core",)

    def __init__(self, core: _core.Expression) -> None:
        self._core = core

    def _combine(self, function: builtins.str, operands: list[object]) -> Expression:
        if function in _COMPARISONS:
            operands = [beyond_integers(operand) for operand in operands]
        wrapped = [_wrap(operand) for operand in operands]
        return Expression(_core.Expression.call(function, wrapped))

    def __bool__(self) -> bool:
        msg = (
            "an expression has no truth value until it is applied to rows: "
            f"use & | ~ in place of and, or, not; got {self}"
        )
        raise TypeError(msg)

    def abs(self) -> Expression:
        """Compute the absolute value.

        Returns
        -------
        Expression

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [-2, 3]}))
        >>> shards.assign(a=xs.col("a").abs()).to_pandas()["a"].tolist()
        [2, 3]
        """
        return self.call("abs")

    def isna(self) -> Expression:
        """Return whether the value is missing (null or NaN).

        Returns
        -------
        Expression

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1.5, None]}))
        >>> shards.assign(a=xs.col("a").isna()).to_pandas()["a"].tolist()
        [False, True]
        """
        return self.call("is_null")

    def notna(self) -> Expression:
        """Return whether the value is not missing.

        Returns
        -------
        Expression

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1.5, None]}))
        >>> shards.assign(a=xs.col("a").notna()).to_pandas()["a"].tolist()
        [True, False]
        """
        return ~self.isna()

    isnull = isna
    notnull = notna

    def isin(self, values: Iterable[Any]) -> Expression:
        """Return whether the value is one of `values`.

        Parameters
        ----------
        values : iterable
            The values to look for; a missing one matches missing values, as in pandas.

        Returns
        -------
        Expression

        Raises
        ------
        TypeError
            If `values` is a text.

        Examples
        --------
        >>> xs.col("carrier").isin(["AA", "UA"])
        <Expression ...>
        """
        if isinstance(values, str):
            msg = f"isin expects a list of values, got the text {values!r}"
            raise XShardsTypeError(msg)
        arrays = [values] if isinstance(values, pa.Array) else arrays_of(list(values))
        found = [
            Expression(self._core.is_in(_with_large_text(array))) for array in arrays
        ]
        return functools.reduce(operator.or_, found)

    def between(
        self,
        left: object,
        right: object,
        inclusive: Literal["both", "neither", "left", "right"] = "both",
    ) -> Expression:
        """Return whether the value is between two others.

        Parameters
        ----------
        left, right : Expression or constant
            The limits.
        inclusive : {"both", "neither", "left", "right"}
            Which limits belong to the range.

        Returns
        -------
        Expression

        Raises
        ------
        ValueError
            If `inclusive` is unknown.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1, 2, 3]}))
        >>> list(shards.filter(xs.col("a").between(2, 3)).to_pandas()["a"])
        [2, 3]
        """
        if inclusive not in ("both", "neither", "left", "right"):
            msg = f"inclusive must be both, neither, left or right, got {inclusive!r}"
            raise XShardsValueError(msg)
        above = self >= left if inclusive in ("both", "left") else self > left
        below = self <= right if inclusive in ("both", "right") else self < right
        return above & below

    def fillna(self, value: object) -> Expression:
        """Replace missing values.

        Parameters
        ----------
        value : Expression or constant
            The replacement.

        Returns
        -------
        Expression

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1.5, None]}))
        >>> list(shards.with_column("a", xs.col("a").fillna(0)).to_pandas()["a"])
        [1.5, 0.0]
        """
        return self.call("fill_missing", value)

    def where(self, condition: Expression, other: object = None) -> Expression:
        """Keep the value where a condition holds.

        Parameters
        ----------
        condition : Expression
            True where the value is kept; missing counts as false.
        other : Expression or constant, optional
            The value elsewhere; missing by default.

        Returns
        -------
        Expression

        Raises
        ------
        TypeError
            If the condition is not an expression.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1, 2, 3]}))
        >>> kept = xs.col("a").where(xs.col("a") > 1, 0)
        >>> list(shards.with_column("a", kept).to_pandas()["a"])
        [0, 2, 3]
        """
        require(
            condition, Expression, "where needs a condition such as xs.col('a') > 3"
        )
        return self._combine("choose", [condition, self, other])

    def mask(self, condition: Expression, other: object = None) -> Expression:
        """Replace the value where a condition holds: the opposite of `where`.

        Parameters
        ----------
        condition, other
            See `where`.

        Returns
        -------
        Expression

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1, 2, 3]}))
        >>> masked = xs.col("a").mask(xs.col("a") > 1, 0)
        >>> shards.assign(a=masked).to_pandas()["a"].tolist()
        [1, 0, 0]
        """
        require(condition, Expression, "mask needs a condition such as xs.col('a') > 3")
        return self.where(~condition, other)

    def clip(self, lower: object = None, upper: object = None) -> Expression:
        """Limit the value to a range.

        Parameters
        ----------
        lower, upper : Expression or constant, optional
            The limits; None for no limit.

        Returns
        -------
        Expression

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1, 5, 9]}))
        >>> list(shards.with_column("a", xs.col("a").clip(2, 8)).to_pandas()["a"])
        [2, 5, 8]
        """
        clipped = self if lower is None else self.call("clip_lower", lower)
        return clipped if upper is None else clipped.call("clip_upper", upper)

    def round(self, decimals: int = 0) -> Expression:
        """Round to a number of decimals; halves round to even.

        Parameters
        ----------
        decimals : int, default 0
            The number of decimals.

        Returns
        -------
        Expression

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1.25, 1.35]}))
        >>> shards.assign(a=xs.col("a").round(1)).to_pandas()["a"].tolist()
        [1.2, 1.4]
        """
        require(decimals, int, "decimals must be an integer")
        return self.call("round", decimals)

    def cast(self, dtype: object) -> Expression:
        """Convert to another type; a value that does not fit is an error.

        Parameters
        ----------
        dtype : pyarrow.DataType, numpy dtype or str
            For instance ``"float64"``, ``"string"`` or ``pa.timestamp("ms")``.

        Returns
        -------
        Expression

        Raises
        ------
        ValueError
            When it runs: if a value does not fit the type.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1, 2]}))
        >>> shards.assign(a=xs.col("a").cast("float64")).to_pandas()["a"].tolist()
        [1.0, 2.0]
        """
        return Expression(self._core.cast(as_arrow_type(dtype)))

    def astype(self, dtype: object) -> Expression:
        """Convert to another dtype as pandas does, cutting fractions.

        The integers of numpy (``"int64"``, ``int``) have no missing values: where there
        are some, the run fails with a ValueError, as in pandas. ``"Int64"`` and types
        of Arrow keep them. Floats become the shortest text that gives them back (``1``
        for 1.0) and times are written with all digits of the fraction; `XShards.astype`
        writes both as pandas does.

        Parameters
        ----------
        dtype : dtype or str
            Of pandas, numpy or Arrow: ``"int32"``, ``"Int64"``, ``"str"``, ``"bool"``.

        Returns
        -------
        Expression

        Raises
        ------
        TypeError
            If there is no such type.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1.7, -1.7]}))
        >>> list(shards.with_column("a", xs.col("a").astype("int64")).to_pandas()["a"])
        [1, -1]
        """
        arrow, name = target_of(dtype)
        # Integers of Arrow and of pandas' nullable dtypes may be missing.
        is_numpy = not isinstance(dtype, pa.DataType) and not name
        keeps_missing = not (is_numpy and pa.types.is_integer(arrow))
        return Expression(
            _core.Expression.as_type(self._core, arrow, name, keeps_missing)
        )

    def _noted(self, arrow: pa.DataType, marks: Mapping[str, str]) -> Expression:
        """Cast to a type, with notes of what pandas calls the column."""
        pairs = list(marks.items())
        return Expression(_core.Expression.as_dtype(self._core, arrow, pairs))

    def call(self, function: str, *arguments: object) -> Expression:
        """Call an Arrow compute function on this value.

        Parameters
        ----------
        function : str
            The name of a scalar function of Arrow, such as ``"sqrt"``.
        *arguments
            Its other arguments: expressions or constants.

        Returns
        -------
        Expression

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [4.0, 9.0]}))
        >>> shards.assign(a=xs.col("a").call("sqrt")).to_pandas()["a"].tolist()
        [2.0, 3.0]
        """
        return self._combine(function, [self, *arguments])

    @property
    def str(self) -> StringMethods:
        """String functions, as in pandas: ``xs.col("name").str.upper()``.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"s": ["a", "b"]}))
        >>> shards.with_column("s", xs.col("s").str.upper()).to_pandas()["s"].tolist()
        ['A', 'B']
        """
        return StringMethods(self)

    @property
    def dt(self) -> DatetimeMethods:
        """The parts of times, as in pandas: ``xs.col("t").dt.year``.

        Examples
        --------
        >>> times = pd.to_datetime(["2024-02-29 12:34:56"])
        >>> shards = xs.from_pandas(pd.DataFrame({"t": times}))
        >>> shards.assign(t=xs.col("t").dt.year).to_pandas()["t"].tolist()
        [2024]
        """
        return DatetimeMethods(self)

    def __repr__(self) -> builtins.str:
        return f"<Expression {self._core}>"


name_methods(Expression, "Expression")
name_methods(StringMethods, "Expression.str")
name_methods(DatetimeMethods, "Expression.dt")


def col(name: str) -> Expression:
    """Refer to a column by name.

    Parameters
    ----------
    name : str
        The column's name.

    Returns
    -------
    Expression

    Examples
    --------
    >>> xs.col("delay") > 30
    <Expression ...>
    """
    require(name, str, "a column's name must be a string")
    return Expression(_core.Expression.col(name))


def lit(value: object) -> Expression:
    """Make an expression of a constant.

    Parameters
    ----------
    value : constant
        A number, a text, a time, or what else a column can hold.

    Returns
    -------
    Expression

    Raises
    ------
    TypeError
        If no column can hold the value.

    Examples
    --------
    >>> xs.lit(1.5) * xs.col("price")
    <Expression ...>
    """
    return Expression(_wrap(value))


def _with_large_text(array: pa.Array) -> pa.Array:
    is_text = pa.types.is_string(array.type)
    return array.cast(pa.large_string()) if is_text else array


def _wrap(value: object) -> _core.Expression:
    if isinstance(value, Expression):
        return value._core
    if is_plain(value):
        return _core.Expression.lit(value)
    return _core.Expression.lit(constant(value))
