# SPDX-License-Identifier: Apache-2.0
"""Files in, files out."""

import json
import tempfile
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from frames import assert_same, frames, num_partitions
from hypothesis import given
from hypothesis import strategies as st
from pandas._libs.parsers import STR_NA_VALUES

import xshards as xs
from xshards import _core
from xshards.context import default_context
from xshards.errors import XShardsValueError


@pytest.mark.parametrize("form", ["parquet", "ipc"])
@given(df=frames(), n=num_partitions)
def test_binary_round_trip(form, df, n):
    with tempfile.TemporaryDirectory() as directory:
        paths = getattr(xs.from_pandas(df, n), f"to_{form}")(directory)
        assert len(paths) == n
        assert sorted(map(str, Path(directory).iterdir())) == sorted(paths)
        assert_same(getattr(xs, f"read_{form}")(directory).to_pandas(), df)


@given(df=frames(min_rows=1), n=num_partitions)
def test_csv_round_trip(df, n):
    # CSV has no way to tell these texts, the empty one among them, from a missing one.
    missing = list(STR_NA_VALUES)
    df = df.assign(s=df["s"].replace(missing, "-"), k=df["k"].replace(missing, "-"))
    dtype = {"s": "str", "k": "str", "f": "float64"}
    with tempfile.TemporaryDirectory() as directory:
        paths = xs.from_pandas(df, n).to_csv(directory)
        parts = [pd.read_csv(path, dtype=dtype) for path in paths]
        theirs = pd.concat([p for p in parts if len(p)], ignore_index=True)
        ours = xs.read_csv(directory, dtype=dtype).to_pandas()
    assert_same(theirs, df)
    assert_same(ours, df)


@given(df=frames(min_rows=1), n=num_partitions)
def test_json_round_trip(df, n):
    dtype = {"k": "str", "s": "str", "f": "float64"}
    with tempfile.TemporaryDirectory() as directory:
        xs.from_pandas(df, n).to_json(directory)
        actual = xs.read_json(directory, dtype=dtype).to_pandas()
    assert_same(actual, df)


rows = st.lists(
    st.tuples(
        st.integers(-(2**40), 2**40),
        st.floats(-1e9, 1e9, allow_nan=False) | st.none(),
        st.text(st.sampled_from('ab ,"\n;é日'), max_size=5),
    ),
    min_size=1,
    max_size=40,
)


@given(rows, num_partitions, st.integers(16, 200))
def test_read_csv_matches_pandas(content, n, block_size):
    df = pd.DataFrame(content, columns=["i", "f", "s"])
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "a.csv")
        df.to_csv(path, index=False)
        dtype = {"f": "float64", "s": "str"}
        expected = pd.read_csv(path, dtype=dtype)
        assert_same(
            xs.read_csv(path, dtype=dtype, block_size=block_size).to_pandas(), expected
        )
        assert_same(
            xs.read_csv(path, dtype=dtype, num_partitions=n).to_pandas(), expected
        )


@pytest.mark.parametrize(
    ("content", "options"),
    [
        ("a;b\n1;x\n", {"sep": ";"}),
        ("1,x\n2,y\n", {"header": None, "names": ["p", "q"]}),
        ("1,x\n2,y\n", {"names": ["p", "q"]}),
        ("a,b\n1,x\n", {"names": ["p", "q"], "header": 0}),
        ("a,b,c\n1,x,2\n", {"usecols": ["c", "a"]}),
        ("a,b\n1,x\n2,\n", {"dtype": {"a": "float64"}}),
        ("a,b\n1,-\n2,y\n", {"na_values": ["-"]}),
        ("skip me\na,b\n1,x\n", {"skiprows": 1}),
        ("a,b\n1,x\n2,y\n3,z\n", {"nrows": 2}),
        ("a,b\n1,'x,y'\n", {"quotechar": "'"}),
        ("a,b\n1,x # note\n", {"comment": "#"}),
        ("a,b\n", {}),
    ],
)
def test_read_csv_options_are_those_of_pandas(tmp_path, content, options):
    path = tmp_path / "a.csv"
    path.write_text(content)
    expected = pd.read_csv(path, **options)
    assert_same(
        xs.read_csv(path, **options).to_pandas(),
        expected,
        check_dtype=len(expected) > 0,
    )


def test_reads_files_directories_lists_and_patterns(tmp_path):
    for number in range(3):
        (tmp_path / f"{number}.csv").write_text(f"a\n{number}\n")
    paths = sorted(tmp_path.iterdir())
    for what in (
        tmp_path,
        str(tmp_path),
        paths,
        [str(p) for p in paths],
        tmp_path / "*.csv",
    ):
        assert list(xs.read_csv(what).to_pandas()["a"]) == [0, 1, 2]
    assert list(xs.read_csv(paths[1]).to_pandas()["a"]) == [1]


