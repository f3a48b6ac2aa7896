# SPDX-License-Identifier: Apache-2.0
"""Column expressions: ``xs.col("a") > 3``.

An expression says how a value is computed from the columns of a row. It is data, not a
Python function: the engine runs it on its own threads and the optimizer can see through
it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from xshards import _core
from xshards._arguments import require
from xshards.errors import XShardsTypeError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Expression", "TextMethods", "col", "lit"]


class Expression:
    """A value computed from the columns of a row; made by `col` and `lit`.

    Arithmetic, comparisons and ``& | ~`` give new expressions, with pandas' results: a
    comparison with a missing value is false (``!=`` true), ``/`` gives floats.

    Examples
    --------
    >>> import xshards as xs
    >>> (xs.col("a") + 1 > 3) & xs.col("b").notna()
    <Expression ...>
    """

    __slots__ = ("_core",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, core: _core.Expression) -> None:
        self._core = core

    def __add__(self, other: object) -> Expression:
        return Expression(self._core + _wrap(other))

    def __radd__(self, other: object) -> Expression:
        return Expression(_wrap(other) + self._core)

    def __sub__(self, other: object) -> Expression:
        return Expression(self._core - _wrap(other))

    def __rsub__(self, other: object) -> Expression:
        return Expression(_wrap(other) - self._core)

    def __mul__(self, other: object) -> Expression:
        return Expression(self._core * _wrap(other))

    def __rmul__(self, other: object) -> Expression:
        return Expression(_wrap(other) * self._core)

    def __truediv__(self, other: object) -> Expression:
        return Expression(self._core / _wrap(other))

    def __rtruediv__(self, other: object) -> Expression:
        return Expression(_wrap(other) / self._core)

    def __neg__(self) -> Expression:
        return Expression(-self._core)

    def __eq__(self, other: object) -> Expression:  # type: ignore[override]
        return Expression(self._core == _wrap(other))

    def __ne__(self, other: object) -> Expression:  # type: ignore[override]
        return Expression(self._core != _wrap(other))

    def __lt__(self, other: object) -> Expression:
        return Expression(self._core < _wrap(other))

    def __le__(self, other: object) -> Expression:
        return Expression(self._core <= _wrap(other))

    def __gt__(self, other: object) -> Expression:
        return Expression(self._core > _wrap(other))

    def __ge__(self, other: object) -> Expression:
        return Expression(self._core >= _wrap(other))

    def __and__(self, other: object) -> Expression:
        return Expression(self._core & _wrap(other))

    def __rand__(self, other: object) -> Expression:
        return Expression(_wrap(other) & self._core)

    def __or__(self, other: object) -> Expression:
        return Expression(self._core | _wrap(other))

    def __ror__(self, other: object) -> Expression:
        return Expression(_wrap(other) | self._core)

    def __invert__(self) -> Expression:
        return Expression(~self._core)

    def __bool__(self) -> bool:
        msg = (
            "an expression has no truth value until it is applied to rows: "
            f"use & | ~ in place of and, or, not; got {self}"
        )
        raise TypeError(msg)

    def isin(self, values: Iterable[Any]) -> Expression:
        """Tell whether the value is one of `values`.

        Parameters
        ----------
        values : iterable
            The values to look for; a missing one matches missing values, as in pandas.

        Examples
        --------
        >>> xs.col("carrier").isin(["AA", "UA"])
        <Expression ...>
        """
        if isinstance(values, str):
            msg = f"isin takes a list of values, not the text {values!r}"
            raise XShardsTypeError(msg)
        array = pa.array(values if isinstance(values, pa.Array) else list(values))
        if pa.types.is_string(array.type):
            array = array.cast(pa.large_string())
        return Expression(self._core.is_in(array))

    def isna(self) -> Expression:
        """Tell whether the value is missing (null or NaN)."""
        return Expression(self._core.is_null())

    def notna(self) -> Expression:
        """Tell whether the value is there."""
        return Expression(~self._core.is_null())

    def cast(self, dtype: object) -> Expression:
        """Convert to another type.

        Parameters
        ----------
        dtype : pyarrow.DataType, numpy dtype or str
            For instance ``"float64"``, ``"string"`` or ``pa.timestamp("ms")``.
        """
        return Expression(self._core.cast(as_arrow_type(dtype)))

    def abs(self) -> Expression:
        """Give the absolute value."""
        return self.call("abs_checked")

    def call(self, function: str, *arguments: object) -> Expression:
        """Call an Arrow compute function on this value.

        Parameters
        ----------
        function : str
            The name of a scalar function of Arrow, such as ``"round"``.
        *arguments
            Its other arguments: expressions or constants.
        """
        wrapped = [self._core, *(_wrap(argument) for argument in arguments)]
        return Expression(_core.Expression.call(function, wrapped))

    @property
    def str(self) -> TextMethods:
        """String functions, as in pandas: ``xs.col("name").str.upper()``."""
        return TextMethods(self)

    def __repr__(self) -> str:  # type: ignore[valid-type]
        return f"<Expression {self._core}>"


class TextMethods:
    """String functions of an expression; reached as ``expression.str``."""

    __slots__ = ("_text",)

    def __init__(self, text: Expression) -> None:
        self._text = text

    def upper(self) -> Expression:
        """Convert to upper case."""
        return self._text.call("utf8_upper")

    def lower(self) -> Expression:
        """Convert to lower case."""
        return self._text.call("utf8_lower")

    def strip(self) -> Expression:
        """Remove white space from both ends."""
        return self._text.call("utf8_trim_whitespace")

    def len(self) -> Expression:
        """Count the characters."""
        return self._text.call("utf8_length")

    def startswith(self, prefix: str) -> Expression:
        """Tell whether the text starts with `prefix`."""
        return self._match("starts_with", prefix, ignore_case=False)

    def endswith(self, suffix: str) -> Expression:
        """Tell whether the text ends with `suffix`."""
        return self._match("ends_with", suffix, ignore_case=False)

    def contains(
        self, pattern: str, *, case: bool = True, regex: bool = True
    ) -> Expression:
        """Tell whether `pattern` occurs in the text.

        Parameters
        ----------
        pattern : str
            A regular expression (RE2's syntax), or plain text with ``regex=False``.
        case : bool, default True
            Whether upper and lower case differ.
        regex : bool, default True
            Whether `pattern` is a regular expression.
        """
        function = "match_substring_regex" if regex else "match_substring"
        return self._match(function, pattern, ignore_case=not case)

    def replace(
        self, pattern: str, replacement: str, *, regex: bool = False
    ) -> Expression:
        """Replace every occurrence of `pattern`."""
        function = "replace_substring_regex" if regex else "replace_substring"
        text = self._text._core
        return Expression(
            _core.Expression.replace(function, text, pattern, replacement)
        )

    def _match(self, function: str, pattern: str, *, ignore_case: bool) -> Expression:
        text = self._text._core
        return Expression(_core.Expression.match(function, text, pattern, ignore_case))


def col(name: str) -> Expression:
    """Refer to a column by name.

    Examples
    --------
    >>> xs.col("delay") > 30
    <Expression ...>
    """
    require(name, str, "a column is named by a string")
    return Expression(_core.Expression.col(name))


def lit(value: object) -> Expression:
    """Make an expression of a constant.

    Examples
    --------
    >>> xs.lit(1.5) * xs.col("price")
    <Expression ...>
    """
    return Expression(_wrap(value))


def _wrap(value: object) -> _core.Expression:
    if isinstance(value, Expression):
        return value._core
    scalar = value if isinstance(value, pa.Scalar) else pa.scalar(value)
    if pa.types.is_string(scalar.type):
        scalar = scalar.cast(pa.large_string())
    return _core.Expression.lit(scalar)


def as_arrow_type(dtype: object) -> pa.DataType:
    """Understand a type given as Arrow's, numpy's or by name."""
    if isinstance(dtype, pa.DataType):
        found = dtype
    elif dtype in ("str", "string", str):
        return pa.large_string()
    else:
        try:
            found = pa.from_numpy_dtype(dtype)
        except (TypeError, pa.ArrowNotImplementedError):
            found = pa.type_for_alias(str(dtype))
    return pa.large_string() if pa.types.is_string(found) else found
