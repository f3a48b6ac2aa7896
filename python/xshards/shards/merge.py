# SPDX-License-Identifier: Apache-2.0
"""Joins of two XShards, with the arguments, results and errors of pandas' merge."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, Self, get_args

import pyarrow as pa

from xshards import _core
from xshards._util.arguments import as_names, require
from xshards._util.deferred import pd
from xshards.errors import XShardsTypeError, XShardsValueError
from xshards.expressions import Expression, col, lit
from xshards.interop.dtypes import column_to_arrow
from xshards.interop.labels import engine_names
from xshards.shards.base import Base
from xshards.shards.merge_keys import (
    Labels,
    Sides,
    all_pairs,
    compare_objects_by_bytes,
    merge_error,
    sides_of,
)

__all__ = ["Merge"]

How = Literal[
    "inner",
    "left",
    "right",
    "outer",
    "semi",
    "anti",
    "cross",
    "left_anti",
    "right_anti",
]

_HOWS: tuple[str, ...] = get_args(How)
#: The short names for `validate`, and the sides whose keys must be unique.
_RELATIONS = {
    "one_to_one": ("1:1", ("left", "right")),
    "one_to_many": ("1:m", ("left",)),
    "many_to_one": ("m:1", ("right",)),
    "many_to_many": ("m:m", ()),
}
_SOURCES = ("left_only", "right_only", "both")


class Merge(Base):
    """Join with other shards."""

    def merge(
        self,
        right: Self,
        how: How = "inner",
        on: Labels | None = None,
        *,
        left_on: Labels | None = None,
        right_on: Labels | None = None,
        left_index: bool = False,
        right_index: bool = False,
        suffixes: tuple[str | None, str | None] = ("_x", "_y"),
        indicator: bool | str = False,
        validate: str | None = None,
    ) -> Self:
        """Join with other shards on equal values, as in pandas.

        The order of rows is not defined. Missing keys are equal to each other. Python
        objects are compared as Python does, as far as that is known of their types:
        numbers, text, times, and tuples and frozen sets of them.

        Parameters
        ----------
        right : XShards
            What to join with.
        how : {"inner", "left", "right", "outer", "semi", "anti", "cross", ...}
            Which rows without a partner to keep. "semi" keeps the left rows that have
            a partner, "anti" those that have none, each once and with their own columns
            alone; "cross" pairs every row with every other. "left_anti" and
            "right_anti" are pandas': rows of one side that have no partner, with the
            columns of both.
        on : str or list of str, optional
            The key columns, of the same names on both sides; by default the columns
            that both have.
        left_on, right_on : str or list of str, optional
            The key columns where their names differ.
        left_index, right_index : bool, default False
            Take the index of a side as its keys. The index of the result is the one
            that is a key on both sides, or that of the side whose columns are keys.
        suffixes : (str or None, str or None)
            What is added to the names of other columns that both sides have; None for
            nothing.
        indicator : bool or str, default False
            Add a column "_merge", or of this name, with the source of each row:
            "left_only", "right_only" or "both".
        validate : str, optional
            Check, at once, that keys do not repeat: on the left ("one_to_many",
            "1:m"), on the right ("many_to_one", "m:1") or on both ("one_to_one",
            "1:1").

        Returns
        -------
        XShards

        Raises
        ------
        pandas.errors.MergeError
            If the arguments for keys contradict each other, the suffixes make two
            columns of one name, or `validate` finds keys that repeat.

        Examples
        --------
        >>> left = xs.from_pandas(pd.DataFrame({"k": [1, 2], "a": [10, 20]}))
        >>> right = xs.from_pandas(pd.DataFrame({"k": [2, 3], "b": [200, 300]}))
        >>> left.merge(right, on="k").to_pandas()
           k   a    b
        0  2  20  200
        >>> both = left.merge(right, "left", "k", indicator=True).to_pandas()
        >>> list(both.sort_values("k")["_merge"])
        ['left_only', 'both']
        """
        require(right, Merge, "merge joins with XShards")
        if how not in _HOWS:
            msg = f"how must be one of {', '.join(_HOWS)}; got {how!r}"
            raise XShardsValueError(msg)
        for name, given in (("left_index", left_index), ("right_index", right_index)):
            require(given, bool, f"{name} is True or False")
        added = _as_suffixes(suffixes)
        if how == "cross":
            sides = all_pairs(
                self, right, on, left_on, right_on, left_index, right_index
            )
        else:
            sides = sides_of(
                self, right, how, on, left_on, right_on, left_index, right_index
            )
        source = self._source_column(right, indicator, how)
        _check_relation(sides, validate)
        sides, keys = compare_objects_by_bytes(sides, how)
        joined = self._merged(sides, how, source, added)
        return joined._derive(joined._core.drop(keys)) if keys else joined

    def _merged(
        self, sides: Sides, how: str, source: str | None, suffixes: list[str]
    ) -> Self:
        """Join; with a column for the source of each row, if it has a name."""
        kind = how.removesuffix("_anti")
        if source is None and kind == how:
            return self._joined(sides, how, suffixes)
        noted, marks = _with_marks(sides)
        joined = self._joined(noted, kind, suffixes)
        from_left, from_right = (col(mark).notna() for mark in marks)
        core = joined._core
        if kind != how:
            core = core.filter((~(from_right if kind == "left" else from_left))._core)
        if source is not None:
            core = core.with_columns([(source, _source(from_left, from_right)._core)])
        return joined._derive(core.drop(marks))

    def _source_column(
        self,
        right: Self,
        indicator: object,
        how: str,
    ) -> str | None:
        """Return the name of the column for the source of each row."""
        if indicator is False:
            return None
        if not isinstance(indicator, bool | str):
            msg = f"indicator is True or the name of a column, got {indicator!r}"
            raise XShardsValueError(msg)
        name = indicator if isinstance(indicator, str) else "_merge"
        if how in ("semi", "anti"):
            msg = f"a {how} merge keeps rows of the left side only: omit indicator"
            raise XShardsValueError(msg)
        for side in (self, right):
            if name in side._full_schema().names:
                msg = f"indicator: column {name!r} already exists"
                raise XShardsValueError(msg)
        return name

    def _joined(self, sides: Sides, how: str, suffixes: list[str]) -> Self:
        core = sides.left._core.join(
            sides.right._core,
            getattr(_core.JoinType, how),
            sides.left_keys,
            sides.right_keys,
            *suffixes,
        )
        try:
            joined = self._derive(core)._with_info(None)
        except XShardsValueError as error:
            raise merge_error()(str(error)) from error
        except XShardsTypeError as error:
            raise _KeyTypeError(str(error)) from error
        if not sides.keys_from_right:
            return joined
        # The keys are at the position of the left's index, but are columns of the
        # right.
        keys = sides.right_keys
        names = [n for n in joined._full_schema().names if n not in keys]
        rest = sides.right._full_schema().names
        for at, name in enumerate(rest, len(names) + len(keys) - len(rest)):
            if name in keys:
                names.insert(at, name)
        return joined._derive(joined._core.select(names))


class _KeyTypeError(XShardsTypeError, XShardsValueError):
    """Keys of types that are never equal: a ValueError in pandas."""


def _as_suffixes(suffixes: object) -> list[str]:
    if not isinstance(suffixes, list | tuple):
        msg = f"suffixes must be a pair, one for each side, got {suffixes!r}"
        raise XShardsTypeError(msg)
    added = ["" if suffix is None else suffix for suffix in suffixes]
    if len(as_names("suffixes", added)) != 2:
        msg = f"suffixes must be two, one for each side, got {suffixes!r}"
        raise XShardsValueError(msg)
    return added


def _check_relation(sides: Sides, validate: str | None) -> None:
    """Check that keys are unique where they must be."""
    if validate is None:
        return
    found = [name for name, rule in _RELATIONS.items() if validate in (name, rule[0])]
    if not found:
        known = ", ".join([*_RELATIONS, *(short for short, _ in _RELATIONS.values())])
        msg = f"validate must be one of {known}; got {validate!r}"
        raise XShardsValueError(msg)
    words = found[0].replace("_", "-")
    for side in _RELATIONS[found[0]][1]:
        shards, keys = getattr(sides, side), getattr(sides, f"{side}_keys")
        if not keys:  # of a cross merge
            continue
        (count,) = engine_names([*keys, "count"])[-1:]
        groups = shards._grouped(keys, [("count", None, count)])
        repeated = groups._core.filter((col(count) > 1)._core).head(5)
        keys_found = shards._derive(repeated)._with_info(None).to_pandas()
        if len(keys_found):
            msg = (
                f"Merge keys are not unique in {side} dataset; not a {words} merge. "
                f"Some keys that repeat, and how often:\n{keys_found}"
            )
            raise merge_error()(msg)


def _with_marks(sides: Sides) -> tuple[Sides, list[str]]:
    """Add a column to each side that is non-null in its rows."""
    used = [*sides.left._full_schema().names, *sides.right._full_schema().names]
    marks = engine_names([*dict.fromkeys(used), "__left__", "__right__"])[-2:]
    left, right = (
        side._derive(side._core.with_columns([(mark, lit(True)._core)]))
        for side, mark in zip((sides.left, sides.right), marks, strict=True)
    )
    return replace(sides, left=left, right=right), marks


def _source(from_left: Expression, from_right: Expression) -> Expression:
    one = lit(_SOURCES[0]).where(from_left, _SOURCES[1])
    source = lit(_SOURCES[2]).where(from_left & from_right, one)
    kind = pd.CategoricalDtype(list(_SOURCES))
    _, marks = column_to_arrow("", pd.Series([], dtype=kind))
    return source._noted(pa.large_string(), marks)
