# SPDX-License-Identifier: Apache-2.0
"""Parquet files whose numbers are wrong: rows or an error that names the file."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import thrift_compact as tc
from child_process import run_in_child

# Reads every file of a folder in several ways. A signal ends the child, and is seen.
READ_ALL = """
    import pathlib, sys
    import xshards as xs
    xs.init(cores=2, memory="256MB")
    for file in sorted(pathlib.Path(sys.argv[1]).glob("*.parquet")):
        outcomes = []
        for act in (
            lambda shards: len(shards.to_arrow()),
            lambda shards: shards.count(),
            lambda shards: shards["s"].nunique(),
            lambda shards: sum(len(text or "") for text in shards["s"].unique()),
            lambda shards: len(shards.filter(xs.col("i") > 2500).to_arrow()),
            lambda shards: len(shards.head(5)),
        ):
            try:
                outcomes.append(str(act(xs.read_parquet(file))))
            except xs.XShardsError as error:
                outcomes.append("error" if file.name in str(error) else str(error))
        print(file.name, *outcomes, sep="\\t", flush=True)
    xs.stop()
"""

LIMITS = [-1, 0, 1, -(2**63), 2**63 - 1, 2**31 - 1, -(2**31), 2**62]


def outcomes(folder):
    lines = run_in_child(READ_ALL, folder, timeout=300).splitlines()
    return {name: results for name, *results in (line.split("\t") for line in lines)}


@pytest.fixture
def plain(tmp_path):
    """One row group of 5,000 rows with dictionaries, statistics and a page index."""
    table = pa.table(
        {
            "i": range(5000),
            "s": [f"text {n % 11}" for n in range(5000)],
            "f": [None if n % 7 == 0 else n / 3 for n in range(5000)],
        }
    )
    file = tmp_path / "plain"
    pq.write_table(
        table, file, compression="none", data_page_size=4000, write_page_index=True
    )
    return file.read_bytes()


@pytest.mark.parametrize(
    "field",
    ["file", "group", "chunk", "index"],
)
def test_every_number_of_a_footer_may_be_wrong(tmp_path, plain, field):
    """Each number in turn is set to each limit: no signal, and no other error."""
    body, footer = tc.split_file(plain)
    made = {}
    for path, cell in list(tc.integers(footer)):
        in_chunk = path[:1] == (4,) and len(path) > 3
        kind = (
            "file"
            if path[:1] != (4,)
            else "group"
            if not in_chunk
            else "chunk"
            if 3 in path[4:5]
            else "index"
        )
        if kind != field:
            continue
        kept = cell[1]
        for limit in LIMITS:
            cell[1] = limit
            name = "-".join(map(str, path)) + f"={limit}.parquet"
            (tmp_path / name).write_bytes(tc.join_file(body, footer))
            made[name] = limit
        cell[1] = kept
    assert made
    found = outcomes(tmp_path)
    assert found.keys() == made.keys()
    for name, results in found.items():
        for result in results:
            assert result == "error" or result.lstrip("-").isdigit(), (name, result)
            assert not result.startswith("-"), (name, result)


def write_text(values):
    sink = pa.BufferOutputStream()
    pq.write_table(
        pa.table({"i": range(len(values)), "s": values}), sink, compression="none"
    )
    return sink.getvalue().to_pybytes()


def join_chunks(first, second):
    """Give a file whose column s has the pages of two files, one after the other."""
    body, footer = tc.split_file(first)
    other_body, other_footer = tc.split_file(second)
    (group,), (other,) = tc.row_groups(footer), tc.row_groups(other_footer)
    joined = bytearray(tc.MAGIC)
    for chunk, other_chunk in zip(tc.chunks(group), tc.chunks(other), strict=True):
        begin = chunk.get(11, chunk[9])[1]
        move = len(joined) - begin
        joined += tc.chunk_bytes(body, chunk) + tc.chunk_bytes(other_body, other_chunk)
        for number in (9, 11):
            chunk[number][1] += move
        for number in (5, 6, 7):
            chunk[number][1] += other_chunk[number][1]
        for number in (12, 13):
            chunk.pop(number, None)
        # Without numbers of pages, plain values would be for the dictionary alone.
        chunk[2][1][1] = [3, 8]
    group[3][1] += other[3][1]
    footer[3][1] += other_footer[3][1]
    return tc.join_file(bytes(joined), footer)


@pytest.mark.parametrize("sizes", [(1000, 2), (2, 1000), (7, 7)])
def test_two_dictionary_pages_are_an_error(tmp_path, sizes):
    first, second = (
        write_text([f"{'x' * (n % size)}{n % size}" for n in range(1000)])
        for size in sizes
    )
    (tmp_path / "two.parquet").write_bytes(join_chunks(first, second))
    (results,) = outcomes(tmp_path).values()
    count = results.pop(1)
    assert count == "2000"
    # The filter and head() may need the first pages only.
    assert results[:3] == ["error"] * 3


def test_a_row_group_with_fewer_columns_is_named(tmp_path, plain):
    body, footer = tc.split_file(plain)
    del tc.row_groups(footer)[0][1][1][1][1:]
    (tmp_path / "columns.parquet").write_bytes(tc.join_file(body, footer))
    (results,) = outcomes(tmp_path).values()
    assert set(results) <= {"error", "5000"}
    assert results[0] == "error"


def test_an_offset_index_without_pages_drops_no_rows(tmp_path, plain):
    """What an index does not name cannot be ruled out by it."""
    body, footer = tc.split_file(plain)
    empty = tc.encode({1: [tc.LIST, [tc.STRUCT, []]]})
    nothing = tc.encode(
        {
            1: [tc.LIST, [tc.TRUE, []]],
            2: [tc.LIST, [tc.BINARY, []]],
            3: [tc.LIST, [tc.BINARY, []]],
            4: [tc.I32, 1],
        }
    )
    for column in tc.row_groups(footer)[0][1][1][1]:
        column[4][1], column[5][1] = len(body), len(empty)
        column[6][1], column[7][1] = len(body) + len(empty), len(nothing)
    data = tc.join_file(body + empty + nothing, footer)
    (tmp_path / "index.parquet").write_bytes(data)
    (results,) = outcomes(tmp_path).values()
    assert results[4] == "2499"
