# SPDX-License-Identifier: Apache-2.0
"""Random operations on shards, each with what pandas and SQL do for it."""

from dataclasses import dataclass, field
from random import Random

import numpy as np
import pandas as pd

from pipelines.expressions import Drawing, kind_of
from pipelines.known_differences import is_unknown_union
from pipelines.program import Step

#: The aggregates of groups that have a meaning for a kind of column.
_AGGREGATES = {
    "int": ["sum", "mean", "min", "max", "count", "std", "var", "median", "nunique"],
    "float": ["sum", "mean", "min", "max", "count", "std", "var_pop", "nunique"],
    "bool": ["sum", "mean", "count", "nunique", "min", "max"],
    "text": ["min", "max", "count", "nunique"],
    "time": ["min", "max", "count", "nunique"],
    "zoned": ["min", "max", "count"],
    "span": ["sum", "min", "max", "count", "nunique"],
    "category": ["count", "nunique"],
    "decimal": ["sum", "min", "max", "count"],
    "date": ["count", "nunique"],
}
_ORDERED_AGGREGATES = ["first", "last"]
_SQL_AGGREGATES = ["sum", "mean", "min", "max", "count", "nunique"]
#: Aggregates of numbers whose last digits depend on the order of the sum.
_INEXACT = {"mean", "std", "var", "stddev_pop", "var_pop"}
_FILLS = {
    "int": ["0", "7"],
    "float": ["0", "-0.5"],
    "text": ["'?'", "''"],
    "bool": ["True"],
    "time": ["pd.Timestamp('2024-01-01')"],
    "span": ["pd.Timedelta('1h')"],
}
_DTYPES = {
    "int": ["float64", "str", "Int64", "float32", "string", "category"],
    "float": ["float32", "Float64", "float64"],
    "bool": ["int64", "str", "float64", "boolean", "Int8"],
    "text": ["category", "string", "str", "object"],
    "time": ["datetime64[s]", "datetime64[ns]", "str"],
    "category": ["str", "object"],
    "category of numbers": ["float64", "category"],
    "span": ["timedelta64[s]", "timedelta64[ns]"],
}


@dataclass
class State:
    """What is known while a program is drawn: pandas' frames, order and exactness."""

    rng: Random
    d: pd.DataFrame
    right: pd.DataFrame
    order: object = "all"
    inexact: frozenset[str] = frozenset()
    sql: bool = False
    has_functions: bool = False
    made: int = 0
    kinds: dict[str, str] = field(default_factory=dict)

    def exact(self, kinds=None):
        """Name the columns whose values can decide something."""
        return [
            name
            for name in self.d
            if name not in self.inexact
            and (kinds is None or kind_of(self.d[name]) in kinds)
        ]

    def drawing(self):
        return Drawing(self.rng, self.d, self.exact(), sql=self.sql)

    def new_name(self):
        self.made += 1
        return self.rng.choice([f"z{self.made}", *self.d, f"é {self.made}"])

    def step(self, xs, pd, sql=None, *, order="kept", inexact=None):
        order = self.order if order == "kept" else order
        inexact = self.inexact if inexact is None else frozenset(inexact)
        return Step(xs, pd, sql, order, inexact)


def _filter(state):
    condition = state.drawing().condition()
    if condition is None:
        return None
    sql = condition.sql and f"SELECT * FROM {{s}} WHERE {condition.sql}"
    return state.step(f"s.filter({condition.xs})", f"keep(d, {condition.pd})", sql)


def _with_column(state):
    value = state.drawing().value()
    if value is None:
        return None
    name = state.new_name()
    quoted = '"' + name.replace('"', '""') + '"'
    sql = f"SELECT *, {value.sql} AS {quoted} FROM {{s}}"
    if name in state.d:
        sql = f"SELECT * REPLACE ({value.sql} AS {quoted}) FROM {{s}}"
    return state.step(
        f"s.with_column({name!r}, {value.xs})",
        f"d.assign(**{{{name!r}: {value.pd}}})",
        value.sql and sql,
        order=_without_key(state.order, [name]),
        inexact=state.inexact - {name},
    )


