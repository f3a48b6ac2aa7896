# SPDX-License-Identifier: Apache-2.0
"""Python objects that Arrow has no type for, compared as Python does, or refused."""

import datetime
import decimal
import enum
import fractions
import json
import uuid

import numpy as np
import pandas as pd
import pytest
from frames import PICKLED, odd_frames
from hypothesis import given, settings
from hypothesis import strategies as st

import xshards as xs


class Color(enum.Enum):
    RED = 1


class Shape(enum.IntEnum):
    ROUND = 1


class Thing:
    """Equal to others by its name, which only it knows."""

    def __init__(self, name):
        self.name = name

    def __eq__(self, other):
        return self.name == other.name

    def __hash__(self):
        return hash(self.name)


MOMENT = datetime.datetime(2024, 5, 17, 12, 30)
ZONED = MOMENT.replace(tzinfo=datetime.UTC)
EAST = ZONED.astimezone(datetime.timezone(datetime.timedelta(hours=2)))
# Objects of which some are equal, but pickled to other bytes.
CELLS = [
    *(1, "1", 1.0, True, np.int64(1), decimal.Decimal("1.0"), Shape.ROUND, 1 + 0j),
    *("é", "a", b"a", np.str_("a"), "", b"", 2.5, fractions.Fraction(5, 2), 2**80),
    *(float(2**80), float("inf"), decimal.Decimal("Infinity"), -0.0, 0, 0.1),
    *((1, "x"), (1.0, "x"), ("x", 1), (), ((1,), 2), ((1, 2),), frozenset({1, 2, 9})),
    *(frozenset([9, 2, 1]), frozenset(), decimal.Decimal("0.1"), Color.RED, 1 + 1j),
    *(MOMENT, pd.Timestamp(MOMENT), MOMENT.date(), ZONED, EAST, pd.Timestamp(EAST)),
    *(MOMENT.time(), datetime.timedelta(1), pd.Timedelta("1D"), uuid.UUID(int=7)),
    *(uuid.UUID(int=7), None, "a", 1, None, (None,), (1, None), (None,)),
]
# numpy's numbers are not compared with all of the others.
plain = st.sampled_from([cell for cell in CELLS if not isinstance(cell, np.int64)])
MANY = st.sampled_from([1, 2, 3, len(CELLS) + 5])


def column_of(cells):
    return pd.Series(np.fromiter(cells, object, len(cells)), dtype=object)


def framed(cells=CELLS):
    return pd.DataFrame({"x": column_of(cells), "row": range(len(cells))})


def first_of_each(cells):
    """Give the first of equal cells for each, as a dict of Python does."""
    firsts = {}
    return [firsts.setdefault(cell, cell) for cell in cells]


def typed(cells):
    return [(type(cell), cell) for cell in cells]


@pytest.mark.parametrize("n", [1, 3, len(CELLS) + 5])
@pytest.mark.parametrize("keep", ["first", "last", False])
def test_drop_duplicates(n, keep):
    df = framed()
    actual = xs.from_pandas(df, n).drop_duplicates("x", keep=keep)
    assert actual.columns == ["x", "row"]
    expected = df.drop_duplicates("x", keep=keep)
    assert list(actual.to_pandas()["row"]) == list(expected["row"])
    assert typed(actual.to_pandas()["x"]) == typed(expected["x"])
    assert len(xs.from_pandas(df, n).drop_duplicates(keep=keep)) == len(df)


def test_times_of_numpy_are_keys_by_value():
    spans = [np.timedelta64(5, "s"), np.timedelta64(5, "ms"), datetime.timedelta(0, 5)]
    moments = [np.datetime64("2024-05-17T12:30"), MOMENT, np.datetime64("2024-05-17")]
    for cells, counts in ((spans, [2, 1]), (moments, [2, 1])):
        shards = xs.from_pandas(framed([*cells, ("pickled",)]), 2)
        found = shards["x"].value_counts(sort=False)
        assert list(found) == [*counts, 1]


