# SPDX-License-Identifier: Apache-2.0
"""Methods of DataFrame shards: clean, sample, summarise, assemble."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from frames import assert_same, frames, num_partitions
from hypothesis import given
from hypothesis import strategies as st
from shard_values import assert_equal, shards_of

import xshards as xs
from xshards.compute import quantiles as _quantiles


@pytest.fixture
def shards(awkward):
    return xs.from_pandas(awkward, 3)


def test_get_schema_has_columns_and_dtypes(awkward, shards):
    schema = shards.get_schema()
    assert schema["columns"] == list(awkward.columns)
    pd.testing.assert_series_equal(schema["dtypes"], awkward.dtypes)


@given(frames(), num_partitions)
def test_deduplicates_keeps_first_rows(df, count):
    few = df[["k", "n"]]
    expected = few.drop_duplicates(ignore_index=True)
    assert_same(xs.from_pandas(few, count).deduplicates().to_pandas(), expected)


# missing values


@given(frames(), num_partitions, st.sampled_from(["any", "all"]), st.data())
def test_dropna_drops_rows(df, count, how, data):
    subset = data.draw(
        st.none() | st.lists(st.sampled_from(list(df)), min_size=1, unique=True)
    )
    expected = df.dropna(how=how, subset=subset).reset_index(drop=True)
    shards = xs.from_pandas(df, count)
    assert_same(shards.dropna(how=how, subset=subset).to_pandas(), expected)
    for thresh in range(5):
        some = df.dropna(thresh=thresh, subset=subset).reset_index(drop=True)
        assert_same(shards.dropna(thresh=thresh, subset=subset).to_pandas(), some)
    if how == "any":
        assert_same(shards.drop_missing_value(columns=subset).to_pandas(), expected)


@given(frames(min_rows=1), num_partitions)
def test_drop_missing_value_drops_columns(df, count):
    actual = xs.from_pandas(df, count).drop_missing_value(axis="columns")
    assert_same(actual.to_pandas(), df.dropna(axis="columns"))


@given(frames(), num_partitions)
def test_get_null_sum_counts_missing_values(df, count):
    found = xs.from_pandas(df, count).get_null_sum()
    missing = df.isna().sum()
    expected = pd.DataFrame(
        {"col": pd.Series(list(df), dtype="str"), "total": missing.to_numpy()}
    )
    assert_same(found, expected)


@given(frames(), num_partitions)
def test_fillna_by_column(df, count):
    values = {"f": -1.5, "s": "é", "k": "", "i": 3, "b": True}
    actual = xs.from_pandas(df, count).fillna(values).to_pandas()
    assert_same(actual, df.fillna(values))


@given(frames(), num_partitions)
def test_fillna_with_one_value_fills_columns_of_its_kind(df, count):
    shards = xs.from_pandas(df, count)
    assert_same(shards.fillna(0).to_pandas(), df.fillna({"f": 0}))
    assert_same(shards.fillna("?").to_pandas(), df.fillna({"k": "?", "s": "?"}))


def test_fillna_of_nullable_integers():
    shards = xs.from_arrow(pa.table({"a": pa.array([1, None], pa.int8())}))
    assert shards.fillna(7).to_pandas()["a"].tolist() == [1, 7]
    assert str(shards.fillna(7).dtypes["a"]) == "int8"
    assert shards.fillna(0.5).to_pandas()["a"].tolist() == [1.0, 0.5]
    stamps = pd.DataFrame({"t": pd.to_datetime(["2024-01-01", None])})
    value = pd.Timestamp("2020-02-02")
    assert_same(xs.from_pandas(stamps).fillna(value).to_pandas(), stamps.fillna(value))


def test_mistakes_with_missing_values_are_named(shards):
    with pytest.raises(KeyError, match="no column 'zz'; the columns are"):
        shards.fillna({"zz": 1})
    with pytest.raises(TypeError, match="column 'i' of int64 cannot hold 'x'"):
        shards.fillna({"i": "x"})
    for wrong in (None, [1, 2], np.zeros(2)):
        with pytest.raises(TypeError, match="fillna takes a constant, or a dict"):
            shards.fillna(wrong)
    with pytest.raises(KeyError, match="no column 'zz'"):
        shards.dropna(subset="zz")
    with pytest.raises(ValueError, match="how must be 'any' or 'all', got 'some'"):
        shards.dropna(how="some")
    with pytest.raises(ValueError, match="axis must be 'rows' or 'columns', got 1"):
        shards.drop_missing_value(axis=1)


# summaries


@given(frames(), num_partitions)
def test_describe_agrees_with_pandas(df, count):
    assert_same(
        xs.from_pandas(df, count).describe(), df[["n", "i", "f"]].describe(), rtol=1e-9
    )


@given(frames(min_rows=1), num_partitions)
def test_quartiles_of_large_columns_are_exact(df, count):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_quantiles, "GATHERED_VALUES", 0)
        patch.setattr(_quantiles, "_BUCKETS", 3)
        actual = xs.from_pandas(df, count).describe()
    assert_same(actual, df[["n", "i", "f"]].describe(), rtol=1e-9)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0, np.inf, 2.0, 4.0, -1e308], [1, 2, 4]),
        ([1.0, -np.inf, 2.0, 4.0, 0.0], [0, 1, 2]),
        ([1.0, 1e308, 2.0, 4.0, -1e308], [1, 2, 4]),
        ([np.inf] * 5, [np.inf, np.inf, np.inf]),
    ],
)
def test_quartiles_with_extremes(values, expected, monkeypatch):
    monkeypatch.setattr(_quantiles, "GATHERED_VALUES", 0)
    found = xs.from_pandas(pd.DataFrame({"a": values}), 2).describe()["a"]
    assert found[["25%", "50%", "75%"]].tolist() == expected


def test_large_columns_are_not_gathered(monkeypatch):
    monkeypatch.setattr(_quantiles, "GATHERED_VALUES", 1000)
    sizes = []
    gathered = _quantiles._gathered

    def watch(shards, name):
        values = gathered(shards, name)
        sizes.append(len(values))
        return values

    monkeypatch.setattr(_quantiles, "_gathered", watch)
    df = pd.DataFrame({"a": np.random.default_rng(3).normal(size=50_000)})
    assert_same(xs.from_pandas(df, 3).describe(), df.describe(), rtol=1e-12)
    assert max(sizes) < 1000


def test_describe_of_no_rows_and_one_row():
    for rows in (0, 1):
        df = pd.DataFrame({"a": np.arange(rows), "f": np.full(rows, np.nan)})
        assert_same(xs.from_pandas(df, 3).describe(), df.describe())


def test_describe_of_columns_named_by_numbers():
    df = pd.DataFrame({"1": [1.0, np.nan, 3.0], "2": [np.nan, 1.0, 2.0]})
    for names in (["1", "2"], ["2"], ["2", "1"]):
        assert_same(xs.from_pandas(df[names], 2).describe(), df[names].describe())


def test_describe_takes_columns(shards, awkward):
    assert_same(shards.describe("i"), awkward[["i"]].describe())
    assert_same(shards.describe(["i8", "i"]), awkward[["i8", "i"]].describe())
    both = awkward[["i", "s"]].describe(include="all")
    assert_same(shards.describe(["i", "s"]), both)
    with pytest.raises(KeyError, match="no column 'zz'"):
        shards.describe("zz")
    with pytest.raises(ValueError, match="percentiles must be between 0 and 1"):
        shards.describe(percentiles=[2])
    with pytest.raises(ValueError, match="exclude must be None"):
        shards.describe(include="all", exclude=["number"])
    with pytest.raises(ValueError, match="no column to describe among"):
        shards.select("s").describe(include=["number"])


@given(frames(min_rows=1), num_partitions)
def test_max_values_agrees_with_pandas(df, count):
    shards = xs.from_pandas(df, count)
    for name in ("n", "i", "f", "b"):
        # Of 0.0 and -0.0 numpy gives either, as its vector instructions have it.
        ours, wanted = shards.max_values(name) + 0.0, df[name].max() + 0.0
        np.testing.assert_equal(ours, wanted)


def test_max_values_of_text_and_unknown_columns(shards):
    assert shards.max_values("s") == max(["x", "", "Zürich", "日本", '🙂 \n,"'])
    with pytest.raises(KeyError, match="no column 'zz'"):
        shards.max_values("zz")


@given(frames(), num_partitions)
def test_skew_and_kurt_agree_with_pandas(df, count):
    df = df.dropna(subset="k")
    functions = ["skew", "kurt"]
    shards = xs.from_pandas(df, count)
    actual = shards.group_by("k", {"n": functions}).sort_values("k").to_pandas()
    groups = df.groupby("k")["n"]
    expected = pd.DataFrame(
        {
            f"{f}(n)": groups.apply(lambda s, f=f: getattr(s, f)()).astype(float)
            for f in functions
        }
    )
    expected = expected.rename_axis("k").reset_index()
    expected["k"] = expected["k"].astype("str")
    assert_same(actual, expected, rtol=1e-9, atol=1e-12)


@given(frames(min_rows=1), num_partitions)
def test_spark_skewness_and_kurtosis_are_those_of_the_whole(df, count):
    functions = ["skewness", "kurtosis"]
    found = xs.from_pandas(df, count).group_by([], {"n": functions}).to_pandas().iloc[0]
    values = df["n"].to_numpy(dtype=float)
    with np.errstate(invalid="ignore", divide="ignore"):
        z = (values - values.mean()) / values.std()
    flat = values.std() == 0
    for name, power, less in (("skewness", 3, 0), ("kurtosis", 4, 3)):
        expected = np.nan if flat else (z**power).mean() - less
        np.testing.assert_allclose(found[f"{name}(n)"], expected, rtol=1e-9, atol=1e-12)


# sample


@given(frames(), num_partitions, num_partitions, st.floats(0, 1), st.integers(0, 3))
def test_sample_draws_a_share_of_the_rows(df, count, other, frac, seed):
    df["row"] = range(len(df))
    found = xs.from_pandas(df, count).sample(frac, random_state=seed).to_pandas()
    assert len(found) == round(frac * len(df))
    assert found["row"].is_unique
    assert found["row"].is_monotonic_increasing
    assert_same(found, df.iloc[found["row"]].reset_index(drop=True))
    elsewhere = xs.from_pandas(df, other).sample(frac, random_state=seed)
    assert_same(elsewhere.to_pandas(), found)


@given(frames(min_rows=1), num_partitions, st.integers(0, 30), st.integers(0, 3))
def test_sample_with_replacement_draws_any_number(df, count, n, seed):
    df["row"] = range(len(df))
    options = {"n": n, "replace": True, "random_state": seed}
    found = xs.from_pandas(df, count).sample(**options).to_pandas()
    assert len(found) == n
    assert_same(found, df.iloc[found["row"]].reset_index(drop=True))
    assert_same(xs.from_pandas(df, 1).sample(**options).to_pandas(), found)


@given(
    st.lists(st.sampled_from([0.0, 1.0, 2.5, np.nan]), min_size=1, max_size=12),
    num_partitions,
    st.booleans(),
    st.integers(0, 3),
)
def test_sample_by_weight_draws_only_rows_that_have_one(weights, count, replace, seed):
    df = pd.DataFrame({"w": weights, "row": range(len(weights))})
    shards = xs.from_pandas(df, count)
    there = int((df["w"] > 0).sum())
    options = {"weights": "w", "replace": replace, "random_state": seed}
    if there == 0:
        with pytest.raises(ValueError, match="only 0 have a weight over 0"):
            shards.sample(n=1, **options).to_pandas()
        return
    n = 2 * there if replace else there
    found = shards.sample(n=n, **options).to_pandas()
    assert len(found) == n
    assert (found["w"] > 0).all()
    assert found["row"].is_unique or replace
    assert_same(xs.from_pandas(df, 1).sample(n=n, **options).to_pandas(), found)


@pytest.mark.parametrize("replace", [False, True])
def test_rows_are_drawn_in_proportion_to_weight(replace):
    df = pd.DataFrame({"w": [1.0, 3.0] * 50_000, "row": range(100_000)})
    shards = xs.from_pandas(df, 3)
    found = shards.sample(n=4000, weights="w", replace=replace, random_state=1)
    share = (found.to_pandas()["w"] == 3).mean()
    assert abs(share - 0.75) < 0.03


@pytest.mark.parametrize("replace", [False, True])
def test_every_row_is_as_likely_as_another(replace):
    shards = xs.from_pandas(pd.DataFrame({"a": range(100_000)}), 3)
    found = shards.sample(0.2, replace, random_state=2).to_pandas()["a"]
    tenths = np.histogram(found, bins=10, range=(0, 100_000))[0]
    assert abs(tenths / 2000 - 1).max() < 0.12


def test_samples_differ_without_a_seed_and_keep_the_index():
    df = pd.DataFrame({"a": range(6), "w": [0, 0, 1] * 2}, index=list("uvwxyz"))
    shards = xs.from_pandas(df, 2)
    assert len(shards.sample(3.0, replace=True)) == 18
    drawn = shards.sample(1 / 3, weights="w").to_pandas()
    assert_same(drawn, df.loc[["w", "z"]])
    assert len(shards.sample_to_pdf(0.5, random_state=1)) == 3
    assert len(shards.sample()) == 1
    wide = xs.from_pandas(pd.DataFrame({"a": range(10_000)}), 2)
    one, other = (wide.sample(n=100).to_pandas() for _ in range(2))
    assert list(one["a"]) != list(other["a"])


def test_sample_mistakes(shards):
    with pytest.raises(ValueError, match="either frac or n"):
        shards.sample(0.5, n=3)
    with pytest.raises(ValueError, match="n must not be negative, got -1"):
        shards.sample(n=-1)
    with pytest.raises(ValueError, match="Cannot draw 50 of 7 rows"):
        shards.sample(n=50).to_pandas()
    with pytest.raises(KeyError, match="zz"):
        shards.sample(n=1, weights="zz")
    with pytest.raises(TypeError, match="Weights must be numbers"):
        shards.sample(n=1, weights="s")
    with pytest.raises(TypeError, match="random_state must be an integer"):
        shards.sample(n=1, random_state="x")


def test_sample_refuses_wrong_shares(shards):
    for frac in (-0.1, 1.5):
        with pytest.raises(ValueError, match=f"got {frac} with replace=False"):
            shards.sample(frac)
    with pytest.raises(TypeError, match="weights must be a column's name, got list"):
        shards.sample(0.5, weights=[1, 2])


# together, to arrays, to other types


def test_concat_to_pdf(awkward, shards):
    assert_same(shards.concat_to_pdf(), awkward)
    side = xs.from_pandas(pd.DataFrame({"a": [1, 2, 3, 4]}), 2).concat_to_pdf(axis=1)
    assert side.to_numpy().tolist() == [[1, 3], [2, 4]]
    with pytest.raises(ValueError, match="axis must be 0 or 1, got 2"):
        shards.concat_to_pdf(2)


@given(frames(min_rows=1), num_partitions)
def test_assemble_makes_feature_and_label_arrays(df, count):
    shards = xs.from_pandas(df, count)
    made = shards.assembleFeatureLabelCols(["n", "f"], ["i"])
    assert_equal(
        made.to_numpy(),
        {
            "x": np.stack([df["n"].to_numpy(), df["f"].to_numpy()], axis=1),
            "y": df[["i"]].to_numpy(),
        },
    )


def test_assemble_takes_lists_of_columns(shards):
    with pytest.raises(TypeError, match="featureCols must be a list of column names"):
        shards.assembleFeatureLabelCols("i", ["f"])
    with pytest.raises(ValueError, match="labelCols must name at least one column"):
        shards.assembleFeatureLabelCols(["i"], [])
    with pytest.raises(KeyError, match="no column 'zz'"):
        shards.assembleFeatureLabelCols(["zz"], ["i"])


def test_stack_feature_labels_stacks_pairs():
    pairs = [(np.full(2, i), i) for i in range(4)]
    stacked = shards_of(pairs, [3, 0, 1]).stack_feature_labels().collect()
    expected = [
        {"x": np.float32([[0, 0], [1, 1], [2, 2]]), "y": np.float32([0, 1, 2])},
        {"x": np.float32([[3, 3]]), "y": np.float32([3])},
    ]
    assert_equal(stacked, expected)
    with pytest.raises(TypeError, match="pairs, but partition 0 holds a int"):
        shards_of([3]).stack_feature_labels().collect()


@given(frames(), num_partitions)
def test_astype_casts_columns(df, count):
    shards = xs.from_pandas(df, count)
    wanted = {"n": "float32", "b": "int8"}
    assert_same(shards.astype(wanted).to_pandas(), df.astype(wanted))
    numbers = shards[["n", "b"]].astype("float64").to_pandas()
    assert_same(numbers, df[["n", "b"]].astype("float64"))
    with pytest.raises(KeyError, match="no column 'zz'"):
        shards.astype({"zz": "int8"})


@given(frames(), num_partitions)
def test_group_by_joins_back(df, count):
    shards = xs.from_pandas(df, count)
    actual = shards.group_by("k", {"n": ["sum", "count"]}, join=True).to_pandas()
    groups = df.groupby("k", dropna=False)["n"]
    expected = df.assign(
        **{"sum(n)": groups.transform("sum"), "count(n)": groups.transform("count")}
    )
    assert_same(actual, expected, ignore_order=True)


def test_to_polars(awkward, shards):
    polars = pytest.importorskip("polars")
    found = shards.to_polars()
    assert isinstance(found, polars.DataFrame)
    assert found.columns == list(awkward.columns)
    assert found["s"].to_list() == [None if pd.isna(v) else v for v in awkward["s"]]


@given(frames(min_rows=1), num_partitions)
def test_categories_agree_with_pandas(df, count):
    shards = xs.from_pandas(df, count)
    for name in df.columns:
        actual = shards.astype({name: "category"}).to_pandas()
        assert_same(actual, df.astype({name: "category"}))


def test_categories_that_are_given():
    df = pd.DataFrame({"a": ["x", "y", None, "z"], "b": [1, 2, 3, 4]})
    sizes = pd.CategoricalDtype(["z", "y", "q", "x"], ordered=True)
    wanted = {"a": sizes, "b": "float32"}
    actual = xs.from_pandas(df, 3).astype(wanted).to_pandas()
    assert_same(actual, df.astype(wanted))
    ordered = pd.CategoricalDtype(ordered=True)
    actual = xs.from_pandas(df, 7).astype(ordered).to_pandas()
    assert_same(actual, df.astype(ordered))


def test_astype_text_of_categories_does_not_depend_on_partitions():
    dtype = pd.CategoricalDtype([3, 1])
    df = pd.DataFrame({"a": pd.Series([3, None, 1, 1], dtype=dtype)})
    for count in (1, 2, 4):
        texts = xs.from_pandas(df, count).astype({"a": "str"}).to_pandas()["a"]
        expected = pd.Series(["3", None, "1", "1"], dtype="str", name="a")
        pd.testing.assert_series_equal(texts, expected)


def test_fillna_fills_categories_that_a_merge_made_missing():
    left = pd.DataFrame({"k": [1, 2]})
    right = pd.DataFrame({"k": [1], "c": pd.Categorical(["a"], ["b", "a"])})
    merged = xs.from_pandas(left, 2).merge(xs.from_pandas(right, 1), "left", "k")
    ours = merged.fillna({"c": "b"}).sort_values("k").to_pandas()
    assert_same(ours, left.merge(right, "left", "k").fillna({"c": "b"}))


def test_filled_categories_are_computed_with():
    df = pd.DataFrame({"c": pd.Categorical(["a", None, "b"], ["b", "a"])})
    filled = xs.from_pandas(df, 2).fillna({"c": "a"})
    ours = filled.with_column("x", xs.col("c").isin(["a"])).dropna().to_pandas()
    expected = df.fillna({"c": "a"})
    assert_same(ours, expected.assign(x=expected["c"].isin(["a"])))
