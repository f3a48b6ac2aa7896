# SPDX-License-Identifier: Apache-2.0
"""Rows that take next to no bytes in a file are read in batches of bounded size."""

import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest
from child_process import run_in_child

import xshards as xs

ROWS = 5_000_000
KEY = "k" * 200

READ = """
    import resource, sys
    import pyarrow as pa
    import xshards as xs
    xs.init(cores=2, memory="128MB")
    format, path, act = sys.argv[1:]
    read = getattr(xs, f"read_{format}")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if act == "folder":
        shards = read(path, columns=["k"])
        assert shards.assign(n=xs.col("k").str.len())["n"].sum() == 200 * 5_000_000
    elif act == "missing":
        schema = pa.schema([(f"c{i}", pa.float64()) for i in range(20)])
        shards = read(path, schema=schema)
        total = sum(xs.col(name) for name in schema.names)
        assert shards.filter(total.notnull()).count() == 0
    elif act == "text":
        shards = read(path)
        lengths = shards.assign(n=xs.col("s").str.len())["n"].sum()
        assert lengths == 65_536 * 64_000, lengths
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10
    assert grown < 400, f"{grown} MB"
"""


def write_ipc(table, file):
    options = ipc.IpcWriteOptions(compression="zstd")
    with ipc.new_file(file, table.schema, options=options) as out:
        out.write_table(table)


WRITERS = {"parquet": pq.write_table, "orc": orc.write_table, "ipc": write_ipc}


@pytest.mark.parametrize("act", ["folder", "missing"])
@pytest.mark.parametrize("format", WRITERS)
def test_rows_without_columns_take_the_memory_of_a_batch(tmp_path, format, act):
    folder = tmp_path / f"k={KEY}"
    folder.mkdir()
    file = folder / f"rows.{format}"
    WRITERS[format](pa.table({"a": pa.nulls(ROWS, pa.int8())}), file)
    assert file.stat().st_size < 1_000_000
    run_in_child(READ, format, tmp_path if act == "folder" else file, act)


def test_a_repeated_text_of_ipc_takes_the_memory_of_a_batch(tmp_path):
    text = pa.DictionaryArray.from_arrays(
        pa.array([0] * 65_536, pa.int32()), pa.array(["x" * 64_000])
    )
    table = pa.table({"s": text})
    write_ipc(table, tmp_path / "repeated.arrow")
    run_in_child(READ, "ipc", tmp_path / "repeated.arrow", "text")


def test_texts_of_all_lengths_stay_with_their_rows(tmp_path):
    values = ["", "a", "b" * 300_000, "c" * 3_000_000]
    places = [(n * n) % 5 if (n * n) % 5 < 4 else None for n in range(200)]
    text = pa.DictionaryArray.from_arrays(pa.array(places, pa.int8()), pa.array(values))
    table = pa.table({"i": range(200), "s": text})
    write_ipc(table, tmp_path / "texts.arrow")
    read = xs.read_ipc(tmp_path / "texts.arrow").to_arrow()
    assert read["i"].to_pylist() == list(range(200))
    assert read["s"].to_pylist() == text.to_pylist()
