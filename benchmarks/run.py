# SPDX-License-Identifier: Apache-2.0
"""Compares xshards with other engines: the same files, threads and answers.

    python benchmarks/run.py [--tasks sort join] [--engines xshards polars] [--rows N]
                             [--threads 2] [--repeat 3] [--json out.json] [--all]

Every engine runs in a process of its own, once unmeasured and then --repeat times. Its
answer is checked before its time is printed. README.md says how to add to it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import measure
import report
from engine import PEERS, run_engine

sys.path.append(str(PEERS))

from tasks import FLIGHTS_PER_ROW, TASKS, peer_path

ROOT = Path(__file__).resolve().parent.parent
ENGINES = ["xshards", "pandas", "pyarrow", "polars", "duckdb"]
MORE_ENGINES = ["dask", "ray", "pyspark"]


def main() -> int:
    args = parse()
    engines = args.engines or ENGINES + (MORE_ENGINES if args.all else [])
    tasks = args.tasks or list(TASKS)
    kinds = {"flights"} | {TASKS[task].data for task in tasks}
    directories = {
        kind: make_data(args.python, args.data, kind, args.rows)
        for kind in sorted(kinds)
    }
    load = measure.load()
    if load > 0.5:
        print(f"Others are using this machine (load {load}): take times with care")
    report.print_header()
    outcomes = []
    for task in tasks:
        directory = directories[TASKS[task].data]
        ours = None
        for engine in engines:
            if not peer_path(task, engine).exists():
                continue
            outcome = run_engine(
                task,
                engine,
                python=args.python if engine == report.OURS else args.peer_python,
                files=files_of(task, directory, directories["flights"]),
                expected=reference(args.python, task, directory),
                threads=args.threads,
                repeat=args.repeat,
                timeout=args.timeout,
            )
            if engine == report.OURS:
                ours = outcome
            report.print_outcome(outcome, ours)
            outcomes.append(outcome)
    report.write_json(
        args.json,
        outcomes,
        rows=args.rows,
        threads=args.threads,
        repeat=args.repeat,
        load_before=load,
        load_after=measure.load(),
    )
    print(f"\nKept in {args.json}")
    return int(any(o.error for o in outcomes if o.engine == report.OURS))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tasks", nargs="+", choices=list(TASKS), metavar="TASK")
    known = ENGINES + MORE_ENGINES
    parser.add_argument("--engines", nargs="+", choices=known, metavar="ENGINE")
    parser.add_argument("--all", action="store_true", help="with Dask, Ray and Spark")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--timeout", type=float, default=600, help="seconds an engine")
    parser.add_argument("--json", type=Path, default=ROOT / "build/bench/peers.json")
    parser.add_argument("--data", type=Path, default=ROOT / "build/bench-data")
    parser.add_argument("--python", type=Path, default=ROOT / ".venv/bin/python")
    peers = ROOT / ".venv-peers/bin/python"
    parser.add_argument("--peer-python", type=Path, default=peers)
    args = parser.parse_args()
    if args.rows < 1 or args.threads < 1 or args.repeat < 1:
        parser.error("--rows, --threads and --repeat must be at least 1")
    return args


def make_data(python: Path, parent: Path, kind: str, flights: int) -> Path:
    """Make a dataset, unless it already exists for this version of its generator."""
    name = "datasets.py" if kind == "flights" else "csv_datasets.py"
    script = Path(__file__).parent / name
    rows = max(1, flights // FLIGHTS_PER_ROW.get(kind, 1))
    directory = parent / f"{kind}-{rows}-{state_of([script])}"
    if not directory.exists():
        print(f"Making {rows:,} rows of {kind} in {directory}", flush=True)
        parent.mkdir(parents=True, exist_ok=True)
        command = [python, script, kind, directory, "--rows", str(rows)]
        subprocess.run(command, check=True)
    return directory


def state_of(sources: list[Path]) -> str:
    """Return a hash of source files."""
    text = b"".join(path.read_bytes() for path in sources)
    return hashlib.sha256(text).hexdigest()[:8]


def files_of(task: str, directory: Path, flights: Path) -> dict[str, Any]:
    """Name the files that a task reads; `flights` is that data set's directory."""
    rows = sorted((directory / TASKS[task].format).iterdir())
    files: dict[str, Any] = {"flights": [str(path) for path in rows]}
    for name in ("bookings", "payments"):
        files[name] = [str(path) for path in sorted((flights / name).iterdir())]
    for name in ("planes", "fares"):
        files[name] = str(flights / f"{name}.parquet")
    return files


def reference(python: Path, task: str, directory: Path) -> dict[str, Any]:
    """Return the right answer, cached next to the data while nothing changes."""
    sources = [PEERS / name for name in ("reference.py", "digest.py", "tasks.py")]
    path = directory / f"answer-{task}-{state_of(sources)}.json"
    if not path.exists():
        done = subprocess.run(
            [python, PEERS / "reference.py", task, directory],
            stdout=subprocess.PIPE,
            check=True,
        )
        path.write_bytes(done.stdout)
    answer: dict[str, Any] = json.loads(path.read_bytes())
    return answer


if __name__ == "__main__":
    sys.exit(main())
