# SPDX-License-Identifier: Apache-2.0
"""Writing to a disk that fills up: a small tmpfs that only the test's process sees."""

import subprocess
import sys

import pytest

#: Mounts need rights that not everyone has: the superuser's, or a user namespace's.
NAMESPACES = (["unshare", "--mount"], ["unshare", "--map-root-user", "--mount"])
MOUNT = 'mount -t tmpfs -o size=4m tmpfs "$1" && shift && exec "$@"'

WRITE = """
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import xshards as xs


def content(folder):
    return {p: p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def main():
    folder, form, spill = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    xs.init(cores=2, memory="500MB", spill_dir=spill, progress=False)
    small = xs.from_pandas(pd.DataFrame({"a": [1.5, 2.5, None]}), 2)
    numbers = np.random.default_rng(0).random(700_000)
    large = xs.from_pandas(pd.DataFrame({"a": numbers}), 4)
    out = folder / "out"
    getattr(small, "to_" + form)(out)
    before = content(folder)
    assert len(before) == 2, before
    parts = large.with_column("part", xs.col("a") > 0.5)
    for shards, options in ((large, {}), (parts, {"partition_cols": "part"})):
        for mode in ("overwrite", "append"):
            try:
                getattr(shards, "to_" + form)(out, mode=mode, **options)
            except OSError as error:
                print(error)
            else:
                sys.exit(f"{mode} did not fail")
            assert content(folder) == before, (mode, sorted(content(folder)))
            assert list(folder.iterdir()) == [out], list(folder.iterdir())
    # There is room again, for nothing was left behind.
    getattr(small, "to_" + form)(out, mode="overwrite")
    assert getattr(xs, "read_" + form)(out).count() == 3


if __name__ == "__main__":
    main()
"""


@pytest.fixture(scope="module")
def namespace(tmp_path_factory):
    """How to start a process with a tmpfs of its own."""
    folder = tmp_path_factory.mktemp("mount")
    problems = []
    for command in NAMESPACES:
        tried = subprocess.run(
            [*command, "sh", "-c", MOUNT, "sh", str(folder), "true"],
            capture_output=True,
            text=True,
            check=False,
        )
        if tried.returncode == 0:
            return command
        problems.append(tried.stderr.strip())
    return pytest.skip(f"a tmpfs cannot be mounted here: {problems}")


@pytest.mark.parametrize("form", ["csv", "json", "parquet", "ipc"])
def test_a_full_disk_keeps_existing_files(namespace, tmp_path, form):
    disk, spill = tmp_path / "disk", tmp_path / "spill"
    disk.mkdir()
    spill.mkdir()
    script = tmp_path / "write.py"
    script.write_text(WRITE)
    inner = [sys.executable, str(script), str(disk), form, str(spill)]
    ran = subprocess.run(
        [*namespace, "sh", "-c", MOUNT, "sh", str(disk), *inner],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    messages = ran.stdout.splitlines()
    assert len(messages) == 4, ran.stdout
    for message in messages:
        assert "Could not write" in message
        assert str(disk) in message
        assert "No space left on device" in message
    assert list(spill.iterdir()) == []
