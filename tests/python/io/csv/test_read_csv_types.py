# SPDX-License-Identifier: Apache-2.0
"""read_csv gives the types that pandas infers from all values, wherever they stand."""

import re
import tempfile
from io import StringIO
from pathlib import Path

import pandas as pd
import pytest
from frames import assert_same, num_partitions
from hypothesis import given
from hypothesis import strategies as st

import xshards as xs

KINDS = {
    "missing": ["", "NA", "null"],
    "bool": ["True", "FALSE", "true"],
    "negative": ["-3", "-9223372036854775808", " -1"],
    "integer": ["7", "0012", "9223372036854775807", '"5"'],
    "unsigned": ["9223372036854775808", "18446744073709551615"],
    "float": ["1.5", "-2e3", "inf", "0.1000000000000000055", ".5"],
    "text": ["x", "1 2", "0x1F", "2024-01-01", '"a,\n""b"""', "é"],
}
# More than the samples of a file hold.
SAMPLED_ROWS = 30_000

kinds = st.sampled_from(sorted(KINDS))
values = kinds.flatmap(lambda kind: st.sampled_from(KINDS[kind]))
late_rows = st.lists(st.tuples(values, values), max_size=6)


def lines(rows):
    return "".join(f"{first},{second}\n" for first, second in rows)


def sampled(kind):
    """Give a value that a whole sample is made of."""
    return KINDS[kind][0] if kind != "text" else "word"


def expect(text):
    # In one piece, or columns would have a type for each piece of the file.
    df = pd.read_csv(StringIO(text), low_memory=False)
    # Among integers beyond int64 pandas leaves the text of missing values as it is.
    return df.apply(lambda column: column.mask(column.isin(KINDS["missing"])))


@given(kinds, kinds, late_rows, num_partitions)
def test_types_widen_for_values_after_the_samples(first, second, late, n):
    row = (sampled(first), sampled(second))
    text = "a,b\n" + lines([row]) * SAMPLED_ROWS + lines(late)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "a.csv")
        path.write_text(text)
        assert_same(xs.read_csv(path, num_partitions=n).to_pandas(), expect(text))


@given(st.lists(st.tuples(values, values), min_size=1, max_size=12), st.integers(1, 99))
def test_types_are_those_of_all_rows_however_the_file_is_cut(rows, block_size):
    text = "a,b\n" + lines(rows)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "a.csv")
        path.write_text(text)
        ours = xs.read_csv(path, block_size=block_size).to_pandas()
    assert_same(ours, expect(text))


@given(st.lists(st.tuples(kinds, late_rows), min_size=2, max_size=3))
def test_types_widen_over_files(parts):
    whole = "a,b\n"
    with tempfile.TemporaryDirectory() as directory:
        for number, (kind, late) in enumerate(parts):
            rows = lines([(sampled(kind), "1")]) * SAMPLED_ROWS + lines(late)
            Path(directory, f"{number}.csv").write_text("a,b\n" + rows)
            whole += rows
        ours = xs.read_csv(directory).to_pandas()
    assert_same(ours, expect(whole))


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_operations_see_the_types_of_all_values(tmp_path, suffix):
    path = tmp_path / f"a.csv{suffix}"
    text = "k,v\n" + "x,1\ny,2\n" * SAMPLED_ROWS + "x,0.5\n"
    expect(text).to_csv(path, index=False)
    shards = xs.read_csv(path)
    sums = shards.group_by("k", total=("v", "sum")).to_pandas().set_index("k")
    assert sums["total"]["x"] == SAMPLED_ROWS + 0.5
    assert str(shards.to_pandas()["v"].dtype) == "float64"


