# SPDX-License-Identifier: Apache-2.0
"""Profiles as traces that ``chrome://tracing`` and Perfetto show."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xshards.profile import FragmentSpan, Profile, StageProfile

__all__ = ["to_events"]

# A lane of the driver that is not a thread: stages are drawn there.
_STAGES = 0


def to_events(profile: Profile) -> dict[str, Any]:
    """Write a profile in the Trace Event Format, times counted from its begin."""
    driver = os.getpid()
    events = [
        *_names(profile, driver),
        *(_stage(stage, profile, driver) for stage in profile.stages),
        *(
            _fragment(span, stage, profile)
            for stage in profile.stages
            for span in stage.spans
        ),
    ]
    return {"traceEvents": events, "displayTimeUnit": "ms"}


def _names(profile: Profile, driver: int) -> Iterator[dict[str, Any]]:
    spans = [span for stage in profile.stages for span in stage.spans]
    processes = sorted({span.process for span in spans} | {driver})
    workers = [process for process in processes if process != driver]
    yield _name("process_name", driver, _STAGES, "driver")
    yield _name("thread_name", driver, _STAGES, "stages")
    for number, worker in enumerate(workers):
        yield _name("process_name", worker, _STAGES, f"worker {number}")
    for process in processes:
        threads = sorted({span.thread for span in spans if span.process == process})
        for number, thread in enumerate(threads):
            yield _name("thread_name", process, thread, f"thread {number}")


def _name(kind: str, process: int, thread: int, name: str) -> dict[str, Any]:
    return {
        "name": kind,
        "ph": "M",
        "pid": process,
        "tid": thread,
        "args": {"name": name},
    }


def _stage(stage: StageProfile, profile: Profile, driver: int) -> dict[str, Any]:
    return {
        "name": stage.label,
        "cat": "stage",
        "ph": "X",
        "ts": (stage.begin_ns - profile.begin_ns) / 1000,
        "dur": stage.seconds * 1e6,
        "pid": driver,
        "tid": _STAGES,
        "args": {
            "runner": stage.runner,
            "partitions": stage.partitions,
            "rows_read": stage.rows_read,
            "bytes_read": stage.bytes_read,
            "rows_out": stage.rows_out,
            "bytes_out": stage.bytes_out,
            "spilled_bytes": stage.spilled_bytes,
            "notes": list(stage.notes),
        },
    }


def _fragment(
    span: FragmentSpan, stage: StageProfile, profile: Profile
) -> dict[str, Any]:
    return {
        "name": stage.label,
        "cat": "fragment",
        "ph": "X",
        "ts": (span.begin_ns - profile.begin_ns) / 1000,
        "dur": (span.end_ns - span.begin_ns) / 1000,
        "pid": span.process,
        "tid": span.thread,
        "args": {"partition": span.partition},
    }
