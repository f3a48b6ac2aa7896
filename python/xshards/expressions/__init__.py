# SPDX-License-Identifier: Apache-2.0
"""Expressions over columns: `col`, `lit` and what they give."""

from xshards.expressions.constants import constant
from xshards.expressions.datetime import DatetimeMethods
from xshards.expressions.expression import Expression, col, lit
from xshards.expressions.string import StringMethods

__all__ = [
    "DatetimeMethods",
    "Expression",
    "StringMethods",
    "col",
    "constant",
    "lit",
]