def _without_key(order, names):
    """Forget an order by columns that change."""
    return "none" if isinstance(order, list) and set(order) & set(names) else order


def _select(state):
    names = state.rng.sample(list(state.d), state.rng.randint(1, len(state.d.columns)))
    order = state.order
    if isinstance(order, list) and not set(order) <= set(names):
        order = "none"
    columns = ", ".join(f'"{name}"' for name in names)
    return state.step(
        f"s.select({names!r})",
        f"d[{names!r}]",
        f"SELECT {columns} FROM {{s}}",
        order=order,
        inexact=state.inexact & set(names),
    )


def _drop(state):
    if len(state.d.columns) < 2:
        return None
    name = state.rng.choice(list(state.d))
    return state.step(
        f"s.drop([{name!r}])",
        f"d.drop(columns=[{name!r}])",
        f'SELECT * EXCLUDE ("{name}") FROM {{s}}',
        order=_without_key(state.order, [name]),
        inexact=state.inexact - {name},
    )


def _rename(state):
    old, new = state.rng.choice(list(state.d)), state.new_name()
    if new in state.d:
        return None
    order = state.order
    if isinstance(order, list):
        order = [new if name == old else name for name in order]
    return state.step(
        f"s.rename({{{old!r}: {new!r}}})",
        f"d.rename(columns={{{old!r}: {new!r}}})",
        f'SELECT * RENAME ("{old}" AS "{new}") FROM {{s}}',
        order=order,
        inexact={new if name == old else name for name in state.inexact},
    )


def _group_by(state):
    keys = _some(state, state.exact(), 2)
    if keys is None:
        return None
    named, sql, inexact = _named_aggregates(state, keys)
    if not named:
        return None
    shown = ", ".join(f"{name}={pair!r}" for name, pair in named.items())
    quoted = ", ".join(f'"{key}"' for key in keys)
    return state.step(
        f"s.group_by({keys!r}, {shown})",
        f"grouped(d, {keys!r}, {shown})",
        f"SELECT {quoted}, {sql} FROM {{s}} GROUP BY {quoted}",
        order="none",
        inexact=inexact,
    )


def _named_aggregates(state, keys):
    named, sql, inexact = {}, [], set()
    for number in range(state.rng.randint(1, 3)):
        others = [name for name in state.exact() if name not in keys]
        if not others:
            break
        column = state.rng.choice(others)
        kind = kind_of(state.d[column])
        functions = list(_AGGREGATES.get(kind, ["count"]))
        if state.order == "all" and kind in _AGGREGATES:
            functions += _ORDERED_AGGREGATES
        if state.sql:
            known = ["count", "nunique"] if kind == "bool" else _SQL_AGGREGATES
            functions = [name for name in functions if name in known]
        function = state.rng.choice(functions)
        name = f"{function}{number}"
        named[name] = (column, function)
        if function in _INEXACT or (kind == "float" and function == "sum"):
            inexact.add(name)
        sql.append(f"{_sql_aggregate(function, column)} AS {name}")
    return named, ", ".join(sql), inexact


def _sql_aggregate(function, column):
    if function == "nunique":
        return f'count(DISTINCT "{column}")'
    if function == "sum":
        return f'coalesce(sum("{column}"), 0)'
    return f'{"avg" if function == "mean" else function}("{column}")'


def _some(state, names, most):
    if not names:
        return None
    return state.rng.sample(names, min(len(names), state.rng.randint(1, most)))


def _merge(state):
    on = _some(state, _mergeable(state), 2)
    if on is None or len(state.d) * max(len(state.right), 1) > 3000:
        return None
    hows = ["inner", "left", "right", "outer", "semi", "anti", "left_anti"]
    how = state.rng.choice(hows[:4] if state.sql else hows)
    return state.step(
        f"s.merge(other, {how!r}, {on!r})",
        f"merged(d, right, {how!r}, {on!r})",
        _sql_merge(state, how, on),
        order="none",
        inexact={changed for n in state.inexact for changed in (n, f"{n}_x", f"{n}_y")},
    )


