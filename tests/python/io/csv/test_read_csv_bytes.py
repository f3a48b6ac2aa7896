# SPDX-License-Identifier: Apache-2.0
"""How the bytes of a CSV file become text: encodings, compression, file objects."""

import bz2
import gzip
import io
import lzma
import tempfile
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from frames import assert_same
from hypothesis import given, settings
from hypothesis import strategies as st

import xshards as xs

ALPHABET = {
    "latin-1": 'aé,\n"\x80ÿ1',
    "cp1252": 'aé,\n"€™1',
    "utf-16": 'a€,\n"😀日1',
    "utf-16-le": 'a€,\n"😀日1',
    "utf-16-be": 'a€,\n"😀日1',
    "utf-8-sig": 'a€,\n"😀日1',
}


@settings(max_examples=100)
@given(
    encoding=st.sampled_from(sorted(ALPHABET)),
    data=st.data(),
    line_end=st.sampled_from(["\n", "\r\n"]),
    block_size=st.integers(1, 30),
)
def test_text_of_any_encoding_is_that_of_pandas(encoding, data, line_end, block_size):
    texts = st.text(st.sampled_from(ALPHABET[encoding]), max_size=6)
    rows = data.draw(st.lists(st.tuples(texts, texts), max_size=6))
    frame = pd.DataFrame(rows, columns=["é", "b"], dtype="str")
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "a.csv")
        frame.to_csv(path, index=False, encoding=encoding, lineterminator=line_end)
        expected = pd.read_csv(path, encoding=encoding)
        for cut in ({}, {"block_size": block_size}, {"block_size": 1}):
            shards = xs.read_csv(path, encoding=encoding, **cut)
            assert_same(shards.to_pandas(), expected)


@pytest.mark.parametrize(
    ("name", "encoding"),
    [
        ("L1", "latin-1"),
        ("ISO-8859-1", "latin-1"),
        ("windows_1252", "cp1252"),
        ("U16", "utf-16"),
        ("UTF-16LE", "utf-16-le"),
        ("utf_16_be", "utf-16-be"),
        ("U8", "utf-8"),
        ("UTF_8_SIG", "utf-8-sig"),
    ],
)
def test_encodings_have_all_names_of_pythons_codecs(tmp_path, name, encoding):
    path = tmp_path / "a.csv"
    path.write_bytes("é,b\n1,ü\n".encode(encoding))
    shards = xs.read_csv(path, encoding=name)
    assert "pandas_read_csv" not in shards.explain(as_text=True)
    assert_same(shards.to_pandas(), pd.read_csv(path, encoding=name))


