# SPDX-License-Identifier: Apache-2.0
"""Joins of two XShards, with the arguments, results and errors of pandas' merge."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, Self, get_args

import pyarrow as pa

from xshards import _core
from xshards._util.arguments import as_names, require
from xshards._util.deferred import pd
from xshards.errors import XShardsTypeError, XShardsValueError
from xshards.expressions import Expression, col, lit
from xshards.interop.dtypes import column_to_arrow
from xshards.interop.field_metadata import INDEX, LABEL, marks_of
from xshards.interop.labels import (
    engine_names,
    index_mark,
    label_marks,
    label_of,
    level_of,
)
from xshards.shards.base import Base

__all__ = ["Merge"]

Labels = str | Iterable[str]
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
#: The short names of what `validate` asks for, and which sides must not repeat a key.
_RELATIONS = {
    "one_to_one": ("1:1", ("left", "right")),
    "one_to_many": ("1:m", ("left",)),
    "many_to_one": ("m:1", ("right",)),
    "many_to_many": ("m:m", ()),
}
_SOURCES = ("left_only", "right_only", "both")


@dataclass(frozen=True)
class _Sides:
    """What is joined: two XShards and the engine's names of their keys."""

    left: Any
    right: Any
    left_keys: list[str]
    right_keys: list[str]
    keys_from_right: bool = False  # the left's are its index


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
            Add a column "_merge", or of this name, that tells where a row comes from:
            "left_only", "right_only" or "both".
        validate : str, optional
            Check, at once, that keys do not repeat: on the left ("one_to_many",
            "1:m"), on the right ("many_to_one", "m:1") or on both ("one_to_one",
            "1:1").

        Raises
        ------
        pandas.errors.MergeError
            If the keys are given in a way that makes no sense, the suffixes make two
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
            sides = self._all_pairs(
                right, on, left_on, right_on, left_index, right_index
            )
        else:
            sides = self._sides(
                right, how, on, left_on, right_on, left_index, right_index
            )
        source = self._source_column(right, indicator, how)
        _check_relation(sides, validate)
        sides, keys = _telling_objects_apart(sides, how)
        joined = self._merged(sides, how, source, added)
        return joined._derive(joined._core.drop(keys)) if keys else joined

    def _merged(
        self, sides: _Sides, how: str, source: str | None, suffixes: list[str]
    ) -> Self:
        """Join; with a column that tells where a row comes from, if it has a name."""
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
            core = core.with_column(source, _source(from_left, from_right)._core)
        return joined._derive(core.drop(marks))

    def _all_pairs(self, right: Self, *keys: object) -> _Sides:
        if any(key is not None and key is not False for key in keys):
            msg = "a cross merge pairs all rows: leave out on, left_on and right_on"
            raise _merge_error()(msg)
        return _Sides(self._without_index(), right._without_index(), [], [])

    def _sides(
        self,
        right: Self,
        how: str,
        on: Labels | None,
        left_on: Labels | None,
        right_on: Labels | None,
        left_index: bool,  # noqa: FBT001 - as merge has them
        right_index: bool,  # noqa: FBT001
    ) -> _Sides:
        """Find the keys of either side; an index that is a key becomes columns."""
        if on is not None:
            if left_on is not None or right_on is not None:
                msg = "give either on, or left_on and right_on, not both"
                raise _merge_error()(msg)
            if left_index or right_index:
                msg = "give either on, or left_index and right_index, not both"
                raise _merge_error()(msg)
            left_on = right_on = on
        for side, by, by_index in (
            ("left", left_on, left_index),
            ("right", right_on, right_index),
        ):
            if by is not None and by_index:
                msg = f"give either {side}_on or {side}_index, not both"
                raise _merge_error()(msg)
        if left_index and right_index:
            return _by_both_indexes(self, right, names_of_right=how == "right")
        if left_index or right_index:
            return self._by_index(right, left_on, right_on, left_index=left_index)
        left, other = self._without_index(), right._without_index()
        if left_on is None and right_on is None:
            return _by_common_columns(left, other)
        if left_on is None or right_on is None:
            msg = "left_on and right_on go together"
            raise _merge_error()(msg)
        left_keys = left._keys_named("left_on" if on is None else "on", left_on)
        right_keys = other._keys_named("right_on" if on is None else "on", right_on)
        return _checked(_Sides(left, other, left_keys, right_keys))

    def _by_index(
        self,
        right: Self,
        left_on: Labels | None,
        right_on: Labels | None,
        *,
        left_index: bool,
    ) -> _Sides:
        """Make columns of the index of one side, named as the keys of the other."""
        by = right_on if left_index else left_on
        if by is None:
            missing, beside = ("right", "left") if left_index else ("left", "right")
            msg = f"{beside}_index needs {missing}_on or {missing}_index beside it"
            raise _merge_error()(msg)
        indexed, keyed = (self, right) if left_index else (right, self)
        side = "left" if left_index else "right"
        levels = _levels(indexed, side)
        keys = keyed._keys_named(f"{'right' if left_index else 'left'}_on", by)
        if len(keys) != len(levels):
            msg = f"the index on the {side} has {len(levels)} levels, got keys {keys}"
            raise XShardsValueError(msg)
        there = [n for n in indexed._full_schema().names if n not in indexed._hidden()]
        for key in keys:
            if key in there:
                msg = (
                    f"the {side} has a column {key!r} beside its index: rename it, as "
                    f"{key!r} is the key of the other side"
                )
                raise _merge_error()(msg)
        schema = keyed._full_schema()
        named = {
            level: (key, label_marks(key, label_of(schema.field(key))))
            for level, key in zip(levels, keys, strict=True)
            if key in schema.names  # else the join tells
        }
        columns = _renamed(indexed, named)
        keyed = keyed._making_way(columns._full_schema().names)
        left, other = (columns, keyed) if left_index else (keyed, columns)
        return _Sides(left, other, keys, keys, keys_from_right=left_index)

    def _source_column(
        self,
        right: Self,
        indicator: object,
        how: str,
    ) -> str | None:
        """Name the column that tells where a row comes from."""
        if indicator is False:
            return None
        if not isinstance(indicator, bool | str):
            msg = f"indicator is True or the name of a column, got {indicator!r}"
            raise XShardsValueError(msg)
        name = indicator if isinstance(indicator, str) else "_merge"
        if how in ("semi", "anti"):
            msg = f"a {how} merge has rows of the left alone: leave out indicator"
            raise XShardsValueError(msg)
        for side in (self, right):
            if name in side._full_schema().names:
                msg = f"indicator: there is a column {name!r} already"
                raise XShardsValueError(msg)
        return name

    def _joined(self, sides: _Sides, how: str, suffixes: list[str]) -> Self:
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
            raise _merge_error()(str(error)) from error
        except XShardsTypeError as error:
            raise _KeyTypeError(str(error)) from error
        if not sides.keys_from_right:
            return joined
        # The keys stand where the left had its index, but are columns of the right.
        keys = sides.right_keys
        names = [n for n in joined._full_schema().names if n not in keys]
        rest = sides.right._full_schema().names
        for at, name in enumerate(rest, len(names) + len(keys) - len(rest)):
            if name in keys:
                names.insert(at, name)
        return joined._derive(joined._core.select(names))