def test_functions_see_the_types_of_all_values(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a\n" + "1\n" * 2 * SAMPLED_ROWS + "x\n")
    lengths = xs.read_csv(path, num_partitions=2).transform_shard(
        lambda df: df.assign(a=df["a"].str.len())
    )
    assert lengths.to_pandas()["a"].sum() == 2 * SAMPLED_ROWS + 1


@pytest.mark.parametrize("first", ["007", "18446744073709551616", ""])
@pytest.mark.parametrize("last", ["123456789012345678901", "+00", " -5 ", "NA", '"+1"'])
def test_integers_beyond_64_bits_are_python_integers(tmp_path, first, last):
    path = tmp_path / "a.csv"
    middle = "-99999999999999999999"
    rows = [f"{first},x"] * SAMPLED_ROWS + [f"{middle},x", f"{last},x"]
    text = "\n".join(["a,b", *rows, ""])
    path.write_text(text)
    expected = pd.read_csv(StringIO(text), low_memory=False)
    for n in (1, 3):
        read = xs.read_csv(path, num_partitions=n)
        column = read.to_pandas()["a"]
        pd.testing.assert_series_equal(column, expected["a"])
        assert {type(value) for value in column} <= {int, float}


def test_text_among_integers_beyond_64_bits_stays_as_it_is(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a\n" + "007\n" * SAMPLED_ROWS + "123456789012345678901\nx\n")
    column = xs.read_csv(path).to_pandas()["a"]
    assert column.iloc[0] == "007"
    assert column.dtype == "str"


@pytest.mark.parametrize(
    "work",
    [
        lambda shards: shards.with_column("c", xs.col("a") + 1),
        lambda shards: shards.filter(xs.col("a") > 1),
        lambda shards: shards.group_by("b", {"a": "sum"}),
        lambda shards: shards.transform_shard(lambda df: df).filter(xs.col("a") > 1),
    ],
)
@pytest.mark.parametrize("form", ["csv", "json"])
def test_operations_that_a_late_value_breaks_name_it(tmp_path, form, work):
    path = tmp_path / f"a.{form}"
    if form == "csv":
        text = "a,b\n" + "1,2\n" * SAMPLED_ROWS
        path.write_text(text + "late,3\n")
        place = "'late' of column 'a'"
        advice = "; to read such values as missing, list them in na_values"
        line = SAMPLED_ROWS + 2
        read = xs.read_csv
    else:
        text = '{"a":1,"b":2}\n' * SAMPLED_ROWS
        path.write_text(text + '{"a":"x","b":2}\n')
        place = "of column 'a'"
        advice = ""
        line = SAMPLED_ROWS + 1
        read = xs.read_json
    message = rf"changed by the value {place} in '.*a\.{form}', line {line}{advice}$"
    with pytest.raises(TypeError, match=message):
        work(read(path)).to_pandas()


@pytest.mark.parametrize("in_workers", [False, True])
def test_a_late_value_is_named_whatever_its_text(tmp_path, in_workers):
    # What the engine says of such a value is no part of it, and neither are places.
    value = "ä, does not fit the type that samples of the file suggested, byte 1+1"
    path = tmp_path / "b', byte 3+3.csv"
    path.write_text("a,b\n" + "1,2\n" * SAMPLED_ROWS + f'"{value}",3\n', "utf-8")
    shards = xs.read_csv(path)
    if in_workers:
        column = shards.transform_shard(len).collect()
        assert sum(column) == SAMPLED_ROWS + 1
    message = rf"by the value '\"?{re.escape(value)}\"?' of column 'a' in '.*', line "
    with pytest.raises(TypeError, match=message + str(SAMPLED_ROWS + 2)):
        xs.read_csv(path).filter(xs.col("a") > 1).to_pandas()


def test_an_error_that_looks_like_a_late_value_is_not_one(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a\n1\n")
    calls = tmp_path / "calls"

    def fail(df):
        with calls.open("a") as file:
            file.write("x")
        msg = "The value 'x', does not fit the type that samples of the file suggested"
        raise ValueError(msg)

    with pytest.raises(ValueError, match="does not fit"):
        xs.read_csv(path).transform_shard(fail).collect()
    assert calls.read_text() == "x"
