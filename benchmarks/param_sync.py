# SPDX-License-Identifier: Apache-2.0
"""Times one parameter update: gradients ready, new weights visible to all replicas.

    python benchmarks/param_sync.py [--parameters 1 25 100] [--replicas 2 4]
                                    [--json out.json]

Adam on float32, replicas as processes. Ours beside torch.distributed (gloo all-reduce,
whole and in buckets of 25 MB as DDP does, then fused Adam) and a plain C loop over the
same bytes with two threads, which is what the memory allows. A step lasts from the
moment the last replica's gradient is ready to the moment the last replica sees the
weights. Final weights are checked before times are printed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import measure
import numpy as np

sys.path.append(str(Path(__file__).resolve().parent / "peers/param_sync"))

from timing import WARMUP, expected_weights

ROOT = Path(__file__).resolve().parent.parent
BUCKET = 25 * 1024 * 1024 // 4  # elements; DDP's default bucket


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--parameters", nargs="+", type=float, default=[1, 25, 100])
    parser.add_argument("--replicas", nargs="+", type=int, default=[2, 4])
    parser.add_argument("--json", type=Path, default=ROOT / "build/bench/sync.json")
    args = parser.parse_args()
    load = measure.load()
    if load > 0.5:
        print(f"Others are using this machine (load {load}): take times with care")
    print("million parameters, replicas: median ms a step; x ours = its time over ours")
    results = []
    for millions in args.parameters:
        for replicas in args.replicas:
            row = compare(millions, replicas)
            print_row(row)
            results.append(row)
    args.json.parent.mkdir(parents=True, exist_ok=True)
    about = {
        "machine": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "load_before": load,
        "load_after": measure.load(),
    }
    args.json.write_text(json.dumps({"about": about, "results": results}, indent=1))
    print(f"Kept in {args.json}")
    return 0


def print_row(row: dict[str, Any]) -> None:
    ours = row["ms"]["xshards"]
    cells = [f"{name} {ms:8.2f} ({ms / ours:.2f})" for name, ms in row["ms"].items()]
    print(f"{row['millions']:6g} M x {row['replicas']}: ", "  ".join(cells), flush=True)


def compare(millions: float, replicas: int) -> dict[str, Any]:
    count = int(millions * 1_000_000)
    steps = int(min(1000, max(8, 400 / millions))) + WARMUP
    expected = expected_weights(count, replicas, steps)
    medians = {}
    for name, run in ENGINES.items():
        outputs = run(count, replicas, steps)
        for output in outputs:
            np.testing.assert_allclose(output["weights"], expected, 1e-3, 1e-6)
        spans = np.array([output["spans"] for output in outputs])[:, WARMUP:]
        seconds = spans[:, :, 1].max(axis=0) - spans[:, :, 0].max(axis=0)
        medians[name] = statistics.median(seconds) * 1e3
    return {"millions": millions, "replicas": replicas, "steps": steps, "ms": medians}


def start(script: str, *arguments: object, **options: Any) -> subprocess.Popen[bytes]:
    command = [
        sys.executable,
        str(ROOT / "benchmarks/peers/param_sync" / script),
        *map(str, arguments),
    ]
    return subprocess.Popen(command, stdout=subprocess.PIPE, **options)


def collect(processes: list[subprocess.Popen[bytes]]) -> list[dict[str, Any]]:
    """Wait for processes to end, and read their output."""
    try:
        outputs = [process.communicate()[0] for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()
    if any(process.returncode for process in processes):
        sys.exit(f"{processes[0].args} failed")
    return [json.loads(output) for output in outputs]


def run_ours(count: int, replicas: int, steps: int) -> list[dict[str, Any]]:
    from xshards import _core

    server = _core.ParameterServer.make(
        [("parameters", count, "float32", 0)],
        [("adam", {"learning_rate": 1e-3})],
        num_replicas=replicas,
    )
    processes = [
        start("replica.py", server.fd, replica, count, steps, pass_fds=[server.fd])
        for replica in range(replicas)
    ]
    for _ in range(2 * steps):  # each with a barrier after it
        if (report := server.step(60)).outcome != "updated":
            server.stop()
            sys.exit(f"step {report.step} ended as {report.outcome}")
    return collect(processes)


def run_gloo(
    count: int, replicas: int, steps: int, bucket: int
) -> list[dict[str, Any]]:
    threads = max(1, (os.cpu_count() or 1) // replicas)
    with tempfile.TemporaryDirectory() as directory:
        rest = (replicas, count, steps, threads, bucket)
        return collect(
            [start("gloo.py", f"{directory}/store", r, *rest) for r in range(replicas)]
        )


def run_plain(count: int, replicas: int, steps: int) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as directory:
        return collect([start("plain.py", directory, replicas, count, steps)])


ENGINES = {
    "xshards": run_ours,
    "plain": run_plain,
    "gloo": lambda *case: run_gloo(*case, bucket=0),
    "gloo-buckets": lambda *case: run_gloo(*case, bucket=BUCKET),
}

if __name__ == "__main__":
    sys.exit(main())
