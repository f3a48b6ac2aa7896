# SPDX-License-Identifier: Apache-2.0
"""Text and names that are not UTF-8: an error of ours that names file and column."""

import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest

import xshards as xs

LONG = b"long enough to be copied in pieces: "


def write_ipc(table, file):
    with ipc.new_file(file, table.schema) as out:
        out.write_table(table)


WRITERS = {
    "plain": lambda table, file: pq.write_table(table, file, use_dictionary=False),
    "dictionary": pq.write_table,
    "delta": lambda table, file: pq.write_table(
        table, file, use_dictionary=False, column_encoding={"s": "DELTA_BYTE_ARRAY"}
    ),
    "ipc": write_ipc,
    "orc": orc.write_table,
}
VALUES = {
    "a wrong byte": [b"a", b"\xff", b"b"],
    "a cut character": [b"a", "é".encode()[:1], b"b"],
    "a character over two values": ["é".encode()[:1], "é".encode()[1:]],
    "a surrogate": [b"\xed\xa0\x80"],
    "late": [b"a"] * 3000 + [LONG + b"\xff"],
    "among missing ones": [None, b"x", None, b"\x80", None] * 300,
}


def read(file, how):
    if how in ("ipc", "orc"):
        return getattr(xs, f"read_{how}")(file)
    return xs.read_parquet(file)


def as_text(values):
    column = pa.array(values, pa.binary())
    return pa.StringArray.from_buffers(
        len(column), *column.buffers()[1:], column.buffers()[0]
    )


ACTIONS = {
    "rows": lambda shards: shards.to_pandas(),
    "distinct": lambda shards: shards["s"].nunique(),
    "length": lambda shards: shards.assign(n=xs.col("s").str.len())["n"].sum(),
}


@pytest.mark.parametrize("act", ACTIONS)
@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("how", WRITERS)
def test_it_is_an_error_that_names_the_file(tmp_path, how, values, act):
    file = tmp_path / "text.data"
    column = as_text(VALUES[values])
    WRITERS[how](pa.table({"i": range(len(column)), "s": column}), file)
    with pytest.raises(xs.XShardsError, match=r"text\.data") as caught:
        ACTIONS[act](read(file, how))
    assert not isinstance(caught.value, UnicodeDecodeError)


def test_text_inside_of_lists(tmp_path):
    texts = as_text([b"a", b"\xff"])
    lists = pa.ListArray.from_arrays(pa.array([0, 2], pa.int32()), texts)
    pq.write_table(pa.table({"l": lists}), tmp_path / "lists.parquet")
    with pytest.raises(xs.XShardsError, match=r"lists\.parquet.*column 'l'"):
        xs.read_parquet(tmp_path / "lists.parquet").to_pandas()


@pytest.mark.parametrize("how", ["plain", "dictionary"])
def test_bytes_may_be_any(tmp_path, how):
    table = pa.table({"s": pa.array([b"\xff", b"", None, b"\x80"] * 900)})
    WRITERS[how](table, tmp_path / "bytes.data")
    read_back = xs.read_parquet(tmp_path / "bytes.data").to_arrow()
    assert read_back["s"].to_pylist() == table["s"].to_pylist()


@pytest.mark.parametrize("how", ["plain", "dictionary", "delta"])
def test_text_of_all_kinds_is_read(tmp_path, how):
    values = ["", "a", "é", "日本語", "🎉" * 40, None, "a" * 100] * 1000
    table = pa.table({"i": range(len(values)), "s": values})
    WRITERS[how](table, tmp_path / "text.data")
    read_back = xs.read_parquet(tmp_path / "text.data").to_arrow()
    assert read_back["s"].to_pylist() == values


@pytest.mark.parametrize("how", ["parquet", "ipc", "orc"])
def test_a_name_that_is_not_utf8(tmp_path, how):
    file = tmp_path / "named.data"
    table = pa.table({"i": [1], "nameless": [1]})
    if how == "parquet":
        pq.write_table(table, file, store_schema=False, compression="none")
    elif how == "ipc":
        write_ipc(table, file)
    else:
        orc.write_table(table, file, compression="uncompressed")
    changed = file.read_bytes().replace(b"nameless", b"name\xff\xfe\xc3\x28")
    file.write_bytes(changed)
    with pytest.raises(xs.XShardsError, match=r"named\.data"):
        read(file, how).to_pandas()
    with pytest.raises(xs.XShardsError, match=r"named\.data"):
        len(read(file, how).schema)
