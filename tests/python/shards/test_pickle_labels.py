# SPDX-License-Identifier: Apache-2.0
"""Labels of pickle files are not believed before their seal is checked."""

import json
import os
import subprocess
import sys

import pandas as pd
import pytest

import xshards as xs

SAVE = "0" * 32


def write(folder, *label, seal=b"\0" * 32, body=b"", name="part-00000.pickle"):
    folder.mkdir(exist_ok=True)
    line = json.dumps(["xshards-pickle", 1, *label]).encode() + b"\n"
    (folder / name).write_bytes(line + seal + body)
    return folder


@pytest.mark.parametrize(
    "label",
    [
        (SAVE, 0, 100_000_000),
        (SAVE, 0, 10**100),
        (SAVE, 0, 0),
        (SAVE, 0, -1),
        (SAVE, -1, 1),
        (SAVE, 5, 1),
        (SAVE, 10**100, 10**100 + 1),
        (SAVE, 0, 1),
        (SAVE, 0, True),
        (SAVE, 0, 1.0),
        (SAVE, 0, float("inf")),
        (SAVE, 0, "1"),
        (SAVE, 0, [1]),
        ([], 0, 1),
        (SAVE, 0),
    ],
    ids=str,
)
def test_a_label_alone_is_refused_in_little_memory(label, tmp_path):
    folder = write(tmp_path / "saved", *label)
    code = f"""
import resource, xshards as xs
xs.init(cores=1, memory="256MB")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    print(len(xs.XShards.load_pickle({str(folder)!r}, key="k").collect()))
except xs.XShardsError as error:
    print(type(error).__name__, "saved" in str(error))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60
    )
    refused, is_small = done.stdout.splitlines()
    assert refused.startswith("XShards"), done.stderr
    assert refused.endswith(" True")
    assert is_small == "True"


@pytest.mark.parametrize("content", [b"", b"[" * 5000, b"\xff\n", b"\0" * 100, b"{}\n"])
def test_files_of_anything_else_are_refused(content, tmp_path):
    (tmp_path / "part-00000.pickle").write_bytes(content)
    with pytest.raises(xs.XShardsError, match=r"part-00000\.pickle was not written by"):
        xs.XShards.load_pickle(str(tmp_path), key="k")


def test_removed_file_is_reported(tmp_path):
    shards = xs.from_pandas(pd.DataFrame({"a": range(6)}), 3)
    shards.save_pickle(str(tmp_path / "saved"), key="k")
    for number in (2, 0):
        (tmp_path / "saved" / f"part-0000{number}.pickle").rename(tmp_path / "aside")
        expected = rf"lacks the files of partitions \[{number}\] of 3"
        with pytest.raises(FileNotFoundError, match=expected):
            xs.XShards.load_pickle(str(tmp_path / "saved"), key="k")
        (tmp_path / "aside").rename(tmp_path / "saved" / f"part-0000{number}.pickle")
    loaded = xs.XShards.load_pickle(str(tmp_path / "saved"), key="k")
    assert loaded.to_pandas()["a"].tolist() == list(range(6))


def test_a_label_of_a_sealed_file_cannot_be_changed(tmp_path):
    shards = xs.from_pandas(pd.DataFrame({"a": range(6)}), 2)
    shards.save_pickle(str(tmp_path / "saved"), key="k")
    second = tmp_path / "saved" / "part-00001.pickle"
    second.unlink()
    first = tmp_path / "saved" / "part-00000.pickle"
    line, _, rest = first.read_bytes().partition(b"\n")
    label = json.loads(line)
    label[4] = 1  # as if there had been one file only
    first.write_bytes(json.dumps(label).encode() + b"\n" + rest)
    with pytest.raises(ValueError, match="was modified after it was written"):
        xs.XShards.load_pickle(str(tmp_path / "saved"), key="k").collect()


def test_fifo_is_rejected(tmp_path):
    os.mkfifo(tmp_path / "part-00000.pickle")
    with pytest.raises(
        xs.XShardsError, match=r"part-00000\.pickle is not a regular file"
    ):
        xs.XShards.load_pickle(str(tmp_path), key="k")
