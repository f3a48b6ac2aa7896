# SPDX-License-Identifier: Apache-2.0
"""Schemas that are asked for, Arrow IPC without copies, and ORC."""

import datetime
import decimal
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.feather as feather
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest
from frames import assert_same
from hypothesis import given, settings
from hypothesis import strategies as st

import xshards as xs
from xshards.context import default_context


def write(table, file):
    """Write a table in the format that the file's name tells."""
    if file.suffix == ".parquet":
        pq.write_table(table, file, row_group_size=40)
    elif file.suffix == ".orc":
        orc.write_table(table, file)
    else:
        with pa.ipc.new_file(file, table.schema) as sink:
            sink.write_table(table, max_chunksize=40)
    return file


READERS = {
    "parquet": xs.read_parquet,
    "arrow": xs.read_ipc,
    "orc": xs.read_orc,
}


@pytest.fixture(params=READERS)
def kind(request):
    return request.param


@pytest.fixture
def file(kind, tmp_path):
    rows = 100
    table = pa.table(
        {
            "i": pa.array([None if n % 9 == 0 else n for n in range(rows)]),
            "f": [n / 2 for n in range(rows)],
            "s": [str(n) for n in range(rows)],
            "é": [f"日{n % 3}" for n in range(rows)],
        }
    )
    return write(table, tmp_path / f"a.{kind}")


def test_a_schema_casts_selects_and_adds(kind, file):
    schema = pa.schema(
        [
            ("s", pa.int32()),
            ("new", pa.string()),
            ("i", pa.float32()),
            ("é", pa.string()),
        ]
    )
    actual = READERS[kind](file, schema=schema).to_arrow()
    assert actual.schema.names == ["s", "new", "i", "é"]
    assert actual["s"].to_pylist() == list(range(100))
    assert actual["s"].type == pa.int32()
    assert actual["new"].null_count == 100
    expected = [None if n % 9 == 0 else float(n) for n in range(100)]
    assert actual["i"].to_pylist() == expected
    assert actual["i"].type == pa.float32()
    assert actual["é"].to_pylist() == [f"日{n % 3}" for n in range(100)]


def test_a_schema_may_be_of_dtypes(kind, file):
    read = READERS[kind]
    schema = {"i": "Int64", "f": np.float32, "s": str, "t": "datetime64[us]"}
    actual = read(file, schema=schema).to_pandas()
    expected = pd.DataFrame(
        {
            "i": pd.array([None if n % 9 == 0 else n for n in range(100)], "Int64"),
            "f": np.arange(100, dtype=np.float32) / 2,
            "s": pd.Series([str(n) for n in range(100)], dtype="str"),
            "t": pd.Series([pd.NaT] * 100, dtype="datetime64[us]"),
        }
    )
    assert_same(actual, expected)
    only = read(file, schema=schema, columns=["f"]).to_pandas()
    assert_same(only, expected[["f"]])
    counted = read(file, schema=schema)
    assert len(counted) == 100
    assert counted.filter(xs.col("f") > 45).to_pandas()["s"].to_list() == [
        str(n) for n in range(91, 100)
    ]


def test_a_schema_that_does_not_fit_is_named(kind, file):
    read = READERS[kind]
    with pytest.raises(TypeError, match=r"'i'.*a\."):
        read(file, schema=pa.schema([("i", pa.list_(pa.int64()))]))
    with pytest.raises(xs.XShardsError, match=rf"a\.{kind}.*'é'"):
        read(file, schema={"é": "int64"}).to_pandas()
    with pytest.raises(xs.XShardsError, match="'f'"):
        read(file, schema={"f": "int8", "s": "str"}).to_pandas()
    with pytest.raises(TypeError, match=r"'i'.*no-such"):
        read(file, schema={"i": "no-such-type"})
    with pytest.raises(TypeError, match=r"'i'.*categories"):
        read(file, schema={"i": "category"})
    with pytest.raises(TypeError, match="list"):
        read(file, schema=["i"])
    twice = pa.schema([("i", pa.int64()), ("i", pa.int64())])
    with pytest.raises(ValueError, match="'i' twice"):
        read(file, schema=twice)


