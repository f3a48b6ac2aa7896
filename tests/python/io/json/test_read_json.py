# SPDX-License-Identifier: Apache-2.0
"""JSON records, in lines and in arrays, against pandas and Python's own parser."""

import gzip
import json
import math
import re
import tempfile
import zipfile
from io import BytesIO, StringIO
from pathlib import Path

import pandas as pd
import pytest
from frames import assert_same, num_partitions
from hypothesis import given
from hypothesis import strategies as st

import xshards as xs

text = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=40
) | st.sampled_from(["", "null", '"', "\\", "a\n\u2028b", "é😀" * 20, "x" * 100])
numbers = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False)
scalars = st.none() | st.booleans() | numbers | text
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3)
    ),
    max_leaves=6,
)
#: Columns whose values are of one kind, so that pandas has a dtype for them.
columns = {
    "i": st.integers(-(2**63), 2**63 - 1),
    "u": st.integers(0, 2**64 - 1),
    "f": st.floats(allow_nan=False, allow_infinity=False),
    "n": st.none() | numbers,
    "s": text,
    "b": st.booleans(),
}
records = st.lists(st.fixed_dictionaries({}, optional=columns), min_size=1, max_size=30)
any_records = st.lists(
    st.dictionaries(st.sampled_from(["a", "é", "a\\b"]), values, max_size=3),
    min_size=1,
    max_size=15,
)
layouts = st.sampled_from(["lines", "array", "pretty"])
block_sizes = st.integers(1, 300)


def write(path, rows, layout, ascii_only):
    options = {"ensure_ascii": ascii_only}
    if layout == "lines":
        parts = [json.dumps(row, **options) + "\n" for row in rows]
        content = "".join(parts)
    else:
        content = json.dumps(rows, indent=1 if layout == "pretty" else None, **options)
    path.write_text(content, encoding="utf-8")


def python_value(value):
    """Give a cell as Python's parser would, but for keys that other rows have."""
    if isinstance(value, dict):
        return {k: python_value(v) for k, v in value.items() if v is not None}
    if isinstance(value, list | tuple) or type(value).__name__ == "ndarray":
        return [python_value(item) for item in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and math.isnan(value):
        return None
    return value


#: Values as they are written, by what pandas makes of them.
KINDS = {
    "missing": ["null"],
    "bool": ["true", "false"],
    "negative": ["-3", "-9223372036854775808", "-0"],
    "integer": ["7", "0", "9223372036854775807", "9007199254740993"],
    "unsigned": ["9223372036854775808", "18446744073709551615"],
    "float": ["1.5", "-2e3", "0.1", "123456789.123456789", "1.0"],
    "text": ['"x"', '"5"', '"2024-01-01"', '"\\u00e9\\n\\"\\\\"', '"é"', '""'],
    "list": ["[]", "[1,null]", '["x"]'],
    "object": ["{}", '{"p":1}', '{"p":"x","q":[{}]}'],
}
# More than the samples of a file hold.
SAMPLED_ROWS = 20_000

kinds = st.sampled_from(sorted(KINDS))
written = kinds.flatmap(lambda kind: st.sampled_from(KINDS[kind]))
written_rows = st.lists(
    st.fixed_dictionaries({"a": written}, optional={"b": written}), max_size=6
)


def lines(rows):
    parts = (",".join(f'"{key}":{value}' for key, value in row.items()) for row in rows)
    return "".join(f"{{{part}}}\n" for part in parts)


def check_like_pandas(actual, text):
    """Compare with what pandas reads, which has NaN for what is missing."""
    expected = pd.read_json(StringIO(text), lines=True, dtype=False, precise_float=True)
    assert list(actual.columns) == list(expected.columns)
    for name, theirs in expected.items():
        ours = actual[name]
        if theirs.dtype != object:
            pd.testing.assert_series_equal(ours, theirs)
            continue
        # Of what is missing throughout, and of parts of objects, types differ.
        assert ours.isna().all() or ours.dtype == object
        for mine, their in zip(ours, theirs, strict=True):
            assert python_value(mine) == python_value(their)
            assert isinstance(mine, bool) == isinstance(their, bool)


@given(kinds, kinds, written_rows, num_partitions)
def test_types_widen_for_values_after_the_samples(first, second, late, n):
    sampled = [{"a": KINDS[first][0], "b": KINDS[second][0]}]
    text = lines(sampled) * SAMPLED_ROWS + lines(late)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "a.json")
        path.write_text(text, encoding="utf-8")
        check_like_pandas(xs.read_json(path, num_partitions=n).to_pandas(), text)


