# SPDX-License-Identifier: Apache-2.0
"""Files that are damaged, change, or are of unusual size: errors name them."""

import gzip
import io
import itertools
import os
import pickle
import re
import threading

import numpy as np
import pandas as pd
import pyarrow.compute as pc
import pytest
from frames import assert_same

import xshards as xs

ROWS = 200_000


@pytest.fixture
def lines():
    return "a,b\n" + "".join(f"{row},x{row}\n" for row in range(ROWS))


def test_truncated_gzip(tmp_path, lines):
    path = tmp_path / "cut.csv.gz"
    whole = gzip.compress(lines.encode(), 1)
    for kept in (len(whole) - 5, len(whole) // 2, 40, 5):
        path.write_bytes(whole[:kept])
        with pytest.raises((OSError, ValueError), match=r"cut\.csv\.gz"):
            xs.read_csv(path).to_pandas()


def test_damaged_gzip(tmp_path, lines):
    path = tmp_path / "bad.csv.gz"
    content = bytearray(gzip.compress(lines.encode(), 1))
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises((OSError, ValueError), match=r"bad\.csv\.gz"):
        xs.read_csv(path).to_pandas()


def replace(path):
    """Put a file of the same size in its place, with records elsewhere."""
    content = path.read_bytes()
    other = path.with_name("other")
    other.write_bytes(content[::-1])
    os.utime(other, ns=(0, path.stat().st_mtime_ns + 1))
    other.rename(path)


def rewrite_longer(path):
    path.write_bytes(path.read_bytes()[1:] + b"more")


CHANGES = {
    "cut": lambda path: os.truncate(path, path.stat().st_size // 2),
    "cut at a record": lambda path: os.truncate(path, path.stat().st_size - 1),
    "emptied": lambda path: os.truncate(path, 0),
    "replaced": replace,
    "longer, but another": rewrite_longer,
    "same size, another time": lambda path: os.utime(path, ns=(0, 0)),
}


@pytest.fixture(params=["csv", "csv.gz", "json", "array.json"])
def table_file(request, tmp_path):
    """A file of 2,000 rows, the reader for it, and what it holds."""
    path = tmp_path / f"a.{request.param}"
    frame = pd.DataFrame({"a": range(2_000), "b": "x"})
    if request.param.startswith("csv"):
        frame.to_csv(path, index=False)
        return path, xs.read_csv, frame
    frame.to_json(path, orient="records", lines=request.param == "json")
    return path, xs.read_json, frame


@pytest.mark.parametrize("change", CHANGES)
def test_file_that_changes_before_it_is_read(table_file, change):
    path, read, frame = table_file
    name = re.escape(path.name)
    for cut in ({}, {"block_size": 4_000}):
        before = path.read_bytes()
        shards = read(path, **cut)
        assert_same(shards.to_pandas(), frame)
        assert_same(shards.to_pandas(), frame)
        CHANGES[change](path)
        with pytest.raises(OSError, match=rf"'.*{name}'.*changed since.*again"):
            shards.to_pandas()
        path.write_bytes(before)
        assert_same(read(path, **cut).to_pandas(), frame)
    path.unlink()
    with pytest.raises(FileNotFoundError, match=name):
        shards.to_pandas()


@pytest.mark.parametrize("more", [b"\n", b"xyz", b'{"a":1}\n' * 3_000])
def test_appended_rows_are_not_read(table_file, more):
    path, read, frame = table_file
    for cut in ({}, {"block_size": 4_000}):
        shards = read(path, **cut)
        with path.open("ab") as file:
            file.write(more)
        assert_same(shards.to_pandas(), frame)
        assert len(shards) == len(frame)
        copied = shards.transform_shard(lambda frame: frame)
        assert_same(copied.to_pandas(), frame)
        os.truncate(path, path.stat().st_size - len(more))


@pytest.mark.parametrize(
    "text", ["a,b\n1,2\n3", "a,b\n1,2\n3,4", 'a,b\n1,2\n3,"4"', "a,b\n1,2", "a,b", "a"]
)
def test_half_written_line_is_read_as_listed(tmp_path, text):
    path = tmp_path / "a.csv"
    path.write_text(text)
    expected = pd.read_csv(path)
    shards = xs.read_csv(path)
    with path.open("a") as file:
        file.write("9,9,9\n9,9,9\n")
    for _ in range(2):
        assert_same(shards.to_pandas(), expected)


def test_half_a_json_line_can_be_left_out(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"a":1}\n{"a":')
    with pytest.raises(ValueError, match=r"a\.json', line 2"):
        xs.read_json(path)
    shards = xs.read_json(path, on_bad_lines="skip")
    with path.open("a") as file:
        file.write("2}\n")
    assert shards.to_pandas()["a"].tolist() == [1]


@pytest.mark.parametrize("form", ["csv", "json"])
def test_log_that_is_written_all_the_time(tmp_path, form):
    # Lines of 32 bytes: others see a line in part while it goes from page to page.
    path = tmp_path / f"log.{form}"
    path.write_text("a,b".ljust(31) + "\n" if form == "csv" else "")
    read = xs.read_csv if form == "csv" else xs.read_json
    done, begun = threading.Event(), threading.Event()

    def write():
        with path.open("a") as file:
            for row in itertools.count():
                if done.is_set():
                    return
                line = f"{row},x" if form == "csv" else f'{{"a":{row},"b":"x"}}'
                file.write(line.ljust(31) + "\n")
                file.flush()
                begun.set()

    writer = threading.Thread(target=write)
    writer.start()
    assert begun.wait(60)
    try:
        num_rows = 0
        for _ in range(30):
            shards = read(path, num_partitions=4)
            first = shards.to_pandas()
            assert len(first) >= num_rows
            num_rows = len(first)
            assert list(first["a"]) == list(range(num_rows))
            assert_same(shards.to_pandas(), first)
            assert len(shards) == num_rows
    finally:
        done.set()
        writer.join()
    assert num_rows > 0


def test_workers_notice_that_a_file_changed(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a\n1\n2\n")
    shards = xs.read_csv(path).transform_shard(lambda frame: frame)
    path.write_text("a\n1\n23\n")
    with pytest.raises(OSError, match=r"a\.csv'.*It had 6 bytes, and now has 7"):
        shards.to_pandas()


def test_unreadable_file_in_a_folder(tmp_path):
    (tmp_path / "1.csv").write_text("a\n1\n")
    (tmp_path / "2.csv").symlink_to(tmp_path / "nowhere")
    with pytest.raises(OSError, match=r"2\.csv"):
        xs.read_csv(tmp_path).to_pandas()


FAULTS = {
    "too many fields": (b"a,b\n1,2\n3,4,5\n", {}),
    "open quote": (b'a,b\n1,"2\n', {}),
    "open quote at the footer": (
        b'a,b\n1,2\n"x',
        {"skipfooter": 1, "engine": "python"},
    ),
    "escaped end": (b"a,b\n1,2\\", {"escapechar": "\\"}),
    "no such header": (b"a,b\n1,2\n", {"header": 3}),
    "too many names": (b"a,b\n1,2\n", {"header": 0, "names": ["a", "b", "c"]}),
    "names without fields": (
        b"1,2\n3,4\n",
        {"names": ["x", "y", "z"], "usecols": ["x"]},
    ),
    "unused names without fields": (
        b"a,b\n1,2\n3,4\n",
        {"names": ["x", "y", "z"], "usecols": ["x", "y"], "header": 0},
    ),
    "names of fields left out": (
        b"1,2\n3,4,5\n6,7\n",
        {"names": ["x", "y", "z"], "usecols": ["x"], "skiprows": [1]},
    ),
    "names of fields behind the last row": (
        b"1,2\n3,4,5\n",
        {"names": ["x", "y", "z"], "usecols": ["x"], "nrows": 1},
    ),
    "names of fields in a comment": (
        b"1,2\n#3,4,5\n",
        {"names": ["x", "y", "z"], "usecols": ["x"], "comment": "#"},
    ),
    "nothing": (b"", {}),
    "blank lines": (b"\n\n", {}),
    "nothing without a header": (b"", {"header": None}),
    "bad UTF-8": (b"a,b\n1,x\xffy\n", {}),
    "bad UTF-8 in a name": (b"a,b\xff\n1,2\n", {}),
    "no character of cp1252": (b"a,b\n1,\x81\n", {"encoding": "cp1252"}),
    "half a character of utf-16": (b"a\0\n\0x", {"encoding": "utf-16-le"}),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_errors_are_those_of_pandas_too(tmp_path, fault):
    content, options = FAULTS[fault]
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r".") as expected:
        pd.read_csv(path, **options)
    options = {name: value for name, value in options.items() if name != "engine"}
    with pytest.raises(expected.type, match=r"'.*a\.csv'") as caught:
        xs.read_csv(path, **options).to_pandas()
    assert isinstance(caught.value, xs.XShardsError)
    assert expected.type is not ValueError
    if expected.type is UnicodeDecodeError:
        error = caught.value
        bad = error.object[error.start : error.end]
        assert bad
        assert bad in content
        # As it is when it comes from a worker process.
        again = pickle.loads(pickle.dumps(error))
        assert (str(again), again.args) == (str(error), error.args)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("a,b\n1,2\n3,4,5\n", pd.errors.ParserError),
        ("a,b\n1,x\xff\n", UnicodeDecodeError),
    ],
)
def test_errors_come_from_workers_unchanged(tmp_path, content, kind):
    path = tmp_path / "a.csv"
    path.write_text(content, encoding="latin-1")
    shards = xs.read_csv(path).transform_shard(lambda frame: frame)
    with pytest.raises(kind, match=r"a\.csv', line \d") as caught:
        shards.to_pandas()
    assert isinstance(caught.value, xs.XShardsError)


BAD_BYTES = [
    (b"a,b\n1,\xff\n3,4\n", {"usecols": ["a"]}),
    (b"a,b\n1,2\n3,\xff\n", {"nrows": 1}),
    (b"a,b\n1,2\n3,\xff,4\n", {"on_bad_lines": "skip"}),
    (b"\xff\na,b\n1,2\n", {"skiprows": 1}),
    (b"a,b\n1,2\n\xff\n3,4\n", {"skiprows": [2]}),
    (b"a,b\n1,2\n3,4#\xff\n", {"comment": "#"}),
]


@pytest.mark.parametrize(("content", "options"), BAD_BYTES)
def test_invalid_bytes_that_are_not_read(tmp_path, content, options):
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    expected = pd.read_csv(path, **options)
    assert_same(xs.read_csv(path, **options).to_pandas(), expected)


SOURCES = {
    "<bytes>": lambda content, _: content,
    "<BytesIO>": lambda content, _: io.BytesIO(content),
    "<StringIO>": lambda content, _: io.StringIO(content.decode("latin-1")),
    "a.csv": lambda _, path: named_file(path),
}


def named_file(path):
    """Give an object that has a name, and need not be closed."""
    file = io.BytesIO(path.read_bytes())
    file.name = str(path)
    return file


@pytest.mark.parametrize("name", SOURCES)
def test_errors_name_data_in_memory(tmp_path, name):
    def source(content):
        path = tmp_path / "a.csv"
        path.write_bytes(content)
        return SOURCES[name](content, path)

    shown = name if name.startswith("<") else str(tmp_path / name)
    with pytest.raises(pd.errors.ParserError, match=f"in '{shown}', line 3, saw 3"):
        xs.read_csv(source(b"a,b\n1,2\n3,4,5\n"))
    with pytest.raises(pd.errors.EmptyDataError, match=f"from file '{shown}'$"):
        xs.read_csv(source(b""))
    with pytest.raises(ValueError, match=f"'{shown}', line 2: Expected "):
        xs.read_json(source(b'{"a": 1}\n{"a": \n'))
    with pytest.warns(
        pd.errors.ParserWarning,
        match=f"^1 line was skipped. The first: Expected .* '{shown}', line 3, saw 3$",
    ):
        xs.read_csv(source(b"a,b\n1,2\n3,4,5\n"), on_bad_lines="warn")
    if name != "<StringIO>":
        with pytest.raises(UnicodeDecodeError, match=f"in '{shown}', line 2"):
            xs.read_csv(source(b"a,b\n1,\xff\n"))


NULS = [
    b"a,b\nx\0y,1\n",
    b"a,b\n\0,1\n",
    b"a,b\n1\0,1\n2,3\n",
    b"a\0b,b\n1,1\n",
    b'a,b\n"\0","\0\n"\n',
    b"a\n" + b"\0" * 300 + b"\n",
]


@pytest.mark.parametrize("content", NULS)
def test_nul_bytes_are_characters(tmp_path, content):
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    expected = pd.read_csv(io.BytesIO(content))
    assert_same(xs.read_csv(path, block_size=1).to_pandas(), expected)


def test_many_columns(tmp_path):
    count = 50_000
    path = tmp_path / "wide.csv"
    df = pd.DataFrame(np.arange(count * 3).reshape(3, count))
    df.columns = [f"c{number}" for number in range(count)]
    df.iloc[2, -1] = 7
    path.write_text(
        ",".join(df.columns)
        + "\n"
        + "\n".join(",".join(map(str, row)) for row in df.to_numpy())
        + "\n"
    )
    ours = xs.read_csv(path, num_partitions=3).to_pandas()
    assert_same(ours, df)


def test_large_field(tmp_path):
    path = tmp_path / "large.csv"
    value = "x" * 30_000_000
    path.write_text(f'a,b\n1,"{value}\n"\n2,y\n')
    shards = xs.read_csv(path, block_size=1000)
    assert shards.to_pandas()["b"].str.len().tolist() == [len(value) + 1, 1]


@pytest.mark.slow
def test_field_of_a_gigabyte(tmp_path):
    path = tmp_path / "huge.csv"
    size = 1 << 30
    with path.open("w") as file:
        file.write('a,b\n1,"')
        for _ in range(size >> 20):
            file.write("x" * (1 << 20))
        file.write('"\n2,y\n')
    context = xs.init(memory="12GB")
    column = xs.read_csv(path, context=context).to_arrow()["b"]
    assert pc.binary_length(column).to_pylist() == [size, 1]


@pytest.mark.slow
def test_field_above_the_size_limit_is_an_error(tmp_path):
    path = tmp_path / "open.csv"
    with path.open("wb") as file:
        file.write(b'a,b\n1,"')
        file.truncate((1 << 31) + (1 << 20))
    with pytest.raises(ValueError, match=r"open\.csv.*less than 2 GB"):
        xs.read_csv(path).to_pandas()


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("1,2\n3,4,5\n", {}),
        ("1,2\n" * 50_000 + "3,4,5\n", {}),
        ("1,2\n" * 50_000 + '3,4,"5\n6"\n', {}),
        ("1,2\n3,4,5\n", {"nrows": 2}),
        ("1,2\n3,4,5\n", {"nrows": 0}),
        ("1,2\n3,4\n5,6,7,8\n", {}),
        ("1,2,\n3,4,\n", {}),
        ("", {}),
        ("\n\n", {}),
        ("a,b\n", {"header": 0}),
        ("1,2\n3,4\n", {"skipfooter": 1}),
        ("1;;2\n3;;4\n", {"sep": ";;"}),
    ],
)
def test_rows_with_fewer_fields_than_names(tmp_path, text, options):
    path = tmp_path / "a.csv"
    path.write_text(text)
    options = {"names": ["x", "y", "z"], "usecols": ["x"], **options}
    engine = "python" if {"skipfooter", "sep"} & set(options) else "c"
    expected = pd.read_csv(path, engine=engine, **options)
    assert_same(xs.read_csv(path, **options).to_pandas(), expected)
