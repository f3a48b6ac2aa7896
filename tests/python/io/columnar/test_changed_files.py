# SPDX-License-Identifier: Apache-2.0
"""Files replaced, cut or grown after their reading was planned."""

import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest
from child_process import run_in_child

import xshards as xs


def table(num_rows):
    text = [f"text {n % 7}" for n in range(num_rows)]
    return pa.table({"i": np.arange(num_rows), "s": pa.array(text, pa.string())})


WRITERS = {
    "parquet": lambda rows, file: pq.write_table(table(rows), file, row_group_size=500),
    "ipc": lambda rows, file: feather.write_feather(
        table(rows), file, compression="uncompressed", chunksize=500
    ),
    "orc": lambda rows, file: orc.write_table(table(rows), file),
}
READERS = {"parquet": xs.read_parquet, "ipc": xs.read_ipc, "orc": xs.read_orc}


@pytest.fixture(params=WRITERS)
def kind(request):
    return request.param


@pytest.mark.parametrize("rows", [1000, 10_000, 0, 5000])
@pytest.mark.parametrize("act", ["to_pandas", "count"])
def test_a_file_that_was_replaced_is_an_error(tmp_path, kind, rows, act):
    file = tmp_path / f"numbers.{kind}"
    WRITERS[kind](5000, file)
    shards = READERS[kind](file)
    assert shards.count() == 5000
    other = tmp_path / "other"
    WRITERS[kind](rows, other)
    os.utime(other, ns=(1, 1))
    other.replace(file)
    with pytest.raises(xs.XShardsError, match=rf"(?s){file.name}.*changed since"):
        getattr(shards, act)()
    assert READERS[kind](file).count() == rows


def test_a_file_that_was_not_changed_is_read_again(tmp_path, kind):
    file = tmp_path / f"numbers.{kind}"
    WRITERS[kind](5000, file)
    shards = READERS[kind](file)
    for _ in range(2):
        pd.testing.assert_frame_equal(
            shards.to_pandas(), table(5000).to_pandas(), check_dtype=False
        )


def test_our_own_overwrite_is_named_too(tmp_path):
    folder = tmp_path / "out"
    xs.from_pandas(table(5000).to_pandas(), num_partitions=1).to_parquet(folder)
    (file,) = folder.glob("*.parquet")
    before = xs.read_parquet(file)
    small = xs.from_pandas(table(10).to_pandas(), num_partitions=1)
    small.to_parquet(folder, mode="overwrite")
    with pytest.raises(xs.XShardsError, match=r"\.parquet"):
        before.to_pandas()


CUT_WHILE_READ = """
    import os, sys, threading
    import xshards as xs
    xs.init(cores=2, memory="256MB")
    kind, file, size = sys.argv[1], sys.argv[2], int(sys.argv[3])
    data = open(file, "rb").read()
    stop = threading.Event()

    def cut():
        while not stop.is_set():
            os.truncate(file, size // 2)
            with open(file, "r+b") as out:
                out.write(data)

    thread = threading.Thread(target=cut)
    thread.start()
    seen = set()
    for _ in range(60):
        try:
            seen.add(len(getattr(xs, "read_" + kind)(file).to_arrow()))
        except xs.XShardsError as error:
            assert os.path.basename(file) in str(error), error
            seen.add("error")
    stop.set()
    thread.join()
    assert "error" in seen, seen
    assert seen <= {"error", 200_000}, seen
"""


def test_a_file_cut_while_it_is_read_is_an_error(tmp_path, kind):
    """A mapped file would end the process by SIGBUS."""
    file = tmp_path / f"numbers.{kind}"
    WRITERS[kind](200_000, file)
    run_in_child(CUT_WHILE_READ, kind, file, file.stat().st_size)
