# SPDX-License-Identifier: Apache-2.0
"""Every operation gives what pandas gives, on random frames."""

import numpy as np
import pandas as pd
import pytest
from frames import (
    assert_same,
    frames,
    num_partitions,
)
from hypothesis import given
from hypothesis import strategies as st

import xshards as xs


@given(frames(), num_partitions)
def test_round_trip(df, n):
    assert_same(xs.from_pandas(df, n).to_pandas(), df)


@given(frames(), num_partitions)
def test_collect_gives_partitions_in_order(df, n):
    parts = xs.from_pandas(df, n).collect()
    assert len(parts) == n
    assert_same(pd.concat(parts, ignore_index=True), df)


@given(frames(), num_partitions)
def test_select(df, n):
    assert_same(xs.from_pandas(df, n).select(["s", "i"]).to_pandas(), df[["s", "i"]])


@given(frames(), num_partitions)
def test_drop_and_rename(df, n):
    actual = xs.from_pandas(df, n).drop(["s"]).rename({"i": "j"}).to_pandas()
    assert_same(actual, df.drop(columns=["s"]).rename(columns={"i": "j"}))


@pytest.mark.parametrize(
    "condition",
    [
        lambda c: c("n") > 0,
        lambda c: c("f") <= 1.5,
        lambda c: c("f") != 1.5,
        lambda c: c("k") == "a",
        lambda c: (c("n") >= 0) & (c("f") < 2) | c("b"),
        lambda c: ~(c("f") > 0),
        lambda c: c("k").isin(["a", "é"]),
        lambda c: c("f").isna(),
        lambda c: c("s").notna(),
        lambda c: c("n") * 2 + 1 == c("n") + 2,
    ],
    ids=range(10),
)
@given(df=frames(), n=num_partitions)
def test_filter(condition, df, n):
    actual = xs.from_pandas(df, n).filter(condition(xs.col)).to_pandas()
    expected = df[condition(df.__getitem__)].reset_index(drop=True)
    assert_same(actual, expected)


@pytest.mark.parametrize(
    "compute",
    [
        lambda c: c("n") + c("i"),
        lambda c: c("n") - 3,
        lambda c: 3 - c("f"),
        lambda c: c("f") * c("n"),
        lambda c: c("n") / 2,
        lambda c: c("f") / 4,
        lambda c: -c("f"),
        lambda c: c("n") > c("f"),
        lambda c: c("s").str.upper(),
        lambda c: c("s").str.strip(),
    ],
    ids=range(10),
)
@given(df=frames(), n=num_partitions)
def test_with_column(compute, df, n):
    actual = xs.from_pandas(df, n).with_column("z", compute(xs.col)).to_pandas()
    assert_same(actual, df.assign(z=compute(df.__getitem__)))


@given(frames(), num_partitions)
def test_with_column_replaces_in_place(df, n):
    actual = xs.from_pandas(df, n).assign(n=xs.col("n") * 2, one=1).to_pandas()
    assert_same(actual, df.assign(n=df["n"] * 2, one=1))


@pytest.mark.parametrize("n", ["k", "n", "f", "s", "b", "i"])
@given(df=frames(), parts=num_partitions)
def test_unique(n, df, parts):
    actual = xs.from_pandas(df, parts)[n].unique()
    expected = df[n].unique()
    assert type(actual) is type(expected)
    assert actual.dtype == expected.dtype
    pd.testing.assert_series_equal(pd.Series(actual), pd.Series(expected))


AGGREGATES = {
    "sum": lambda g: g.sum(),
    "mean": lambda g: g.mean(),
    "min": lambda g: g.min(),
    "max": lambda g: g.max(),
    "count": lambda g: g.count(),
    "std": lambda g: g.std(),
    "var": lambda g: g.var(),
    "stddev_pop": lambda g: g.std(ddof=0),
    "var_pop": lambda g: g.var(ddof=0),
    "first": lambda g: g.first(),
    "last": lambda g: g.last(),
    "nunique": lambda g: g.nunique(),
    "median": lambda g: g.median(),
    "quantile": lambda g: g.quantile(),
    "sum_distinct": lambda g: g.agg(lambda s: s.drop_duplicates().sum()),
}


