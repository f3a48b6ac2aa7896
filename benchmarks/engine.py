# SPDX-License-Identifier: Apache-2.0
"""Runs one engine on one task in a separate process, and measures it."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import statistics
import subprocess
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from compare import difference
from measure import MemoryWatch

PEERS = Path(__file__).parent / "peers"


@dataclass
class Outcome:
    """What came of one engine on one task. Times count only where `error` is None."""

    task: str
    engine: str
    version: str = ""
    error: str | None = None
    traceback: str = ""
    seconds: list[float] = field(default_factory=list)
    peak_pss: int = 0
    peak_memory: int = 0  # the same with unmapped shared segments
    maxrss: int = 0  # of the engine's main process, over all its runs
    details: dict[str, float] = field(default_factory=dict)  # other figures it reports

    @property
    def best(self) -> float:
        return min(self.seconds)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    def as_json(self) -> dict[str, Any]:
        figures = {} if self.error else {"best": self.best, "median": self.median}
        return asdict(self) | figures


class EngineError(Exception):
    """The engine's process ended, hung, reported an error or gave a wrong answer."""

    def __init__(self, message: str = "", trace: str = "") -> None:
        super().__init__(message)
        self.trace = trace


def environment(python: Path, threads: int) -> dict[str, str]:
    """Give every engine the same number of threads, by all environment variables."""
    names = (
        "POLARS_MAX_THREADS",
        "RAYON_NUM_THREADS",
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "NUMEXPR_MAX_THREADS",
    )
    # Worker processes of an engine find tasks.grade() by this path, and Spark's the
    # interpreter.
    paths = {"PYTHONPATH": str(PEERS), "PYSPARK_PYTHON": str(python)}
    return os.environ | dict.fromkeys(names, str(threads)) | paths


def run_engine(
    task: str,
    engine: str,
    *,
    python: Path,
    files: dict[str, Any],
    expected: dict[str, Any],
    threads: int,
    repeat: int,
    timeout: float,
) -> Outcome:
    """Run it once unmeasured and `repeat` times measured, and check its answer."""
    outcome = Outcome(task, engine)
    reader, writer = os.pipe()
    command = [python, PEERS / "worker.py", task, engine, "--files", json.dumps(files)]
    command += ["--threads", threads, "--repeat", repeat, "--pipe", writer]
    with tempfile.TemporaryFile("w+") as log, os.fdopen(reader, "rb") as events:
        process = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            pass_fds=[writer],
            env=environment(python, threads),
            start_new_session=True,
        )
        os.close(writer)
        try:
            follow(process, Events(events, timeout), outcome, expected)
        except (EngineError, BrokenPipeError) as error:
            log.seek(0)
            outcome.error = str(error) or last_line(log.read())
            outcome.traceback = getattr(error, "trace", "")
        finally:
            end(process)
    return outcome


def follow(
    process: subprocess.Popen[bytes],
    events: Events,
    outcome: Outcome,
    expected: dict[str, Any],
) -> None:
    """Follow the protocol of a worker (see worker.py)."""

    def go_on() -> None:
        process.stdin.write(b"\n")
        process.stdin.flush()

    outcome.version = events.wait_for("loaded")["version"]
    # The first run is not timed: it warms caches, and it is when memory is sampled, as
    # sampling would slow the others down.
    with MemoryWatch(process.pid) as memory:
        go_on()
        events.wait_for("ran")
    outcome.peak_pss, outcome.peak_memory = memory.pss, memory.total
    go_on()
    timed = events.wait_for("timed")
    outcome.maxrss = timed["maxrss"]
    checked = events.wait_for("checked")
    outcome.details = checked["details"]
    wrong = difference(expected, checked["summary"])
    if wrong:
        raise EngineError(f"wrong answer: {wrong}")
    outcome.seconds = timed["seconds"]


class Events:
    """Reads what a worker tells, one line of JSON each."""

    def __init__(self, pipe: Any, timeout: float) -> None:
        self._pipe = pipe
        self._deadline = time.monotonic() + timeout
        self._timeout = timeout
        self._selector = selectors.DefaultSelector()
        self._selector.register(pipe.fileno(), selectors.EVENT_READ)
        self._bytes = b""

    def wait_for(self, name: str) -> dict[str, Any]:
        """Wait for the next event; anything but `name` is an error."""
        while b"\n" not in self._bytes:
            if not self._selector.select(max(0.0, self._deadline - time.monotonic())):
                raise EngineError(f"not done after {self._timeout:g} s")
            read = os.read(self._pipe.fileno(), 1 << 16)
            if not read:
                raise EngineError
            self._bytes += read
        line, _, self._bytes = self._bytes.partition(b"\n")
        event: dict[str, Any] = json.loads(line)
        if event["event"] == "failed":
            raise EngineError(event["error"], event["traceback"])
        if event["event"] != name:
            raise EngineError(f"expected {name!r}, got {event['event']!r}")
        return event


def end(process: subprocess.Popen[bytes]) -> None:
    """Wait for a worker that is done; end it, and its group, where it is not."""
    with contextlib.suppress(OSError):
        process.stdin.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=10)
    # Processes that the engine started in its session may outlive it.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def last_line(log: str) -> str:
    """Return the last output of a process that ended without a report."""
    lines = [line for line in log.splitlines() if line.strip()]
    return lines[-1] if lines else "ended without output"
