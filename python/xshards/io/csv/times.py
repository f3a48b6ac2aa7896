# SPDX-License-Identifier: Apache-2.0
"""Columns of times in CSV files: which they are, and in what format.

pandas takes the format of a column from its first time; all others must be written so,
or the column is text. The engine is told the format.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from xshards import _core
from xshards._util.deferred import pd
from xshards.expressions import col

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from xshards.shards import XShards

__all__ = ["are_times", "time_columns", "time_formats"]

# Values that pandas skips when it looks for the first time.
_NO_TIMES = ["", "NaT", "nat", "NAT", "nan", "NaN", "NAN", "now", "today"]
_UTC = ("Z", "+00:00", "-00:00", "+0000", "-0000")


def are_times(options: dict[str, Any]) -> bool:
    """Return whether the columns and formats of `parse_dates` are known."""
    wanted, formats = options["parse_dates"], options["date_format"]
    by_column = formats if isinstance(formats, Mapping) else {"": formats}
    if not all(one is None or isinstance(one, str) for one in by_column.values()):
        return False
    if wanted is None or isinstance(wanted, bool):
        return True
    return isinstance(wanted, list) and all(
        isinstance(one, str) or (type(one) is int and one >= 0) for one in wanted
    )


def time_columns(
    wanted: Any, index_col: Any, read: Callable[[], XShards]
) -> list[str] | None:
    """Return the names of columns of times; None if only pandas can decide."""
    if wanted is None or wanted is False:
        return []
    if wanted is True:
        if index_col is None:
            return None if read()._hidden() else []
        wanted = index_col if isinstance(index_col, list | tuple) else [index_col]
    if all(isinstance(one, str) for one in wanted):
        return list(wanted)
    shards = read()
    names = shards.schema.names
    if shards._hidden() or any(
        type(one) is int and one >= len(names) for one in wanted
    ):
        return None
    return [one if isinstance(one, str) else names[one] for one in wanted]


def time_formats(
    columns: Sequence[str], date_format: Any, texts: XShards, *, may_be_numbers: bool
) -> dict[str, str] | None:
    """Return the format of each column of times; None if only pandas reads one.

    `texts` has the columns as text. Where they `may_be_numbers` if they are no times,
    formats must distinguish the two.
    """
    found = {}
    for name in columns:
        given = (
            date_format.get(name) if isinstance(date_format, Mapping) else date_format
        )
        if given is not None and "%z" not in given:
            form, is_utc = given, True
        else:
            first = _first_time(texts, name)
            if first is None:
                return None
            form = given or pd.tseries.api.guess_datetime_format(first)
            is_utc = form is None or "%z" not in form or first.endswith(_UTC)
        if form is None or not is_utc or not _core.reads_time_format(form):
            return None
        if may_be_numbers and not set(form) & set("-/.: "):
            return None
        found[name] = form
    return found


def _first_time(shards: XShards, name: str) -> str | None:
    there = shards.select([name])._without_index()
    values = there.filter(col(name).notna() & ~col(name).isin(_NO_TIMES)).head(1)[name]
    return values.iloc[0] if len(values) else None
