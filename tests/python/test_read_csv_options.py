# SPDX-License-Identifier: Apache-2.0
"""Options of read_csv that pandas reads for us, file by file in worker processes."""

import io

import pandas as pd
import pytest
from frames import assert_same

import xshards as xs

ODD = [
    ("a||b\n1||x\n", {"sep": r"\|\|", "engine": "python"}),
    ("a  b\n1   x\n", {"sep": r"\s+"}),
    ("a;b\n1;x\n", {"sep": None, "engine": "python"}),
    ("x\na,b\n1,2\n", {"header": 1}),
    ("a,b\n1,2\n3,4\n", {"index_col": "a"}),
    ("a,b,c\n1,2,3\n", {"usecols": [0, 2]}),
    ("a,b,c\n1,2,3\n", {"usecols": lambda name: name != "b"}),
    ("a\nyes\nno\n", {"true_values": ["yes"], "false_values": ["no"]}),
    ("a, b\n1, x\n", {"skipinitialspace": True}),
    ("a\n1\n2\n3\n", {"skiprows": [1]}),
    ("a\n1\n2\n3\n", {"skiprows": lambda line: line == 2}),
    ("a\n1\n2\nend\n", {"skipfooter": 1, "engine": "python"}),
    ("a,b\n1,x\n2,y\n", {"na_values": {"a": [1]}}),
    ("a\nNA\nx\n", {"keep_default_na": False}),
    ("a\nNA\nx\n", {"na_filter": False}),
    ("a\n\n1\n", {"skip_blank_lines": False}),
    ("t\n31/01/2024\n", {"parse_dates": ["t"], "date_format": "%d/%m/%Y"}),
    ("a;b\n1.000,5;2\n", {"sep": ";", "decimal": ",", "thousands": "."}),
    ("a\n'x\n\"y\n", {"quoting": 3, "doublequote": False}),
    ("a\nxé\n", {"encoding": "latin-1"}),
    ("a,b\n1,é\n", {"encoding": "utf-16"}),
    ("a,b\n1,2\n1,2,3\n", {"on_bad_lines": "skip"}),
    ("a\n 1\n 2\n", {"nrows": 1, "skipinitialspace": True}),
    ("a,b\n1,2\n", {"dayfirst": True}),
    ("", {"names": ["a"], "keep_default_na": False}),
]


@pytest.mark.parametrize(("content", "options"), ODD)
def test_odd_options_are_those_of_pandas(tmp_path, content, options):
    path = tmp_path / "a.csv"
    path.write_bytes(content.encode(options.get("encoding", "utf-8")))
    expected = pd.read_csv(path, **options)
    shards = xs.read_csv(path, **options)
    assert "pandas_read_csv" in shards.explain(as_text=True)
    assert_same(shards.to_pandas(), expected)


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


@pytest.mark.parametrize("options", [{}, {"index_col": "a"}])
def test_bytes_and_file_objects(options):
    content = b"a,b\n1,x\n2,y\n"
    expected = pd.read_csv(io.BytesIO(content), **options)
    for source in (content, io.BytesIO(content), io.StringIO(content.decode())):
        assert_same(xs.read_csv(source, **options).to_pandas(), expected)


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
            shards = xs.read_csv(what, skipinitialspace=True, num_partitions=count)
            assert_same(shards.to_pandas(), expected)
    first = xs.read_csv(folder, skipinitialspace=True, nrows=2).to_pandas()
    assert_same(first, expected.head(2))
    with pytest.raises(FileNotFoundError, match="nowhere"):
        xs.read_csv(tmp_path / "nowhere.csv", skipinitialspace=True)


@pytest.mark.parametrize("form", ["xz", "zip"])
def test_compression_that_only_pandas_reads(tmp_path, form):
    df = pd.DataFrame({"a": [1, 2], "b": ["x", None]})
    df.to_csv(tmp_path / f"a.csv.{form}", index=False)
    assert_same(xs.read_csv(tmp_path / f"a.csv.{form}").to_pandas(), df)


def test_errors_name_the_file(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("a,b\n1,2\n1,2,3\n")
    with pytest.raises(pd.errors.ParserError, match="Expected 2 fields") as caught:
        xs.read_csv(path, skipinitialspace=True).to_pandas()
    assert any(str(path) in note for note in caught.value.__notes__)


@pytest.mark.parametrize("name", ["mangle_dupe_cols", "chunksize", "iterator"])
def test_unknown_options_are_type_errors(tmp_path, name):
    path = tmp_path / "a.csv"
    path.write_text("a\n1\n")
    with pytest.raises(TypeError, match=name):
        xs.read_csv(path, **{name: 1})
