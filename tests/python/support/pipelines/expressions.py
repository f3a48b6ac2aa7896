# SPDX-License-Identifier: Apache-2.0
"""Random column expressions, as source for XShards, pandas and, where it fits, SQL."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from random import Random

import numpy as np
import pandas as pd

#: What the source of expressions and columns may name.
NAMES = {
    "pd": pd,
    "np": np,
    "nan": np.nan,
    "inf": np.inf,
    "Decimal": Decimal,
    "date": date,
}


@dataclass(frozen=True)
class Expr:
    """An expression in three languages; `sql` is None where it has no equal."""

    xs: str
    pd: str
    sql: str | None = None


def kind_of(series):
    """Name the family of a column that decides what can be computed from it."""
    dtype = series.dtype
    types = pd.api.types
    if isinstance(dtype, pd.CategoricalDtype):
        return "category"
    if types.is_bool_dtype(dtype):
        return "bool"
    if types.is_integer_dtype(dtype):
        return "int"
    if types.is_float_dtype(dtype):
        return "float"
    if isinstance(dtype, pd.StringDtype):
        return "text"
    if types.is_datetime64_any_dtype(dtype):
        return "time" if getattr(dtype, "tz", None) is None else "zoned"
    if types.is_timedelta64_dtype(dtype):
        return "span"
    found = pd.api.types.infer_dtype(series, skipna=True)
    return {"boolean": "object-bool"}.get(found, found)


LITERALS = {
    "int": ["-1", "0", "1", "2", "3", "100"],
    "small": ["0", "1", "3"],  # what integers of all widths hold
    "float": ["-1.25", "0.5", "2.0", "0.0", "inf"],
    "text": ["'a'", "''", "'é'", "'B '", "'日本'"],
    "time": ["pd.Timestamp('2024-02-29')", "pd.Timestamp('1969-12-31 23:59:59')"],
    "zoned": ["pd.Timestamp('2024-02-29', tz='UTC')"],
    "span": ["pd.Timedelta('1h')", "pd.Timedelta('0s')", "pd.Timedelta('-1D')"],
    "decimal": ["Decimal('1.50')", "Decimal('-3')"],
    "date": ["date(2024, 2, 29)"],
    "bool": ["True", "False"],
}
_NUMBERS = ("int", "float")
_ORDERED = (*_NUMBERS, "text", "time", "zoned", "span")
# Each: the kinds of the operands, the source, and the same in SQL.
_UNARY = [
    (_NUMBERS, "{0}.abs()", "abs({0})"),
    (_NUMBERS, "(-{0})", "(-{0})"),
    # Not of float32, see known_differences.py.
    (("float",), "{0}.astype('float64').round(1)", None),
    (("int",), "({0} ** 2)", None),
    (("int", "float", "bool"), "{0}.astype('float64')", None),
    (("int", "bool"), "{0}.astype('int32')", None),
    (("int", "bool", "text"), "{0}.astype('str')", None),
    (_NUMBERS, "{0}.clip(-1, 2)", None),
    (_NUMBERS, "{0}.clip(upper=1)", None),
    (("text",), "{0}.str.upper()", None),
    (("text",), "{0}.str.lower()", None),
    (("text",), "{0}.str.len()", "length({0})"),
    (("text",), "{0}.str.strip()", "trim({0})"),
    (("text",), "{0}.str.slice(0, 2)", "substr({0}, 1, 2)"),
    (("text",), "{0}.str.slice(-2)", None),
    (("text",), "{0}.str.replace('a', 'xyz', regex=False)", "replace({0}, 'a', 'xyz')"),
    (("text",), "{0}.str.contains('a', regex=False)", None),
    (("text",), "{0}.str.startswith('a')", None),
    (("text",), "{0}.str.find('é')", None),
    (("text",), "{0}.str.zfill(4)", None),
    (("text",), "{0}.str.title()", None),
    (("text",), "{0}.str.isdigit()", None),
    (("text",), "({0} + '!')", "({0} || '!')"),
    (("time", "zoned"), "{0}.dt.year", "year({0})"),
    (("time", "zoned"), "{0}.dt.month", "month({0})"),
    (("time", "zoned"), "{0}.dt.day", "day({0})"),
    (("time", "zoned"), "{0}.dt.hour", None),
    (("time", "zoned"), "{0}.dt.microsecond", None),
    (("time", "zoned"), "{0}.dt.dayofweek", None),
    (("time", "zoned"), "{0}.dt.quarter", None),
    (("time",), "{0}.dt.normalize()", None),
    (("time",), "{0}.dt.is_month_end", None),
    (("time",), "{0}.dt.floor('h')", None),
    (("time",), "{0}.dt.day_name()", None),
    (("span",), "{0}.dt.total_seconds()", None),
    (("span",), "{0}.dt.days", None),
    (("span",), "({0} * 2)", None),
]
_BINARY = [
    (_NUMBERS, "({0} + {1})", "({0} + {1})"),
    (_NUMBERS, "({0} - {1})", "({0} - {1})"),
    (_NUMBERS, "({0} * {1})", "({0} * {1})"),
    (_NUMBERS, "({0} / {1})", None),
    (("text",), "({0} + {1})", "({0} || {1})"),
    (("time",), "({0} - {1})", None),
    (("span",), "({0} + {1})", None),
    (("decimal",), "({0} + {1})", None),
]
_COMPARE = [
    ("({0} {1} {2})", "coalesce({0} {1} {2}, false)", op)
    for op in ("<", ">=", ">", "<=")
]
_EQUALITY = [
    ("({0} == {2})", "({0} IS NOT NULL AND {0} IS NOT DISTINCT FROM {2})"),
    ("({0} != {2})", "({0} IS NULL OR {2} IS NULL OR {0} <> {2})"),
]


class Drawing:
    """Draws expressions of the columns of a frame."""

    def __init__(self, rng: Random, df, names, *, sql=False):
        self.rng = rng
        self.df = df
        self.names = names
        self.sql = sql
        self.kinds = {name: kind_of(df[name]) for name in names}
        self.categories = []

    def value(self, depth=2):
        """Draw an expression of any kind; None where none was found."""
        for _ in range(20):
            found = self._any(self.rng.randint(1, depth))
            if found is not None and self.kind(found) is not None:
                return found
        return None

    def condition(self, depth=2):
        """Draw an expression of truth values."""
        for _ in range(20):
            found = self._condition(depth)
            if found is not None and self.kind(found) == "bool":
                return found
        return None

    def kind(self, expr):
        """Find the kind of an expression; None where pandas refuses it."""
        if self.sql and expr.sql is None:
            return None
        try:
            with np.errstate(all="ignore"):
                result = eval(expr.pd, {**NAMES, "d": self.df})
        except Exception:
            return None
        return kind_of(result) if isinstance(result, pd.Series) else None

    def column(self, kinds=None):
        names = [n for n in self.names if kinds is None or self.kinds[n] in kinds]
        if not names:
            return None
        name = self.rng.choice(names)
        quoted = name.replace('"', '""')
        return Expr(f"xs.col({name!r})", f"d[{name!r}]", f'"{quoted}"')

    def literal(self, kind):
        texts = self.literals(kind)
        if not texts:
            return None
        text = self.rng.choice(texts)
        return Expr(text, text, _sql_literal(kind, text))

    def literals(self, kind):
        """Name constants that a column of some kind can hold."""
        if kind == "category":
            return [repr(one) for one in self.categories]
        return LITERALS.get(kind, [])

    def _any(self, depth):
        if depth <= 0 or self.rng.random() < 0.1:
            return self.column()
        ways = [self._unary, self._unary, self._binary, self._chosen, self._condition]
        return self.rng.choice(ways)(depth)

    def _operand(self, depth):
        found = self._any(depth - 1)
        kind = None if found is None else self.kind(found)
        if kind == "category" and found.pd.count("d[") == 1:
            # What can be compared with: the categories of the column.
            self.categories = list(self.df[found.pd.split("'")[1]].cat.categories)
        return (found, kind) if kind is not None else (None, None)

    def _unary(self, depth):
        operand, kind = self._operand(depth)
        return self._filled(_UNARY, kind, operand)

    def _binary(self, depth):
        left, kind = self._operand(depth)
        right = self._beside(kind, depth)
        if right is not None and kind in _NUMBERS and self.rng.random() < 0.15:
            op, divisor = self.rng.choice(["//", "%"]), self.rng.choice([2, 3, -2])
            text = f"{{0}} {op} {divisor}"  # not by 0, see known_differences.py
            return Expr(f"({text.format(left.xs)})", f"({text.format(left.pd)})")
        return self._filled(_BINARY, kind, left, right)

    def _beside(self, kind, depth):
        """Draw an operand that goes with one of some kind."""
        if kind is None:
            return None
        if self.rng.random() < 0.5:
            return self.literal(self.rng.choice(_NUMBERS) if kind in _NUMBERS else kind)
        return self.column(_NUMBERS if kind in _NUMBERS else (kind,))

    def _filled(self, table, kind, *operands):
        if kind is None or None in operands:
            return None
        fitting = [row for row in table if kind in row[0]]
        if self.sql:
            fitting = [row for row in fitting if row[2] is not None]
        if not fitting:
            return None
        _, text, sql = self.rng.choice(fitting)
        return _format(text, sql, operands)

    def _chosen(self, depth):
        """Draw where, mask or fillna."""
        operand, kind = self._operand(depth)
        other = self.literal("small" if kind == "int" else kind)
        if other is None:
            return None
        if self.rng.random() < 0.4:
            return _format("{0}.fillna({1})", "coalesce({0}, {1})", (operand, other))
        condition = self._condition(depth - 1)
        if condition is None:
            return None
        method = self.rng.choice(["where", "mask"])
        sql = "CASE WHEN {1} THEN {0} ELSE {2} END"
        if method == "mask":
            sql = "CASE WHEN {1} THEN {2} ELSE {0} END"
        return _format(
            f"{{0}}.{method}({{1}}, {{2}})", sql, (operand, condition, other)
        )

    def _condition(self, depth):
        roll = self.rng.random()
        if depth > 1 and roll < 0.25:
            left, right = self._condition(depth - 1), self._condition(depth - 1)
            if left is None or right is None:
                return None
            op, sql = self.rng.choice([("&", "AND"), ("|", "OR")])
            return _format(f"({{0}} {op} {{1}})", f"({{0}} {sql} {{1}})", (left, right))
        if depth > 1 and roll < 0.35:
            inner = self._condition(depth - 1)
            return inner and _format("(~{0})", "(NOT {0})", (inner,))
        if roll < 0.45:
            operand = self.column()
            text = self.rng.choice(["isna", "notna"])
            sql = "({0} IS NULL)" if text == "isna" else "({0} IS NOT NULL)"
            return operand and _format(f"{{0}}.{text}()", sql, (operand,))
        if roll < 0.5:
            return self.column(("bool",))
        if roll < 0.6:
            return self._membership(depth)
        return self._comparison(depth)

    def _comparison(self, depth):
        left, kind = self._operand(depth)
        right = self._beside(kind, depth)
        if right is None:
            return None
        if kind in _ORDERED and self.rng.random() < 0.6:
            text, sql, op = self.rng.choice(_COMPARE)
        else:
            (text, sql), op = self.rng.choice(_EQUALITY), ""
        middle = Expr(op, op, op)
        return _format(text, sql, (left, middle, right))

    def _membership(self, depth):
        operand, kind = self._operand(depth)
        texts = self.literals(kind)
        if not texts:
            return None
        if kind in _NUMBERS and self.rng.random() < 0.3:
            return _format(
                "{0}.between(0, 2)", "coalesce({0} BETWEEN 0 AND 2, false)", (operand,)
            )
        chosen = self.rng.sample(texts, min(2, len(texts)))
        if kind not in _NUMBERS and self.rng.random() < 0.15:
            chosen.append("None")
        return _format(f"{{0}}.isin([{', '.join(chosen)}])", None, (operand,))


def _format(text, sql, operands):
    written = None
    if sql is not None and all(one.sql is not None for one in operands):
        written = sql.format(*(one.sql for one in operands))
    return Expr(
        text.format(*(one.xs for one in operands)),
        text.format(*(one.pd for one in operands)),
        written,
    )


def _sql_literal(kind, text):
    if kind == "int" or (kind == "float" and text != "inf"):
        return f"({text}::DOUBLE)" if kind == "float" else text
    if kind in ("text", "bool"):
        return text
    return (
        text.replace("pd.Timestamp(", "TIMESTAMP ").rstrip(")")
        if kind == "time"
        else None
    )
