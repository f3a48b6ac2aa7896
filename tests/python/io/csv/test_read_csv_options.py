# SPDX-License-Identifier: Apache-2.0
"""Options of read_csv that pandas reads for us, file by file in worker processes."""

from collections import defaultdict

import numpy as np
import pandas as pd
import pytest
from frames import assert_same

import xshards as xs

ODD = [
    ("a;b\n1;x\n", {"sep": None, "engine": "python"}),
    ("a,b\nc,d\n1,2\n", {"header": [0, 1]}),
    ("a||b\n1||x\n", {"sep": "||", "engine": "python"}),
    ("a1b\n1 22 3\n", {"sep": r"\d+", "engine": "python"}),
    ("a::b\n1,2::x\n", {"sep": "::", "thousands": ",", "engine": "python"}),
    ("a  b\n1   x # y\n", {"sep": r"\s+", "comment": "#"}),
    ("a\n1e5\n", {"thousands": "e"}),
    ("a,b\n1,x\n2,y\n", {"na_values": {0: [1]}}),
    ("t\n01/31/24\n", {"parse_dates": ["t"]}),
    ("t\n12:30 2024-05-06\n", {"parse_dates": ["t"], "date_format": "%H:%M %x"}),
    ("t\n2024-01-31\n", {"parse_dates": ["t"], "date_format": "ISO8601"}),
    ("t,x\n5,1\n", {"parse_dates": True, "index_col": "t"}),
    ("a,b\n2024-01-31,1,2\n", {"parse_dates": [0]}),
    ("a,b\n1,2\n3,4\n", {"index_col": -1}),
    ("a,b\n1,2,\n3,4,\n", {"index_col": False}),
    ("a,b\n1,2\n3,4\n", {"index_col": 0, "usecols": [0, 1]}),
    ("a,b,c\n1,2,3\n", {"names": ["x", "y"], "usecols": [0, 2], "header": 0}),
    ("a\n1\n2\nend\n", {"skipfooter": 1, "engine": "python"}),
    ("a\n1.5\n", {"dtype": {"a": "complex128"}}),
    ("a\n1\n\n2\n", {"dtype": {"a": pd.CategoricalDtype([2, 1])}}),
    ("t\n2024-01-01T00:00+02:00\n", {"parse_dates": ["t"]}),
    ("t,x\n,1\n", {"parse_dates": ["t"]}),
    ("aé1\n2é3\n", {"sep": "é", "engine": "python"}),
    ("a\nxя\n", {"encoding": "koi8-r"}),
    ("a,b\n1,2\n1,2,3\n", {"on_bad_lines": lambda fields: None, "engine": "python"}),
    ("a,b\n1,2\n", {"dayfirst": True}),
]


@pytest.mark.parametrize(("content", "options"), ODD)
def test_odd_options_are_those_of_pandas(tmp_path, content, options):
    path = tmp_path / "a.csv"
    path.write_bytes(content.encode(options.get("encoding", "utf-8")))
    expected = pd.read_csv(path, **options)
    shards = xs.read_csv(path, **options)
    assert "pandas_read_csv" in shards.explain(as_text=True)
    assert_same(shards.to_pandas(), expected)