def test_unknown_option_is_named(tmp_path):
    (tmp_path / "a.csv").write_text("a\n1\n")
    with pytest.raises(TypeError, match="mangle_dupe_cols"):
        xs.read_csv(tmp_path / "a.csv", mangle_dupe_cols=True)


def test_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        xs.read_csv(tmp_path / "nowhere.csv")
    with pytest.raises(xs.XShardsError, match="nowhere"):
        xs.read_parquet(tmp_path / "nowhere.parquet")


def test_empty_folder_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=str(tmp_path)):
        xs.read_csv(tmp_path)


def test_truncated_parquet_is_named(tmp_path):
    path = tmp_path / "a.parquet"
    pd.DataFrame({"a": range(1000)}).to_parquet(path)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(xs.XShardsError, match=r"a\.parquet"):
        xs.read_parquet(path).to_pandas()


def test_schemas_that_differ_are_named(tmp_path):
    pd.DataFrame({"a": [1]}).to_parquet(tmp_path / "1.parquet")
    pd.DataFrame({"a": ["x"]}).to_parquet(tmp_path / "2.parquet")
    with pytest.raises(TypeError, match=r"2\.parquet.*'a' is int64 .* large_string"):
        xs.read_parquet(tmp_path)
    (tmp_path / "1.csv").write_text("a,b\n1,2\n")
    (tmp_path / "2.csv").write_text("a,c\n1,2\n")
    with pytest.raises(xs.XShardsError, match=r"2\.csv"):
        xs.read_csv(tmp_path / "*.csv")


def test_columns_that_a_parquet_file_lacks_are_missing(tmp_path):
    pd.DataFrame({"a": [1]}).to_parquet(tmp_path / "1.parquet")
    pd.DataFrame({"a": [2], "b": ["x"]}).to_parquet(tmp_path / "2.parquet")
    expected = pd.DataFrame({"a": [1, 2], "b": [None, "x"]})
    assert_same(xs.read_parquet(tmp_path).to_pandas(), expected)


