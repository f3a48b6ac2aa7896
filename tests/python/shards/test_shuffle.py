# SPDX-License-Identifier: Apache-2.0
"""Rows that move between partitions by keys of any type, against plain Python."""

import datetime
import decimal
from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xshards as xs

DAY = datetime.date(2024, 2, 29)
TIME = datetime.datetime(2024, 2, 29, 12, 30, 0, 1)
STRINGS = ["", "a", "short", "exactly8", "é日本", "a text of more than sixteen bytes"]
# The values of a key of each type: few, so that they repeat.
KEYS = {
    "int": (pa.int64(), [0, -1, 1 << 60]),
    "small int": (pa.int8(), [0, -1, 100]),
    "float": (pa.float64(), [0.0, -0.0, 1.5, float("nan"), 1e300]),
    "bool": (pa.bool_(), [True, False]),
    "string": (pa.large_string(), STRINGS),
    "dictionary": (pa.dictionary(pa.int32(), pa.large_string()), STRINGS),
    "date": (pa.date32(), [DAY, DAY + datetime.timedelta(days=1)]),
    "timestamp": (pa.timestamp("us"), [TIME, TIME + datetime.timedelta(seconds=1)]),
    "decimal": (pa.decimal128(9, 2), [decimal.Decimal("1.25"), decimal.Decimal("-3")]),
    "list": (pa.large_list(pa.int64()), [[], [1], [1, 2], [None]]),
    "struct": (pa.struct({"x": pa.int64()}), [{"x": 1}, {"x": None}]),
}
SORTABLE = sorted(set(KEYS) - {"list", "struct", "dictionary", "bool"})
counts = st.integers(1, 5)


@st.composite
def tables(draw, kinds=tuple(KEYS)):
    """Draw a table of a key, which may be one value for all rows, and row numbers."""
    data_type, values = KEYS[draw(st.sampled_from(sorted(kinds)))]
    values = draw(st.sampled_from([values, [*values, None], [values[-1]], [None]]))
    keys = draw(st.lists(st.sampled_from(values), max_size=30))
    return pa.table(
        {
            "key": pa.array(keys, data_type),
            "row": pa.array(range(len(keys)), pa.int64()),
        }
    )


def plain(value):
    """Bring a key to what is equal exactly if the engine's keys are."""
    if value is None or value != value:
        return None
    if isinstance(value, list):
        return ("list", *map(plain, value))
    if isinstance(value, dict):
        return ("struct", *map(plain, value.values()))
    return value


def keys_of(table):
    """Give the keys of the rows, in order."""
    return [plain(value) for value in table["key"].to_pylist()]


def rows_of(shards):
    """Give the row numbers of each partition."""
    return [list(part["row"]) for part in shards.collect()]


@given(tables(), counts, st.none() | counts)
def test_partition_by(table, n, wanted):
    parts = rows_of(xs.from_arrow(table, n).partition_by("key", wanted))
    assert len(parts) == (wanted or n)
    assert sorted(row for part in parts for row in part) == list(range(len(table)))
    keys = keys_of(table)
    places = defaultdict(set)
    for place, part in enumerate(parts):
        assert part == sorted(part)
        for row in part:
            places[keys[row]].add(place)
    assert all(len(found) == 1 for found in places.values())


@given(tables(), counts, counts)
def test_partition_by_again_moves_nothing(table, n, wanted):
    once = xs.from_arrow(table, n).partition_by("key", wanted)
    again = once.filter(xs.col("row") >= 0).partition_by("key", wanted)
    assert rows_of(again) == rows_of(once)


@given(tables(), counts, counts)
def test_repartition_is_balanced_and_in_order(table, n, wanted):
    parts = rows_of(xs.from_arrow(table, n).repartition(wanted))
    lengths = [len(part) for part in parts]
    assert len(lengths) == wanted
    assert max(lengths) - min(lengths) <= 1
    assert [row for part in parts for row in part] == list(range(len(table)))


@given(tables(SORTABLE), counts, counts)
def test_partition_by_range(table, n, wanted):
    parts = rows_of(xs.from_arrow(table, n).partition_by_range("key", wanted))
    assert len(parts) == wanted
    keys = keys_of(table)
    assert all(part == sorted(part) for part in parts)
    assert sorted(row for part in parts for row in part) == list(range(len(table)))

    def place(row):
        return (keys[row] is None, keys[row] if keys[row] is not None else 0)

    filled = [part for part in parts if part]
    for left, right in pairwise(filled):
        # A key may not be on both sides of a cut.
        assert max(map(place, left)) < min(map(place, right))


def test_partition_by_range_gives_ranges_of_about_equal_size():
    values = [(i * 7919) % 10007 for i in range(10007)]
    table = pa.table({"key": values, "row": range(len(values))})
    parts = rows_of(xs.from_arrow(table, 3).partition_by_range("key", 8))
    assert all(len(values) / 16 < len(part) < len(values) / 4 for part in parts)


def test_partition_by_range_needs_columns():
    shards = xs.from_arrow(pa.table({"key": [1]}), 1)
    with pytest.raises(ValueError, match="at least one column"):
        shards.partition_by_range([])
    with pytest.raises(KeyError, match="nothing"):
        shards.partition_by_range("nothing").collect()


