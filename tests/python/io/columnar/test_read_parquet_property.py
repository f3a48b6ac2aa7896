# SPDX-License-Identifier: Apache-2.0
"""Whatever pyarrow writes as Parquet, read_parquet gives back."""

import datetime
import decimal
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from frames import assert_same
from hypothesis import given, settings
from hypothesis import strategies as st

import xshards as xs

CODECS = ["none", "snappy", "gzip", "zstd", "lz4", "brotli"]
texts = st.text(st.characters(codec="utf-8"), max_size=20)
words = st.sampled_from(["", "a", "é", "日本語", "sixteen bytes long", "x" * 40])


def _times(unit):
    return pa.timestamp(unit), st.integers(-(10**13), 10**13)


#: Columns of every kind: name -> type and values.
KINDS = {
    "int64": (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "int64-few": (pa.int64(), st.integers(-3, 3)),
    "int32": (pa.int32(), st.integers(-(2**31), 2**31 - 1)),
    "int32-few": (pa.int32(), st.integers(0, 1)),
    "int16": (pa.int16(), st.integers(-(2**15), 2**15 - 1)),
    "int8": (pa.int8(), st.integers(-128, 127)),
    "uint64": (pa.uint64(), st.integers(0, 2**64 - 1)),
    "uint32": (pa.uint32(), st.integers(0, 2**32 - 1)),
    "float64": (pa.float64(), st.floats()),
    "float64-few": (pa.float64(), st.sampled_from([0.0, -0.0, 1.5, np.inf])),
    "float32": (pa.float32(), st.floats(width=32)),
    "bool": (pa.bool_(), st.booleans()),
    "text": (pa.string(), texts),
    "text-few": (pa.large_string(), words),
    "text-same": (pa.string(), st.just("one")),
    "bytes": (pa.binary(), st.binary(max_size=5)),
    "fixed": (pa.binary(3), st.binary(min_size=3, max_size=3)),
    "decimal": (
        pa.decimal128(9, 2),
        st.integers(-(10**6), 10**6).map(lambda n: decimal.Decimal(n) / 100),
    ),
    "date": (pa.date32(), st.dates(datetime.date(1900, 1, 1))),
    "time": (pa.time64("us"), st.times()),
    "timestamp-ms": _times("ms"),
    "timestamp-us": _times("us"),
    "timestamp-ns": _times("ns"),
    "timestamp-tz": (pa.timestamp("us", "Europe/Berlin"), st.integers(0, 10**15)),
    "list": (pa.list_(pa.int64()), st.lists(st.integers(0, 9), max_size=3)),
    "struct": (
        pa.struct([("a", pa.int64()), ("b", pa.string())]),
        st.fixed_dictionaries({"a": st.none() | st.integers(0, 9), "b": words}),
    ),
    "list-struct": (
        pa.list_(pa.struct([("a", pa.list_(pa.int32()))])),
        st.lists(st.fixed_dictionaries({"a": st.just([1, 2])}), max_size=2),
    ),
    "map": (
        pa.map_(pa.string(), pa.int64()),
        st.lists(st.tuples(words, st.integers(0, 5)), max_size=2),
    ),
}


@st.composite
def columns(draw, kind, rows):
    """Draw a column: short runs of drawn values, some missing, repeated to the end."""
    arrow, values = KINDS[kind]
    nulls = draw(st.sampled_from(["none", "some", "all"]))
    if nulls != "none":
        values = st.none() | values if nulls == "some" else st.none()
    drawn = draw(st.lists(values, min_size=1, max_size=12))
    run = draw(st.sampled_from([1, 3, 50]))
    cycle = [cell for cell in drawn for _ in range(run)]
    return pa.array((cycle * (rows // len(cycle) + 1))[:rows], arrow)


@st.composite
def layouts(draw):
    """Draw how pyarrow writes a file: pages, row groups, encodings, codec."""
    return {
        "compression": draw(st.sampled_from(CODECS)),
        "use_dictionary": draw(st.booleans()),
        "data_page_version": draw(st.sampled_from(["1.0", "2.0"])),
        "data_page_size": draw(st.sampled_from([1, 100, 1 << 20])),
        "dictionary_pagesize_limit": draw(st.sampled_from([10, 1 << 20])),
        "row_group_size": draw(st.sampled_from([1, 7, 1000, 1 << 20])),
        "write_page_index": draw(st.booleans()),
        "store_schema": draw(st.booleans()),
        "write_batch_size": draw(st.sampled_from([1, 16, 1024])),
    }


def cells(column):
    """Give cells as text, in which NaN is NaN and -0.0 is not 0.0."""
    return [repr(cell) for cell in column.to_pylist()]


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_columns_are_those_of_pyarrow(kind, data):
    rows = data.draw(st.sampled_from([0, 1, 8, 100, 1500, 5000]))
    layout = data.draw(layouts())
    if kind in ("list", "list-struct", "map"):
        layout["data_page_size"] = 1 << 20  # pyarrow cannot read what it writes with 1
    if layout["row_group_size"] < 100:
        rows = min(rows, 100)  # each row group is read by itself
    table = pa.table(
        {"x": data.draw(columns(kind, rows)), "n": data.draw(columns("int64", rows))}
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "a.parquet"
        pq.write_table(table, file, **layout)
        expected = pq.read_table(file)
        shards = xs.read_parquet(file, num_partitions=data.draw(st.integers(1, 3)))
        actual = shards.to_arrow()
        assert actual.column_names == ["x", "n"]
        actual.validate(full=True)
        for name in actual.column_names:
            assert cells(actual[name]) == cells(expected[name])
        only = xs.read_parquet(file, columns=["x"]).to_arrow()
        assert only.column_names == ["x"]
        assert cells(only["x"]) == cells(expected["x"])


@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_frames_are_those_of_pandas(data):
    kinds = data.draw(
        st.lists(
            st.sampled_from(
                [
                    "int64",
                    "int64-few",
                    "int32",
                    "float64",
                    "text",
                    "text-few",
                    "timestamp-us",
                    "timestamp-tz",
                    "float32",
                    "text-same",
                ]
            ),
            min_size=1,
            max_size=4,
        )
    )
    rows = data.draw(st.sampled_from([0, 1, 90, 2100]))
    names = [f"{kind} {i}" for i, kind in enumerate(kinds)]
    arrays = [data.draw(columns(kind, rows)) for kind in kinds]
    layout = data.draw(layouts()) | {"row_group_size": max(1, rows // 3)}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "a.parquet"
        pq.write_table(pa.table(arrays, names), file, **layout)
        assert_same(xs.read_parquet(file).to_pandas(), pd.read_parquet(file))


@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_filters_are_those_of_pandas(data):
    rows = data.draw(st.sampled_from([1, 100, 3000]))
    table = pa.table(
        {
            "i": data.draw(columns("int64-few", rows)),
            "s": data.draw(columns("text-few", rows)),
            "n": pa.array(range(rows)),
        }
    )
    filters = [
        data.draw(
            st.sampled_from(
                [
                    ("i", ">", 0),
                    ("i", "==", 2),
                    ("i", "in", [-3, 1]),
                    ("i", "<=", -9),
                    ("s", "==", "é"),
                    ("s", ">", "a"),
                    ("n", ">=", rows // 2),
                ]
            )
        )
        for _ in range(2)
    ]
    layout = data.draw(layouts()) | {"row_group_size": max(1, rows // 4)}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "a.parquet"
        pq.write_table(table, file, **layout)
        expected = pd.read_parquet(file, filters=filters)
        actual = xs.read_parquet(file, filters=filters).to_pandas()
        assert_same(actual, expected.reset_index(drop=True))


@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_folders_of_folders_are_those_of_pandas(data):
    frame = pd.DataFrame(
        {
            "year": data.draw(st.lists(st.integers(2000, 2002), min_size=1)),
        }
    )
    frame["n"] = range(len(frame))
    frame["s"] = frame["n"].map(lambda n: "é" * (n % 4))
    with tempfile.TemporaryDirectory() as folder:
        frame.to_parquet(folder, partition_cols=["year"], index=False)
        actual = xs.read_parquet(folder).to_pandas()
        expected = pd.read_parquet(folder)
        expected["year"] = expected["year"].astype("int64")  # pandas has categories
        assert_same(actual, expected, ignore_order=True)
        some = xs.read_parquet(folder, filters=[("year", "==", 2001)]).to_pandas()
        assert_same(some, expected[expected["year"] == 2001].reset_index(drop=True))