@pytest.mark.parametrize("function", AGGREGATES)
@pytest.mark.parametrize("keys", [["k"], ["n"], ["f"], ["k", "b"]], ids="-".join)
@given(df=frames(), n=num_partitions)
def test_group_by(function, keys, df, n):
    column = "f" if keys != ["f"] else "n"
    actual = xs.from_pandas(df, n).group_by(keys, {column: function}).to_pandas()
    grouped = df.groupby(keys, dropna=False, sort=False)[column]
    name = f"{function}({column})"
    expected = AGGREGATES[function](grouped).rename(name).reset_index()
    assert_same(actual, expected, ignore_order=True, rtol=1e-9, atol=1e-6)


QUANTILE_DTYPES = [
    *("int8", "uint64", "float32", "float64", "bool", "Int64", "Float32", "Float64"),
    *("datetime64[s]", "timedelta64[ms]", "int64[pyarrow]"),
]


@pytest.mark.parametrize("dtype", QUANTILE_DTYPES)
@given(
    numbers=st.lists(st.integers(0, 1) | st.integers(0, 100), max_size=12),
    share=st.sampled_from([0.0, 0.1, 0.25, 1 / 3, 0.5, 0.9, 1.0]),
    n=num_partitions,
)
def test_quantiles_of_groups_have_pandas_dtypes(dtype, numbers, share, n):
    df = pd.DataFrame({"k": [i % 3 for i in range(len(numbers))]})
    df["v"] = pd.Series(numbers, dtype="int64").astype(dtype)
    wanted = {"v": ["median"] if dtype == "bool" else ["median", f"quantile({share})"]}
    actual = xs.from_pandas(df, n).group_by("k", wanted).to_pandas()
    groups = df.groupby("k", sort=False)["v"]
    expected = {"median(v)": groups.median()}
    if dtype != "bool":
        expected[f"quantile(v, {share})"] = groups.quantile(share)
    expected = pd.DataFrame(expected).reset_index()
    assert_same(actual, expected, ignore_order=True, rtol=1e-6)


def test_distinct_values_are_counted_approximately():
    rng = np.random.default_rng(7)
    df = pd.DataFrame({"k": rng.integers(0, 3, 200_000)})
    df["v"] = rng.integers(0, 10 ** (df["k"] + 2))
    df["s"] = df["v"].astype("str")
    counts = ["nunique", "approx_count_distinct"]
    found = xs.from_pandas(df, 5).group_by("k", {"v": counts, "s": counts}).to_pandas()
    for name in "vs":
        exact, near = (found[f"{function}({name})"] for function in counts)
        assert near.dtype == "int64"
        assert ((near - exact).abs() <= 0.05 * exact).all()
    whole = xs.from_pandas(df, 1).group_by("k", {"v": counts[1]}).to_pandas()
    parts = found.set_index("k")["approx_count_distinct(v)"]
    pd.testing.assert_series_equal(
        whole.set_index("k")["approx_count_distinct(v)"].sort_index(),
        parts.sort_index(),
    )


@given(frames(), num_partitions)
def test_named_aggregation(df, n):
    wanted = {
        "total": ("n", "sum"),
        "top": pd.NamedAgg("f", "max"),
        "middle": ("i", "median"),
        "n": ("n", "nunique"),
    }
    actual = xs.from_pandas(df, n).group_by("k", **wanted).to_pandas()
    expected = df.groupby("k", dropna=False).agg(**wanted).reset_index()
    assert_same(actual, expected, ignore_order=True, rtol=1e-9)


def test_named_aggregation_of_rows_and_mistakes():
    shards = xs.from_pandas(pd.DataFrame({"k": [1, 1, 2], "v": [1, 2, 3]}), 2)
    rows = shards.group_by("k", rows=("*", "count")).sort_values("k").to_pandas()
    assert rows.to_dict("list") == {"k": [1, 2], "rows": [2, 1]}
    with pytest.raises(ValueError, match="either as agg or by name"):
        shards.group_by("k", "sum", top=("v", "max"))
    for wrong in ("v", ("v",), ("v", max)):
        with pytest.raises(TypeError, match="top needs a pair"):
            shards.group_by("k", top=wrong)
    with pytest.raises(KeyError, match="zz"):
        shards.group_by("k", top=("zz", "max"))
    with pytest.raises(ValueError, match="quantile between 0 and 1"):
        shards.group_by("k", {"v": "quantile(7)"})
    assert shards.group_by("k", {"v": "sumDistinct"}).columns == ["k", "sumDistinct(v)"]


