# SPDX-License-Identifier: Apache-2.0
"""Which lines of a CSV file are read: bad ones, blank ones, headers, skipped ones."""

import gzip
import tempfile
import warnings
from pathlib import Path

import pandas as pd
import pytest
from frames import assert_same
from hypothesis import given, settings
from hypothesis import strategies as st

import xshards as xs

LINES = [
    "1,2",
    "3,4,5",
    "6",
    "",
    " ",
    "\t",
    '"7\n8",9',
    '"x","y\r\nz"',
    "a,b",
    ",",
    '"",',
]


def outcome(read):
    """Give what reading gives: a frame, or None, and the class of pandas' error."""
    try:
        return read(), None
    except ValueError as error:
        known = (pd.errors.ParserError, pd.errors.EmptyDataError, ValueError)
        return None, next(cls for cls in known if isinstance(error, cls))


def check(path, options, block_size=1):
    """Compare with pandas, in one piece and in small ones."""
    whole = {} if "engine" in options else {"low_memory": False}
    expected, failure = outcome(lambda: pd.read_csv(path, **whole, **options))
    options = {name: value for name, value in options.items() if name != "engine"}
    for cut in ({}, {"block_size": block_size}, {"block_size": 1}):
        ours, our_failure = outcome(
            lambda cut=cut: xs.read_csv(path, **options, **cut).to_pandas()
        )
        assert our_failure is failure, (options, cut)
        if expected is None:
            continue
        if expected.columns.empty:  # whose labels are of no type in pandas
            expected.columns = ours.columns
        assert_same(ours, expected)
    return expected


@settings(max_examples=250)
@given(
    lines=st.lists(st.sampled_from(LINES), max_size=9),
    line_end=st.sampled_from(["\n", "\r\n", "\r"]),
    is_ended=st.booleans(),
    header=st.sampled_from(["infer", None, 0, 1, 2]),
    names=st.sampled_from([None, None, ["p", "q"], ["p", "q", "r"]]),
    skiprows=st.integers(0, 3) | st.lists(st.integers(0, 12), max_size=4),
    skip_blank_lines=st.booleans(),
    on_bad_lines=st.sampled_from(["error", "skip"]),
    block_size=st.integers(1, 30),
)
def test_lines_are_those_that_pandas_reads(
    lines,
    line_end,
    is_ended,
    header,
    names,
    skiprows,
    skip_blank_lines,
    on_bad_lines,
    block_size,
):
    text = line_end.join(lines) + (line_end if is_ended else "")
    if line_end == "\r":
        # pandas loses the character behind such a line that it leaves out.
        skiprows, skip_blank_lines = 0, False
    options = {
        "header": header,
        "names": names,
        "skiprows": skiprows,
        "skip_blank_lines": skip_blank_lines,
        "on_bad_lines": on_bad_lines,
    }
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "a.csv")
        path.write_bytes(text.encode())
        check(path, options, block_size)


@settings(max_examples=150)
@given(
    lines=st.lists(st.sampled_from([*LINES, '5,"open', '"']), max_size=9),
    line_end=st.sampled_from(["\n", "\r\n"]),
    header=st.sampled_from(["infer", None]),
    on_bad_lines=st.sampled_from(["error", "skip"]),
    nrows=st.integers(1, 7),
    form=st.sampled_from(["csv", "csv.gz"]),
)
def test_rows_after_nrows_are_not_checked(
    lines, line_end, header, on_bad_lines, nrows, form
):
    options = {
        "header": header,
        "on_bad_lines": on_bad_lines,
        "nrows": nrows,
    }
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, f"a.{form}")
        text = line_end.join(lines).encode()
        path.write_bytes(gzip.compress(text) if form == "csv.gz" else text)
        check(path, options)


