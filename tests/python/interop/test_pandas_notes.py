# SPDX-License-Identifier: Apache-2.0
"""Index, dtypes, labels and categories in files that pandas wrote."""

import io
import tempfile
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from frames import assert_same, num_partitions, odd_frames
from hypothesis import given, settings
from hypothesis import strategies as st

import xshards as xs

KINDS = [
    *("int8", "Int64", "Float64", "boolean", "string", "object-str", "object-list"),
    *("category", "category-ordered", "category-int", "datetime64[us, tz]"),
]
READERS = {
    "parquet": (xs.read_parquet, pd.read_parquet, pd.DataFrame.to_parquet),
    "ipc": (xs.read_ipc, pd.read_feather, pd.DataFrame.to_feather),
}
indexed = st.sampled_from(["numbers", "from 5", "column", "unnamed", "two columns"])


def with_index(df, way):
    """Give a frame an index of some kind."""
    match way:
        case "from 5":
            return df.set_index(pd.RangeIndex(5, 5 + len(df), name="nr"))
        case "column":
            return df.set_index("k")
        case "unnamed":
            return df.set_index(pd.Index([f"r{i}" for i in range(len(df))]))
        case "two columns":
            return df.set_index(["k", "n"])
    return df


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=8)
@given(draw=st.data(), way=indexed, n=num_partitions)
def test_parquet_comes_back_as_pandas_reads_it(kind, draw, way, n):
    df = with_index(draw.draw(odd_frames(kind, min_rows=1)), way)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.parquet")
        df.to_parquet(path, row_group_size=3)
        expected = pd.read_parquet(path)
        for cut in ({"num_partitions": n}, {"block_size": 1}):
            assert_same(xs.read_parquet(path, **cut).to_pandas(), expected)
        some = xs.read_parquet(path, columns=["x"]).to_pandas()
        assert_same(some, pd.read_parquet(path, columns=["x"]))
        if way == "two columns":
            return
        kept = xs.read_parquet(path, filters=[("n", ">", 0)]).to_pandas()
        wanted = pd.read_parquet(path, filters=[("n", ">", 0)])
        if way == "from 5":  # which pandas drops only together with rows
            wanted = wanted.reset_index(drop=True)
        if kind.startswith("category"):  # pandas has those of the rows that are left
            kept, wanted = (d.astype({"x": object}) for d in (kept, wanted))
        assert_same(kept, wanted)


@pytest.mark.parametrize("form", READERS)
def test_bytes_and_file_objects(form, tmp_path):
    df = pd.DataFrame({"a": [1, 2, 3], "c": pd.Categorical(["x", None, "x"])})
    read, pandas_read, write = READERS[form]
    path = tmp_path / "a"
    write(df, path)
    with path.open("rb") as file:
        for source in (path.read_bytes(), io.BytesIO(path.read_bytes()), file):
            assert_same(read(source, num_partitions=2).to_pandas(), pandas_read(path))
    assert read(path.read_bytes(), columns=["a"]).columns == ["a"]


def test_labels_that_are_numbers(tmp_path):
    df = pd.DataFrame({0: [1, 2], 1: ["x", "y"]})
    path = tmp_path / "a.parquet"
    df.to_parquet(path)
    shards = xs.read_parquet(path)
    assert_same(shards.to_pandas(), pd.read_parquet(path))
    assert shards[1].to_pandas().tolist() == ["x", "y"]


def test_filters_by_pyarrow_are_refused(tmp_path):
    path = tmp_path / "a.parquet"
    pd.DataFrame({"a": [1, 2]}).to_parquet(path)
    with pytest.raises(TypeError, match=r"write \(a > 1\) with xs\.col"):
        xs.read_parquet(path, filters=pa.compute.field("a") > 1)


NULLABLE = [
    *("Int8", "UInt16", "Int32", "Int64", "UInt64", "Float32", "Float64", "boolean"),
    *("string", "string[python]"),
]


def nullable_columns():
    """A column of every nullable dtype, and others beside them, with odd names."""
    numbers = pd.Series([1, None, 0, 1, None], dtype="Int64")
    columns = {f'ü "{dtype}"\\': numbers.astype(dtype) for dtype in NULLABLE}
    plain = pd.DataFrame({"n": [1, 2, 1, 2, 1], "s": list("abcde"), "f": 1.5})
    return pd.DataFrame(columns).join(plain)


@pytest.mark.parametrize("form", READERS)
@pytest.mark.parametrize("n", [1, 3, 9])
def test_nullable_dtypes_come_back(form, n, tmp_path):
    df = nullable_columns()
    read, pandas_read, write = READERS[form]
    paths = getattr(xs.from_pandas(df, n), f"to_{form}")(tmp_path / "ours")
    write(df, tmp_path / "theirs")
    expected = pandas_read(tmp_path / "theirs")
    assert_same(read(tmp_path / "ours").to_pandas(), expected)
    parts = pd.concat([pandas_read(path) for path in paths], ignore_index=True)
    assert_same(parts, expected)
    computed = read(tmp_path / "ours").with_column("n", xs.col("n").astype("Int32"))
    [path] = getattr(computed.repartition(1), f"to_{form}")(tmp_path / "again")
    assert pandas_read(path)["n"].dtype == "Int32"


def test_nullable_dtypes_in_folders_of_values(tmp_path):
    df = nullable_columns()
    xs.from_pandas(df, 2).to_parquet(tmp_path, partition_cols="n")
    for shown in (xs.read_parquet(tmp_path).to_pandas(), pd.read_parquet(tmp_path)):
        dtypes = shown.drop(columns="n").dtypes.replace({"string[python]": "string"})
        assert list(map(str, dtypes)) == list(map(str, df.drop(columns="n").dtypes))
    by_dtype = xs.from_pandas(
        df[['ü "Int8"\\', "n"]].rename(columns=lambda c: c[-1]), 2
    )
    by_dtype.dropna().to_parquet(tmp_path / "by", partition_cols="\\")
    assert xs.read_parquet(tmp_path / "by").to_pandas()["\\"].dtype == "int64"


def test_plain_columns_have_no_metadata(tmp_path):
    [path] = xs.from_pandas(pd.DataFrame({"a": [1]}), 1).to_parquet(tmp_path)
    assert b"pandas" not in (pq.read_schema(path).metadata or {})