def _mergeable(state):
    """Name the columns that both sides have, of one kind."""
    return [
        name
        for name in state.exact()
        if name in state.right and _same_keys(state.d[name], state.right[name])
    ]


def _same_keys(left, right):
    if left.dtype != right.dtype or kind_of(left) not in (*_AGGREGATES, "date"):
        return (
            left.dtype.kind in "iu"
            and right.dtype.kind in "iu"
            and all(not hasattr(side.dtype, "na_value") for side in (left, right))
        )
    return kind_of(left) == kind_of(right)


def _sql_merge(state, how, on):
    columns = []
    for side, frame, beside in (
        ("l", state.d, state.right),
        ("r", state.right, state.d),
    ):
        for name in frame:
            if name in on:
                if side == "l":
                    columns.append(f'coalesce(l."{name}", r."{name}") AS "{name}"')
                continue
            suffix = {"l": "_x", "r": "_y"}[side] if name in beside else ""
            columns.append(f'{side}."{name}" AS "{name}{suffix}"')
    same = " AND ".join(f'l."{name}" IS NOT DISTINCT FROM r."{name}"' for name in on)
    kind = {"outer": "FULL OUTER"}.get(how, how.upper())
    return f"SELECT {', '.join(columns)} FROM {{s}} l {kind} JOIN other r ON {same}"


def _merge_with_groups(state):
    """Join rows with the aggregates of their groups: both sides read the same plan."""
    keys = _some(state, state.exact(), 2)
    if keys is None:
        return None
    named, _, inexact = _named_aggregates(state, keys)
    if not named or set(named) & set(state.d):
        return None
    shown = ", ".join(f"{name}={pair!r}" for name, pair in named.items())
    return state.step(
        f"s.group_by({keys!r}, join=True, {shown})",
        f"merged(d, grouped(d, {keys!r}, {shown}), 'left', {keys!r})",
        order="none",
        inexact=state.inexact | inexact,
    )


def _sort(state):
    names = [n for n in state.exact() if kind_of(state.d[n]) in _SORTABLE]
    keys = _some(state, names, 3)
    if keys is None:
        return None
    if state.order != "all" and len(names) == len(state.d.columns):
        keys = [*keys, *(name for name in names if name not in keys)]
    if len(keys) > 1 and any(_has_infinity(state.d[key]) for key in keys):
        return None  # see known_differences.py
    up = [state.rng.random() < 0.6 for _ in keys]
    first = state.rng.choice(["first", "last"])
    given = f"{keys!r}, ascending={up!r}, na_position={first!r}"
    complete = state.order == "all" or len(keys) == len(state.d.columns)
    directions = [
        f'"{key}" {"ASC" if one else "DESC"} NULLS {first.upper()}'
        for key, one in zip(keys, up, strict=True)
    ]
    return state.step(
        f"s.sort_values({given})",
        f"ordered(d, {given})",
        f"SELECT * FROM {{s}} ORDER BY {', '.join(directions)}",
        order="all" if complete else keys,
    )


def _has_infinity(column):
    return kind_of(column) == "float" and bool(column.isin([np.inf, -np.inf]).any())


_SORTABLE = ("int", "float", "bool", "text", "time", "zoned", "span", "category")


def _drop_duplicates(state):
    names = state.exact()
    if state.order != "all":
        if len(names) < len(state.d.columns):
            return None
        return state.step(
            "s.drop_duplicates()", "distinct(d)", "SELECT DISTINCT * FROM {s}"
        )
    subset = _some(state, names, 3)
    if subset is None or state.sql:
        return None
    keep = state.rng.choice(["first", "last", False])
    given = f"{subset!r}, keep={keep!r}"
    return state.step(f"s.drop_duplicates({given})", f"distinct(d, {given})")


def _fillna(state):
    fills = {}
    for name in _some(state, state.exact(), 2) or ():
        kind = kind_of(state.d[name])
        if kind == "category":
            fills[name] = repr(state.rng.choice(list(state.d[name].cat.categories)))
        elif kind in _FILLS:
            fills[name] = state.rng.choice(_FILLS[kind])
    if not fills:
        return None
    given = "{" + ", ".join(f"{n!r}: {v}" for n, v in fills.items()) + "}"
    return state.step(
        f"s.fillna({given})",
        f"d.fillna({given})",
        order=_without_key(state.order, list(fills)),
    )