def test_other_encodings_are_those_of_pandas(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("a,b\n1,я\n".encode("koi8-r"))
    shards = xs.read_csv(path, encoding="koi8-r")
    assert "pandas_read_csv" in shards.explain(as_text=True)
    assert_same(shards.to_pandas(), pd.read_csv(path, encoding="koi8-r"))


@pytest.mark.parametrize(
    ("content", "encoding", "message"),
    [
        (b"a\n\x81\n", "cp1252", r"a.csv.*cp1252, got 0x81 at byte 2"),
        (b"\xff\xfea\0\n\0\x00\xdc", "utf-16", r"a.csv.*0x00 0xdc at byte 6"),
        (b"a\0\n\0x", "utf-16-le", r"a.csv.*0x78 at byte 4"),
        (b"a\0\n\0", "utf-16", r"a.csv.*begins with a byte order mark"),
        (
            b"a\n\xe9\n",
            "utf-8",
            r"Expected UTF-8 text in '.*a.csv', line 2, column 'a'",
        ),
    ],
)
def test_invalid_bytes_are_named(tmp_path, content, encoding, message):
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    with pytest.raises(UnicodeError):
        pd.read_csv(path, encoding=encoding)
    with pytest.raises(ValueError, match=message):
        xs.read_csv(path, encoding=encoding).to_pandas()


def zstd(content):
    return pa.Codec("zstd").compress(content, asbytes=True)


PACK = {
    "gzip": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zstd": zstd,
    None: bytes,
}


@pytest.mark.parametrize("method", PACK)
@pytest.mark.parametrize("name", ["a.csv", "a.zip", "a.xz", "a.gz"])
def test_compression_as_given(tmp_path, method, name):
    path = tmp_path / name
    content = b"a,b\n" + b"1,x\n2,y\n" * 50_000
    path.write_bytes(PACK[method](content))
    expected = pd.read_csv(io.BytesIO(content))
    for compression in (method, {"method": method}):
        shards = xs.read_csv(path, compression=compression)
        assert "pandas_read_csv" not in shards.explain(as_text=True)
        assert_same(shards.to_pandas(), expected)


@pytest.mark.parametrize("method", ["gzip", "bz2", "xz", "zstd"])
def test_compression_by_name_of_several_streams(tmp_path, method):
    ending = {"gzip": "gz", "zstd": "zst"}.get(method, method)
    path = tmp_path / f"a.csv.{ending}"
    pack = PACK[method]
    path.write_bytes(pack(b"a,b\n1,") + pack("é\n".encode()) + pack(b"2,z\n"))
    shards = xs.read_csv(path)
    assert "pandas_read_csv" not in shards.explain(as_text=True)
    assert_same(shards.to_pandas(), pd.DataFrame({"a": [1, 2], "b": ["é", "z"]}))


@pytest.mark.parametrize("method", ["gzip", "bz2", "xz", "zstd"])
def test_compressed_files_that_are_damaged(tmp_path, method):
    path = tmp_path / "a.csv"
    packed = PACK[method](b"a\n" + bytes(range(48, 58)) * 10_000 + b"\n")
    path.write_bytes(packed[:-10])
    with pytest.raises(OSError, match=r"a\.csv"):
        xs.read_csv(path, compression=method).to_pandas()
    path.write_bytes(b"a,b\n1,2\n")
    with pytest.raises(OSError, match=r"a\.csv"):
        xs.read_csv(path, compression=method).to_pandas()


def test_compression_and_encoding_together(tmp_path):
    for encoding in ("latin-1", "utf-16"):
        path = tmp_path / "a.csv.xz"
        path.write_bytes(lzma.compress("é,b\n1,ü # c\n2,3\n".encode(encoding)))
        expected = pd.read_csv(path, encoding=encoding, comment="#", skiprows=[2])
        shards = xs.read_csv(path, encoding=encoding, comment="#", skiprows=[2])
        assert "pandas_read_csv" not in shards.explain(as_text=True)
        assert_same(shards.to_pandas(), expected)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"index_col": "a"},
        {"index_col": [1, 0]},
        {"header": None},
        {"nrows": 1},
        {"dtype": {"b": "category"}},
        {"usecols": ["b"]},
        {"skiprows": [1]},
        {"parse_dates": ["t"]},
        {"engine": "python", "sep": None},
        {"squeeze": False},
    ],
)
def test_bytes_and_file_objects(tmp_path, options):
    text = "a,b,t\n1,é,2024-01-31\n2,,2024-02-01\n"
    path = tmp_path / "a.csv"
    path.write_text(text)
    chosen = {name: value for name, value in options.items() if name != "squeeze"}
    expected = pd.read_csv(path, **chosen)
    for count in (None, 1, 5):
        with path.open("rb") as binary, path.open() as opened:
            sources = (text.encode(), io.BytesIO(text.encode()), io.StringIO(text))
            for source in (*sources, binary, opened):
                shards = xs.read_csv(source, **options, num_partitions=count)
                assert_same(shards.to_pandas(), expected)


def test_file_objects_are_read_from_where_they_are():
    source = io.BytesIO(b"junk\na\n1\n")
    source.readline()
    assert_same(xs.read_csv(source).to_pandas(), pd.DataFrame({"a": [1]}))


def test_bytes_of_other_encodings_and_compressions():
    expected = pd.DataFrame({"a": ["é", "€"]})
    text = "a\né\n€\n"
    raw = text.encode("utf-16")
    assert_same(xs.read_csv(raw, encoding="utf-16").to_pandas(), expected)
    # Text is decoded already.
    source = io.StringIO(text)
    assert_same(xs.read_csv(source, encoding="utf-16").to_pandas(), expected)
    packed = xs.read_csv(gzip.compress(raw), encoding="utf-16", compression="gzip")
    assert_same(packed.to_pandas(), expected)


def test_bad_lines_of_bytes_are_warned_of_at_once():
    with pytest.warns(pd.errors.ParserWarning, match="^1 line was skipped"):
        xs.read_csv(b"a\n1\n2,3\n", on_bad_lines="warn")
