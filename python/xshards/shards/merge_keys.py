# SPDX-License-Identifier: Apache-2.0
"""The keys of a merge: which columns or index levels of either side are compared."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from xshards._util.deferred import pd
from xshards.errors import XShardsTypeError, XShardsValueError
from xshards.expressions import col
from xshards.interop.field_metadata import INDEX, LABEL, marks_of
from xshards.interop.labels import (
    engine_names,
    index_mark,
    label_marks,
    label_of,
    level_of,
)

if TYPE_CHECKING:
    from xshards.shards.base import Base

__all__ = [
    "Labels",
    "Sides",
    "all_pairs",
    "compare_objects_by_bytes",
    "merge_error",
    "sides_of",
]

Labels = str | Iterable[str]


@dataclass(frozen=True)
class Sides:
    """What is joined: two XShards and the engine's names of their keys."""

    left: Any
    right: Any
    left_keys: list[str]
    right_keys: list[str]
    keys_from_right: bool = False  # those of the left are its index


@cache
def merge_error() -> type[XShardsValueError]:
    """Return the class of errors, which is pandas' too. Made late, as pandas is."""
    return type("XShardsMergeError", (XShardsValueError, pd.errors.MergeError), {})


def all_pairs(left: Base, right: Base, *keys: object) -> Sides:
    """Pair every row of the left with every row of the right."""
    if any(key is not None and key is not False for key in keys):
        msg = "a cross merge pairs all rows: omit on, left_on and right_on"
        raise merge_error()(msg)
    return Sides(left._without_index(), right._without_index(), [], [])


def sides_of(
    left: Base,
    right: Base,
    how: str,
    on: Labels | None,
    left_on: Labels | None,
    right_on: Labels | None,
    left_index: bool,  # noqa: FBT001 - as merge has them
    right_index: bool,  # noqa: FBT001
) -> Sides:
    """Return the keys of either side; an index that is a key becomes columns."""
    if on is not None:
        if left_on is not None or right_on is not None:
            msg = "give either on, or left_on and right_on, not both"
            raise merge_error()(msg)
        if left_index or right_index:
            msg = "give either on, or left_index and right_index, not both"
            raise merge_error()(msg)
        left_on = right_on = on
    for side, by, by_index in (
        ("left", left_on, left_index),
        ("right", right_on, right_index),
    ):
        if by is not None and by_index:
            msg = f"give either {side}_on or {side}_index, not both"
            raise merge_error()(msg)
    if left_index and right_index:
        return _by_both_indexes(left, right, names_of_right=how == "right")
    if left_index or right_index:
        return _by_index(left, right, left_on, right_on, left_index=left_index)
    bare, other = left._without_index(), right._without_index()
    if left_on is None and right_on is None:
        return _by_common_columns(bare, other)
    if left_on is None or right_on is None:
        msg = "left_on and right_on must be given together"
        raise merge_error()(msg)
    left_keys = bare._keys_named("left_on" if on is None else "on", left_on)
    right_keys = other._keys_named("right_on" if on is None else "on", right_on)
    return _checked(Sides(bare, other, left_keys, right_keys))


def _by_index(
    left: Base,
    right: Base,
    left_on: Labels | None,
    right_on: Labels | None,
    *,
    left_index: bool,
) -> Sides:
    """Make columns of the index of one side, named as the keys of the other."""
    by = right_on if left_index else left_on
    if by is None:
        missing, beside = ("right", "left") if left_index else ("left", "right")
        msg = f"{beside}_index needs {missing}_on or {missing}_index"
        raise merge_error()(msg)
    indexed, keyed = (left, right) if left_index else (right, left)
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
                f"the {side} has a column {key!r} in addition to its index: rename it, "
                f"as {key!r} is the key of the other side"
            )
            raise merge_error()(msg)
    schema = keyed._full_schema()
    named = {
        level: (key, label_marks(key, label_of(schema.field(key))))
        for level, key in zip(levels, keys, strict=True)
        if key in schema.names  # else the join reports it
    }
    columns = _renamed(indexed, named)
    keyed = keyed._making_way(columns._full_schema().names)
    first, second = (columns, keyed) if left_index else (keyed, columns)
    return Sides(first, second, keys, keys, keys_from_right=left_index)


def _checked(sides: Sides) -> Sides:
    if len(sides.left_keys) != len(sides.right_keys) or not sides.left_keys:
        msg = (
            f"both sides need the same keys, got {sides.left_keys} and "
            f"{sides.right_keys}"
        )
        raise XShardsValueError(msg)
    return sides


def _by_common_columns(left: Base, right: Base) -> Sides:
    there = set(right._full_schema().names)
    keys = [name for name in left._full_schema().names if name in there]
    if not keys:
        msg = (
            "there is no common column to merge on: the left has "
            f"{left._labels()}, the right {right._labels()}"
        )
        raise merge_error()(msg)
    return Sides(left, right, keys, keys)


def _levels(shards: Base, side: str) -> list[str]:
    """Name the columns that hold the levels of an index, in order."""
    schema = shards._full_schema()
    levels = {level[0]: f.name for f in schema if (level := level_of(f)) is not None}
    if not levels:
        msg = (
            f"{side}_index: the {side} side has a RangeIndex, which is not stored: "
            "use zip to pair rows by position, or merge on a column of numbers"
        )
        raise XShardsValueError(msg)
    return [levels[number] for number in sorted(levels)]


def _by_both_indexes(left: Base, right: Base, *, names_of_right: bool) -> Sides:
    """Use both indexes as keys, under common names that no column has."""
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
    return Sides(sides[0], sides[1], names, names)


def _renamed(shards: Any, named: dict[str, tuple[str, dict[str, str]]]) -> Any:
    """Rename columns, and replace their notes for users."""
    columns = []
    for field in shards._full_schema():
        column, name = col(field.name), field.name
        if name in named:
            kept = {k: v for k, v in marks_of(field).items() if k not in (INDEX, LABEL)}
            name, own = named[name]
            column = column._noted(field.type, {**kept, **own})
        columns.append((name, column._core))
    return shards._derive(shards._core.select_named(columns), same_rows=True)


def compare_objects_by_bytes(sides: Sides, how: str) -> tuple[Sides, list[str]]:
    """Join Python objects by comparable bytes; also returns the columns to drop.

    The result has the left side's keys.
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
            "a merge that keeps keys of the right side cannot share the key column "
            f"{shared[0]!r}, which holds Python objects: rename it on one side and "
            "pass left_on and right_on"
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
    return Sides(left, right, left_keys, right_keys), names