@given(tables(), counts)
def test_drop_duplicates_keeps_the_first(table, n):
    kept = xs.from_arrow(table, n).drop_duplicates("key").to_arrow()["row"].to_pylist()
    first = {}
    for row, key in enumerate(keys_of(table)):
        first.setdefault(key, row)
    assert kept == list(first.values())


@given(tables(), tables(), counts)
def test_drop_duplicates_of_two_columns(left, right, n):
    length = min(len(left), len(right))
    table = left.slice(0, length)
    table = table.append_column("other", right["key"].slice(0, length))
    shards = xs.from_arrow(table, n).drop_duplicates(["key", "other"])
    pairs = zip(keys_of(left), keys_of(right), strict=False)
    first = {}
    for row, pair in enumerate(pairs):
        first.setdefault(pair, row)
    assert shards.to_arrow()["row"].to_pylist() == list(first.values())


COLUMNS = {
    "few numbers": lambda rng, rows: rng.integers(0, 40, rows),
    "numbers": lambda rng, rows: rng.integers(0, rows, rows),
    "all numbers": lambda rng, rows: rng.permutation(rows),
    "few texts": lambda rng, rows: [f"text {v}" for v in rng.integers(0, 60, rows)],
    "texts": lambda rng, rows: [f"of many {v}" for v in rng.integers(0, rows, rows)],
    "missing": lambda rng, rows: np.where(
        rng.random(rows) < 0.5, np.nan, rng.integers(0, rows, rows)
    ),
}


@pytest.mark.parametrize("keep", ["first", "last", False])
@pytest.mark.parametrize(
    "kinds",
    [
        ["numbers"],
        ["all numbers"],
        ["few texts"],
        ["texts"],
        ["missing"],
        ["few texts", "few numbers"],
        ["few numbers", "few texts", "few numbers"],
        ["texts", "few numbers"],
        ["all numbers", "few texts"],
        ["numbers", "missing"],
    ],
    ids=" and ".join,
)
@pytest.mark.parametrize(("rows", "n"), [(90_000, 2), (300_000, 5)])
def test_drop_duplicates_of_many_rows(kinds, keep, rows, n):
    rng = np.random.default_rng(rows)
    columns = {f"k{i}": COLUMNS[kind](rng, rows) for i, kind in enumerate(kinds)}
    df = pd.DataFrame(columns | {"row": np.arange(rows)})
    subset = list(columns)
    actual = xs.from_pandas(df, n).drop_duplicates(subset, keep=keep)["row"]
    expected = df.drop_duplicates(subset, keep=keep)["row"]
    assert np.array_equal(actual.to_pandas(), expected)


@pytest.mark.parametrize("keep", ["first", "last", False])
def test_drop_duplicates_of_uneven_partitions(keep):
    # Texts move as numbers out of the large ones only.
    rng = np.random.default_rng(6)

    def texts(rows):
        columns = {name: rng.integers(0, 60, rows).astype(str) for name in "ab"}
        return pd.DataFrame(columns | {"row": rng.integers(0, 9, rows)})

    parts = [texts(60_000), texts(5), texts(0), texts(40_000), texts(1)]
    whole = pd.concat(parts, ignore_index=True)
    shards = xs.from_pandas(parts[0], 1)
    for part in parts[1:]:
        shards = shards.union(xs.from_pandas(part, 1))
    actual = shards.drop_duplicates(["a", "b"], keep=keep)
    assert actual.num_partitions() == len(parts)
    expected = whole.drop_duplicates(["a", "b"], keep=keep, ignore_index=True)
    pd.testing.assert_frame_equal(actual.to_pandas(), expected)


@pytest.mark.parametrize("partitioned", [False, True])
@given(table=tables(), n=counts)
def test_group_by(partitioned, table, n):
    shards = xs.from_arrow(table, n)
    if partitioned:
        shards = shards.partition_by("key")
    groups = shards.group_by("key", {"row": ["sum", "count", "max"]}).to_arrow()
    sums, largest = Counter(), {}
    keys = keys_of(table)
    for row, key in enumerate(keys):
        sums[key] += row
        largest[key] = row
    number = Counter(keys)
    expected = {key: (sums[key], number[key], largest[key]) for key in number}
    found = groups.rename_columns(["key", "sum", "count", "max"])
    assert len(found) == len(expected)
    rows = zip(*(found[c].to_pylist() for c in ("sum", "count", "max")), strict=True)
    assert dict(zip(keys_of(found), rows, strict=True)) == expected


@given(tables(), counts)
def test_unique_is_in_order_of_first_appearance(table, n):
    if pa.types.is_nested(table.schema.field("key").type):
        return
    values = xs.from_arrow(table, n)["key"].unique()
    actual = [None if pd.isna(value) else value for value in values]
    assert actual == list(dict.fromkeys(keys_of(table)))


def test_many_groups_equal_pandas():
    # So many that no thread groups its rows before they move.
    rows = 200_000
    keys = [(i * 7919) % (rows - 1000) for i in range(rows)]
    table = pa.table({"key": keys, "row": range(rows)})
    shards = xs.from_arrow(table, 3)
    groups = shards.group_by("key", {"row": "sum"}).to_pandas()
    expected = table.to_pandas().groupby("key")["row"].sum()
    assert dict(zip(groups["key"], groups["sum(row)"], strict=True)) == dict(expected)
    assert list(shards["key"].unique()) == list(dict.fromkeys(keys))
