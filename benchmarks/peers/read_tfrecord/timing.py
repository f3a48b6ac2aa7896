# SPDX-License-Identifier: Apache-2.0
"""Runs a reader of TFRecord files and prints its best times and its result."""

import json
import sys
import time


def report(read):
    """Call `read` with the files of the command line, as often as it says."""
    runs, *files = sys.argv[1:]
    times = []
    for _ in range(int(runs)):
        wall, cpu = time.perf_counter(), time.process_time()
        sums = read(files)
        times.append((time.perf_counter() - wall, time.process_time() - cpu))
    seconds, cpu = (min(column) for column in zip(*times, strict=True))
    print(json.dumps({"seconds": seconds, "cpu": cpu, "sums": sums}))