def test_missing_values_in_tuples_are_distinguished():
    cells = [(None,), (float("nan"),), (pd.NaT,), (np.float64("nan"),), (None,)]
    found = xs.from_pandas(framed(cells), 3)["x"].value_counts(sort=False)
    assert list(found) == [2, 2, 1]


@settings(max_examples=25)
@given(st.lists(plain, max_size=20), MANY)
def test_values_are_counted(cells, n):
    cells = [*cells, (7, "pickled")]
    shards = xs.from_pandas(framed(cells), n)
    distinct = list(dict.fromkeys(cells))
    assert typed(shards["x"].unique()) == typed(distinct)
    there = [cell for cell in distinct if cell is not None]
    assert shards["x"].nunique() == len(there)
    assert shards["x"].nunique(dropna=False) == len(distinct)
    assert shards.agg({"x": "nunique"})["x"] == len(there)
    counts = shards["x"].value_counts(dropna=False, sort=False)
    assert list(counts) == [cells.count(cell) for cell in distinct]
    if there:
        summary = shards["x"].describe()
        assert summary["unique"] == len(there)
        assert summary["freq"] == max(map(cells.count, there))


@pytest.mark.parametrize("n", [1, 4])
def test_groups(n):
    df = framed().assign(v=lambda d: d["row"] * 2)
    shards = xs.from_pandas(df, n)
    wanted = {"v": ["sum", "count"], "x": ["nunique", "count"]}
    found = shards.group_by("x", wanted).to_pandas()
    assert list(found.columns) == [
        *("x", "sum(v)", "count(v)", "nunique(x)", "count(x)"),
    ]
    firsts = first_of_each(CELLS)
    sums, counts = {}, {}
    for cell, value in zip(firsts, df["v"], strict=True):
        sums[cell] = sums.get(cell, 0) + value
        counts[cell] = counts.get(cell, 0) + 1
    assert dict(zip(found["x"], found["sum(v)"], strict=True)) == sums
    assert dict(zip(found["x"], found["count(v)"], strict=True)) == counts
    assert sorted(map(repr, found["x"])) == sorted(map(repr, sums))
    assert set(found["nunique(x)"]) == {0, 1}
    beside = shards.group_by("x", {"v": "sum"}, join=True).to_pandas()
    beside = beside.sort_values("row")
    assert list(beside["sum(v)"]) == [sums[cell] for cell in firsts]
    assert typed(beside["x"]) == typed(CELLS)


def test_partitions():
    parts = xs.from_pandas(framed(), 4).partition_by("x", 5).collect()
    homes = {}
    assert sum(map(len, parts)) == len(CELLS)
    for index, part in enumerate(parts):
        assert list(part.columns) == ["x", "row"]
        for cell in part["x"]:
            assert homes.setdefault(cell, index) == index


@pytest.mark.parametrize("how", ["inner", "left", "semi", "anti", "left_anti"])
@pytest.mark.parametrize("same_name", [True, False])
@settings(max_examples=10)
@given(
    st.lists(plain, max_size=8),
    st.lists(plain, max_size=8),
)
def test_merges(how, same_name, ours, theirs):
    ours, theirs = [*ours, ("pickled",)], [*theirs, ("pickled",)]
    left = xs.from_pandas(framed(ours), 3)
    name = "x" if same_name else "y"
    other = pd.DataFrame({name: column_of(theirs), "other": range(len(theirs))})
    right = xs.from_pandas(other, 2)
    actual = left.merge(right, how, left_on="x", right_on=name).to_pandas()
    pairs = [
        (row, at)
        for row, cell in enumerate(ours)
        for at, that in enumerate(theirs)
        if cell == that
    ]
    alone = [row for row, cell in enumerate(ours) if cell not in theirs]
    if how in ("semi", "anti"):
        rows = sorted({row for row, _ in pairs}) if how == "semi" else alone
        assert sorted(actual["row"]) == rows
        assert list(actual.columns) == ["x", "row"]
        return
    expected = [] if how == "left_anti" else pairs
    expected = expected + ([(row, -1) for row in alone] if how != "inner" else [])
    found = zip(actual["row"], actual["other"].fillna(-1).astype(int), strict=True)
    assert sorted(found) == sorted(expected)
    assert list(actual.columns) == ["x", "row", *(["y"] * (not same_name)), "other"]
    assert typed(actual["x"]) == typed(ours[row] for row in actual["row"])


