# SPDX-License-Identifier: Apache-2.0
"""Expressions written as text, the way ``DataFrame.query`` reads them.

The text is parsed, never run: names are columns, ``@name`` a variable of the caller,
and only the methods of expressions can be called.
"""

from __future__ import annotations

import ast
import operator
from typing import TYPE_CHECKING, Any

from xshards.errors import (
    XShardsError,
    XShardsKeyError,
    XShardsTypeError,
    XShardsValueError,
)
from xshards.expressions import DatetimeMethods, Expression, StringMethods, col, lit
from xshards.interop.aggregate_functions import REDUCTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["parse_query"]

_OPERATORS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
# As in pandas, these have the precedence of the words: a > 1 & b > 2 needs no brackets.
_WORDS = {"&": " and ", "|": " or ", "~": " not "}
# The functions that pandas supports in queries, and Arrow's names for them.
_FUNCTIONS = {
    **{name: name for name in ("abs", "sqrt", "exp", "floor", "ceil", "sign")},
    **{name: name for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{name: name for name in ("log10", "log1p", "expm1")},
    **{f"arc{name}": f"a{name}" for name in ("sin", "cos", "tan")},
    **{f"arc{name}": f"a{name}" for name in ("sinh", "cosh", "tanh")},
    "log": "ln",
}
# What arithmetic on constants may make: numbers of more bits are in no column.
_MAX_BITS = 1024
_MAX_LENGTH = 1 << 16
_QUOTED = "__quoted_{}__"
_VARIABLE = "__variable_{}__"
_VARIABLE_START, _VARIABLE_END = _VARIABLE.split("{}")


def parse_query(
    text: str,
    variables: Mapping[str, Any],
    reduce: Callable[[str, str], Any],
) -> Expression:
    """Read a condition.

    Parameters
    ----------
    text
        For instance ``"a > 1 and city in ['Rome', @home]"``; names that are no Python
        names stand in backticks.
    variables
        What ``@name`` stands for.
    reduce
        Gives what one of REDUCTIONS (in ``a > a.mean()``), the second argument, makes
        of a column.
    """
    source, quoted = _to_python(text)
    try:
        tree = ast.parse(source.strip(), mode="eval")
    except SyntaxError as error:
        msg = f"the query {text!r} cannot be read: {error.msg}"
        raise XShardsValueError(msg) from error
    except (ValueError, RecursionError, MemoryError) as error:
        # A NUL character, a number of thousands of digits, thousands of brackets.
        msg = f"the query {text!r} cannot be read: {error}"
        raise XShardsValueError(msg) from error
    try:
        return _Reader(text, quoted, variables, reduce).expression(tree.body)
    except _ReductionError as error:
        raise error.cause from None
    except RecursionError as error:
        msg = f"the query {text!r} is nested too deeply"
        raise XShardsValueError(msg) from error


def _to_python(text: str) -> tuple[str, dict[str, str]]:
    """Spell names in backticks, variables and operators so that Python parses them."""
    parts: list[str] = []
    quoted: dict[str, str] = {}
    position = 0
    while position < len(text):
        character = text[position]
        end = position + 1
        if character in "'\"":
            end = _end_of_text(text, position)
            parts.append(text[position:end])
        elif character == "`":
            end = text.find("`", end) + 1
            if end == 0:
                msg = f"the query {text!r} has a backtick without a second one"
                raise XShardsValueError(msg)
            name = _QUOTED.format(len(quoted))
            quoted[name] = text[position + 1 : end - 1]
            parts.append(name)
        elif character == "@":
            while end < len(text) and (text[end].isalnum() or text[end] == "_"):
                end += 1
            parts.append(_VARIABLE.format(text[position + 1 : end]))
        else:
            parts.append(_WORDS.get(character, character))
        position = end
    return "".join(parts), quoted


def _end_of_text(text: str, begin: int) -> int:
    position = begin + 1
    while position < len(text) and text[position] != text[begin]:
        position += 2 if text[position] == "\\" else 1
    return position + 1


class _ReductionError(Exception):
    """What the rows of a reduction raised: not an error of the query's text."""

    def __init__(self, cause: RecursionError) -> None:
        super().__init__(cause)
        self.cause = cause


def _is_too_large(op: type[ast.AST], left: Any, right: Any) -> bool:
    """Tell whether an operator makes much of two constants."""
    if op is ast.Mod:
        return isinstance(left, (str, bytes))  # a format: '%999999999d'
    if op is ast.Mult:
        for items, times in ((left, right), (right, left)):
            if isinstance(items, (str, bytes, list)) and isinstance(times, int):
                return len(items) * times > _MAX_LENGTH
    if not isinstance(left, int) or not isinstance(right, int):
        return False
    if op is ast.Pow:
        return abs(left) > 1 and right * (abs(left).bit_length() - 1) > _MAX_BITS
    return op is ast.Mult and left.bit_length() + right.bit_length() > _MAX_BITS


class _Reader:
    """Turns the nodes of a parsed query into expressions and constants."""

    def __init__(
        self,
        text: str,
        quoted: Mapping[str, str],
        variables: Mapping[str, Any],
        reduce: Callable[[str, str], Any],
    ) -> None:
        self._text = text
        self._quoted = quoted
        self._variables = variables
        self._reduce = reduce

    def read(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
                return [self.read(item) for item in items]
            case ast.Name(id=name):
                return self._name(name)
            case ast.BoolOp(op=ast.And(), values=values):
                return self._joined(operator.and_, values)
            case ast.BoolOp(values=values):
                return self._joined(operator.or_, values)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return ~self.expression(operand)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._call(operator.neg, self.read(operand))
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                return self._operate(type(op), self.read(left), self.read(right))
            case ast.Compare():
                return self._comparison(node)
            case ast.Attribute(value=owner, attr=name):
                return self._attribute(self._owner(owner), name)
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr=function),
                args=[],
                keywords=[],
            ) if function in REDUCTIONS and not name.startswith(_VARIABLE_START):
                return self._reduction(self._quoted.get(name, name), function)
            case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]) if (
                name in _FUNCTIONS
            ):
                return self.expression(argument).call(_FUNCTIONS[name])
            case ast.Call(func=function, args=arguments, keywords=keywords):
                called = self.read(function)
                if callable(called):
                    named = {word.arg or "": self.read(word.value) for word in keywords}
                    return self._call(called, *map(self.read, arguments), **named)
        return self._refuse(ast.unparse(node))

    def expression(self, node: ast.expr) -> Expression:
        """Read a node whose value is an expression or a constant."""
        made = self.read(node)
        return made if isinstance(made, Expression) else self._call(lit, made)

    def _call(self, function: Callable[..., Any], *values: Any, **named: Any) -> Any:
        try:
            return function(*values, **named)
        except XShardsError:
            raise
        except (TypeError, ValueError, ArithmeticError) as error:
            msg = f"the query {self._text!r} cannot be read: {error}"
            if isinstance(error, TypeError):
                raise XShardsTypeError(msg) from error
            raise XShardsValueError(msg) from error

    def _operate(self, op: type[ast.AST], left: Any, right: Any) -> Any:
        if _is_too_large(op, left, right):
            msg = f"the query {self._text!r} makes too much of its constants"
            raise XShardsValueError(msg)
        return self._call(_OPERATORS[op], left, right)

    def _reduction(self, column: str, function: str) -> Any:
        try:
            return self._reduce(column, function)
        except RecursionError as error:
            raise _ReductionError(error) from error

    def _joined(
        self, join: Callable[[Any, Any], Expression], nodes: list[ast.expr]
    ) -> Expression:
        whole = self.expression(nodes[0])
        for node in nodes[1:]:
            whole = join(whole, self.expression(node))
        return whole

    def _comparison(self, node: ast.Compare) -> Any:
        """Read ``a < b < c`` as ``a < b and b < c``."""
        parts = []
        left = node.left
        for op, right in zip(node.ops, node.comparators, strict=True):
            parts.append(self._pair(left, op, right))
            left = right
        whole = parts[0]
        for part in parts[1:]:
            whole = whole & part
        return whole

    def _pair(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> Any:
        if isinstance(op, (ast.In, ast.NotIn)):
            return self._membership(left, right, inside=isinstance(op, ast.In))
        if type(op) not in _OPERATORS:
            return self._refuse(ast.unparse(left))
        one, other = self.read(left), self.read(right)
        listed = isinstance(op, (ast.Eq, ast.NotEq)) and isinstance(other, list)
        if listed:  # as in pandas, == [...] means in [...]
            return self._membership(left, right, inside=isinstance(op, ast.Eq))
        return self._operate(type(op), one, other)

    def _membership(self, left: ast.expr, right: ast.expr, *, inside: bool) -> Any:
        wanted = self.read(right)
        found = self._call(self.expression(left).isin, wanted)
        return found if inside else ~found

    def _name(self, name: str) -> Any:
        if name in self._quoted:
            return col(self._quoted[name])
        if name.startswith(_VARIABLE_START) and name.endswith(_VARIABLE_END):
            wanted = name[len(_VARIABLE_START) : -len(_VARIABLE_END)]
            if wanted not in self._variables:
                msg = f"the query {self._text!r} names @{wanted}, which is not defined"
                raise XShardsKeyError(msg)
            return self._variables[wanted]
        return col(name)

    def _owner(self, node: ast.expr) -> Any:
        owner = self.read(node)
        if not isinstance(owner, (Expression, StringMethods, DatetimeMethods)):
            return self._refuse(ast.unparse(node))
        return owner

    def _attribute(self, owner: Any, name: str) -> Any:
        if name.startswith("_") or not hasattr(owner, name):
            return self._refuse(f".{name}")
        return getattr(owner, name)

    def _refuse(self, what: str) -> Any:
        msg = (
            f"the query {self._text!r} holds {what!r}, which is not supported: use "
            "columns, @variables, numbers, text, lists, comparisons, arithmetic, "
            "and, or, not, in, and the methods of expressions"
        )
        raise XShardsValueError(msg)