def test_a_schema_of_files_that_differ(kind, tmp_path):
    write(pa.table({"a": [1, 2], "b": ["x", "y"]}), tmp_path / f"1.{kind}")
    write(pa.table({"c": [1.5], "a": ["7"]}), tmp_path / f"2.{kind}")
    read = READERS[kind]
    with pytest.raises(TypeError, match=r"2\."):
        read(tmp_path)
    actual = read(tmp_path, schema={"a": "int64", "b": "str", "c": "float64"})
    expected = pd.DataFrame(
        {"a": [1, 2, 7], "b": ["x", "y", None], "c": [np.nan, np.nan, 1.5]}
    )
    assert_same(actual.to_pandas(), expected)


def test_a_schema_selects_folder_columns(kind, tmp_path):
    for year in (2001, 2002):
        (tmp_path / f"year={year}" / "x=a").mkdir(parents=True)
        table = pa.table({"n": [year % 10, 0]})
        write(table, tmp_path / f"year={year}" / "x=a" / f"p.{kind}")
    read = READERS[kind]
    shards = read(tmp_path, schema={"year": "float64", "n": "int64"})
    expected = pd.DataFrame(
        {"year": [2001.0, 2001.0, 2002.0, 2002.0], "n": [1, 0, 2, 0]}
    )
    assert_same(shards.to_pandas(), expected)
    some = shards.filter(xs.col("year") > 2001.5).to_pandas()
    assert_same(some, expected[2:].reset_index(drop=True))
    with pytest.raises(xs.XShardsError, match=r"bool.*'year'"):
        read(tmp_path, schema={"year": "bool"}).to_pandas()


def test_statistics_of_cast_columns_are_not_used(tmp_path):
    """As numbers 9 < 10, as text "10" < "9"."""
    file = tmp_path / "a.parquet"
    pq.write_table(pa.table({"n": [9, 9, 10, 10]}), file, row_group_size=2)
    shards = xs.read_parquet(file, schema={"n": "str"}, filters=[("n", ">", "5")])
    assert shards.to_pandas()["n"].to_list() == ["9", "9"]
    shards = xs.read_parquet(file, schema={"n": "float32"}, filters=[("n", ">", 9.5)])
    assert shards.to_pandas()["n"].to_list() == [10, 10]


def numbers(tmp_path, rows):
    table = pa.table(
        {
            "i": np.arange(rows),
            "f": np.arange(rows) / 3,
            "s": pa.array(["some text"] * rows, pa.large_string()),
        }
    )
    return write(table, tmp_path / f"{rows}.arrow")


def allocated(file):
    """Rows held in memory, and what reading them has allocated."""
    context = default_context()
    before = context.used_memory
    shards = xs.read_ipc(file).cache()
    return shards, context.used_memory - before


def test_ipc_is_read_into_memory_that_is_counted(tmp_path):
    """Once, as large as the file: mapped, a file that is cut would be a signal."""
    small, few = allocated(numbers(tmp_path, 1_000))
    file = numbers(tmp_path, 300_000)
    large, many = allocated(file)
    assert 0.9 < many / file.stat().st_size < 1.1
    assert few < 100_000
    assert pc.sum(large.to_arrow()["i"]).as_py() == 300_000 * 299_999 // 2
    assert len(small.to_pandas()) == 1_000


def test_ipc_may_be_replaced_while_it_is_in_use(tmp_path):
    file = numbers(tmp_path, 1000)
    shards = xs.read_ipc(file).cache()
    other = write(pa.table({"i": [5]}), tmp_path / "other.arrow")
    other.replace(file)
    assert shards.to_pandas()["i"].to_list() == list(range(1000))
    assert xs.read_ipc(file).to_pandas()["i"].to_list() == [5]


