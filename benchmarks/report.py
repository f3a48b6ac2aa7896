# SPDX-License-Identifier: Apache-2.0
"""Prints outcomes as a table while they come in, and keeps them as JSON."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import measure

if TYPE_CHECKING:
    from pathlib import Path

    from engine import Outcome

OURS = "xshards"
_COLUMNS = "{:<18} {:<9} {:>9} {:>9} {:>8} {:>9} {:>9}"


def print_header() -> None:
    """Name the columns. `x ours`: its time divided by ours."""
    titles = ("task", "engine", "best s", "median s", "x ours", "PSS MB", "maxrss MB")
    print(_COLUMNS.format(*titles))
    print("-" * 77, flush=True)


def print_outcome(outcome: Outcome, ours: Outcome | None) -> None:
    """Print one line: the figures, or what went wrong."""
    if outcome.error:
        # Errors of ours are shown completely, since they are ours to fix.
        lines = outcome.error.splitlines() or [""]
        text = "\n    ".join(lines) if outcome.engine == OURS else lines[0][:200]
        print(f"{outcome.task:<18} {outcome.engine:<9} failed: {text}", flush=True)
        return
    ratio = f"{outcome.best / ours.best:.2f}" if ours and not ours.error else "-"
    print(
        _COLUMNS.format(
            outcome.task,
            outcome.engine,
            f"{outcome.best:.3f}",
            f"{outcome.median:.3f}",
            ratio,
            f"{outcome.peak_memory / 1e6:.0f}",
            f"{outcome.maxrss / 1e6:.0f}",
        ),
        flush=True,
    )
    for name, figure in outcome.details.items():
        print(f"{'':<28} {name}: {figure:.3f}", flush=True)


def write_json(path: Path, outcomes: list[Outcome], **settings: Any) -> None:
    """Keep the figures with all that is needed to read them later."""
    versions = {outcome.engine: outcome.version for outcome in outcomes}
    document = {
        "date": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "commit": measure.commit(),
        "machine": measure.machine(),
        **settings,
        "versions": {name: number for name, number in versions.items() if number},
        "results": [outcome.as_json() for outcome in outcomes],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=2) + "\n")