@given(written_rows.filter(bool), st.integers(1, 99))
def test_types_are_those_of_all_rows_however_the_file_is_cut(rows, block_size):
    text = lines(rows)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "a.jsonl")  # one record of lists is no table then
        path.write_text(text, encoding="utf-8")
        check_like_pandas(xs.read_json(path, block_size=block_size).to_pandas(), text)


def test_late_keys_become_columns(tmp_path):
    path = tmp_path / "a.json"
    text = '{"a":1}\n' * SAMPLED_ROWS + '{"a":2,"late":{"x":1}}\n{"b":0.5}\n'
    path.write_text(text)
    shards = xs.read_json(path, num_partitions=1)
    assert list(shards.columns) == ["a"]
    assert shards["a"].to_pandas().sum() == SAMPLED_ROWS + 2
    check_like_pandas(shards.to_pandas(), text)
    assert list(shards.columns) == ["a", "late", "b"]


def test_functions_see_the_types_of_all_values(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"a":1}\n' * SAMPLED_ROWS + '{"a":"x"}\n')
    kinds_seen = xs.read_json(path, num_partitions=2).transform_shard(
        lambda df: df.assign(a=df["a"].map(lambda cell: type(cell).__name__))
    )
    counts = kinds_seen.to_pandas()["a"].value_counts()
    assert counts.to_dict() == {"int": SAMPLED_ROWS, "str": 1}


@given(records, layouts, st.booleans(), block_sizes)
def test_records_match_pandas(rows, layout, ascii_only, block_size):
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "a.json")
        write(path, rows, layout, ascii_only)
        expected = pd.DataFrame(rows, index=range(len(rows)))
        shards = xs.read_json(path, block_size=block_size)
        actual = shards.to_pandas()
        assert list(actual.columns) == list(expected.columns)
        for name in expected.columns:
            theirs = [python_value(v) for v in expected[name]]
            ours = [python_value(v) for v in actual[name]]
            assert ours == theirs
            if expected[name].dtype != object:
                assert actual[name].dtype == expected[name].dtype


@given(any_records, layouts, block_sizes)
def test_any_values_round_trip(rows, layout, block_size):
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "a.jsonl" if layout == "lines" else "a.json")
        write(path, rows, layout, True)
        actual = xs.read_json(path, block_size=block_size).to_pandas()
        names = list(dict.fromkeys(key for row in rows for key in row))
        assert list(actual.columns) == names
        for name in names:
            ours = [python_value(cell) for cell in actual[name]]
            assert ours == [python_value(row.get(name)) for row in rows]


@given(any_records, st.sampled_from(["a", "é", "a\\b"]))
def test_a_single_column_gives_the_same(rows, name):
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "a.json")
        write(path, [{"a": 0, "é": 0, "a\\b": 0}, *rows], "lines", False)
        shards = xs.read_json(path, num_partitions=3)
        whole = shards.to_pandas()[name]
        alone = shards[[name]].to_pandas()[name]
        assert list(map(python_value, alone)) == list(map(python_value, whole))


