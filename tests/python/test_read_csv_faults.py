# SPDX-License-Identifier: Apache-2.0
"""Files that are damaged, change, or are of unusual size: errors name them."""

import gzip
import io
import os
import pickle

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


def append(path):
    with path.open("ab") as file:
        file.write(path.read_bytes()[:10])


def replace(path):
    """Put a file of the same size in its place, with records elsewhere."""
    content = path.read_bytes()
    other = path.with_name("other")
    other.write_bytes(content[::-1])
    os.utime(other, ns=(0, path.stat().st_mtime_ns + 1))
    other.rename(path)


CHANGES = {
    "cut": lambda path: os.truncate(path, path.stat().st_size // 2),
    "cut at a record": lambda path: os.truncate(path, path.stat().st_size - 1),
    "emptied": lambda path: os.truncate(path, 0),
    "grown": append,
    "replaced": replace,
    "touched": lambda path: os.utime(path, ns=(0, 0)),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("form", ["csv", "csv.gz", "json", "array.json"])
def test_file_that_changes_before_it_is_read(tmp_path, change, form):
    path = tmp_path / f"a.{form}"
    frame = pd.DataFrame({"a": range(2_000), "b": "x"})
    if form.startswith("csv"):
        frame.to_csv(path, index=False)
        read = xs.read_csv
    else:
        frame.to_json(path, orient="records", lines=form == "json")
        read = xs.read_json
    for cut in ({}, {"block_size": 4_000}):
        before = path.read_bytes()
        shards = read(path, **cut)
        assert_same(shards.to_pandas(), frame)
        assert_same(shards.to_pandas(), frame)
        CHANGES[change](path)
        with pytest.raises(OSError, match=rf"'.*a\.{form}'.*changed since.*again"):
            shards.to_pandas()
        path.write_bytes(before)
        assert_same(read(path, **cut).to_pandas(), frame)
    path.unlink()
    with pytest.raises(FileNotFoundError, match=rf"a\.{form}"):
        shards.to_pandas()


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
def test_errors_come_from_workers_as_they_are(tmp_path, content, kind):
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
def test_bad_bytes_that_nobody_wants(tmp_path, content, options):
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
def test_what_is_in_memory_has_its_name_in_errors(tmp_path, name):
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
        match=f"^1 line was left out. The first: Expected .* '{shown}', line 3, saw 3$",
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
def test_field_beyond_what_is_allowed_is_an_error(tmp_path):
    path = tmp_path / "open.csv"
    with path.open("wb") as file:
        file.write(b'a,b\n1,"')
        file.truncate((1 << 31) + (1 << 20))
    with pytest.raises(ValueError, match=r"open\.csv.*less than 2 GB"):
        xs.read_csv(path).to_pandas()
