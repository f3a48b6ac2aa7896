# SPDX-License-Identifier: Apache-2.0
"""Python's operators as functions of the engine: ``+`` is ``add``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from xshards.expressions.expression import Expression

__all__ = ["Operators"]


def _binary(function: str, *, swapped: bool = False) -> Callable[..., Expression]:
    """Make the method of an operator of two operands."""

    def method(self: Operators, other: object) -> Expression:
        return self._combine(function, [other, self] if swapped else [self, other])

    return method


def _unary(function: str) -> Callable[..., Expression]:
    """Make the method of an operator of one operand."""

    def method(self: Operators) -> Expression:
        return self._combine(function, [self])

    return method


class Operators:
    """The operators of expressions."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    __add__ = _binary("add")
    __radd__ = _binary("add", swapped=True)
    __sub__ = _binary("subtract")
    __rsub__ = _binary("subtract", swapped=True)
    __mul__ = _binary("multiply")
    __rmul__ = _binary("multiply", swapped=True)
    __truediv__ = _binary("divide")
    __rtruediv__ = _binary("divide", swapped=True)
    __floordiv__ = _binary("floor_divide")
    __rfloordiv__ = _binary("floor_divide", swapped=True)
    __mod__ = _binary("modulo")
    __rmod__ = _binary("modulo", swapped=True)
    __pow__ = _binary("power")
    __rpow__ = _binary("power", swapped=True)
    __eq__ = _binary("equal")  # type: ignore[assignment]
    __ne__ = _binary("not_equal")  # type: ignore[assignment]
    __lt__ = _binary("less")
    __le__ = _binary("less_equal")
    __gt__ = _binary("greater")
    __ge__ = _binary("greater_equal")
    __and__ = _binary("and_kleene")
    __rand__ = _binary("and_kleene", swapped=True)
    __or__ = _binary("or_kleene")
    __ror__ = _binary("or_kleene", swapped=True)
    __neg__ = _unary("negate")
    __invert__ = _unary("invert")
    __abs__ = _unary("abs")

    def _combine(self, function: str, operands: list[object]) -> Expression:
        """Call a function of the engine on expressions and constants."""
        raise NotImplementedError