def test_ipc_changed_by_a_function_stays_as_it_is_on_disk(tmp_path):
    file = numbers(tmp_path, 1000)
    before = file.read_bytes()

    def double(df):
        df["i"] *= 2
        return df

    doubled = xs.read_ipc(file).transform_shard(double).to_pandas()
    assert doubled["i"].to_list() == list(range(0, 2000, 2))
    assert file.read_bytes() == before


@pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
def test_ipc_of_all_codecs(tmp_path, compression):
    df = pd.DataFrame({"a": range(1000), "s": ["é", None] * 500})
    file = tmp_path / "a.arrow"
    feather.write_feather(df, file, compression=compression, chunksize=77)
    assert_same(xs.read_ipc(file).to_pandas(), df)
    assert_same(xs.read_ipc(file, columns=["s"]).to_pandas(), df[["s"]])


CELLS = {
    "i": (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "i8": (pa.int8(), st.integers(-128, 127)),
    "f": (pa.float64(), st.floats(allow_nan=False)),
    "b": (pa.bool_(), st.booleans()),
    "s": (pa.string(), st.text(st.characters(codec="utf-8"), max_size=9)),
    "y": (pa.binary(), st.binary(max_size=5)),
    "d": (pa.date32(), st.dates(datetime.date(1970, 1, 1))),
    "t": (pa.timestamp("ns"), st.integers(0, 10**18)),
    "m": (
        pa.decimal128(9, 2),
        st.integers(-(10**6), 10**6).map(lambda n: decimal.Decimal(n) / 100),
    ),
    "l": (pa.list_(pa.int64()), st.lists(st.integers(0, 9), max_size=3)),
    "r": (pa.struct([("a", pa.int64())]), st.fixed_dictionaries({"a": st.just(1)})),
}


@given(data=st.data())
@settings(max_examples=60, deadline=None)
@pytest.mark.parametrize("kind", ["arrow", "orc"])
def test_columns_are_those_of_pyarrow(kind, data):
    rows = data.draw(st.integers(0, 60))
    table = pa.table(
        {
            name: pa.array(
                data.draw(st.lists(st.none() | cells, min_size=rows, max_size=rows)),
                arrow,
            )
            for name, (arrow, cells) in CELLS.items()
        }
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"a.{kind}"
        if kind == "orc":
            codec = data.draw(
                st.sampled_from(["uncompressed", "snappy", "zlib", "lz4", "zstd"])
            )
            orc.write_table(table, file, compression=codec)
            expected = orc.read_table(file)
        else:
            write(table, file)
            expected = table
        columns = data.draw(
            st.none() | st.lists(st.sampled_from(list(CELLS)), unique=True)
        )
        actual = READERS[kind](file, columns=columns).to_arrow()
        assert actual.column_names == (list(CELLS) if columns is None else columns)
        for name in actual.column_names:
            assert actual[name].to_pylist() == expected[name].to_pylist()
        assert len(READERS[kind](file)) == rows


def test_orc_of_many_stripes_is_read_in_parallel(tmp_path):
    rows = 200_000
    generator = np.random.default_rng(0)
    df = pd.DataFrame({"a": generator.random(rows), "s": ["x", "yé"] * (rows // 2)})
    file = tmp_path / "a.orc"
    orc.write_table(pa.Table.from_pandas(df), file, stripe_size=100_000, batch_size=100)
    stripes = orc.ORCFile(file).nstripes
    assert stripes > 4
    shards = xs.read_orc(file, num_partitions=4)
    assert 2 <= shards.num_partitions() <= 4
    assert_same(shards.to_pandas(), pd.read_orc(file))
    assert_same(
        shards.filter(xs.col("a") > 0.99).to_pandas(),
        df[df["a"] > 0.99].reset_index(drop=True),
    )
