# SPDX-License-Identifier: Apache-2.0
"""Files whose notes or bytes are damaged: our errors, which name the file."""

import copy
import json

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import xshards as xs

FRAME = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}, index=[5, 6])
TABLE = pa.Table.from_pandas(FRAME)
NOTE = json.loads(TABLE.schema.metadata[b"pandas"])
WRONG = [
    None,
    5,
    "x",
    [],
    {},
    [5],
    [None],
    [["x"]],
    [{}],
    ["nosuch"],
    [{"kind": "range"}],
]


def changed(*path, value):
    note = copy.deepcopy(NOTE)
    part = note
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    return json.dumps(note).encode()


RANGES = [
    {"kind": "range", "name": None, "start": 0, "stop": 2, "step": 1, **wrong}
    for wrong in (
        {"start": "x"},
        {"step": 0},
        {"step": None},
        {"start": 10**30},
        {"start": 1.5},
        {"name": []},
        {"start": True},
    )
]


def notes():
    """Name notes that pandas does not write."""
    yield from (
        b"",
        b"{",
        b"\xff\xfe",
        b"[]",
        b"null",
        b"5",
        b'"x"',
        b"\0",
        b"[" * 99_999,
    )
    for key in NOTE:
        yield from (changed(key, value=value) for value in WRONG)
    for column in (0, -1):
        for key in NOTE["columns"][0]:
            for value in WRONG[:5]:
                yield changed("columns", column, key, value=value)
    yield from (changed("index_columns", value=[one]) for one in RANGES)


def write(path, note):
    table = TABLE.replace_schema_metadata({b"pandas": note})
    if path.suffix == ".parquet":
        pq.write_table(table, path)
        return xs.read_parquet
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as out:
        out.write_table(table)
    return xs.read_ipc


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_damaged_notes_of_pandas_are_our_errors(tmp_path, suffix):
    """Whatever a note says: the rows, or an error of ours that names the file."""
    path = tmp_path / f"file.{suffix}"
    refused = 0
    for note in notes():
        read = write(path, note)
        try:
            shards = read(str(path))
            assert len(shards.dtypes) >= 2
            assert sorted(shards.to_pandas()["a"]) == [1, 2]
        except xs.XShardsError as error:
            refused += 1
            assert str(path) in str(error), note  # noqa: PT017
            assert "pandas metadata" in str(error), note  # noqa: PT017
    assert refused > 40


def test_notes_that_pandas_writes_are_read(tmp_path):
    frames = [
        FRAME,
        FRAME.reset_index(drop=True),
        FRAME.set_axis(pd.RangeIndex(4, 8, 2, name="n")),
        FRAME.set_index("b", append=True),
        FRAME.rename(columns={"a": 1, "b": -2}),
        FRAME.astype({"a": "Int64", "b": "category"}),
    ]
    for frame in frames:
        frame.to_parquet(tmp_path / "file.parquet")
        back = xs.read_parquet(str(tmp_path / "file.parquet")).to_pandas()
        theirs = pd.read_parquet(tmp_path / "file.parquet")
        pd.testing.assert_frame_equal(back, theirs)


ODD = {
    "text": b'{"a": "\xff"}\n',
    "name": b'{"\xff": 1}\n',
    "NUL": b'{"a": "\0"}\n',
    "nothing but NUL": b"\0\n",
    "UTF-16": '{"a": 1}\n'.encode("utf-16"),
    "half a character": b'{"a": "\xe2\x82',
    "in an object": b'{"a": {"b": "\xff"}}\n',
    "in a list": b'{"a": ["\xff"]}\n',
    "in the last line": b'{"a": 1}\n' * 5000 + b'{"a": "\xff"}\n',
    "in an array": b'[{"a": "\xff"}]',
    "unpaired surrogate": b'{"a": {"b": "\\ud800"}}\n',
}
OPTIONS = [
    {},
    {"lines": True},
    {"lines": False},
    {"orient": "records"},
    {"orient": "columns"},
    {"orient": "index"},
    {"orient": "split"},
    {"dtype": True},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("content", ODD.values(), ids=ODD)
def test_odd_bytes_in_json_are_our_errors(tmp_path, content, options):
    path = tmp_path / "odd.json"
    path.write_bytes(content)
    try:
        xs.read_json(str(path), **options).to_pandas()
    except xs.XShardsError as error:
        assert "odd.json" in str(error)  # noqa: PT017
    else:
        assert content == ODD["unpaired surrogate"]  # which pandas reads as well


def test_odd_bytes_in_memory():
    with pytest.raises(xs.XShardsError, match="Could not read"):
        xs.read_json(b'{"a": {"b": "\xff"}}', orient="columns").to_pandas()
