# SPDX-License-Identifier: Apache-2.0
"""Memory and results of plans over thousands of files."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

NUM_FILES = 5_000

READ = """
import json, resource, sys
import xshards as xs

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

xs.read_csv(sys.argv[1] + "/f0.csv").group_by("c", {"a": "sum"}).to_pandas()
before = peak()
shards = xs.read_csv(sys.argv[1])
rows = len(shards)
sums = shards.group_by("c", total=("a", "sum")).to_pandas()
print(json.dumps({"grown": peak() - before, "rows": rows,
                  "sums": dict(zip(sums["c"], sums["total"].tolist()))}))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("many")
    for i in range(NUM_FILES):
        (folder / f"f{i}.csv").write_text(f"a,b,c\n{i},2.5,x\n3,4.5,y\n")
    return folder


def test_memory_is_linear_in_the_number_of_files(folder):
    done = subprocess.run(
        [sys.executable, "-c", READ, str(folder)],
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout)
    assert found["rows"] == 2 * NUM_FILES
    assert found["sums"] == {"x": sum(range(NUM_FILES)), "y": 3 * NUM_FILES}
    # A copy of all splits for each of them would be over 2 GB.
    assert found["grown"] < 100e6