class _KeyTypeError(XShardsTypeError, XShardsValueError):
    """Keys of types that are never equal: to pandas, a wrong value."""


@cache
def _merge_error() -> type[XShardsValueError]:
    """Give the class of errors, which is pandas' too. Made late, as pandas is."""
    return type("XShardsMergeError", (XShardsValueError, pd.errors.MergeError), {})


def _as_suffixes(suffixes: object) -> list[str]:
    if not isinstance(suffixes, list | tuple):
        msg = f"suffixes are a pair, one for each side, got {suffixes!r}"
        raise XShardsTypeError(msg)
    added = ["" if suffix is None else suffix for suffix in suffixes]
    if len(as_names("suffixes", added)) != 2:
        msg = f"suffixes are two, one for each side, got {suffixes!r}"
        raise XShardsValueError(msg)
    return added


def _checked(sides: _Sides) -> _Sides:
    if len(sides.left_keys) != len(sides.right_keys) or not sides.left_keys:
        msg = (
            f"both sides need the same keys, got {sides.left_keys} and "
            f"{sides.right_keys}"
        )
        raise XShardsValueError(msg)
    return sides


def _by_common_columns(left: Merge, right: Merge) -> _Sides:
    there = set(right._full_schema().names)
    keys = [name for name in left._full_schema().names if name in there]
    if not keys:
        msg = (
            "there is no common column to merge on: the left has "
            f"{left._labels()}, the right {right._labels()}"
        )
        raise _merge_error()(msg)
    return _Sides(left, right, keys, keys)


def _levels(shards: Merge, side: str) -> list[str]:
    """Name the columns that hold the levels of an index, in order."""
    schema = shards._full_schema()
    levels = {level[0]: f.name for f in schema if (level := level_of(f)) is not None}
    if not levels:
        msg = (
            f"{side}_index: the rows on the {side} have no labels, they are only "
            "counted: zip puts rows side by side, merge needs a column of numbers"
        )
        raise XShardsValueError(msg)
    return [levels[number] for number in sorted(levels)]