WRONG = {
    "too long": "3,4,5\n6,7\n",
    "open quote": '3,"4\n6,7\n',
    "escaped end": "3,4\\",
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("rows", [1, 40_000])
def test_faults_after_the_requested_rows(tmp_path, wrong, rows):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n" + "1,2\n" * rows + WRONG[wrong])
    options = {"escapechar": "\\"} if wrong == "escaped end" else {}
    for nrows in (0, 1, rows):
        expected = pd.read_csv(path, nrows=nrows, **options)
        assert_same(xs.read_csv(path, nrows=nrows, **options).to_pandas(), expected)
    with pytest.raises(pd.errors.ParserError):
        pd.read_csv(path, nrows=rows + 1, **options)
    with pytest.raises(pd.errors.ParserError, match=r"Expected .*a\.csv'"):
        xs.read_csv(path, nrows=rows + 1, **options).to_pandas()


def test_the_first_rows_of_several_files(tmp_path):
    texts = ["a,b\n1,2\n", "a,b\n", "a,b\n3,4\n5,6\nx,y\n1,2,3\n", "a,b\n1,2\n1,2,3\n"]
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.csv").write_text(text)
    for nrows in (0, 1, 2, 3):
        expected = pd.DataFrame({"a": [1, 3, 5], "b": [2, 4, 6]}).head(nrows)
        if nrows == 0:
            expected = expected.astype(object)
        assert_same(xs.read_csv(tmp_path, nrows=nrows).to_pandas(), expected)
    with_text = xs.read_csv(tmp_path, nrows=4).to_pandas()
    assert with_text["a"].tolist() == ["1", "3", "5", "x"]
    with pytest.raises(ValueError, match=r"Expected 2 fields in '.*2\.csv', line 5"):
        xs.read_csv(tmp_path, nrows=5).to_pandas()


@pytest.mark.parametrize("form", ["csv", "csv.gz"])
def test_many_first_rows_of_a_large_file(tmp_path, form):
    path = tmp_path / f"a.{form}"
    count = 1_000_000
    text = "n\n" + "7\n" * (count + 10) + "x\n1,2\n"
    path.write_bytes(
        gzip.compress(text.encode(), 1) if form == "csv.gz" else text.encode()
    )
    shards = xs.read_csv(path, nrows=count, num_partitions=5)
    assert (shards.num_partitions() > 1) == (form == "csv")
    actual = shards.to_pandas()
    assert actual["n"].dtype == "int64"
    assert len(actual) == count


@pytest.mark.parametrize(
    ("content", "options"),
    [
        ("x\na,b\n1,2\n", {"header": 1}),
        ("\n\nx,y,z\na,b\n1,2\n", {"header": 1}),
        ("x\n\na,b\n1,2,3\n4,5,6\n", {"header": 1}),
        ("x\na,b\n1,2\n", {"header": 1, "names": ["p", "q"]}),
        ("# x\nq\na,b # y\n1,2\n", {"header": 1, "comment": "#"}),
        ('"a\nb",c\nd,e\n1,2\n', {"skiprows": 1}),
        ('"a\nb",c\nd,e\n1,2\n', {"header": 1}),
        ("a\n1\n2\n3\n", {"skiprows": [1]}),
        ("a\n1\n2\n3\n", {"skiprows": {0, 2}}),
        ("a\n1\n2\n3\n", {"skiprows": range(1, 3)}),
        ("a\n1\n2\n3\n", {"skiprows": [-1, 2, 99]}),
        ("a\n1\n2\n3\n", {"skiprows": [1, 2**63 - 1]}),
        ("x\ny\na\n1\n2\n", {"skiprows": [1, 0, -(2**63), 1, 2**63 - 1, 0]}),
        ("a\n1\n2\n3\n", {"skiprows": lambda line: line == 2}),
        ("x\r\n\r\na\r\n1\r\n\r\n2\r\n", {"skiprows": lambda line: line % 2 == 0}),
        ('a\n"1\n2"\n3\n"4', {"skiprows": lambda line: line in (1, 3)}),
        ("a,b\n# c\n1,2\n# c\n3,4\n", {"skiprows": [4], "comment": "#"}),
        ('a,b\n1,2\n"x\n', {"skiprows": [2]}),
        ("a\r\n1\r\n\r\n3\r\n\r\n", {"skip_blank_lines": False}),
        ("a\r1\r\r3\r", {"skip_blank_lines": False}),
        ("a,b\n\n1,2\n \n", {"skip_blank_lines": False}),
        ("\na,b\n1,2\n", {"skip_blank_lines": False}),
        ("a,b\n1,2\n1,2,3\n4,5\n", {"on_bad_lines": "skip"}),
        ("a,b\n1,2,3\n4,5\n1,2,3,4\n", {"on_bad_lines": "skip"}),
        ("a,b\n1,2\n1,2,3\n", {"on_bad_lines": "skip", "usecols": ["b"]}),
        ("1,2\n1,2,3\n", {"on_bad_lines": "skip", "header": None}),
        ("a,b\n1,2\nx,x,x\n3,4\n", {"on_bad_lines": "skip", "nrows": 2}),
    ],
)
def test_engine_selects_the_lines_of_pandas(tmp_path, content, options):
    path = tmp_path / "a.csv"
    path.write_bytes(content.encode())
    assert check(path, options) is not None
    shards = xs.read_csv(path, **options)
    assert "pandas_read_csv" not in shards.explain(as_text=True)


@pytest.mark.parametrize(
    ("content", "options"),
    [
        ("a\n\n#\n1\n", {"skip_blank_lines": False, "comment": "#"}),
        ("x\\\na\n1\n", {"skiprows": 1, "escapechar": "\\"}),
        ("a,b\nc,d\n1,2\n", {"header": [0, 1]}),
        ("a,b\n1\\#2,2\n3,4\n", {"comment": "#", "escapechar": "\\"}),
    ],
)
def test_unsupported_line_options_are_read_by_pandas(tmp_path, content, options):
    path = tmp_path / "a.csv"
    path.write_text(content)
    shards = xs.read_csv(path, **options)
    assert "pandas_read_csv" in shards.explain(as_text=True)
    assert_same(shards.to_pandas(), pd.read_csv(path, **options))


def test_a_header_far_into_a_large_file(tmp_path):
    path = tmp_path / "a.csv"
    lines = [f"{i},{'x' * 80}" for i in range(5_000)]
    path.write_text("\n".join(lines))
    for options in ({"header": 4_000}, {"header": 4_000, "skiprows": [7, 4_500]}):
        expected = pd.read_csv(path, **options)
        for cut in ({}, {"block_size": 10_000}):
            assert_same(xs.read_csv(path, **options, **cut).to_pandas(), expected)
    with pytest.raises(ValueError, match="Passed header=6000 but only 5000 lines"):
        xs.read_csv(path, header=6_000)


@pytest.mark.parametrize("form", ["csv", "csv.gz"])
def test_lines_are_left_out_far_into_large_files(tmp_path, form):
    path = tmp_path / f"a.{form}"
    frame = pd.DataFrame({"n": range(40_000), "t": ["x\ny", "z"] * 20_000})
    frame.to_csv(path, index=False)
    skipped = [1, 2, 3, 9_000, *range(20_000, 20_100), 10**9]
    expected = pd.read_csv(path, skiprows=skipped)
    for number, cut in enumerate(({}, {"block_size": 10_000}, {"num_partitions": 3})):
        # The same as a function.
        ways = (skipped, set(skipped).__contains__)
        shards = xs.read_csv(path, skiprows=ways[number % 2], **cut)
        if form == "csv" and cut:
            assert shards.num_partitions() > 2
        assert_same(shards.to_pandas(), expected)


@pytest.mark.parametrize("block_size", [0, 1, 20_000])
def test_bad_lines_are_warned_of(tmp_path, block_size):
    path = tmp_path / "a.csv"
    rows = ["1,2", "1,2,3", "4,5", "6,7,8,9"] * 5_000
    path.write_text("a,b\n" + "\n".join(rows[: 8 if block_size == 1 else None]))
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        expected = pd.read_csv(path, on_bad_lines="warn")
    shards = xs.read_csv(path, on_bad_lines="warn", block_size=block_size)
    count = 4 if block_size == 1 else 10_000
    with pytest.warns(
        pd.errors.ParserWarning,
        match=rf"^{count} lines were skipped. The first: Expected 2 fields in "
        r"'.*a.csv', line 3, saw 3$",
    ):
        actual = shards.to_pandas()
    assert_same(actual, expected)


def test_bad_lines_after_the_requested_rows_are_not_reported(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,2\n1,2,3\n4,5\n6,7,8\n")
    assert len(xs.read_csv(path, on_bad_lines="warn", nrows=1).to_pandas()) == 1
    with pytest.warns(pd.errors.ParserWarning, match="^1 line was skipped. "):
        xs.read_csv(path, on_bad_lines="warn", nrows=2).to_pandas()


def test_mistakes_in_lines_are_named(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,2\n1,2,3\n")
    with pytest.raises(
        ValueError, match=r"header=7 but only 3 lines in file '.*a.csv'"
    ):
        xs.read_csv(path, header=7)
    with pytest.raises(
        ValueError, match=r"Expected 2 fields in '.*a.csv', line 3, saw 3"
    ):
        xs.read_csv(path).to_pandas()
    with pytest.raises(ValueError, match="No columns to parse from file"):
        xs.read_csv(path, skiprows=9)


def footer_options():
    return st.fixed_dictionaries(
        {"skipfooter": st.integers(1, 5)},
        optional={
            "header": st.sampled_from([None, 0, 1]),
            "skiprows": st.integers(0, 2) | st.lists(st.integers(0, 9), max_size=3),
            "on_bad_lines": st.sampled_from(["error", "skip"]),
        },
    )


@settings(max_examples=150)
@given(
    lines=st.lists(
        st.sampled_from(["1,2", "3,x", "6", "", " ", '"7\n8",9']), max_size=9
    ),
    footer=st.sampled_from(["", "total", "a,b,c,d,e", "\n"]),
    line_end=st.sampled_from(["\n", "\r\n"]),
    options=footer_options(),
    block_size=st.integers(1, 30),
)
def test_last_lines_are_left_out(lines, footer, line_end, options, block_size):
    text = line_end.join(["a,b", "p,q", *lines, footer])
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "a.csv")
        path.write_bytes(text.encode())
        expected, _ = outcome(lambda: pd.read_csv(path, engine="python", **options))
        for cut in ({}, {"block_size": block_size}, {"block_size": 1}):
            ours, _ = outcome(
                lambda cut=cut: xs.read_csv(path, **options, **cut).to_pandas()
            )
            assert (ours is None) == (expected is None), (options, cut)
            if expected is None:
                continue
            if expected.empty:  # of a footer of more fields pandas makes no index
                ours = ours.reset_index(drop=True)
            assert_same(ours, expected)


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
def test_last_lines_of_large_files_are_left_out(tmp_path, name):
    path = tmp_path / name
    frame = pd.DataFrame({"n": range(40_000), "t": ["x\ny", "z"] * 20_000})
    frame.to_csv(path, index=False)
    for count in (1, 7, 30_000, 50_000):
        for cut in ({}, {"block_size": 50_000}):
            shards = xs.read_csv(path, skipfooter=count, **cut)
            assert "pandas_read_csv" not in shards.explain(as_text=True)
            expected = pd.read_csv(path, skipfooter=count, engine="python")
            assert_same(shards.to_pandas(), expected)


def test_each_of_many_files_has_its_own_lines(tmp_path):
    options = {
        "encoding": "latin-1",
        "header": 1,
        "skiprows": [3, 7],
        "skipfooter": 1,
    }
    frames = []
    for number in range(3):
        path = tmp_path / f"{number}.csv"
        rows = [f"é{number},{row}" for row in range(3_000 * number + 5)]
        text = "\n".join(["made by é", "", "a,b", *rows, "1,2,3", "total"])
        path.write_bytes(text.encode("latin-1"))
        frames.append(
            pd.read_csv(path, **options, on_bad_lines="skip", engine="python")
        )
    expected = pd.concat(frames, ignore_index=True)
    for cut in ({}, {"block_size": 100}, {"num_partitions": 2}):
        shards = xs.read_csv(tmp_path, **options, on_bad_lines="warn", **cut)
        assert "pandas_read_csv" not in shards.explain(as_text=True)
        with pytest.warns(pd.errors.ParserWarning, match="^3 lines were skipped"):
            assert_same(shards.to_pandas(), expected)
        # In other processes, too.
        with pytest.warns(pd.errors.ParserWarning, match="^3 lines were skipped"):
            passed_on = shards.transform_shard(lambda frame: frame).to_pandas()
        assert_same(passed_on.reset_index(drop=True), expected)


ODD = [
    {"skipinitialspace": True},
    {"sep": r"\s+"},
    {"doublequote": False},
    {"escapechar": "\\"},
    {"sep": "::", "engine": "python"},
]


@settings(max_examples=150)
@given(
    lines=st.lists(
        st.sampled_from(["1, 2", " 3 4", "6::7 ", '" 7\n8",  9', '"x" ,y', "", " "]),
        max_size=8,
    ),
    line_end=st.sampled_from(["\n", "\r\n"]),
    dialect=st.sampled_from(ODD),
    header=st.sampled_from(["infer", None, 1]),
    skiprows=st.integers(0, 2) | st.lists(st.integers(0, 9), max_size=3),
    on_bad_lines=st.sampled_from(["error", "skip"]),
    block_size=st.integers(1, 30),
)
def test_lines_of_odd_dialects(
    lines, line_end, dialect, header, skiprows, on_bad_lines, block_size
):
    options = {
        **dialect,
        "header": header,
        "skiprows": skiprows,
        "on_bad_lines": on_bad_lines,
    }
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "a.csv")
        path.write_bytes(line_end.join(["a, b", "c d", *lines, "p, q"]).encode())
        check(path, options, block_size)
