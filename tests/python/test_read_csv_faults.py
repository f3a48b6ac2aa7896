# SPDX-License-Identifier: Apache-2.0
"""Files that are damaged, change, or are of unusual size: errors name them."""

import gzip
import io
import os

import numpy as np
import pandas as pd
import pyarrow.compute as pc
import pytest
from frames import assert_same

import xshards as xs

ROWS = 200_000


@pytest.fixture
def lines():
    return "a,b\n" + "".join(f"{row},x{row}\n" for row in range(ROWS))


def test_truncated_gzip(tmp_path, lines):
    path = tmp_path / "cut.csv.gz"
    whole = gzip.compress(lines.encode(), 1)
    for kept in (len(whole) - 5, len(whole) // 2, 40, 5):
        path.write_bytes(whole[:kept])
        with pytest.raises((OSError, ValueError), match=r"cut\.csv\.gz"):
            xs.read_csv(path).to_pandas()


def test_damaged_gzip(tmp_path, lines):
    path = tmp_path / "bad.csv.gz"
    content = bytearray(gzip.compress(lines.encode(), 1))
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises((OSError, ValueError), match=r"bad\.csv\.gz"):
        xs.read_csv(path).to_pandas()


def append(path):
    with path.open("ab") as file:
        file.write(path.read_bytes()[:10])


def replace(path):
    """Put a file of the same size in its place, with records elsewhere."""
    content = path.read_bytes()
    other = path.with_name("other")
    other.write_bytes(content[::-1])
    os.utime(other, ns=(0, path.stat().st_mtime_ns + 1))
    other.rename(path)


CHANGES = {
    "cut": lambda path: os.truncate(path, path.stat().st_size // 2),
    "cut at a record": lambda path: os.truncate(path, path.stat().st_size - 1),
    "emptied": lambda path: os.truncate(path, 0),
    "grown": append,
    "replaced": replace,
    "touched": lambda path: os.utime(path, ns=(0, 0)),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("form", ["csv", "csv.gz", "json", "array.json"])
def test_file_that_changes_before_it_is_read(tmp_path, change, form):
    path = tmp_path / f"a.{form}"
    frame = pd.DataFrame({"a": range(2_000), "b": "x"})
    if form.startswith("csv"):
        frame.to_csv(path, index=False)
        read = xs.read_csv
    else:
        frame.to_json(path, orient="records", lines=form == "json")
        read = xs.read_json
    for cut in ({}, {"block_size": 4_000}):
        before = path.read_bytes()
        shards = read(path, **cut)
        assert_same(shards.to_pandas(), frame)
        assert_same(shards.to_pandas(), frame)
        CHANGES[change](path)
        with pytest.raises(OSError, match=rf"'.*a\.{form}'.*changed since.*again"):
            shards.to_pandas()
        path.write_bytes(before)
        assert_same(read(path, **cut).to_pandas(), frame)
    path.unlink()
    with pytest.raises(FileNotFoundError, match=rf"a\.{form}"):
        shards.to_pandas()


def test_workers_notice_that_a_file_changed(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a\n1\n2\n")
    shards = xs.read_csv(path).transform_shard(lambda frame: frame)
    path.write_text("a\n1\n23\n")
    with pytest.raises(OSError, match=r"a\.csv'.*It had 6 bytes, and now has 7"):
        shards.to_pandas()


def test_unreadable_file_in_a_folder(tmp_path):
    (tmp_path / "1.csv").write_text("a\n1\n")
    (tmp_path / "2.csv").symlink_to(tmp_path / "nowhere")
    with pytest.raises(OSError, match=r"2\.csv"):
        xs.read_csv(tmp_path).to_pandas()


NULS = [
    b"a,b\nx\0y,1\n",
    b"a,b\n\0,1\n",
    b"a,b\n1\0,1\n2,3\n",
    b"a\0b,b\n1,1\n",
    b'a,b\n"\0","\0\n"\n',
    b"a\n" + b"\0" * 300 + b"\n",
]


@pytest.mark.parametrize("content", NULS)
def test_nul_bytes_are_characters(tmp_path, content):
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    expected = pd.read_csv(io.BytesIO(content))
    assert_same(xs.read_csv(path, block_size=1).to_pandas(), expected)


def test_many_columns(tmp_path):
    count = 50_000
    path = tmp_path / "wide.csv"
    df = pd.DataFrame(np.arange(count * 3).reshape(3, count))
    df.columns = [f"c{number}" for number in range(count)]
    df.iloc[2, -1] = 7
    path.write_text(
        ",".join(df.columns)
        + "\n"
        + "\n".join(",".join(map(str, row)) for row in df.to_numpy())
        + "\n"
    )
    ours = xs.read_csv(path, num_partitions=3).to_pandas()
    assert_same(ours, df)


def test_large_field(tmp_path):
    path = tmp_path / "large.csv"
    value = "x" * 30_000_000
    path.write_text(f'a,b\n1,"{value}\n"\n2,y\n')
    shards = xs.read_csv(path, block_size=1000)
    assert shards.to_pandas()["b"].str.len().tolist() == [len(value) + 1, 1]


@pytest.mark.slow
def test_field_of_a_gigabyte(tmp_path):
    path = tmp_path / "huge.csv"
    size = 1 << 30
    with path.open("w") as file:
        file.write('a,b\n1,"')
        for _ in range(size >> 20):
            file.write("x" * (1 << 20))
        file.write('"\n2,y\n')
    context = xs.init(memory="12GB")
    column = xs.read_csv(path, context=context).to_arrow()["b"]
    assert pc.binary_length(column).to_pylist() == [size, 1]


@pytest.mark.slow
def test_field_beyond_what_is_allowed_is_an_error(tmp_path):
    path = tmp_path / "open.csv"
    with path.open("wb") as file:
        file.write(b'a,b\n1,"')
        file.truncate((1 << 31) + (1 << 20))
    with pytest.raises(ValueError, match=r"open\.csv.*less than 2 GB"):
        xs.read_csv(path).to_pandas()
