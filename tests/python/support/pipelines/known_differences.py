# SPDX-License-Identifier: Apache-2.0
"""The known differences from pandas: what the comparison leaves out, and why.

`EXCUSED` are differences that the comparison of results forgives, each only for the
columns that it describes. `NOT_DRAWN` are operations that programs do not contain. Each
comes with a program that shows it: once that gives the same results, it can go.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd


@dataclass(frozen=True)
class Shown:
    """A difference from pandas, its reason, and where it shows."""

    name: str
    reason: str
    left: str
    xs: str
    pd: str
    right: str = "pd.DataFrame({'k': pd.Series([2], dtype='int64')})"


@dataclass(frozen=True)
class Excused(Shown):
    """A difference that is forgiven where `applies` to columns of two dtypes."""

    applies: Callable[..., bool] = lambda *_: False


def _widened(before, after):
    """Tell whether pandas makes another dtype of one because a value is missing."""
    if before.kind in "iu" and after.kind == "f":
        return isinstance(before, np.dtype) == isinstance(after, np.dtype)
    return before.kind == "b" and after.kind == "O"


def _is_widened(program, name, ours, theirs):
    return name in program.inexact and _widened(ours.dtype, theirs.dtype)


def _is_narrow_sum(program, name, ours, theirs):
    kinds = ours.dtype.kind, theirs.dtype.kind
    return kinds in (("i", "i"), ("u", "u")) and name.startswith("sum")


def _is_deviation(program, name, ours, theirs):
    dtypes = str(ours.dtype).lower(), str(theirs.dtype).lower()
    wanted = ("float64", "float32") if name[:4] == "mean" else ("float32", "float64")
    return dtypes == wanted and name[:3] in ("std", "mea")


def _is_object_key(program, name, ours, theirs):
    grouped = any(".group_by(" in step.xs for step in program.steps)
    return grouped and ours.dtype == object


def _is_arrow_beside_masked(program, name, ours, theirs):
    united = any(".union(" in step.xs for step in program.steps)
    is_arrow = isinstance(ours.dtype, pd.ArrowDtype)
    return united and is_arrow and theirs.dtype == object


EXCUSED = (
    Excused(
        "integers with missing values",
        "The dtype of a column does not depend on its values: integers and booleans "
        "that a merge, a union, .dt or .str.len made missing are floats or objects "
        "only where a value is missing.",
        "pd.DataFrame({'k': [1, 2], 'a': [1, 2]})",
        "s.merge(other.assign(b=5), 'left', 'k').filter(xs.col('b').notna())",
        "keep(x := merged(d, right.assign(b=5), 'left', 'k'), x['b'].notna())",
        applies=_is_widened,
    ),
    Excused(
        "sums of narrow integers",
        "They are int64 or uint64; pandas narrows them in some cases, as without rows.",
        "pd.DataFrame({'k': pd.Series([], dtype='int64'), 'a': pd.Series([], "
        "dtype='int8')})",
        "s.group_by('k', x=('a', 'sum'))",
        "grouped(d, ['k'], x=('a', 'sum'))",
        applies=_is_narrow_sum,
    ),
    Excused(
        "deviations and means of float32",
        "They are float32 and float64; pandas widens or narrows some by their values.",
        "pd.DataFrame({'k': [1, 1], 'a': pd.Series([-1, 3e18], dtype='float32')})",
        "s.group_by('k', x=('a', 'std'))",
        "grouped(d, ['k'], x=('a', 'std'))",
        applies=_is_deviation,
    ),
    Excused(
        "keys that are objects",
        "Keys keep their dtype; pandas infers one for the index of the groups.",
        "pd.DataFrame({'k': pd.Series(['a'], dtype=object), 'a': [1]})",
        "s.group_by('k', x=('a', 'sum'))",
        "grouped(d, ['k'], x=('a', 'sum'))",
        applies=_is_object_key,
    ),
    Excused(
        "Arrow's dtypes beside nullable ones",
        "A union has the dtype that holds both; pandas makes Python objects.",
        "pd.DataFrame({'a': pd.Series([1], dtype='int64[pyarrow]')})",
        "s.union(other)",
        "union(d, right)",
        "pd.DataFrame({'a': pd.Series([1.5], dtype='Float64')})",
        applies=_is_arrow_beside_masked,
    ),
)

NOT_DRAWN = (
    Shown(
        "integer divisions by zero",
        "Dtypes do not depend on values: int // 0 is missing, not infinite.",
        "pd.DataFrame({'a': [1], 'b': [0]})",
        "s.with_column('a', xs.col('a') // xs.col('b'))",
        "d.assign(a=d['a'] // d['b'])",
    ),
    Shown(
        "one missing value in objects",
        "Python objects have one missing value, for None and NaN: the comparison takes "
        "both for the same.",
        "pd.DataFrame({'k': [1], 'a': pd.Series([Decimal('1.5')], dtype=object)})",
        "s.union(other)",
        "union(d, right)",
    ),
    Shown(
        "None among numbers in isin",
        "Integers that a merge made missing are missing, not NaN: None in the list of "
        "isin matches them.",
        "pd.DataFrame({'k': [1]})",
        "s.merge(other.assign(b=5), 'left', 'k').filter(xs.col('b').isin([1, None]))",
        "keep(x := merged(d, right.assign(b=5), 'left', 'k'), x['b'].isin([1, None]))",
    ),
    Shown(
        "infinities in sorts by several keys",
        "pandas takes -inf for missing in a sort by several keys with the missing "
        "values first, inf with them last.",
        "pd.DataFrame({'k': [1, 1], 'a': [-inf, nan]})",
        "s.sort_values(['k', 'a'], na_position='first')",
        "ordered(d, ['k', 'a'], na_position='first')",
    ),
    Shown(
        "large integers of Arrow with missing values",
        "They are compared exactly; pandas makes floats of them in drop_duplicates.",
        "pd.DataFrame({'a': pd.Series([2**63 - 1, None, 2**63 - 2], "
        "dtype='int64[pyarrow]')})",
        "s.drop_duplicates()",
        "distinct(d)",
    ),
    Shown(
        "rounding of float32",
        "A float32 whose last digit is next to a half is rounded as in Arrow.",
        "pd.DataFrame({'a': pd.Series([1000000.25], dtype='float32')})",
        "s.with_column('a', xs.col('a').round(1))",
        "d.assign(a=d['a'].round(1))",
    ),
    Shown(
        "several kinds of missing objects",
        "Where a column of objects has None and NaN, only None counts as missing.",
        "pd.DataFrame({'k': [1] * 3, 'a': pd.Series(['x', None, nan], dtype=object)})",
        "s.group_by('k', n=('a', 'count'))",
        "grouped(d, ['k'], n=('a', 'count'))",
    ),
    Shown(
        "text of categories that are numbers",
        "Categories are written as they are; pandas writes integers as floats where a "
        "value is missing.",
        "pd.DataFrame({'a': pd.Series([1, None], dtype=pd.CategoricalDtype([1, 2]))})",
        "s.astype({'a': 'str'})",
        "d.astype({'a': 'str'})",
    ),
)


#: What gives integers, floats in pandas where the text or time is missing.
_INTEGER_PARTS = (".dt.", ".str.find(", ".str.len(")


def is_unknown_union(state):
    """Tell whether a union would not find out in time that columns become objects.

    What dtype a function gives, which astype may be, is not known before it has run.
    """
    both = [name for name in state.d if name in state.right]
    return state.has_functions and any(
        state.d[name].dtype != state.right[name].dtype for name in both
    )


def loose(state, step, result):
    """Name the columns whose dtype, or last digits, pandas chooses by the values.

    They are compared, but nothing is decided by them in later steps.
    """
    sources = [state.d, state.right]
    moved = any(part in step.xs for part in (".merge(", ".union(", "join=True"))
    found = set()
    for name in result:
        dtype = result[name].dtype
        if name[:3] == "sum" and dtype.kind in "iu" and dtype.itemsize < 8:
            found.add(name)
        elif moved:
            own = name.removesuffix("_x").removesuffix("_y")
            before = {df[n].dtype for df in sources for n in {name, own} if n in df}
            if len(before) > 1 or any(_widened(one, dtype) for one in before):
                found.add(name)
        elif name in state.d and state.d[name].dtype.kind == "O" != dtype.kind:
            found.add(name)  # a key whose dtype pandas infers
        elif dtype.kind == "f" and any(part in step.xs for part in _INTEGER_PARTS):
            changed = name not in state.d or state.d[name].dtype != dtype
            found.update({name} if changed else ())
    return found


def comparable(actual, expected, program):
    """Give results of which the excused differences are taken away."""
    if not isinstance(expected, pd.DataFrame) or list(actual) != list(expected):
        return actual, expected
    actual, expected = actual.copy(), expected.copy()
    for name in expected:
        ours, theirs = actual[name], expected[name]
        if ours.dtype == theirs.dtype == object:
            for df in (actual, expected):
                df[name] = df[name].where(df[name].notna(), None)
        elif ours.dtype != theirs.dtype and any(
            one.applies(program, name, ours, theirs) for one in EXCUSED
        ):
            actual[name], expected[name] = _as_one_dtype(ours, theirs)
    return actual, expected


def _as_one_dtype(ours, theirs):
    if theirs.dtype == object:
        theirs = theirs.astype(ours.dtype)
    elif ours.dtype == object:
        ours = ours.astype(theirs.dtype)
    return ours.astype(theirs.dtype), theirs