@pytest.mark.parametrize("column", ["n", "f", "s", "i"])
@given(df=frames(), n=num_partitions)
def test_group_by_collects_values(column, df, n):
    wanted = {column: ["collect_list", "collect_set"]}
    actual = xs.from_pandas(df, n).group_by("k", wanted).to_pandas()
    found = {
        None if pd.isna(key) else key: (list(values), list(distinct))
        for key, values, distinct in actual.itertuples(index=False)
    }
    expected = {
        None if pd.isna(key) else key: (list(kept), list(kept.unique()))
        for key, values in df.groupby("k", dropna=False)[column]
        if (kept := values.dropna()) is not None
    }
    assert found == expected


def test_collected_values_have_the_type_of_the_column():
    df = pd.DataFrame({"k": [1, 1], "i": np.array([3, 3], np.int16), "s": ["a", "b"]})
    shards = xs.from_pandas(df, 2)
    lists = shards.group_by("k", {"i": "collect_list", "s": "collect_set"})
    assert [str(field.type) for field in lists.schema] == [
        "int64",
        "large_list<item: int16>",
        "large_list<item: large_string>",
    ]
    with pytest.raises(TypeError, match="sum_distinct of column 's' needs numbers"):
        shards.group_by("k", {"s": "sum_distinct"}).to_pandas()


@given(frames(min_rows=1), num_partitions)
def test_group_by_without_keys(df, n):
    wanted = {"*": "count", "n": ["sum", "max"], "f": "mean"}
    actual = xs.from_pandas(df, n).group_by([], wanted).to_pandas()
    expected = pd.DataFrame(
        {
            "count(1)": [len(df)],
            "sum(n)": [df["n"].sum()],
            "max(n)": [df["n"].max()],
            "mean(f)": [df["f"].mean()],
        }
    )
    assert_same(actual, expected, rtol=1e-9)


def test_group_by_names_and_order():
    df = pd.DataFrame({"k": ["x", "y", "x"], "v": [1, 2, 3], "w": ["p", "q", "r"]})
    shards = xs.from_pandas(df, 2)
    assert shards.group_by("k", "sum").columns == ["k", "sum(v)"]
    assert shards.group_by("k").columns == ["k", "count(v)", "count(w)"]
    assert shards.group_by("k", ["min", "mean"]).columns == [
        "k",
        "min(v)",
        "mean(v)",
        "min(w)",
    ]
    assert shards.group_by(["w", "k"], {"v": ["max", "avg"]}).columns == [
        "w",
        "k",
        "max(v)",
        "avg(v)",
    ]


@pytest.mark.parametrize("how", ["inner", "left", "right", "outer"])
@pytest.mark.parametrize("keys", [["k"], ["n"], ["f"], ["k", "n"]], ids="-".join)
@given(left=frames(max_rows=12), right=frames(max_rows=12), n=num_partitions)
def test_merge(how, keys, left, right, n):
    left, right = left[[*keys, "i", "s"]], right[[*keys, "i", "b"]]
    shards = xs.from_pandas(left, n).merge(xs.from_pandas(right, 2), how, keys)
    expected = left.merge(right, how, keys)
    assert_same(shards.to_pandas(), expected, ignore_order=True, check_dtype=False)


@given(frames(max_rows=10), frames(max_rows=10))
def test_merge_on_columns_of_other_names(left, right):
    right = right[["n", "s"]].rename(columns={"n": "m"})
    actual = xs.from_pandas(left, 2).merge(
        xs.from_pandas(right, 3), left_on="n", right_on="m", suffixes=("_l", "_r")
    )
    expected = left.merge(right, left_on="n", right_on="m", suffixes=("_l", "_r"))
    assert_same(actual.to_pandas(), expected, ignore_order=True, check_dtype=False)


@pytest.mark.parametrize("na_position", ["first", "last"])
@pytest.mark.parametrize(
    ("by", "ascending"),
    [
        ("n", True),
        ("f", False),
        ("k", True),
        (["k", "n"], [False, True]),
        (["f", "i"], True),
    ],
)
@given(df=frames(), n=num_partitions)
def test_sort_values(by, ascending, na_position, df, n):
    actual = xs.from_pandas(df, n).sort_values(by, ascending, na_position=na_position)
    expected = df.sort_values(
        by, ascending=ascending, na_position=na_position, kind="stable"
    )
    assert_same(actual.to_pandas(), expected.reset_index(drop=True))


@pytest.mark.parametrize("columns", ["k", "n", "f", ["k", "b"]])
@given(df=frames(), n=num_partitions, wanted=st.integers(1, 6))
def test_partition_by(columns, df, n, wanted):
    shards = xs.from_pandas(df, n).partition_by(columns, wanted)
    assert shards.num_partitions() == wanted
    parts = shards.collect()
    keys = [columns] if isinstance(columns, str) else columns
    seen = [set(map(repr, part[keys].drop_duplicates().to_numpy())) for part in parts]
    assert sum(map(len, seen)) == len(set().union(*seen))
    assert_same(pd.concat(parts), df, ignore_order=True)


