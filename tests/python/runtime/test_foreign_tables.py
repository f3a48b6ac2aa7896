# SPDX-License-Identifier: Apache-2.0
"""Tables that a function read from files of others: rows, whatever they claim."""

import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import xshards as xs


class Trap:
    """Creates a file where it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (self.path, "w")


def read_file(_, path):
    return pq.read_table(path)


def hostile_file(folder, notes, column=None, field_notes=None):
    column = pa.array([1, 2]) if column is None else column
    field = pa.field("a", column.type, metadata=field_notes)
    table = pa.table([column], schema=pa.schema([field], notes))
    path = folder / "hostile.parquet"
    pq.write_table(table, path)
    return path


@pytest.mark.parametrize("kind", ["object", "tensors"])
@pytest.mark.parametrize("method", ["transform_shard", "map_batches"])
def test_a_table_of_a_function_is_not_unpickled(kind, method, tmp_path):
    sprung = tmp_path / "sprung"
    content = pickle.dumps(Trap(str(sprung)))
    notes = {"xshards.payload": kind, "xshards.structure": "0"}
    column = pa.array([content], pa.large_binary())
    path = hostile_file(tmp_path, notes, column, {"dtype": "|O8", "shape": "1,"})
    shards = xs.from_pandas(pd.DataFrame({"n": [1]}), 1)
    if method == "transform_shard":
        results = shards.transform_shard(read_file, str(path))
    else:
        results = shards.map_batches(read_file, str(path), batch_size=1)
    frame = results.to_pandas()
    assert frame["a"].tolist() == [content]
    assert results.transform_shard(lambda df: df).to_pandas()["a"].tolist() == [content]
    assert results.cache().to_pandas()["a"].tolist() == [content]
    assert not sprung.exists()


@pytest.mark.parametrize("value", ["", "{", "5", "[]", '{"axis": 5}', '{"axis": [{}]}'])
def test_a_note_in_our_name_says_nothing(value, tmp_path):
    path = hostile_file(tmp_path, {"xshards": value})
    shards = xs.from_pandas(pd.DataFrame({"n": [1]}), 1)
    results = shards.transform_shard(read_file, str(path)).to_pandas()
    assert results["a"].tolist() == [1, 2]


@pytest.mark.parametrize(
    "note",
    [
        {b"\xff": b"\xfe"},
        {"pandas.label": b"\xff"},
        {"pandas.label": "{"},
        {"pandas.label": "5"},
        {"pandas.label": '["a", []]'},
        {"pandas.label": '["a", {}]'},
        {"pandas.label": '["a", {"tuple": 5}]'},
        {"pandas.label": '["a", {"pickle": 5}]'},
        {"pandas.label": '["a", {"pickle": "gASVCQ=="}]'},
        {"pandas.index": "{"},
        {"pandas.index": "5"},
        {"pandas.index": '["x", 1]'},
    ],
    ids=str,
)
def test_names_of_columns_that_others_note_say_nothing(note, tmp_path):
    path = hostile_file(tmp_path, None, field_notes=note)
    shards = xs.from_pandas(pd.DataFrame({"n": [1]}), 1)
    results = shards.transform_shard(read_file, str(path))
    for rows in (results, results.cache(), results.transform_shard(lambda df: df)):
        frame = rows.to_pandas()
        assert list(frame.columns) == ["a"]
        assert frame["a"].tolist() == [1, 2]


def test_arrays_and_objects_of_functions_are_still_theirs():
    shards = xs.from_pandas(pd.DataFrame({"n": [1, 2]}), 2)
    arrays = shards.transform_shard(lambda df: {"x": df["n"].to_numpy()})
    assert np.concatenate([shard["x"] for shard in arrays.collect()]).tolist() == [1, 2]
    assert shards.transform_shard(lambda df: {1, "a"}).collect() == [{1, "a"}] * 2
