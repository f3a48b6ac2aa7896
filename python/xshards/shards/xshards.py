# SPDX-License-Identifier: Apache-2.0
"""The class users hold: a partitioned data set that is described, not held."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from xshards._util.public_names import name_methods
from xshards.interop.field_metadata import DTYPE, OPAQUE, marks_of
from xshards.interop.labels import level_of
from xshards.shards import array_shapes as _shapes
from xshards.shards.extremes import Extremes
from xshards.shards.pickles import Pickles

if TYPE_CHECKING:
    from xshards.context import Context

__all__ = ["XShards"]

_ROWS_SHOWN = 10
_COLUMNS_SHOWN = 60


class XShards(Extremes, Pickles):
    """A data set in partitions, and the recipe that makes them.

    Made by `read_csv`, `read_json`, `read_parquet`, `from_pandas`, `from_arrow` and
    `partition`. A partition holds rows, which functions see as a DataFrame; or arrays,
    alone or nested in dicts, lists and tuples; or other Python objects.
    Methods such as `filter`, `group_by` and `transform_shard` only add to the recipe
    and return new shards. It runs, in parallel, when an action asks for a result:
    `to_pandas`, `collect`, `count`, ``len``, `unique`, `cache`, `to_parquet` and the
    like.

    Examples
    --------
    >>> shards = xs.from_pandas(
    ...     pd.DataFrame({"city": ["Rome", "Oslo", "Rome"], "t": [31.0, 19.0, 28.0]}),
    ...     num_partitions=2,
    ... )
    >>> warm = shards.filter(xs.col("t") > 20).with_column("f", xs.col("t") * 1.8 + 32)
    >>> warm.group_by("city", {"f": "max"}).to_pandas()
       city  max(f)
    0  Rome    87.8
    """

    @staticmethod
    def partition(
        data: Any, num_shards: int | None = None, *, context: Context | None = None
    ) -> XShards:
        """Cut arrays into shards; this is `xshards.partition`."""
        from xshards.io.memory import partition

        return partition(data, num_shards, context=context)

    def explain(self, *, analyze: bool = False, as_text: bool = False) -> str | None:
        """Show the plan before and after optimisation, with its stages.

        Parameters
        ----------
        analyze : bool, default False
            Run the plan and show the stages that ran, with the rows, bytes, time and
            spill of each.
        as_text : bool, default False
            Return the text instead of printing it.
        """
        text = self._run(self._core.explain_analyze) if analyze else self._core.explain()
        if as_text:
            return text
        print(text)
        return None

    def __repr__(self) -> str:
        return "\n  ".join([f"XShards: {self._summary()}", *self._contents()])

    def _repr_html_(self) -> str:
        caption = f"<p>XShards: {html.escape(self._summary())}</p>"
        schema = self._visible_schema()
        if schema is None:
            lines = "<br>".join(html.escape(line) for line in self._contents())
            return f"{caption}<p>{lines}</p>"
        if self.is_cached() or self._in_memory:
            rows = self.limit(_ROWS_SHOWN).to_pandas()
            frame = rows.to_frame() if rows.ndim == 1 else rows
            return caption + str(frame.to_html(max_cols=_COLUMNS_SHOWN))
        cells = "".join(
            f"<tr><th>{html.escape(field.name)}</th>"
            f"<td>{html.escape(_type_name(field))}</td></tr>"
            for field in schema
        )
        return f"{caption}<table>{cells}</table>"

    def _contents(self) -> list[str]:
        """Say what the shards hold, a line each, as far as is known without running."""
        schema = self._visible_schema()
        if schema is not None:
            fields = list(schema)
            width = max((len(field.name) for field in fields), default=0)
            lines = [
                f"{field.name.ljust(width)}  {_type_name(field)}"
                for field in fields[:_COLUMNS_SHOWN]
            ]
            more = len(fields) - _COLUMNS_SHOWN
            return [*lines, f"... {more} more"] if more > 0 else lines
        if not (self.is_cached() or self._in_memory):
            return ["columns are known once it has run"]
        if self._kinds() != {"Tensors"}:
            return [self._kind_name()]
        partitions = self._core.collect_first(1, None)
        first = next(payload for held in partitions for payload in held)
        return ["arrays, in the first shard:", *_shapes.describe(first)]

    def _summary(self) -> str:
        count = self._core.known_num_partitions()
        noun = "partition" if count == 1 else "partitions"
        partitions = f"{count} {noun}" if count >= 0 else "partitions not known yet"
        return f"{partitions}, cached" if self.is_cached() else partitions

    def _visible_schema(self) -> pa.Schema | None:
        """Give the columns users see, with notes, if known without running."""
        schema = self._core.known_schema()
        if schema is None:
            return None
        return pa.schema([field for field in schema if level_of(field) is None])


name_methods(XShards, "XShards")


def _type_name(field: pa.Field) -> str:
    marks = marks_of(field)
    if marks.get(OPAQUE) == "json":
        return "json"
    if DTYPE in marks and (OPAQUE in marks or marks[DTYPE] != "object"):
        return marks[DTYPE]  # Arrow's type is only how it is stored
    name = str(field.type)
    return "string" if name == "large_string" else name