def test_merges_that_show_keys_of_both_need_two_names():
    left = xs.from_pandas(framed([1, "a", None]), 2)
    other = pd.DataFrame({"x": column_of([True, "b"]), "other": [5, 6]})
    right = xs.from_pandas(other, 2)
    for how in ("right", "outer", "right_anti"):
        with pytest.raises(TypeError, match=r"'x'.* pass left_on and right_on"):
            left.merge(right, how, "x")
    renamed = right.rename({"x": "y"})
    found = left.merge(renamed, "outer", left_on="x", right_on="y").to_pandas()
    pairs = zip(found["row"].fillna(-1), found["other"].fillna(-1), strict=True)
    assert sorted(pairs) == [(-1, 6), (0, 5), (1, -1), (2, -1)]
    noted = left.merge(right, "left", "x", indicator=True).to_pandas()
    assert list(noted.columns) == ["x", "row", "other", "_merge"]
    assert sorted(noted["_merge"]) == ["both", "left_only", "left_only"]
    with pytest.raises(pd.errors.MergeError, match="not unique in left"):
        xs.from_pandas(framed([1, "a", 1.0]), 2).merge(right, on="x", validate="1:1")


def test_objects_match_values_of_other_types():
    left = xs.from_pandas(framed([1, "a", 2.5, "é", None]), 2)
    for cells, rows in (
        (pd.Series(["é", "a", "1"]), [1, 3]),
        (pd.Series([1, 2]), [0]),
        (pd.Series([2.5, None, 1.0]), [0, 2, 4]),
        (pd.Series([True, False]), [0]),
    ):
        right = xs.from_pandas(pd.DataFrame({"x": cells}), 2)
        assert sorted(left.merge(right, on="x").to_pandas()["row"]) == rows
        back = right.merge(left, on="x").to_pandas()
        assert sorted(back["row"]) == rows
        assert back["x"].dtype == cells.dtype


REFUSED = {
    "sort_values": lambda s: s.sort_values("x"),
    "sort_values by two": lambda s: s.sort_values(["row", "x"]),
    "descending": lambda s: s.sort_values("x", ascending=False),
    "top": lambda s: s.sort_values("x").limit(2),
    "ranges": lambda s: s.partition_by_range("x", 3),
}


@pytest.mark.parametrize("refused", REFUSED)
@pytest.mark.parametrize("cells", [[1, "a"], [(2,), (1,)], [{1}, None]], ids=str)
def test_objects_have_no_order(refused, cells):
    shards = xs.from_pandas(framed(cells), 5)
    expected = (
        r"'x' holds Python objects, which only Python can order.* transform_shard"
    )
    with pytest.raises(TypeError, match=expected):
        REFUSED[refused](shards)
    # What a function gives is known when it has run.
    whole = xs.from_pandas(framed(cells), 1)
    late = REFUSED[refused](whole.transform_shard(lambda df: df))
    with pytest.raises(TypeError, match=expected):
        late.collect()
    fixed = shards.transform_shard(lambda df: df.assign(x=df["x"].map(str)))
    assert len(REFUSED[refused](fixed).to_pandas()) > 0


@pytest.mark.parametrize("method", ["nlargest", "nsmallest"])
def test_there_are_no_largest_objects(method):
    with pytest.raises(TypeError, match="compares numbers or times"):
        getattr(xs.from_pandas(framed([1, "a"])), method)(1, "x")
    with pytest.raises(TypeError, match="no numeric column"):
        xs.from_pandas(framed([1, "a"]))["x"].quantile()


