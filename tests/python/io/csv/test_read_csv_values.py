# SPDX-License-Identifier: Apache-2.0
"""What texts mean in CSV files: numbers, truths, missing values, times; and quotes."""

import tempfile
import warnings
from pathlib import Path

import pandas as pd
import pytest
from frames import assert_same
from hypothesis import given, settings
from hypothesis import strategies as st

import xshards as xs

EURO = {"sep": ";", "decimal": ",", "thousands": "."}
YES = {"true_values": ["yes", "1", "1.5"], "false_values": ["no", "0"]}
PYTHON = {"engine": "python"}

OURS = [
    ("a;b\n1.000,5;2\n-1.234;3.000\n", EURO),
    ("a;b\n1,5;x\n1.5;y\n", {"sep": ";", "decimal": ","}),
    ("a;b\n1,5e3;\n;,5\n", {"sep": ";", "decimal": ","}),
    ('a,b\n"1,234","-5,6"\n7,\n', {"thousands": ","}),
    ('a,b\n"1,234","1,5"\n"7.5,0",","\n', {"thousands": ","}),
    ("a b\n1_000 9_223_372_036_854_775_808\n2 1\n", {"sep": " ", "thousands": "_"}),
    ("a\n99999999999999999999\n1\n", {"thousands": ","}),
    ("a|b\n99999999999999999999|1\n1,000|2\n", {"sep": "|", "thousands": ","}),
    ("a|b\n1,000|1\n2,000.0|2\n", {"sep": "|", "thousands": ",", "na_values": [1000]}),
    ("a|b\n1,5|1\n2,50|2\n", {"sep": "|", "decimal": ",", "na_values": [2.5]}),
    ("a|b\n1,5|1\n", {"sep": "|", "decimal": ",", "dtype": {"a": "float32"}}),
    ("a|b\n1,5|1\n", {"sep": "|", "decimal": ",", "dtype": str}),
    ("a\n1 000\n 2 \n", {"thousands": " "}),
    ("a,b\nyes,True\nno,yes\n", YES),
    ("a,b\n1,1\n0,yes\n", YES),
    ("a,b\n1,1\n2,yes\n1,2\n", YES),
    ("a,b\n1.5,1.5\n1,yes\nno,\n", YES),
    ("a,b\nTrue,x\nFalse,NA\n", {"false_values": ["True", "x"]}),
    ("a,b\nyes,1\n", YES | {"dtype": {"a": "bool", "b": "bool"}}),
    ('a,b\n1,"2"\n,x\n', {"quoting": 2}),
    ("a,b\n99999999999999999999,True\n1,False\n", {"quoting": 2}),
    ("a,b\n9223372036854775808,1\n,2\n", {"quoting": 2, "dtype": {"b": "int64"}}),
    ('a, b\n1,  x \n 2, "y, z"\n', {"skipinitialspace": True}),
    ('a, "b, c"\n   ,"x" y\n\n  \n1, "p\n q"\n', {"skipinitialspace": True}),
    ("a\n 1\n 2\n", {"nrows": 1, "skipinitialspace": True}),
    ("a\tb\n1\t  \n", {"sep": "\t", "skipinitialspace": True}),
    ("a,b\r\n 1, x\r\n\r\n", {"skipinitialspace": True}),
    ('a,b\n"x""y",1\n"z","1, 2"\n', {"doublequote": False}),
    ('a,b\n"x\\"y",1\n"""",2\n', {"doublequote": False, "escapechar": "\\"}),
    ("a,b\n'x,\"y\n", {"quoting": 3, "doublequote": False}),
    ("a  b\n1   x\n", {"sep": r"\s+"}),
    (' a\tb  \n "x  y" 2 \n\n   \n\t3 "" \n', {"sep": r"\s+"}),
    ("a b\r\n1 2 \r\n  \r\n 3 4\r\n", {"sep": r"\s+"}),
    ('a b\n1 "x\n y"\n2 z"\n', {"sep": r"\s+"}),
    ("a b\n1 2 3\n4 5\n", {"sep": r"\s+"}),
    ("a b\n1 \\ x\n", {"sep": r"\s+", "escapechar": "\\"}),
    ("a b\n1,5 'x y'\n", {"sep": r"\s+", "decimal": ",", "quotechar": "'"}),
    ("a||b\n1||x\n", {"sep": r"\|\|"} | PYTHON),
    ('a::b\n "1::2 \n:::x\n\n  \nTrue::tRue\n', {"sep": "::"} | PYTHON),
    ("a::b\r\n1::2\r\n3\r\n", {"sep": "::"} | PYTHON),
    ("a::b\n1::2::3\n4::5::6\n", {"sep": "::"} | PYTHON),
    ("a, b\n1, 2\n3, \n", {"sep": ", "} | PYTHON),
    ("a  b  \n1  2  \n", {"sep": "  "} | PYTHON),
    ("a.b\n1.x\n", {"sep": r"\."} | PYTHON),
    ("a\t\tb\n1\t\t2\n", {"sep": r"\t\t"} | PYTHON),
    ("aébéc\n1ébé2\n", {"sep": "ébé"} | PYTHON),
    ("a::b\n1::2\nyes::4\n", {"sep": "::", "true_values": ["1", "yes"]} | PYTHON),
    ("a::b\n1::2\n3::4\n", {"sep": "::", "index_col": 0, "na_values": 1} | PYTHON),
    ("1::2\n3::4\n", {"sep": "::", "header": None, "nrows": 1} | PYTHON),
    ("a,b\n1,x\n2,y\n", {"na_values": {"a": [1]}}),
    ("a,b\n1.0,x\n2,1\nNA,NA\n", {"na_values": {"a": 1, "b": "x", "zz": ["y"]}}),
    ("a,b\n1,x\nNA,NA\n", {"na_values": {"b": ["x"]}, "keep_default_na": False}),
    ("a,b\n1,x\nNA,NA\n", {"na_values": {"b": ["x"]}, "na_filter": False}),
    ("a,b\n1,x\n2,y\n", {"na_values": {"a": [1], "b": ["y"]}, "index_col": "a"}),
    ("a,b\n1,x\n2,y\n", {"na_values": {"b": ("x", 2)}, "usecols": ["b"]}),
    ("a,b\n5,1,x\n6,2,y\n", {"na_values": {"a": [1], "b": ["y"]}}),
    ("x,y\n1,2\n", {"na_values": {"b": ["2"]}, "names": ["a", "b"]}),
    ("a,b\n2.5,2.50\n2,x\n3,2.5\n", {"na_values": 2.5}),
    ("a,b\n0.1,0.10\n1e-1,x\n3,2.5\n", {"na_values": [0.1, True]}),
    ("a,b\n1e16,1e+16\n1.5,x\n", {"na_values": [1e16]}),
    ("a,b\n2.5,2.5\n3,x\n", {"na_values": ["2.50"]}),
    ("a,b\ninf,Infinity\n1,x\n", {"na_values": [float("inf")]}),
]