def test_mixed_values_are_python_objects(tmp_path):
    path = tmp_path / "a.json"
    rows = [{"m": 1}, {"m": [1, {"a": "b"}]}, {}, {"m": "text"}, {"m": 2**70}]
    write(path, rows, "lines", True)
    shards = xs.read_json(path)
    assert "json" in repr(shards)
    expected = [row.get("m", math.nan) for row in rows]
    pd.testing.assert_series_equal(
        shards.to_pandas()["m"], pd.Series(expected, dtype=object, name="m")
    )
    shards.to_json(tmp_path / "out")
    again = xs.read_json(tmp_path / "out").to_pandas()["m"]
    assert list(map(python_value, again)) == list(map(python_value, expected))


frames = st.builds(
    lambda columns, labels: pd.DataFrame(columns, index=pd.Index(labels)),
    st.fixed_dictionaries(
        {"b": st.lists(st.booleans(), min_size=3, max_size=3)},
        optional={
            'k"{[': st.lists(st.integers(-9, 9), min_size=3, max_size=3),
            "f": st.lists(st.floats(-9, 9), min_size=3, max_size=3),
            "s": st.lists(text, min_size=3, max_size=3),
            "m": st.lists(st.none() | st.just("x"), min_size=3, max_size=3),
        },
    ),
    st.sampled_from([[0, 1, 2], [7, 5, 3], ["x", "y", "z"]]),
)


@given(frames, st.sampled_from([None, 2]), st.integers(0, 3))
def test_what_to_json_writes_comes_back_as_pandas_reads_it(frame, indent, rows):
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "a.json")
        frame.head(rows).to_json(path, indent=indent)
        expected = pd.read_json(path)
        for source in (path, path.read_bytes(), StringIO(path.read_text())):
            assert_same(xs.read_json(source).to_pandas(), expected)


COLUMNS = [
    '{"a":{"0":1,"1":2}}',
    ' \n{"a":[1,2],"b":[3,4]}\n\n',
    '{"a":[1,2],"b":{}}',
    '{"a\\"}":[{"x":"}"},{"x":null}]}',
]


@pytest.mark.parametrize("content", COLUMNS)
@pytest.mark.parametrize("form", ["json", "json.gz", "json.zip"])
def test_an_object_of_columns(tmp_path, content, form):
    path = tmp_path / f"a.{form}"
    if form == "json.zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a.json", content)
    else:
        path.write_bytes(
            gzip.compress(content.encode()) if "gz" in form else content.encode()
        )
    try:
        expected = pd.read_json(path)
    except ValueError as error:
        with pytest.raises(ValueError, match=re.escape(str(error))):
            xs.read_json(path).to_pandas()
    else:
        assert_same(xs.read_json(path).to_pandas(), expected)


RECORDS = [
    '{"a":1,"b":2}',
    '{"a":[1,2],"b":3}\n',
    '{"b":"x","a":{"0":1}}',
    '{"a":[1,2]}\n{"a":[3]}\n',
]


@pytest.mark.parametrize("content", RECORDS)
def test_objects_that_are_records(tmp_path, content):
    path = tmp_path / "a.json"
    path.write_text(content)
    count = content.count("{") - content.count(":{")
    assert len(xs.read_json(path)) == count


def test_an_empty_object_is_not_a_row(tmp_path):
    path = tmp_path / "a.json"
    path.write_text("{}\n")
    assert xs.read_json(path).to_pandas().shape == pd.read_json(path).shape == (0, 0)


def test_an_object_of_columns_is_a_record_in_json_lines(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"a":{"0":1}}\n')
    for records in (
        xs.read_json(path, lines=True),
        xs.read_json(tmp_path),
        xs.read_json([path, path]),
        xs.read_json(path, orient="records"),
        xs.read_json(path, on_bad_lines="skip"),
        xs.read_json([path]),
        xs.read_json([path, path], dtype=True),
        xs.read_json([path], dtype=True),
    ):
        assert records.to_pandas()["a"][0] == {"0": 1}
    assert xs.read_json(path).to_pandas()["a"][0] == 1
    assert (
        xs.read_json(path, dtype={"a": "float64"}).to_pandas()["a"].dtype == "float64"
    )


