# SPDX-License-Identifier: Apache-2.0
"""Expressions over columns."""

from xshards.expressions.expression import (
    Expression,
    TextMethods,
    TimeMethods,
    col,
    constant,
    lit,
)

__all__ = ["Expression", "TextMethods", "TimeMethods", "col", "constant", "lit"]
