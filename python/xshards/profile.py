# SPDX-License-Identifier: Apache-2.0
"""What the last action did, stage by stage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xshards import _core

__all__ = ["Profile", "StageProfile", "last_profile"]


@dataclass(frozen=True)
class StageProfile:
    """Rows, bytes, time and spill of one stage."""

    label: str
    runner: str
    partitions: int
    rows_read: int
    bytes_read: int
    row_groups_skipped: int
    rows_out: int
    bytes_out: int
    #: Of these, written to shared memory or disk: what lies there already is not.
    bytes_written: int
    seconds: float
    busy_seconds: float
    spilled_bytes: int


@dataclass(frozen=True)
class Profile:
    """The stages of an action in the order they ran, and its time on the wall."""

    stages: tuple[StageProfile, ...]
    seconds: float

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
        for row in [heads, *rows]:
            cells = [
                cell.ljust(width) if column < 2 else cell.rjust(width)
                for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            ]
            lines.append("  " + "  ".join(cells).rstrip())
        return "\n".join(lines)


_last_context: list[_core.Context] = []


def remember(context: _core.Context) -> None:
    """Note which context ran the last action."""
    _last_context[:] = [context]


def forget() -> None:
    """Let go of the context of the last action."""
    _last_context.clear()


def last_profile() -> Profile:
    """Tell what the last action did.

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
    stages, seconds = _last_context[0].last_profile()
    return Profile(tuple(StageProfile(**stage) for stage in stages), seconds)


def format_bytes(count: int) -> str:
    """Write a number of bytes for people: ``1.5 MB``."""
    size = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"


def format_seconds(seconds: float) -> str:
    """Write a time for people: ``12 ms``, ``3.20 s``."""
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.2f} s"