@given(frames(), num_partitions, st.integers(1, 8))
def test_repartition(df, n, wanted):
    parts = xs.from_pandas(df, n).repartition(wanted).collect()
    sizes = [len(part) for part in parts]
    assert len(sizes) == wanted
    assert max(sizes) - min(sizes) <= 1
    assert_same(pd.concat(parts, ignore_index=True), df)


@given(frames(), num_partitions, st.integers(0, 30))
def test_head_and_limit(df, n, rows):
    shards = xs.from_pandas(df, n)
    assert_same(shards.head(rows), df.head(rows))
    assert len(shards.limit(rows)) == min(rows, len(df))


@given(frames(), frames(), num_partitions)
def test_union(df, other, n):
    shards = xs.from_pandas(df, n).union(xs.from_pandas(other, 2))
    assert shards.num_partitions() == n + 2
    assert_same(shards.to_pandas(), pd.concat([df, other], ignore_index=True))


@given(frames(), num_partitions)
def test_count_and_len(df, n):
    shards = xs.from_pandas(df, n)
    assert len(shards) == shards.count() == len(df)
    assert shards.filter(xs.col("n") > 0).count() == int((df["n"] > 0).sum())


@given(frames(), num_partitions)
def test_drop_duplicates(df, n):
    actual = xs.from_pandas(df, n).select(["k", "n"]).drop_duplicates().to_pandas()
    assert_same(actual, df[["k", "n"]].drop_duplicates().reset_index(drop=True))


@given(frames(), num_partitions)
def test_chain_of_operations(df, n):
    actual = (
        xs.from_pandas(df, n)
        .filter(xs.col("n") >= -1)
        .with_column("g", xs.col("f") * 2)
        .group_by(["n"], {"g": ["sum", "count"]})
        .sort_values("n")
        .limit(3)
        .to_pandas()
    )
    kept = df[df["n"] >= -1].assign(g=lambda d: d["f"] * 2)
    expected = kept.groupby("n", as_index=False)["g"].agg(["sum", "count"])
    expected = expected.rename(columns={"sum": "sum(g)", "count": "count(g)"}).head(3)
    assert_same(actual, expected, rtol=1e-9, atol=1e-6)


def test_more_partitions_than_rows():
    df = pd.DataFrame({"a": [2, 1]})
    shards = xs.from_pandas(df, 7)
    assert shards.num_partitions() == 7
    assert list(shards.sort_values("a").to_pandas()["a"]) == [1, 2]
    assert shards.group_by("a", {"*": "count"}).to_pandas().shape == (2, 2)
    assert np.array_equal(shards["a"].unique(), [2, 1])


def has_partner(df, other, keys):
    """Tell which rows have their keys among others, as a merge of pandas does."""
    partners = other[keys].drop_duplicates()
    merged = df.merge(partners, "left", on=keys, indicator=True)
    return (merged["_merge"] == "both").to_numpy(bool)


@given(df=frames(), other=frames(max_rows=8), n=num_partitions, m=num_partitions)
@pytest.mark.parametrize("keys", [["k"], ["k", "n"], ["f"]])
def test_semi_and_anti_merge(df, other, keys, n, m):
    left, right = xs.from_pandas(df, n), xs.from_pandas(other, m)
    found = has_partner(df, other, keys)
    semi = left.merge(right, "semi", on=keys).to_pandas()
    assert_same(semi, df[found], ignore_order=True)
    anti = left.merge(
        right.rename({key: f"{key}_" for key in keys}),
        "anti",
        left_on=keys,
        right_on=[f"{key}_" for key in keys],
    ).to_pandas()
    assert_same(anti, df[~found], ignore_order=True)


@given(df=frames(max_rows=6), other=frames(max_rows=5), n=num_partitions)
def test_cross_merge(df, other, n):
    actual = xs.from_pandas(df, n).merge(xs.from_pandas(other, 2), "cross").to_pandas()
    assert_same(actual, df.merge(other, "cross"), ignore_order=True)


def test_merge_mistakes():
    shards = xs.from_pandas(pd.DataFrame({"a": [1]}))
    with pytest.raises(ValueError, match="how must be one of inner, left"):
        shards.merge(shards, "sideways")
    with pytest.raises(ValueError, match="omit on"):
        shards.merge(shards, "cross", on="a")