def _dropna(state):
    subset = _some(state, state.exact(), 2)
    if subset is None:
        return None
    given = f"subset={subset!r}"
    # Columns that are not exact may hold several kinds of missing values.
    if len(state.exact()) == len(state.d.columns):
        rest = [
            f"how={state.rng.choice(['any', 'all'])!r}",
            f"thresh={state.rng.randint(0, 3)}",
        ]
        given = state.rng.choice([given, *rest])
    return state.step(f"s.dropna({given})", f"present(d, {given})")


def _astype(state):
    name = state.rng.choice(list(state.d))
    kind = kind_of(state.d[name])
    if kind not in _DTYPES or name in state.inexact:
        return None
    if kind == "category" and state.d[name].cat.categories.dtype.kind in "iu":
        kind = "category of numbers"
    given = f"{{{name!r}: {state.rng.choice(_DTYPES[kind])!r}}}"
    return state.step(
        f"s.astype({given})",
        f"d.astype({given})",
        order=_without_key(state.order, [name]),
    )


def _limit(state):
    if state.order != "all":
        return None
    n = state.rng.choice([0, 1, 3, 10, 100])
    return state.step(f"s.limit({n})", f"d.head({n})")


def _union(state):
    if state.rng.random() < 0.3:
        return state.step(
            "s.union(s)",
            "union(d, d)",
            "SELECT * FROM {s} UNION ALL SELECT * FROM {s}",
            order="all" if state.order == "all" else "none",
        )
    if is_unknown_union(state):
        return None
    order = "all" if state.order == "all" else "none"
    return state.step("s.union(other)", "union(d, right)", order=order)


def _partition_by(state):
    keys = _some(state, state.exact(), 2)
    if keys is None:
        return None
    count = state.rng.choice([1, 2, 5])
    method = "partition_by"
    if all(kind_of(state.d[key]) in _SORTABLE for key in keys):
        method = state.rng.choice([method, "partition_by_range"])
    return state.step(
        f"s.{method}({keys!r}, {count})", "d", "SELECT * FROM {s}", order="none"
    )


def _repartition(state):
    count = state.rng.choice([1, 2, 5, 9])
    return state.step(f"s.repartition({count})", "d", "SELECT * FROM {s}")


#: What can be drawn, and how often.
STEPS = {
    _filter: 5,
    _with_column: 6,
    _select: 1,
    _drop: 1,
    _rename: 1,
    _group_by: 3,
    _merge: 3,
    _merge_with_groups: 1,
    _sort: 2,
    _drop_duplicates: 2,
    _fillna: 2,
    _dropna: 1,
    _astype: 2,
    _limit: 1,
    _union: 2,
    _partition_by: 1,
    _repartition: 1,
}


def draw_step(state):
    (draw,) = state.rng.choices(list(STEPS), list(STEPS.values()))
    step = draw(state)
    return None if step is not None and state.sql and step.sql is None else step


def draw_end(state):
    """Draw what ends a program: a reduction, counts, distinct values."""
    names = state.exact()
    if not names:
        return None
    name = state.rng.choice(names)
    xs, d = f"s[{name!r}]", f"d[{name!r}]"
    reductions = _AGGREGATES.get(kind_of(state.d[name]), ["count"])
    function = state.rng.choice(reductions)
    inexact = {name} if function in (*_INEXACT, "sum") else ()
    ends = [
        state.step("len(s)", "len(d)"),
        state.step(f"{xs}.value_counts()", f"{d}.value_counts()", order="none"),
        state.step(
            f"as_column({xs}.unique())",
            f"as_column({d}.unique())",
            order="all" if state.order == "all" else "none",
        ),
    ]
    if function in ("std", "var", "sum", "mean", "min", "max", "median", "nunique"):
        ends.append(
            state.step(f"{xs}.{function}()", f"{d}.{function}()", inexact=inexact)
        )
    return state.rng.choice(ends)
