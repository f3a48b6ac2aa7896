# SPDX-License-Identifier: Apache-2.0
"""Columns of Python objects as keys: each gets a column of comparable bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xshards.interop.aggregate_functions import AGGREGATES
from xshards.interop.field_metadata import DTYPE, OPAQUE, marks_of
from xshards.interop.labels import engine_names
from xshards.shards.base import Base
from xshards.shards.tasks import partition_tasks

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Self

    from xshards.shards.protocol import Aggregate

__all__ = ["ObjectKeys"]


#: Aggregates that only compare values, for which comparable bytes suffice.
_DISTINCT = frozenset(one.name for one in AGGREGATES if one.counts_distinct)


class ObjectKeys(Base):
    """Group and divide rows by columns of every kind."""

    def _objects_among(self, names: Iterable[str]) -> list[str]:
        """Name the columns of Python objects, as far as columns are known."""
        schema = self._core.known_schema()
        if schema is None:
            return []
        known = set(schema.names)
        fields = [schema.field(n) for n in dict.fromkeys(names) if n in known]
        return [
            field.name
            for field in fields
            if OPAQUE in (marks := marks_of(field)) and marks.get(DTYPE) != "category"
        ]

    def _with_keys(self, objects: Sequence[str]) -> tuple[Self, dict[str, str]]:
        """Add columns of comparable bytes; returns their names by column."""
        if not objects:
            return self, {}
        count = len(objects)
        names = engine_names([*self._full_schema().names, *["__key__"] * count])
        added = dict(zip(objects, names[-count:], strict=True))
        return self._adding_keys(list(added.items())), added

    def _adding_keys(self, named: list[tuple[str, str]]) -> Self:
        """Add columns of comparable bytes under given names."""
        keyed = self._transform_payloads(partition_tasks.add_keys, named)
        return keyed._with_info(self._info)

    def _grouped(
        self,
        keys: Sequence[str],
        aggregates: Sequence[Aggregate],
        *,
        ordered: bool = False,
    ) -> Self:
        """Aggregate the rows of each group: the plan of `group_by`."""
        told_apart = [n for f, n, _ in aggregates if n is not None and f in _DISTINCT]
        keyed, added = self._with_keys(self._objects_among([*keys, *told_apart]))
        if not added:
            core = self._core.group_by(list(keys), list(aggregates), ordered=ordered)
            return self._derive(core)._with_info(None)
        # Of objects that are equal the first one is shown.
        shown: list[Aggregate] = [("first_value", k, k) for k in keys if k in added]
        wanted: list[Aggregate] = [
            (
                f,
                added.get(n, n) if n is not None and f in _DISTINCT else n,
                output,
            )
            for f, n, output in aggregates
        ]
        core = keyed._core.group_by(
            [added.get(key, key) for key in keys], [*shown, *wanted], ordered=ordered
        )
        core = core.select([*keys, *(output for _, _, output in aggregates)])
        return keyed._derive(core)._with_info(None)
