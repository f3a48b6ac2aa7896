# SPDX-License-Identifier: Apache-2.0
"""Damaged and cut files of all formats that know their schema are named."""

import random

import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest

import xshards as xs

FRAME = pd.DataFrame(
    {
        "i": [n % 7 for n in range(5000)],
        "f": [n / 3 for n in range(5000)],
        "s": [f"text {n % 11}" for n in range(5000)],
    }
)


def write_parquet(file):
    pq.write_table(pa.Table.from_pandas(FRAME), file, compression="none")


def write_ipc(file):
    feather.write_feather(FRAME, file, compression="uncompressed")


def write_orc(file):
    orc.write_table(pa.Table.from_pandas(FRAME), file)


FORMATS = {
    "parquet": (write_parquet, xs.read_parquet),
    "arrow": (write_ipc, xs.read_ipc),
    "orc": (write_orc, xs.read_orc),
}


@pytest.fixture(params=FORMATS)
def written(request, tmp_path):
    write, read = FORMATS[request.param]
    file = tmp_path / f"trips.{request.param}"
    write(file)
    return file, read


@pytest.mark.parametrize("part", [0.0, 0.01, 0.5, 0.99])
def test_a_truncated_file_is_named(written, part):
    file, read = written
    data = file.read_bytes()
    file.write_bytes(data[: int(len(data) * part)])
    with pytest.raises(xs.XShardsError, match=file.name):
        read(file).to_pandas()


def test_a_file_truncated_after_planning_is_named(written):
    file, read = written
    shards = read(file)
    data = file.read_bytes()
    file.write_bytes(data[: len(data) // 2])
    with pytest.raises(xs.XShardsError, match=file.name):
        shards.to_pandas()


def test_another_kind_of_file_is_named(written):
    file, read = written
    file.write_bytes(b"a,b\n1,2\n" * 100)
    with pytest.raises(xs.XShardsError, match=file.name):
        read(file)


def outcome(file):
    try:
        return len(xs.read_parquet(file).to_arrow())
    except xs.XShardsError as error:
        return "error" if file.name in str(error) else str(error)


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("use_dictionary", [False, True])
@pytest.mark.parametrize("compression", ["none", "snappy"])
def test_damaged_pages_never_end_the_process(
    tmp_path, version, use_dictionary, compression
):
    """Bytes changed anywhere in the data: an error, or rows, and nothing else."""
    file = tmp_path / "trips.parquet"
    pq.write_table(
        pa.Table.from_pandas(FRAME.where(FRAME["i"] != 3)),
        file,
        data_page_version=version,
        use_dictionary=use_dictionary,
        compression=compression,
        data_page_size=2000,
    )
    whole = file.read_bytes()
    end = pq.ParquetFile(file).metadata
    data_end = len(whole) - end.serialized_size - 8
    generator = random.Random(0)
    outcomes = set()
    for _ in range(150):
        damaged = bytearray(whole)
        for _ in range(generator.choice([1, 1, 20])):
            damaged[generator.randrange(4, data_end)] = generator.randrange(256)
        file.write_bytes(bytes(damaged))
        outcomes.add(outcome(file))
    assert outcomes == {len(FRAME), "error"}
