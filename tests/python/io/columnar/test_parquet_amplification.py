# SPDX-License-Identifier: Apache-2.0
"""A small file that stands for gigabytes is read in batches of bounded size."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from child_process import run_in_child

import xshards as xs

ROWS = 65_536
TEXT = 64_000

READ = """
    import resource, sys
    import xshards as xs
    xs.init(cores=2, memory="128MB")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    shards = xs.read_parquet(sys.argv[1])
    act = sys.argv[2]
    if act == "head":
        assert len(shards.limit(5).to_pandas()) == 5
    elif act == "length":
        lengths = shards.assign(n=xs.col("s").str.len())["n"].sum()
        assert lengths == 65_536 * 64_000, lengths
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10
    assert grown < 400, f"{grown} MB"
"""


@pytest.fixture
def file(tmp_path):
    """4.2 GB of text in 66 KB: one value of a dictionary, repeated."""
    file = tmp_path / "repeated.parquet"
    text = pa.DictionaryArray.from_arrays(
        pa.array([0] * ROWS, pa.int32()), pa.array(["x" * TEXT])
    )
    pq.write_table(
        pa.table({"i": range(ROWS), "s": text}),
        file,
        store_schema=False,
        compression="none",
        use_dictionary=["s"],
        column_encoding={"i": "DELTA_BINARY_PACKED"},
    )
    assert file.stat().st_size < 500_000
    return file


@pytest.mark.parametrize("act", ["head", "length"])
def test_repeated_text_is_decoded_batch_by_batch(file, act):
    run_in_child(READ, file, act)


@pytest.mark.parametrize("rows", [1, 1000, 1025, 5000])
def test_rows_stay_together_where_a_column_of_long_text_is_cut(tmp_path, rows):
    """Columns before and after the text, some decoded by Arrow, go on with its rows."""
    table = pa.table(
        {
            "i": range(rows),
            "odd": [n % 2 == 1 for n in range(rows)],
            "s": [None if n % 5 == 0 else f"{n % 50:03}" * 1000 for n in range(rows)],
            "u": [f"row {n}" for n in range(rows)],
            "l": [[n] * (n % 3) for n in range(rows)],
        }
    )
    file = tmp_path / "long.parquet"
    pq.write_table(table, file, data_page_size=1000, row_group_size=3000)
    context = xs.Context(cores=2, memory="16MB")
    shards = xs.read_parquet(file, context=context)
    found = shards.to_arrow()
    assert found.cast(table.schema).equals(table)
    some = shards.filter(xs.col("i") >= rows // 2).to_arrow()
    assert some.cast(table.schema).equals(table.slice(rows // 2))
    context.close()
