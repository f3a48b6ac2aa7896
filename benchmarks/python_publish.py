# SPDX-License-Identifier: Apache-2.0
"""Shows what it costs to give data to a Python function and to take what it returns.

    python benchmarks/python_publish.py --megabytes 1024

Puts a frame of float columns in shared segments and runs over it a function that
returns its input, one that returns some columns, and one that computes every column
anew, several times each. Prints for each run the time on the wall, the bytes written,
and the time the workers spent outside the function, also as a multiple of a copy of the
same bytes between warm arrays by one thread. Checks every result. Exits with 1 if a
result is wrong, if one of the first two functions wrote anything or took more than
--seconds, or if the second run of the last took more than --ratio copies.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

import xshards as xs

if TYPE_CHECKING:
    from collections.abc import Callable

COLUMNS = 8
RUNS = 3


def timed(df: pd.DataFrame, function: Callable[[Any], Any], notes: str) -> Any:
    """Call a function in a worker and leave a note of the time it took."""
    start = time.perf_counter()
    result = function(df)
    seconds = time.perf_counter() - start
    Path(notes, uuid.uuid4().hex).write_text(str(seconds), encoding="ascii")
    return result


def warm_copy_seconds(num_bytes: int) -> float:
    """Time a copy between two touched arrays; the best of five."""
    source = np.ones(num_bytes // 8)
    target = np.ones(num_bytes // 8)
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        np.copyto(target, source)
        best = min(best, time.perf_counter() - start)
    return best


def run(
    shards: xs.XShards, function: Callable[[Any], Any]
) -> tuple[xs.XShards, float, int, float]:
    """Give the result, the wall time, the bytes written and the time outside."""
    with tempfile.TemporaryDirectory() as notes:
        start = time.perf_counter()
        result = shards.transform_shard(timed, function, notes).cache()
        wall = time.perf_counter() - start
        inside = sum(float(note.read_text()) for note in Path(notes).iterdir())
    stage = xs.last_profile().stages[-1]
    return result, wall, stage.bytes_written, stage.busy_seconds - inside


def main() -> int:
    """Run all, print a table and judge."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--megabytes", type=int, default=1024)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--ratio", type=float, default=1.5)
    parser.add_argument("--seconds", type=float, default=0.3)
    options = parser.parse_args()
    num_bytes = options.megabytes << 20
    rows = num_bytes // 8 // COLUMNS
    xs.init(cores=options.cores, memory=num_bytes * 8, progress=False)
    random = np.random.default_rng(1)
    frame = pd.DataFrame({f"c{i}": random.random(rows) for i in range(COLUMNS)})
    shards = xs.from_pandas(frame, options.cores).transform_shard(lambda df: df)
    shards.cache()
    copy = warm_copy_seconds(num_bytes)
    print(f"{options.megabytes} MB, a warm copy takes {copy:.3f} s")

    some = ["c1", "c6"]
    functions: dict[str, tuple[Callable[[Any], Any], pd.DataFrame]] = {
        "identity": (lambda df: df, frame),
        "some columns": (lambda df: df[some], frame[some]),
        "every column anew": (lambda df: df + 1, frame + 1),
    }
    good = True
    for name, (function, expected) in functions.items():
        for number in range(RUNS):
            result, wall, written, outside = run(shards, function)
            equal = result.to_pandas().equals(expected)
            print(
                f"{name:18} run {number + 1}: {wall:.3f} s, {written:,} bytes written, "
                f"{outside:.3f} s outside the function = {outside / copy:.2f} copies"
                + ("" if equal else ", WRONG")
            )
            good &= equal
            if name != "every column anew":
                good &= written == 0 and wall < options.seconds
            elif number == 1:
                good &= outside < options.ratio * copy
            del result
    xs.stop()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
