# SPDX-License-Identifier: Apache-2.0
"""Counts, filters and aggregates a CSV file much larger than the memory budget.

    python benchmarks/large_csv.py --gigabytes 10 --memory 1GB

Makes one CSV file in a temporary folder, the flights of datasets.py over and over, so
that every answer is a multiple of what pandas says of them once. Each operation reads
the whole file. Prints its time, the largest memory of the process (PSS) and how memory
grew with what was read: the slope of a straight line through the samples of the last
third (the file is looked through for where to cut it before), in MB for each GB of
text. Exits with 1 if an answer is wrong, if memory
was ever above --limit, or if it grew by more than --growth.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from measure import MemoryWatch, load

HERE = Path(__file__).resolve().parent
LATE = 60  # minutes

# Reads the file in a process of its own, an operation for each line it is sent.
RUN = """
import json, sys, time
settings = json.loads(sys.argv[1])
import xshards as xs
xs.init(
    cores=settings["cores"], memory=settings["memory"], spill_dir=settings["spill"],
    progress=False,
)


def aggregate(rows):
    groups = rows.group_by(
        "carrier", flights=("flight", "count"), miles=("distance", "sum"),
        delay=("arr_delay", "mean"), late=("arr_delay", "max"),
    )
    return groups.to_pandas().set_index("carrier").to_dict("index")


operations = {
    "count": lambda rows: rows.count(),
    "filter": lambda rows: rows.filter(xs.col("dep_delay") > settings["late"]).count(),
    "aggregate": aggregate,
}
for line in sys.stdin:
    start = time.perf_counter()
    answer = operations[line.strip()](xs.read_csv(settings["path"]))
    seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "answer": answer}), flush=True)
"""


@dataclass
class Outcome:
    """The figures and result of one operation."""

    seconds: float
    peak: float  # MB
    growth: float  # MB a GB of text
    answer: Any


def make_file(source: Path, path: Path, size: int) -> int:
    """Write the rows of the files below `source` again and again; count how often."""
    parts = sorted(source.glob("*.csv"))
    copies = 0
    with path.open("wb") as out:
        while out.tell() < size:
            for number, part in enumerate(parts):
                with part.open("rb") as file:
                    header = file.readline()
                    if copies == number == 0:
                        out.write(header)
                    shutil.copyfileobj(file, out, 1 << 20)
            copies += 1
    return copies


def expect(source: Path, copies: int) -> dict[str, Any]:
    """Give the answers by pandas, from one copy of the rows."""
    columns = ["carrier", "flight", "distance", "arr_delay", "dep_delay"]
    files = sorted(source.glob("*.csv"))
    once = pd.concat([pd.read_csv(path, usecols=columns) for path in files])
    groups = once.groupby("carrier").agg(
        flights=("flight", "count"),
        miles=("distance", "sum"),
        delay=("arr_delay", "mean"),
        late=("arr_delay", "max"),
    )
    groups[["flights", "miles"]] *= copies
    return {
        "count": len(once) * copies,
        "filter": int((once["dep_delay"] > LATE).sum()) * copies,
        "aggregate": groups.to_dict("index"),
    }


def same(answer: Any, expected: Any) -> bool:
    """Compare answers: integers exactly, others to 9 digits."""
    if isinstance(expected, dict):
        return answer.keys() == expected.keys() and all(
            same(answer[key], value) for key, value in expected.items()
        )
    if isinstance(expected, float):
        return math.isclose(answer, expected, rel_tol=1e-9)
    return bool(answer == expected)


def run(process: Any, operation: str, gigabytes: float) -> Outcome:
    """Do one operation, watching memory."""
    with MemoryWatch(process.pid, interval=0.05) as watch:
        process.stdin.write(operation + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
    if not line:
        sys.exit(f"{operation} failed")
    told = json.loads(line)
    history = np.array(watch.history)
    steady = history[2 * len(history) // 3 :]
    # Text is read at an even rate, so elapsed time is proportional to the text read.
    slope = np.polyfit(steady[:, 0], steady[:, 1], 1)[0] if len(steady) > 1 else 0.0
    growth = slope * told["seconds"] / gigabytes
    return Outcome(told["seconds"], watch.total / 1e6, growth / 1e6, told["answer"])


def check(args: argparse.Namespace) -> int:
    """Do it all; return the exit code."""
    wrong = []
    with tempfile.TemporaryDirectory(prefix="large-", dir=args.directory) as name:
        scratch = Path(name)
        flights, path, spill = (
            scratch / "flights",
            scratch / "all.csv",
            scratch / "spill",
        )
        spill.mkdir()
        start = time.perf_counter()
        command = [sys.executable, HERE / "datasets.py", "flights", flights]
        subprocess.run([*command, "--rows", "1000000"], check=True)
        copies = make_file(flights / "csv", path, int(args.gigabytes * 1e9))
        expected = expect(flights / "csv", copies)
        gigabytes = path.stat().st_size / 1e9
        print(
            f"made {expected['count']:,} rows, {gigabytes:.2f} GB, "
            f"in {time.perf_counter() - start:.0f} s; load {load()}",
            flush=True,
        )
        settings = {
            "cores": args.threads,
            "memory": args.memory,
            "spill": str(spill),
            "path": str(path),
            "late": LATE,
        }
        process = subprocess.Popen(
            [sys.executable, "-c", RUN, json.dumps(settings)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        with process:
            for operation, answer in expected.items():
                outcome = run(process, operation, gigabytes)
                print(
                    f"{operation}: {outcome.seconds:.1f} s, "
                    f"{gigabytes / outcome.seconds:.2f} GB/s; peak "
                    f"{outcome.peak:,.0f} MB, growth {outcome.growth:+.2f} MB a GB",
                    flush=True,
                )
                if not same(outcome.answer, answer):
                    wrong.append(f"{operation} gave {outcome.answer}, not {answer}")
                if outcome.peak > args.limit * 1000:
                    wrong.append(f"{operation} took more than {args.limit} GB")
                if outcome.growth > args.growth:
                    wrong.append(f"the memory of {operation} grew")
            process.stdin.close()
        if any(spill.iterdir()):
            wrong.append("the spill folder is not empty")
    print("\n".join(wrong) if wrong else "answers are right, memory is steady")
    return int(bool(wrong))


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--gigabytes", type=float, default=10.0)
    parser.add_argument("--memory", default="1GB")
    parser.add_argument("--limit", type=float, default=1.2, help="of memory, in GB")
    parser.add_argument("--growth", type=float, default=2.0, help="in MB a GB of text")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--directory", type=Path, help="for the temporary folder")
    return check(parser.parse_args(argv))


if __name__ == "__main__":
    sys.exit(main())