@pytest.mark.parametrize(("content", "options"), OURS)
@pytest.mark.parametrize("block_size", [0, 1])
def test_values_are_those_of_pandas(tmp_path, content, options, block_size):
    path = tmp_path / "a.csv"
    path.write_bytes(content.encode())
    expected = pd.read_csv(path, **options)
    ours = {name: value for name, value in options.items() if name != "engine"}
    shards = xs.read_csv(path, **ours, block_size=block_size)
    assert "pandas_read_csv" not in shards.explain(as_text=True)
    assert_same(shards.to_pandas(), expected)


T = {"parse_dates": ["t"]}
TIMES = [
    (["01/31/2024", "02/01/2024"], T),
    (["1/5/2024", "", "01/05/2024"], T),
    (["1/5/2024", "13/5/2024"], T),
    (["31.01.2024", "01.02.2024"], T),
    (["01.02.2024", "31.01.2024"], T),
    (["2024/01/31 12:00", "2024/02/01 1:00"], T),
    (["20240131", "20240201"], T),
    (["2024", "2025", ""], T),
    (["NaT", "nan", "2024-01-31"], T),
    (["2024-01-05", "2024-1-5"], T),
    (["05-Jan-2024", "5-fEB-2024"], T),
    (["January 5, 2024", "May 6, 2024"], T),
    (["Wed Jan 31 2024", "Wed Feb 1 2024"], T),
    (["2024-01-31 12:00 PM", "2024-01-31 1:00 AM"], T),
    (["2024-01-31 12:00:00.123456789", "2024-01-31 12:00:00.5"], T),
    (["2024-01-31 12:00:00.5", "2024-01-31 12:00:00.0000000"], T),
    (["2024-01-31 12:00:00.5", "1500-01-31 12:00:00.1234567"], T),
    (["2024-01-31T12:00:00Z", "2024-01-31T12:00:00+00:00"], T),
    (["2024-01-31T12:00:00Z", "2024-01-31T12:00:00+01:00"], T),
    (["1500-01-01", "9999-12-31"], T),
    (["x", "2024-01-31"], T | {"date_format": "%Y-%m-%d"}),
    (["31/01/24", "01/02/69"], T | {"date_format": "%d/%m/%y"}),
    (["31/01/24", "x"], T | {"date_format": {"t": "%d/%m/%y"}}),
    (["31/01/2024", "01/02/2024"], T | {"date_format": {"n": "%d/%m/%Y"}}),
    (["", "NA"], T | {"date_format": "%d/%m/%Y"}),
    (["31/01/2024 01:02 PM", ""], T | {"date_format": "%d/%m/%Y %I:%M %p"}),
    (["2024-01-31 00:00Z"], T | {"date_format": "%Y-%m-%d %H:%M%z"}),
    (["2024-01-31 23:59:60"], T | {"date_format": "%Y-%m-%d %H:%M:%S"}),
    (["2024-01-31", "2024-02-01"], {"parse_dates": [0]}),
    (["2024-01-31", "2024-02-01"], {"parse_dates": [0], "usecols": ["n", "t"]}),
    (["5", "6"], {"parse_dates": [1, "t"], "date_format": "%Y"}),
    (["2024-01-31", "2024-02-01"], {"parse_dates": True}),
    (["2024-01-31", "2024-02-01"], {"parse_dates": False}),
    (["2024-01-31", "2024-02-01"], {"parse_dates": True, "index_col": "t"}),
    (["2024-01-31", "2024-02-01"], {"parse_dates": True, "index_col": 0}),
    (["01/31/2024", "02/01/2024"], T | {"index_col": "t"}),
    (["01/31/2024", "x"], T | {"index_col": ["t"]}),
    (["2024-01-31", "nan"], T | {"keep_default_na": False}),
    (["2024-01-31", ""], T | {"na_filter": False}),
    (["2024-01-31", "NULL"], T | {"keep_default_na": False}),
    (["1900-01-01", "2024-01-31"], T | {"na_values": ["1900-01-01"]}),
    (["2024-01-31", "1900-01-01"], T | {"na_values": {"t": "1900-01-01"}}),
]