def _by_both_indexes(left: Merge, right: Merge, *, names_of_right: bool) -> _Sides:
    """Take both indexes as keys, under names that are the same and nobody else's."""
    levels = [_levels(left, "left"), _levels(right, "right")]
    if len(levels[0]) != len(levels[1]):
        msg = f"the indexes have {len(levels[0])} and {len(levels[1])} levels"
        raise XShardsValueError(msg)
    used = [*left._full_schema().names, *right._full_schema().names]
    count = len(levels[0])
    names = engine_names([*dict.fromkeys(used), *["__index__"] * count])[-count:]
    named, at = (right, 1) if names_of_right else (left, 0)
    schema = named._full_schema()
    known = [level_of(schema.field(name)) for name in levels[at]]
    marks = [index_mark(*level) for level in known if level is not None]
    sides = [
        _renamed(side, dict(zip(own, zip(names, marks, strict=True), strict=True)))
        for side, own in zip((left, right), levels, strict=True)
    ]
    return _Sides(sides[0], sides[1], names, names)


def _telling_objects_apart(sides: _Sides, how: str) -> tuple[_Sides, list[str]]:
    """Join Python objects by bytes made of them; gives the columns that are too many.

    The key that is shown is the left's.
    """
    left, right = sides.left, sides.right
    objects = (
        left._objects_among(sides.left_keys),
        right._objects_among(sides.right_keys),
    )
    pairs = list(zip(sides.left_keys, sides.right_keys, strict=True))
    at = [n for n, (a, b) in enumerate(pairs) if a in objects[0] or b in objects[1]]
    if not at:
        return sides, []
    shared = [pairs[n][0] for n in at if pairs[n][0] == pairs[n][1]]
    if shared and (how.startswith(("right", "outer")) or sides.keys_from_right):
        msg = (
            f"a merge that shows keys of the right cannot share {shared[0]!r}, which "
            "holds Python objects: rename it on one side and give left_on and right_on"
        )
        raise XShardsTypeError(msg)
    used = [*left._full_schema().names, *right._full_schema().names]
    names = engine_names([*dict.fromkeys(used), *["__key__"] * len(at)])[-len(at) :]
    left_keys, right_keys = list(sides.left_keys), list(sides.right_keys)
    named: tuple[list[Any], list[Any]] = ([], [])
    for n, name in zip(at, names, strict=True):
        left_keys[n] = right_keys[n] = name
        named[0].append((pairs[n][0], name))
        named[1].append((pairs[n][1], name))
    left, right = left._adding_keys(named[0]), right._adding_keys(named[1])
    if shared:
        right = right._derive(right._core.drop(shared))
    return _Sides(left, right, left_keys, right_keys), names


def _renamed(shards: Any, named: dict[str, tuple[str, dict[str, str]]]) -> Any:
    """Give columns other names, and other notes of what they are to the user."""
    columns = []
    for field in shards._full_schema():
        column, name = col(field.name), field.name
        if name in named:
            kept = {k: v for k, v in marks_of(field).items() if k not in (INDEX, LABEL)}
            name, own = named[name]
            column = column._noted(field.type, {**kept, **own})
        columns.append((name, column._core))
    return shards._derive(shards._core.select_named(columns), same_rows=True)


def _check_relation(sides: _Sides, validate: str | None) -> None:
    """Make sure that keys do not repeat where they must not."""
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
            raise _merge_error()(msg)


def _with_marks(sides: _Sides) -> tuple[_Sides, list[str]]:
    """Add a column to either side that is there in rows which come from it."""
    used = [*sides.left._full_schema().names, *sides.right._full_schema().names]
    marks = engine_names([*dict.fromkeys(used), "__left__", "__right__"])[-2:]
    left, right = (
        side._derive(side._core.with_column(mark, lit(True)._core))
        for side, mark in zip((sides.left, sides.right), marks, strict=True)
    )
    return replace(sides, left=left, right=right), marks


def _source(from_left: Expression, from_right: Expression) -> Expression:
    one = lit(_SOURCES[0]).where(from_left, _SOURCES[1])
    source = lit(_SOURCES[2]).where(from_left & from_right, one)
    kind = pd.CategoricalDtype(list(_SOURCES))
    _, marks = column_to_arrow("", pd.Series([], dtype=kind))
    return source._noted(pa.large_string(), marks)