@pytest.mark.parametrize("name", ["a.jsonl", "a.ndjson", "a.jsonl.gz"])
@pytest.mark.parametrize("options", [{}, {"dtype": True}])
def test_files_named_as_lines_hold_records(tmp_path, name, options):
    path = tmp_path / name
    content = b'{"a":{"0":1,"1":2}}\n'
    path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    assert len(xs.read_json(path, **options)) == 1


def test_a_row_of_lists_comes_back_from_a_list_of_files(tmp_path):
    frame = pd.DataFrame({"a": [[1, 2]]})
    files = xs.from_pandas(frame, 1).to_json(tmp_path / "out")
    assert_same(xs.read_json(files).to_pandas(), frame)


@pytest.mark.parametrize("content", ['{"a":{"0":1}}', '{"a":1}'])
def test_a_byte_order_mark_is_skipped(content):
    marked = ("\ufeff" + content).encode()
    assert xs.read_json(marked).to_pandas()["a"].tolist() == [1]


@pytest.mark.parametrize("orient", ["split", "index", "columns", "values", "table"])
def test_other_orients_are_those_of_pandas(tmp_path, orient):
    path = tmp_path / "a.json"
    pd.DataFrame({"a": [1, 2, 3], "b": ["x", "y", None]}).to_json(path, orient=orient)
    expected = pd.read_json(path, orient=orient)
    actual = xs.read_json(path, orient=orient).to_pandas()
    pd.testing.assert_frame_equal(actual, expected, check_index_type=False)


def test_unknown_choices_are_named(tmp_path):
    with pytest.raises(ValueError, match="'sideways'"):
        xs.read_json(tmp_path, orient="sideways")
    with pytest.raises(ValueError, match="'ignore'"):
        xs.read_json(tmp_path, on_bad_lines="ignore")
    with pytest.raises(ValueError, match="'split'"):
        xs.read_json(tmp_path, orient="split", lines=True)


@pytest.mark.parametrize("wrong", ['{"a": ', '{"a": 1} x', "[1]"])
def test_faults_after_the_requested_rows(tmp_path, wrong):
    path = tmp_path / "a.json"
    path.write_text('{"a": 1}\n{"a": 2}\n' + wrong + "\n")
    for nrows in (1, 2):
        expected = pd.read_json(path, lines=True, nrows=nrows)
        assert_same(xs.read_json(path, nrows=nrows).to_pandas(), expected)
    with pytest.raises(ValueError, match="line 3"):
        xs.read_json(path, nrows=3).to_pandas()


def test_bad_lines_are_reported_even_if_a_later_error_ends_the_read(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"a":1}\nbad\n{"a":2}\n{"a":"q"}\n')
    with pytest.warns(pd.errors.ParserWarning, match=r"1 line .*a\.json', line 2"):
        read = xs.read_json(path, nrows=2, on_bad_lines="warn").to_pandas()
    assert read["a"].tolist() == [1, 2]


@pytest.mark.parametrize("content", [b'{"a": "x\xff"}\n', b'[{"a": "x\xff"}]'])
def test_bytes_that_are_not_utf8(tmp_path, content):
    path = tmp_path / "a.json"
    path.write_bytes(content)
    lines = content.startswith(b"{")
    with pytest.raises(UnicodeDecodeError):
        pd.read_json(path, lines=lines)
    with pytest.raises(UnicodeDecodeError, match=r"a\.json.*Expected UTF-8") as caught:
        xs.read_json(path).to_pandas()
    assert isinstance(caught.value, xs.XShardsError)
    assert caught.value.object[caught.value.start] == 0xFF


