# SPDX-License-Identifier: Apache-2.0
"""What ``.str`` and ``.dt`` of an expression have in common: the expression."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xshards.expressions.expression import Expression

__all__ = ["Accessor"]


class Accessor:
    """Functions of one expression, reached as an attribute of it."""

    __slots__ = ("_of",)

    def __init__(self, of: Expression) -> None:
        self._of = of
