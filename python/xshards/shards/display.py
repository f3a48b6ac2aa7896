# SPDX-License-Identifier: Apache-2.0
"""What XShards show of themselves: the plan, the columns, the first rows."""

from __future__ import annotations

import html

import pyarrow as pa

from xshards.interop.field_metadata import DTYPE, OPAQUE, marks_of
from xshards.interop.labels import level_of
from xshards.shards import array_shapes
from xshards.shards.base import Base

__all__ = ["Display"]

_ROWS_SHOWN = 10

_COLUMNS_SHOWN = 60


class Display(Base):
    """Print shards in terminals and notebooks, and explain their plan."""

    def explain(self, *, analyze: bool = False, as_text: bool = False) -> str | None:
        """Show the plan before and after optimisation, with its stages.

        Parameters
        ----------
        analyze : bool, default False
            Run the plan and show the stages that ran, with the rows, bytes, time and
            spill of each.
        as_text : bool, default False
            Return the text instead of printing it.

        Returns
        -------
        str or None
            The text, with ``as_text=True``.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"a": [1, 2]}))
        >>> text = shards.filter(xs.col("a") > 1).explain(as_text=True)
        >>> "Filter" in text
        True
        """
        text = (
            self._run(self._core.explain_analyze) if analyze else self._core.explain()
        )
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
        """Describe what the shards hold, as far as is known without running."""
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
            return ["columns are known after it has run"]
        if self._kinds() != {"Tensors"}:
            return [self._kind_name()]
        partitions = self._core.collect_first(1, None)
        first = next(payload for held in partitions for payload in held)
        return ["arrays, in the first shard:", *array_shapes.describe(first)]

    def _summary(self) -> str:
        count = self._core.known_num_partitions()
        noun = "partition" if count == 1 else "partitions"
        partitions = f"{count} {noun}" if count >= 0 else "partitions not known yet"
        return f"{partitions}, cached" if self.is_cached() else partitions

    def _visible_schema(self) -> pa.Schema | None:
        """Return the columns users see, with notes, if known without running."""
        schema = self._core.known_schema()
        if schema is None:
            return None
        return pa.schema([field for field in schema if level_of(field) is None])


def _type_name(field: pa.Field) -> str:
    marks = marks_of(field)
    if marks.get(OPAQUE) == "json":
        return "json"
    if DTYPE in marks and (OPAQUE in marks or marks[DTYPE] != "object"):
        return marks[DTYPE]  # Arrow's type is only how it is stored
    name = str(field.type)
    return "string" if name == "large_string" else name