def test_bad_lines(tmp_path):
    path = tmp_path / "a.json"
    path.write_bytes(b'{"a": 1}\n{"a": \n\n{"a": "\xff"}\n[1]\n{"a": 2}\n')
    with pytest.raises(ValueError, match=r"a\.json', line 2"):
        xs.read_json(path).to_pandas()
    assert list(xs.read_json(path, on_bad_lines="skip").to_pandas()["a"]) == [1, 2]
    warned = xs.read_json(path, on_bad_lines="warn")
    with pytest.warns(pd.errors.ParserWarning, match=r"3 lines .*a\.json', line 2"):
        assert list(warned.to_pandas()["a"]) == [1, 2]
    with pytest.warns(pd.errors.ParserWarning, match=r"3 lines .*a\.json', line 2"):
        assert len(warned.transform_shard(lambda part: part)) == 2
    assert warned.num_partitions() == 1  # runs nothing, so it warns of nothing
    # A message may cut a character in two.
    path.write_bytes(b'{"a": 1}\n[1' + b"\xc3\xa9" * 300)
    with pytest.raises(ValueError, match=r"line 2: .* got \[1é"):
        xs.read_json(path, lines=True).to_pandas()


@pytest.mark.parametrize("lines", [True, False])
def test_bytes_and_file_objects(lines, tmp_path):
    frame = pd.DataFrame({"a": [1, 2, 3], "s": ["x", "é", None], "l": [[1], [], [2]]})
    content = frame.to_json(orient="records", lines=lines, force_ascii=False)
    path = tmp_path / "a.json"
    path.write_text(content)
    expected = xs.read_json(path).to_pandas()
    for source in (content.encode(), BytesIO(content.encode()), StringIO(content)):
        read = xs.read_json(source, num_partitions=2)
        pd.testing.assert_frame_equal(read.to_pandas(), expected)
        pd.testing.assert_frame_equal(
            read.transform_shard(lambda part: part).to_pandas(), expected
        )
    with path.open("rb") as file:
        assert len(xs.read_json(file, nrows=2)) == 2
    assert len(xs.read_json(b"", lines=True)) == 0
    with pytest.raises(ValueError, match="line 2"):
        xs.read_json(b'{"a": 1}\n{"a": ')
    mixed = xs.read_json(b'{"a": 1}\n{"a": "x"}\n{"a": {"b": null}}\n')
    assert list(mixed.to_pandas()["a"]) == [1, "x", {"b": None}]
    split = frame[["a", "s"]].to_json(orient="split").encode()
    pd.testing.assert_frame_equal(
        xs.read_json(split, orient="split").to_pandas(),
        pd.read_json(BytesIO(split), orient="split"),
    )


def test_truncated_gzip_is_named(tmp_path):
    path = tmp_path / "a.json.gz"
    lines = "".join(f'{{"a": {i * 7919}}}\n' for i in range(100_000))
    path.write_bytes(gzip.compress(lines.encode()))
    assert len(xs.read_json(path)) == 100_000
    path.write_bytes(path.read_bytes()[:-5000])
    with pytest.raises(xs.XShardsError, match=r"a\.json\.gz"):
        len(xs.read_json(path).cache())


def test_a_shrinking_file_is_reported_or_read_shorter(tmp_path):
    path = tmp_path / "a.json"
    path.write_text("".join(f'{{"a": {i}}}\n' for i in range(200_000)))
    shards = xs.read_json(path, num_partitions=2)
    path.write_text('{"a": 1}\n')
    with pytest.raises(xs.XShardsError, match=r"a\.json"):
        shards.to_pandas()


def test_deep_nesting_is_rejected(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}\n")
    with pytest.raises(ValueError, match="1024 deep"):
        xs.read_json(path, lines=True)
    deep = "[" * 900 + "1" + "]" * 900
    path.write_text(f'{{"a": {deep}}}\n')
    whole = xs.read_json(path, lines=True).to_pandas()
    assert whole["a"][0] == json.loads(deep)
