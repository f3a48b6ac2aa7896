# SPDX-License-Identifier: Apache-2.0
"""Times the reading of TFRecord files, compared with tf.data.

    python benchmarks/tfrecord.py [--rows 400000] [--runs 4]

Records of an integer, a float, a text and a vector of 16 floats in four files. Ours
reads them to Arrow columns; TensorFlow by TFRecordDataset, two files at a time, and
parse_example of batches of 4,096, both with two threads and each in a process of its
own. Sums of the columns are compared before times are printed. TensorFlow comes from
.venv-training or .venv, whichever has it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import measure
import numpy as np
import pyarrow as pa

import xshards as xs

ROOT = Path(__file__).resolve().parent.parent
PEERS = ROOT / "benchmarks/peers/read_tfrecord"
ENVIRONMENTS = [ROOT / ".venv-training", ROOT / ".venv"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--runs", type=int, default=4)
    args = parser.parse_args()
    load = measure.load()
    if load > 0.5:
        print(f"Others are using this machine (load {load}): take times with care")
    having = (
        one
        for one in ENVIRONMENTS
        if any(one.glob("lib/python*/site-packages/tensorflow"))
    )
    environment = next(having, None)
    if environment is None:
        print("TensorFlow is missing: make bench, or make test-tensorflow, installs it")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        files = made_rows(args.rows).to_tfrecord(Path(folder) / "rows")
        megabytes = sum(Path(file).stat().st_size for file in files) / 1e6
        ours = run(Path(sys.executable), "xshards_read.py", files, args.runs)
        theirs = run(environment / "bin/python", "tf_data.py", files, args.runs)
    if not np.allclose(ours["sums"], theirs["sums"]):
        print(f"The engines differ: {ours['sums']} and {theirs['sums']}")
        return 1
    print(f"{args.rows:,} records, {megabytes:.0f} MB, seconds (CPU), x ours")
    for name, found in (("xshards", ours), ("tf.data", theirs)):
        ratio = found["seconds"] / ours["seconds"]
        print(f"{name:8} {found['seconds']:.3f} ({found['cpu']:.3f})  {ratio:.1f}")
    return 0


def made_rows(rows: int) -> xs.XShards:
    random = np.random.default_rng(0)
    vectors = random.random(rows * 16, dtype=np.float32)
    table = pa.table(
        {
            "id": np.arange(rows),
            "x": random.random(rows, dtype=np.float32),
            "name": [f"name {i % 1000}" for i in range(rows)],
            "v": pa.FixedSizeListArray.from_arrays(vectors, 16),
        }
    )
    return xs.from_arrow(table, num_partitions=4)


def run(python: Path, script: str, files: list[str], runs: int) -> dict:
    done = subprocess.run(
        [python, PEERS / script, str(runs), *files],
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    raise SystemExit(main())