def test_value_of_wrong_type_is_named(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,2\n3,oops\n")
    with pytest.raises(xs.XShardsError, match="oops"):
        xs.read_csv(path, dtype={"b": "int64"}).to_pandas()


def test_reads_no_more_than_is_needed(tmp_path):
    frame = pd.DataFrame({f"c{i}": range(50_000) for i in range(20)})
    path = tmp_path / "wide.parquet"
    frame.to_parquet(path, row_group_size=5_000)
    wanted = xs.read_parquet(path).filter(xs.col("c0") >= 45_000).select(["c0", "c1"])
    assert_same(
        wanted.to_pandas(), frame.loc[45_000:, ["c0", "c1"]].reset_index(drop=True)
    )
    profile = xs.last_profile()
    assert sum(stage.row_groups_skipped for stage in profile.stages) == 9
    assert sum(stage.bytes_read for stage in profile.stages) < path.stat().st_size / 50


def test_index_is_not_written(tmp_path):
    df = pd.DataFrame({"a": [1, 2]}, index=["x", "y"])
    xs.from_pandas(df).to_parquet(tmp_path)
    assert xs.read_parquet(tmp_path).columns == ["a"]


def test_failed_write_leaves_nothing(tmp_path):
    def fail_on_last(df):
        if (df["a"] == 9).any():
            raise ValueError("no")
        return df

    shards = xs.from_pandas(pd.DataFrame({"a": range(10)}), 4).transform_shard(
        fail_on_last
    )
    with pytest.raises(ValueError, match="no"):
        shards.to_parquet(tmp_path / "out")
    assert list(tmp_path.rglob("*.parquet")) == []


def test_csv_of_one_type_for_all_columns(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("zip,n\n01234,1\n,2\n")
    assert_same(xs.read_csv(path, dtype=str).to_pandas(), pd.read_csv(path, dtype=str))
    expected = pd.read_csv(path, dtype="float64")
    assert_same(xs.read_csv(path, dtype="float64").to_pandas(), expected)


def test_csv_with_dates(tmp_path):
    path = tmp_path / "a.csv"
    for other in ("2024-03-31", "2024-03-31 12:00:01.5", "tomorrow"):
        path.write_text(f"t,n\n2024-01-31,1\n,2\n{other},3\n")
        actual = xs.read_csv(path, parse_dates=["t"]).to_pandas()
        assert_same(actual, pd.read_csv(path, parse_dates=["t"]))
    with pytest.raises(KeyError, match="nope"):
        xs.read_csv(path, parse_dates=["nope"])
    with pytest.raises(TypeError, match="Only booleans and lists") as caught:
        xs.read_csv(path, parse_dates="t").to_pandas()
    assert str(path) in caught.value.__notes__[0]


@pytest.mark.parametrize("form", ["csv", "json", "parquet", "ipc"])
def test_columns_of_nothing_are_written_and_read(tmp_path, form):
    df = pd.DataFrame({"a": [None, None], "n": [1, 2]})
    getattr(xs.from_pandas(df, 2), f"to_{form}")(tmp_path)
    actual = getattr(xs, f"read_{form}")(tmp_path).to_pandas()
    assert actual["a"].isna().all()
    assert list(actual["n"]) == [1, 2]


def test_json_without_rows(tmp_path):
    df = pd.DataFrame({"a": pd.Series([], dtype="int64")})
    xs.from_pandas(df, 2).to_json(tmp_path)
    assert xs.read_json(tmp_path).to_pandas().shape == (0, 0)
    typed = xs.read_json(tmp_path, dtype={"a": "int64"})
    assert_same(typed.to_pandas(), df)


@pytest.mark.parametrize("form", ["csv", "json", "parquet", "ipc"])
def test_objects_are_not_written(tmp_path, form):
    shards = xs.from_pandas(pd.DataFrame({"n": [1], "mixed": [{1, 2}]}))
    for odd in (shards, shards.transform_shard(lambda df: df)):
        with pytest.raises(TypeError, match=r"'mixed'.*transform_shard") as caught:
            getattr(odd, f"to_{form}")(tmp_path / "out")
        assert isinstance(caught.value, xs.XShardsError)
    assert not (tmp_path / "out").exists()
    with pytest.raises(TypeError, match="'mixed'"):
        shards.to_arrow()


@pytest.mark.parametrize("form", ["parquet", "ipc"])
def test_files_hold_plain_columns(tmp_path, form):
    df = pd.DataFrame({0: pd.Series([1, None], dtype="Int64")}, index=["x", "y"])
    shards = xs.from_pandas(df, 1)
    (path,) = getattr(shards, f"to_{form}")(tmp_path)
    read = pq.read_table if form == "parquet" else pa.ipc.open_file
    schema = read(path).schema
    assert (
        schema.names == shards.schema.names == shards.to_arrow().column_names == ["0"]
    )
    for plain in (schema, shards.schema, shards.to_arrow().schema):
        assert plain.field(0).metadata in (None, {b"PARQUET:field_id": b"1"})
    assert not shards.schema.metadata
    assert not shards.to_arrow().schema.metadata
    assert list(schema.metadata) == [b"pandas"]  # the dtype, and nothing of the index
    note = json.loads(schema.metadata[b"pandas"])
    assert note.pop("columns") == [
        {
            "name": "0",
            "field_name": "0",
            "pandas_type": "int64",
            "numpy_type": "Int64",
            "metadata": None,
        }
    ]
    assert note == {"index_columns": [], "column_indexes": []}


def test_json_type_mismatch_names_the_line(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"a": 1}\n{"a": 2}\n{"a": "x"}\n')
    with pytest.raises(
        ValueError, match=r"line 3: Expected int64 for key 'a'"
    ) as caught:
        xs.read_json(path, dtype={"a": "int64"}).to_pandas()
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    "read",
    [
        *(xs.read_csv, xs.read_json, xs.read_parquet),
        *(xs.read_ipc, xs.read_orc, xs.read_tfrecord),
    ],
)
def test_invalid_path_is_named(read):
    with pytest.raises(TypeError, match="a path, or a list of paths, got int"):
        read(5)
    with pytest.raises(TypeError, match="expected paths in the list, got int"):
        read(["a", 5])
    with pytest.raises(ValueError, match="at least one path"):
        read([])


def test_the_home_folder_can_be_written_as_a_tilde(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "a.csv").write_text("a\n1\n")
    assert xs.read_csv("~/a.csv").to_pandas()["a"].tolist() == [1]


@pytest.mark.parametrize(
    ("reader", "known"),
    [
        ("read_csv", "'sep', 'long_sep'"),
        ("read_json", "'lines', 'dtype', 'on_bad_lines', 'nrows', 'num_partitions'"),
        ("read_parquet", "'columns', 'schema', 'num_partitions', 'block_size'"),
        ("read_tfrecord", "'columns', 'schema', 'raw', 'compression'"),
    ],
)
def test_unknown_options_of_the_engine_are_named(tmp_path, reader, known):
    match = f"Unknown option of {reader}: 'wrong'; expected one of {known}"
    context = default_context()._core
    with pytest.raises(XShardsValueError, match=match):
        getattr(_core, reader)(context, [str(tmp_path)], {"wrong": 1})


def test_options_that_the_engine_is_not_given_have_their_defaults(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a;b\n1;x\n")
    context = default_context()._core
    shards = _core.read_csv(context, [str(path)], {"sep": ";"})
    assert shards.to_table(None).to_pylist() == [{"a": 1, "b": "x"}]