OURS = [
    ("a,b\n1,2\n3,4\n", {"index_col": "a"}),
    (",b\nx,2\n,4\n", {"index_col": 0}),
    ("a,b,c\n1,2,x\n3,,y\n", {"index_col": ["b", "a"]}),
    ("a,b,c\n1,2,x\n3,,y\n", {"index_col": [0, 1], "dtype": {"b": "Int64"}}),
    ("1,2\n3,4\n", {"index_col": 1, "header": None}),
    ("a,b,c\n1,2,3\n", {"usecols": [2, 0]}),
    ("a,b,c\n1,2,3\n", {"usecols": lambda name: name != "b"}),
    ("1,2,3\n4,5,6\n", {"usecols": [0, 2], "header": None}),
    ("a,b,c\n1,2,3\n", {"usecols": np.array(["a", "c"])}),
    ("a\nNA\n\nx\n", {"keep_default_na": False}),
    ("a,b\nNA,\n1,2\n", {"keep_default_na": False}),
    ("a,b\nNA,\n1,2\n", {"na_filter": False}),
    ("a,b\nNA,\n1,x\n", {"keep_default_na": False, "na_values": ["x"]}),
    ("a,b\n-999,1\n3,-999.0\n", {"na_values": -999}),
    ("a,b\n-999,1\n3,-999.00\n", {"na_values": ["-999"]}),
    ("a\n1\n2\n", {"na_values": "1.0"}),
    ("a,b\n1,x\n2,\n", {"dtype": {"a": "Int64", "b": "string"}}),
    ("a,b\n1,x\n,\n", {"dtype": {"a": "Float64", "b": object}}),
    ("a,b\n1,x\n2,\n", {"dtype": {0: "float32"}}),
    ("a,b\n1,x\n2,\n", {"dtype": {"a": "int64[pyarrow]", "b": "string[pyarrow]"}}),
    ("a,b\n10,x\n9,\n", {"dtype": "category"}),
    ("a,b\n1,x\n2,\n", {"dtype": {"b": pd.CategoricalDtype(["y", "x"])}}),
    ("1,x\n2,y\n", {"header": None, "dtype": {0: "Int8", 1: "category"}}),
    ("a,b\n1,x\n", {"dtype": defaultdict(lambda: "str", a="int8")}),
    ("t,x\n2024-01-31,1\n,2\n2024-02-29,3\n", {"parse_dates": ["t"]}),
    ("t\n2024-01-31 12:00:00.5\nNaT\n2024-02-29 01:02:03.25\n", {"parse_dates": ["t"]}),
    ("t\n2024-01-31T12:00Z\n2024-02-29T01:02Z\n", {"parse_dates": ["t"]}),
    ("t\n1500-01-01\n9999-12-31\n", {"parse_dates": ["t"], "dtype": str}),
    ('t\n"2024-01-31"\n2024-02-29\n', {"parse_dates": ["t"]}),
    ("# c\n\na,b # x\n1,2 #y\n# z\n3,4\n", {"comment": "#"}),
    ("x\n# c\na,b\n1,2\n", {"comment": "#", "skiprows": 1}),
    ("a;b\n1;2\n", {"delimiter": ";"}),
    ("a\n1\n2\n", {"nrows": 1.0}),
]


@pytest.mark.parametrize(("content", "options"), OURS)
@pytest.mark.parametrize("block_size", [0, 1])
def test_options_that_we_read(tmp_path, content, options, block_size):
    path = tmp_path / "a.csv"
    path.write_text(content)
    expected = pd.read_csv(path, **options)
    shards = xs.read_csv(path, **options, block_size=block_size)
    assert "pandas_read_csv" not in shards.explain(as_text=True)
    assert_same(shards.to_pandas(), expected)


@pytest.mark.parametrize(
    "late",
    ["nonsense", "2024-13-01", "2024-02-30", "2024-01-01 00:00", "1", "2024/1/1"],
)
@pytest.mark.parametrize("block_size", [0, 1])
def test_a_late_text_makes_a_time_column_text(tmp_path, late, block_size):
    path = tmp_path / "a.csv"
    rows = ["2024-01-31,1"] * 9000 + [f"{late},2"] + ["2024-02-01,3"] * 3
    path.write_text("t,x\n" + "\n".join(rows if block_size == 0 else rows[-20:]))
    expected = pd.read_csv(path, parse_dates=["t"])
    actual = xs.read_csv(path, parse_dates=["t"], block_size=block_size).to_pandas()
    assert_same(actual, expected)


