# SPDX-License-Identifier: Apache-2.0
"""What the last action did, stage by stage."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from xshards.profile import chrome_trace as _chrome_trace

if TYPE_CHECKING:
    import os

    from xshards import _core

__all__ = ["FragmentSpan", "Profile", "StageProfile", "last_profile"]


class FragmentSpan(NamedTuple):
    """When and where one fragment ran, in nanoseconds of the steady clock."""

    partition: int
    begin_ns: int
    end_ns: int
    process: int
    thread: int


@dataclass(frozen=True)
class StageProfile:
    """Rows, bytes, time and spill of one stage.

    Examples
    --------
    >>> len(xs.from_pandas(pd.DataFrame({"a": [1, 2, 3]})))
    3
    >>> xs.last_profile().stages[0].partitions >= 1
    True
    """

    label: str
    runner: str
    partitions: int
    rows_read: int
    bytes_read: int
    row_groups_skipped: int
    rows_out: int
    bytes_out: int
    #: Of these, written to shared memory or disk; without bytes already there.
    bytes_written: int
    seconds: float
    busy_seconds: float
    spilled_bytes: int
    #: When it began, in nanoseconds of the steady clock.
    begin_ns: int
    #: The algorithms chosen, as "algorithm: reason".
    notes: tuple[str, ...]
    #: When and where each fragment ran.
    spans: tuple[FragmentSpan, ...]


@dataclass(frozen=True)
class Profile:
    """The stages of an action in the order they ran, and its wall-clock time.

    Examples
    --------
    >>> len(xs.from_pandas(pd.DataFrame({"a": [1, 2, 3]})))
    3
    >>> len(xs.last_profile().stages)
    1
    """

    stages: tuple[StageProfile, ...]
    seconds: float
    #: When it began, in nanoseconds of the steady clock.
    begin_ns: int = 0

    def to_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Save a trace of all fragments for ``chrome://tracing`` and Perfetto.

        Every process has its lanes, one per thread, on which fragments are drawn from
        begin to end; the stages are drawn above them.

        Parameters
        ----------
        path : path
            The file to write, in the Trace Event Format (JSON).

        Examples
        --------
        >>> import tempfile
        >>> len(xs.from_pandas(pd.DataFrame({"a": [1, 2, 3]})))
        3
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "trace.json")
        ...     xs.last_profile().to_chrome_trace(path)
        ...     sorted(json.loads(path.read_text()))
        ['displayTimeUnit', 'traceEvents']
        """
        trace = _chrome_trace.to_events(self)
        Path(path).write_text(json.dumps(trace), encoding="utf-8")

    def __repr__(self) -> str:
        heads = ("stage", "on", "parts", "rows", "read", "out", "spilled", "time")
        rows = [
            (
                stage.label,
                stage.runner,
                str(stage.partitions),
                f"{stage.rows_out:,}",
                format_bytes(stage.bytes_read),
                format_bytes(stage.bytes_out),
                format_bytes(stage.spilled_bytes),
                format_seconds(stage.seconds),
            )
            for stage in self.stages
        ]
        widths = [
            max(len(row[column]) for row in [heads, *rows])
            for column in range(len(heads))
        ]
        noun = "stage" if len(rows) == 1 else "stages"
        lines = [f"Profile: {format_seconds(self.seconds)} in {len(rows)} {noun}"]
        if not rows:
            return lines[0]
        notes = [(), *(stage.notes for stage in self.stages)]
        for row, told in zip([heads, *rows], notes, strict=True):
            cells = [
                cell.ljust(width) if column < 2 else cell.rjust(width)
                for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            ]
            lines.append("  " + "  ".join(cells).rstrip())
            lines.extend(f"    {note}" for note in told)
        return "\n".join(lines)


_last_context: list[_core.Context] = []


def remember(context: _core.Context) -> None:
    """Note which context ran the last action."""
    _last_context[:] = [context]


def forget() -> None:
    """Drop the context of the last action."""
    _last_context.clear()


def last_profile() -> Profile:
    """Return the profile of the last action.

    Returns
    -------
    Profile
        Empty if nothing has run yet.

    Examples
    --------
    >>> len(xs.from_pandas(pd.DataFrame({"a": [1, 2, 3]})))
    3
    >>> xs.last_profile().seconds >= 0
    True
    """
    if not _last_context:
        return Profile((), 0.0)
    stages, seconds, begin_ns = _last_context[0].last_profile()
    return Profile(tuple(_stage(stage) for stage in stages), seconds, begin_ns)


def _stage(described: dict[str, Any]) -> StageProfile:
    spans = tuple(FragmentSpan(*span) for span in described["spans"])
    return StageProfile(**{**described, "spans": spans})


def format_bytes(count: int) -> str:
    """Format a number of bytes: ``1.5 MB``."""
    size = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"


def format_seconds(seconds: float) -> str:
    """Format a time: ``12 ms``, ``3.20 s``."""
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.2f} s"