@pytest.mark.filterwarnings("ignore:Parsing dates in")
@pytest.mark.parametrize(("texts", "options"), TIMES)
@pytest.mark.parametrize("block_size", [0, 1])
def test_times_are_those_of_pandas(tmp_path, texts, options, block_size):
    path = tmp_path / "a.csv"
    path.write_text("t,n\n" + "".join(f'"{t}",{i}\n' for i, t in enumerate(texts)))
    expected = pd.read_csv(path, **options)
    shards = xs.read_csv(path, **options, block_size=block_size)
    assert "pandas_read_csv" not in shards.explain(as_text=True)
    assert_same(shards.to_pandas(), expected)


@pytest.mark.parametrize(
    ("first", "late", "options"),
    [
        ("1,000", "1.5", {"thousands": ","}),
        ("1,5", "x", {"decimal": ","}),
        ("yes", "2", YES),
        ("1", "yes", YES),
        ("1.5", "-", {"na_values": {"a": ["-"]}}),
        (
            "2024-01-31 00:00:00.5",
            "2024-01-31 00:00:00.1234567",
            {"parse_dates": ["a"]},
        ),
        ("01/31/2024", "31/01/2024", {"parse_dates": ["a"]}),
        ("", "31/01/2024", {"parse_dates": ["a"], "date_format": "%d/%m/%Y"}),
        ("1", "99999999999999999999", {"quoting": 2}),
    ],
)
def test_late_values_make_the_type_of_all(tmp_path, first, late, options):
    path = tmp_path / "a.csv"
    rows = [f"{first};0"] * 20000 + [f"{late};1"] + [f"{first};2"] * 3
    path.write_text("a;b\n" + "\n".join(rows))
    expected = pd.read_csv(path, sep=";", low_memory=False, **options)
    shards = xs.read_csv(path, sep=";", **options)
    assert "pandas_read_csv" not in shards.explain(as_text=True)
    assert_same(shards.to_pandas(), expected)


