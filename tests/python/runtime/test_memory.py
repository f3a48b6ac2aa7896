# SPDX-License-Identifier: Apache-2.0
"""Data far larger than the budget goes through, and memory stays near the budget."""

import subprocess
import sys
import threading

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

JOB = """
import sys, xshards as xs
source, memory, spill = sys.argv[1:]
xs.init(cores=2, memory=memory, spill_dir=spill)
shards = xs.read_parquet(source).partition_by("key", 64).cache()
totals = shards.group_by("key", {"*": "count", "value": "sum"}).sort_values("key")
print(totals.to_pandas().to_csv(index=False), end="")
"""


def write_files(directory, total_bytes, file_bytes=64 << 20):
    """Write random rows of 32 bytes: no encoding makes them smaller."""
    rows = file_bytes // 32
    for number in range(total_bytes // file_bytes):
        random = np.random.default_rng(number)
        columns = {
            "key": random.integers(0, 1000, rows),
            "value": random.integers(0, 1 << 40, rows),
            "x": random.random(rows),
            "y": random.random(rows),
        }
        path = directory / f"{number:04}.parquet"
        pq.write_table(pa.table(columns), path, row_group_size=1 << 18)


def run(source, memory, spill):
    """Run the job; returns what it printed and the peak memory of its process tree."""
    command = [sys.executable, "-c", JOB, str(source), memory, str(spill)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        done, peak = threading.Event(), [0]

        def watch():
            while not done.wait(0.1):
                peak[0] = max(peak[0], tree_bytes(process.pid))

        watcher = threading.Thread(target=watch)
        watcher.start()
        output = process.stdout.read()
        done.set()
        watcher.join()
    assert process.returncode == 0
    return output, peak[0]


def tree_bytes(pid):
    """Sum the proportional set sizes of a process and its children."""
    total = 0
    try:
        parent = psutil.Process(pid)
        for process in [parent, *parent.children(recursive=True)]:
            total += process.memory_full_info().pss
    except psutil.Error:
        pass  # it ended meanwhile
    return total


@pytest.mark.slow
def test_four_gigabytes_in_half_a_gigabyte(tmp_path):
    source, spill = tmp_path / "data", tmp_path / "spill"
    source.mkdir()
    spill.mkdir()
    write_files(source, 4 << 30)
    expected, _ = run(source, "16GB", spill)
    actual, peak = run(source, "512MB", spill)
    assert actual == expected
    assert actual.count("\n") == 1001
    assert peak < 1.2e9
    assert list(spill.iterdir()) == []