def test_one_column_is_squeezed(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,x\n2,y\n")
    column = xs.read_csv(path, usecols=["b"], squeeze=True).to_pandas()
    pd.testing.assert_series_equal(column, pd.Series(["x", "y"], name="b"))
    assert xs.read_csv(path, squeeze=True).columns == ["a", "b"]


def test_mistakes_in_options_are_named(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,x\n")
    with pytest.raises(ValueError, match="usecols has position 9, but there are 2"):
        xs.read_csv(path, usecols=[0, 9])
    with pytest.raises(ValueError, match="all names, all positions, or a function"):
        xs.read_csv(path, usecols=["a", 1])
    with pytest.raises(ValueError, match="dtype names column 7, but the files have 2"):
        xs.read_csv(path, dtype={7: "str"})
    with pytest.raises(ValueError, match="another name of sep"):
        xs.read_csv(path, sep="|", delimiter=";")
    with pytest.raises(TypeError, match="nrows must be an integer, got str"):
        xs.read_csv(path, nrows="x")
    with pytest.raises(KeyError, match="no column 'zz'"):
        xs.read_csv(path, parse_dates=["zz"])
    with pytest.raises(ValueError, match="index_col 'zz' is no column"):
        xs.read_csv(path, index_col="zz")
    with pytest.raises(ValueError, match="index_col 7 is no column"):
        xs.read_csv(path, index_col=7)


def test_engine_is_chosen_without_a_warning(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a::b\n1::2\nend::0\n")
    expected = pd.DataFrame({"a": [1], "b": [2]})
    assert_same(xs.read_csv(path, sep="::", skipfooter=1).to_pandas(), expected)


def test_plain_options_are_not_left_to_pandas(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a\tb\n1\t'x\n")
    options = {"sep": "\t", "quoting": 3, "encoding": "utf-8", "skipfooter": 0}
    shards = xs.read_csv(path, **options, float_precision="round_trip")
    assert "pandas_read_csv" not in shards.explain(as_text=True)
    assert_same(shards.to_pandas(), pd.read_csv(path, **options))


def test_odd_options_for_many_files(tmp_path):
    folder = tmp_path / "in"
    (folder / "below").mkdir(parents=True)
    for number in range(3):
        (folder / "below" / f"{number}.csv").write_text(f"a,b\n{number}, {number}\n")
    (folder / "_hidden.csv").write_text("x\n1\n")
    expected = pd.DataFrame({"a": [0, 1, 2], "b": [0, 1, 2]})
    for what in (
        folder,
        folder / "**" / "[0-9].csv",
        sorted(folder.rglob("[0-9].csv")),
    ):
        for count in (None, 1, 2, 50):
            shards = xs.read_csv(what, dayfirst=True, num_partitions=count)
            assert_same(shards.to_pandas(), expected)
    first = xs.read_csv(folder, dayfirst=True, nrows=2).to_pandas()
    assert_same(first, expected.head(2))
    with pytest.raises(FileNotFoundError, match="nowhere"):
        xs.read_csv(tmp_path / "nowhere.csv", dayfirst=True)


@pytest.mark.parametrize("form", ["tar", "zip"])
def test_compression_that_only_pandas_reads(tmp_path, form):
    df = pd.DataFrame({"a": [1, 2], "b": ["x", None]})
    df.to_csv(tmp_path / f"a.csv.{form}", index=False)
    assert_same(xs.read_csv(tmp_path / f"a.csv.{form}").to_pandas(), df)


def test_errors_name_the_file(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("a,b\n1,2\n1,2,3\n")
    with pytest.raises(pd.errors.ParserError, match="Expected 2 fields") as caught:
        xs.read_csv(path, dayfirst=True).to_pandas()
    assert any(str(path) in note for note in caught.value.__notes__)


@pytest.mark.parametrize("name", ["mangle_dupe_cols", "chunksize", "iterator"])
def test_unknown_options_are_type_errors(tmp_path, name):
    path = tmp_path / "a.csv"
    path.write_text("a\n1\n")
    with pytest.raises(TypeError, match=name):
        xs.read_csv(path, **{name: 1})


@pytest.mark.parametrize("keys", [[30, 10], [7, 7, 3], [0, 1, 3], [5]])
@pytest.mark.parametrize("together", [True, False])
def test_unnamed_labels_stay_where_pandas_reads(tmp_path, keys, together):
    paths = [tmp_path / name for name in ("a.csv", "b.csv")]
    for path in paths:
        pd.DataFrame({"a": range(len(keys))}, index=keys).to_csv(path)
    frames = [pd.read_csv(path, index_col=0, dayfirst=True) for path in paths]
    count = 1 if together else 2
    ours = xs.read_csv(paths, index_col=0, dayfirst=True, num_partitions=count)
    assert "pandas_read_csv" in ours.explain(as_text=True)
    pd.testing.assert_frame_equal(ours.to_pandas(), pd.concat(frames))
    counted = xs.read_csv(paths, dayfirst=True, num_partitions=count).to_pandas()
    assert list(counted.index) == list(range(2 * len(keys)))