def check(path, text, options):
    """Compare with pandas, in one piece and cut into tiny ones."""
    path.write_bytes(text.encode())
    pandas = {} if "engine" in options else {"low_memory": False}
    ours = {name: value for name, value in options.items() if name != "engine"}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            expected = pd.read_csv(path, **options, **pandas)
    except (pd.errors.EmptyDataError, pd.errors.ParserError):
        with pytest.raises(ValueError, match=r"No columns|Expected"):
            xs.read_csv(path, **ours).to_pandas()
        return
    for cut in ({}, {"block_size": 7}, {"block_size": 1}):
        shards = xs.read_csv(path, **ours, **cut)
        assert "pandas_read_csv" not in shards.explain(as_text=True)
        assert_same(shards.to_pandas(), expected)


numbers = st.from_regex(
    r"\A ?[+-]?[0-9]{0,3}([.,][0-9]{1,3}){0,3}(e[+-]?[0-9])? ?\Z"
) | st.sampled_from(["", "NA", "inf", "True", "x", "9,223,372,036,854,775,808"])


@settings(max_examples=150)
@given(
    cells=st.lists(st.tuples(numbers, numbers), min_size=1, max_size=5),
    marks=st.sampled_from(
        [(".", ","), (",", "."), (",", None), (",", " "), (".", "_")]
    ),
)
def test_any_number_is_read_as_pandas_reads_it(cells, marks):
    decimal, thousands = marks
    if thousands == "_":
        cells = [[cell.replace(",", "_") for cell in row] for row in cells]
    text = "a;b\n" + "".join(f'"{a}";{b}\n' for a, b in cells)
    with tempfile.TemporaryDirectory() as directory:
        options = {"sep": ";", "decimal": decimal, "thousands": thousands}
        check(Path(directory, "a.csv"), text, options)


@settings(max_examples=100)
@given(
    cells=st.lists(
        st.sampled_from(["yes", "no", "1", "0", "2", "1.5", "", "True", "x", "NA"]),
        min_size=1,
        max_size=6,
    ),
    truths=st.sets(st.sampled_from(["yes", "1", "1.5", "x", "False"])),
    lies=st.sets(st.sampled_from(["no", "0", "2", "x", "True"])),
)
def test_any_boolean_is_read_as_pandas_reads_it(cells, truths, lies):
    text = "a,b\n" + "".join(f"{cell},0\n" for cell in cells)
    with tempfile.TemporaryDirectory() as directory:
        options = {"true_values": sorted(truths), "false_values": sorted(lies)}
        check(Path(directory, "a.csv"), text, options)


PIECES = st.sampled_from(["a", "1", " ", "  ", ",", '"', '""', "\n", "\r\n", "\t", "é"])


@settings(max_examples=200)
@given(
    pieces=st.lists(PIECES, max_size=12),
    options=st.sampled_from(
        [
            {"skipinitialspace": True},
            {"sep": r"\s+"},
            {"doublequote": False},
            {"doublequote": False, "skipinitialspace": True},
            {"sep": ",,"} | PYTHON,
            {"sep": ", "} | PYTHON,
        ]
    ),
)
def test_any_text_has_the_fields_that_pandas_finds(pieces, options):
    sep = {r"\s+": " "}.get(options.get("sep"), options.get("sep", ","))
    text = sep.join("pqr") + "\n" + sep.join("123") + "\n" + "".join(pieces)
    with tempfile.TemporaryDirectory() as directory:
        check(Path(directory, "a.csv"), text, options | {"dtype": str})


FORMATS = [
    "%m/%d/%Y",
    "%d.%m.%Y",
    "%Y%m%d",
    "%d-%b-%Y %H:%M:%S.%f",
    "%I:%M %p %y-%m-%d",
]


@pytest.mark.filterwarnings("ignore:Parsing dates in", "ignore:Could not infer format")
@settings(max_examples=100)
@given(
    form=st.sampled_from(FORMATS),
    times=st.lists(st.datetimes() | st.none(), min_size=1, max_size=6),
    odd=st.lists(st.from_regex(r"\A[0-9]{1,4}[/.-][0-9]{1,2}[/.-][0-9]{1,4}\Z")),
    is_given=st.booleans(),
)
def test_any_time_is_read_as_pandas_reads_it(form, times, odd, is_given):
    texts = ["" if t is None else t.replace(year=2024).strftime(form) for t in times]
    text = "t,n\n" + "".join(f"{t},0\n" for t in [*texts, *odd[:1]])
    options = T | ({"date_format": form} if is_given else {})
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "a.csv")
        path.write_text(text)
        expected = pd.read_csv(path, **options)
        for cut in ({}, {"block_size": 1}):
            assert_same(xs.read_csv(path, **options, **cut).to_pandas(), expected)
