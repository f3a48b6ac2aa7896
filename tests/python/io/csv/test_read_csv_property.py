# SPDX-License-Identifier: Apache-2.0
"""Whatever pandas writes, read_csv gives back what pandas.read_csv gives back."""

import csv
import tempfile
from pathlib import Path

import pandas as pd
import pytest
from frames import assert_same
from hypothesis import given, settings
from hypothesis import strategies as st

import xshards as xs

texts = st.text(st.sampled_from("ab1 ,;\t|\"'\n\r#\\é日\0"), max_size=5)
CELLS = {
    "int64": st.integers(-(2**63), 2**63 - 1),
    "uint64": st.integers(2**63, 2**64 - 1),
    "float64": st.floats(allow_nan=True, allow_infinity=True),
    "bool": st.booleans(),
    "str": texts | st.sampled_from(["NA", "x", "None", "1", "True", "-"]),
    "Int64": st.integers(-3, 3) | st.none(),
    "object": st.sampled_from([True, 1, "x", 2.5, None, "2024-01-31"]),
}


@st.composite
def tables(draw):
    rows = draw(st.integers(0, 12))
    columns = {}
    for number in range(draw(st.integers(1, 4))):
        dtype = draw(st.sampled_from(sorted(CELLS)))
        cells = draw(st.lists(CELLS[dtype], min_size=rows, max_size=rows))
        name = draw(st.sampled_from(["a", "b", "", "é x", 'q"', "n,m"]))
        columns[number] = (name, pd.Series(cells, dtype=dtype))
    frame = pd.DataFrame({number: column for number, (_, column) in columns.items()})
    frame.columns = [name for name, _ in columns.values()]
    return frame


@st.composite
def dialects(draw):
    """Draw options to write with, and those to read the same file with."""
    write = {
        "sep": draw(st.sampled_from([",", ";", "\t", "|"])),
        "quotechar": draw(st.sampled_from(['"', "'"])),
        "quoting": draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])),
        "lineterminator": draw(st.sampled_from(["\n", "\r\n"])),
        "na_rep": draw(st.sampled_from(["", "NA", "-"])),
        "header": draw(st.booleans()),
        # A header without the index's name makes the first column the index.
        "index": draw(st.booleans()),
        "index_label": draw(st.sampled_from([None, False, "key"])),
    }
    read = {name: write[name] for name in ("sep", "quotechar")}
    if not write["header"]:
        read["header"] = None
    if draw(st.booleans()):
        write |= {"doublequote": False, "escapechar": "\\"}
        read["escapechar"] = "\\"
    if draw(st.booleans()):
        read["na_values"] = draw(st.sampled_from(["-", ["x", "-"], "1"]))
    if draw(st.booleans()):
        read["nrows"] = draw(st.integers(0, 14))
    if draw(st.integers(0, 3)) == 0:
        read["dtype"] = draw(st.sampled_from(["str", "string", "object"]))
    if draw(st.integers(0, 3)) == 0:
        read[draw(st.sampled_from(["keep_default_na", "na_filter"]))] = False
    return write, read


def read_by_pandas(path, options):
    # In one piece, or columns would have a type for each piece of the file. Of no rows
    # there is one type, which only the default gives.
    return pd.read_csv(path, low_memory=options.get("nrows") == 0, **options)


@settings(max_examples=300)
@given(tables(), dialects(), st.integers(0, 15), st.integers(1, 6), st.integers(1, 60))
def test_round_trips_as_pandas_reads_it(
    frame, dialect, used, num_partitions, block_size
):
    write, read = dialect
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "a.csv")
        frame.to_csv(path, **write)
        try:
            expected = read_by_pandas(path, read)
        except (pd.errors.EmptyDataError, pd.errors.ParserError):
            with pytest.raises(ValueError, match=r"No columns|Expected"):
                xs.read_csv(path, **read).to_pandas()
            return
        wanted = [name for i, name in enumerate(expected.columns) if used >> i & 1]
        if wanted and write["header"]:
            at = [i for i in range(len(expected.columns)) if used >> i & 1]
            ways = [wanted, at, lambda name: name in wanted]
            # With an index that no name tells, pandas itself fails on other ways.
            read = read | {
                "usecols": wanted if write["index"] else ways[block_size % 3]
            }
            expected = read_by_pandas(path, read)
        for cut in (
            {"num_partitions": num_partitions},
            {"block_size": block_size},
            {"block_size": 1},
        ):
            ours = xs.read_csv(path, **read, **cut).to_pandas()
            assert_same(ours, expected)


TIMES = {
    "%Y-%m-%d": st.dates(),
    "%Y-%m-%d %H:%M": st.datetimes(),
    "%Y-%m-%dT%H:%M:%S": st.datetimes(),
    "%Y-%m-%d %H:%M:%S.%f": st.datetimes(),
    "%Y-%m-%dT%H:%M:%SZ": st.datetimes(),
    "%d.%m.%Y": st.dates(),
}


@pytest.mark.filterwarnings("ignore:Parsing dates in", "ignore:Could not infer format")
@settings(max_examples=40)
@given(
    form=st.sampled_from(sorted(TIMES)),
    data=st.data(),
    late=st.sampled_from(["", "", "", "x", "2024-01-01 00:00:00"]),
    block_size=st.integers(1, 60),
)
def test_times_come_back_as_pandas_reads_them(form, data, late, block_size):
    drawn = data.draw(st.lists(st.none() | TIMES[form], max_size=8))
    # Years before 1000 are written with fewer digits.
    texts = ["" if t is None else t.replace(year=2000).strftime(form) for t in drawn]
    texts = [*texts, late, "2024-02-29"][: len(texts) + (late != "")]
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "a.csv")
        path.write_text("t,n\n" + "".join(f"{t},{i}\n" for i, t in enumerate(texts)))
        expected = pd.read_csv(path, parse_dates=["t"])
        for cut in ({}, {"block_size": block_size}, {"block_size": 1}):
            shards = xs.read_csv(path, parse_dates=["t"], **cut)
            assert_same(shards.to_pandas(), expected)


@settings(max_examples=40)
@given(
    before=st.lists(st.sampled_from(["", "# c", "#"]), max_size=3),
    between=st.lists(
        st.sampled_from(["", "#x", "1,2 # y", "'3#',4", "5,6"]), max_size=6
    ),
    block_size=st.integers(1, 20),
)
def test_comments_are_skipped_anywhere(before, between, block_size):
    text = "\n".join([*before, "a,b#", *between, "7,8"])
    options = {"comment": "#", "quotechar": "'"}
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "a.csv")
        path.write_text(text)
        expected = read_by_pandas(path, options)
        for cut in ({}, {"block_size": block_size}, {"block_size": 1}):
            assert_same(xs.read_csv(path, **options, **cut).to_pandas(), expected)