COMPARED = {
    "drop_duplicates": lambda s: s.drop_duplicates("x"),
    "group_by": lambda s: s.group_by("x", {"row": "sum"}),
    "nunique": lambda s: s.group_by("row", {"x": "nunique"}),
    "partition_by": lambda s: s.partition_by("x", 2),
    "merge": lambda s: s.merge(s, on="x"),
}


@pytest.mark.parametrize("compared", COMPARED)
@pytest.mark.parametrize(
    ("cell", "why"),
    [
        ({1, 2}, "unhashable type: 'set'"),
        ((1, [2]), "unhashable type: 'list'"),
        (Thing("é"), "equality of Thing is defined only by its own class"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_objects_of_unknown_equality_are_refused(compared, cell, why):
    shards = xs.from_pandas(framed(["a", cell, 1]), 5)
    with pytest.raises(TypeError, match=f"'x' holds objects .*{why}.*transform_shard"):
        COMPARED[compared](shards).collect()


@pytest.mark.parametrize("compared", COMPARED)
def test_keys_that_a_function_gave(compared):
    late = xs.from_pandas(framed([1, "a"]), 1).transform_shard(lambda df: df)
    if compared != "drop_duplicates":  # which looks at the columns first
        with pytest.raises(TypeError, match=r"'x' holds .* can compare.* cache\(\)"):
            COMPARED[compared](late).collect()
    late.cache()
    assert len(COMPARED[compared](late).to_pandas()) == 2


@pytest.mark.parametrize("kind", PICKLED)
@settings(max_examples=10)
@given(draw=st.data(), n=st.integers(1, 15))
def test_other_columns_stay(kind, draw, n):
    df = draw.draw(odd_frames(kind)).assign(row=lambda d: range(len(d)))
    index = [f"é{n}" for n in range(len(df))]
    df.index = pd.Index(index, dtype="str", name="label")
    missing = df["x"].isna()
    keys = df["x"].where(~missing, None)
    actual = xs.from_pandas(df, n).drop_duplicates("x").to_pandas()
    pd.testing.assert_frame_equal(actual, df[~keys.duplicated()])


def test_objects_read_from_json(tmp_path):
    lines = [{"x": x, "row": n} for n, x in enumerate([1, "a", 1.0, True, None, "a"])]
    path = tmp_path / "mixed.json"
    path.write_text("\n".join(map(json.dumps, lines)))
    shards = xs.read_json(str(path))
    assert list(shards.drop_duplicates("x").to_pandas()["row"]) == [0, 1, 4]
    refused = "'x' holds Python objects, which only Python can order"
    with pytest.raises(TypeError, match=refused):
        shards.sort_values("x")


def test_bytes_combined_with_objects_are_objects():
    some = xs.from_pandas(framed([b"a", b"b"]), 2)
    mixed = xs.from_pandas(framed([1, 1.0, b"a"]), 2)
    for both in (some.union(mixed), mixed.union(some)):
        assert len(both.drop_duplicates("x").to_pandas()) == 3
        with pytest.raises(TypeError, match="Python objects"):
            both.sort_values("x")


def test_categories_of_objects_are_compared_by_code():
    kind = pd.CategoricalDtype([(2,), "a", 1], ordered=True)
    df = pd.DataFrame({"x": pd.Series([1, "a", (2,), None, 1], dtype=kind)})
    df["row"] = range(len(df))
    shards = xs.from_pandas(df, 7)
    expected = df.sort_values("x", kind="stable")
    assert list(shards.sort_values("x").to_pandas()["row"]) == list(expected["row"])
    rows = df.drop_duplicates("x")["row"]
    assert list(shards.drop_duplicates("x").to_pandas()["row"]) == list(rows)


def test_labels_of_keys_stay():
    df = pd.DataFrame({0: column_of([1, 1.0, "a"]), ("b", 1): [1, 2, 3]})
    found = xs.from_pandas(df, 2).group_by([0], {("b", 1): "sum"}).to_pandas()
    assert found.columns[0] == 0
    assert sorted(found.iloc[:, 1]) == [3, 3]
