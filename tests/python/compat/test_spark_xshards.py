# SPDX-License-Identifier: Apache-2.0
"""SparkXShards: methods, errors and the caching contract of Orca."""

import operator
import sys

import numpy as np
import pandas as pd
import pytest

from xshards.compat.exports.data import SharedValue, SparkXShards, XShards


@pytest.fixture
def whole(csv_folder):
    return pd.concat(
        [pd.read_csv(path) for path in sorted(csv_folder.glob("*.csv"))],
        ignore_index=True,
    )


def test_transform_leaves_the_parent_alone(frames):
    def negative(df, column_name):
        df[column_name] = df[column_name] * (-1)
        df.loc[0, "ID"] = -5
        return df

    before = frames.cache().collect()
    after = frames.transform_shard(negative, "sale_price").collect()
    for old, new, again in zip(before, after, frames.collect(), strict=True):
        assert (old["sale_price"] == -new["sale_price"]).all()
        pd.testing.assert_frame_equal(old, again)


def test_transform_takes_shared_values(frames):
    minus = SharedValue(2)

    def shift(df, column, by):
        df[column] = df[column] - by.value
        return df

    first = frames.collect()[0]["sale_price"]
    shifted = frames.transform_shard(shift, "sale_price", minus).collect()[0]
    assert (shifted["sale_price"] == first - 2).all()
    minus.unpersist()


def test_first_take_and_partitions(frames):
    assert frames.num_partitions() == 2
    assert len(frames.take(1)) == 1
    assert frames.first()["ID"][0] == 100
    assert frames.rdd.getNumPartitions() == 2
    assert frames.rdd.map(len).collect() == [7, 7]
    assert [len(part) for part in frames.rdd.glom().collect()] == [1, 1]


def test_len_counts_rows_keys_and_scalars(frames):
    assert len(frames) == 14
    assert len(frames["ID"]) == 14
    dicts = frames.transform_shard(
        lambda df: {"ID": df["ID"].to_numpy(), "location": df["location"].to_numpy()}
    )
    assert len(dicts) == 4
    assert len(dicts["ID"]) == 14
    with pytest.raises(Exception, match="Invalid key for this XShards"):
        len(dicts["abc"])
    numbers = dicts.transform_shard(lambda _: 4)
    assert len(numbers) == 2
    with pytest.raises(Exception, match="No selection operation available"):
        len(numbers["abc"])


def test_invalid_key_fails_when_computed(frames):
    selected = frames["nothing"]
    with pytest.raises(RuntimeError, match="Invalid key for this XShards"):
        selected.collect()


def test_partition_by_brings_keys_together(frames, whole):
    parted = frames.partition_by(cols="location", num_partitions=4)
    assert parted.num_partitions() == 4
    assert len(parted.rdd.glom().collect()) == 4
    found = parted.collect()
    assert all(len(df) for df in found)
    homes = [df["location"].unique() for df in found]
    assert sorted(np.concatenate(homes)) == sorted(whole["location"].unique())
    assert len(parted) == 14
    assert parted.partition_by("ID").num_partitions() == 4


def test_partition_by_errors(frames, sc):
    with pytest.raises(RuntimeError, match="Only support partition by a column name"):
        frames.partition_by(["location"])
    with pytest.raises(RuntimeError, match="partition column is not in the DataFrame"):
        frames.partition_by("nothing")
    with pytest.raises(RuntimeError, match="XShards of Pandas DataFrame"):
        SparkXShards(sc.parallelize([1])).partition_by("a")


def test_unique(frames, whole):
    assert frames["location"].unique().tolist() == whole["location"].unique().tolist()
    with pytest.raises(RuntimeError, match="XShards of Pandas Series"):
        frames.unique()


@pytest.mark.parametrize("count", [1, 2, 5, 20])
def test_repartition_of_frames(frames, whole, count):
    spread = frames.repartition(count)
    assert spread.num_partitions() == count
    parts = spread.rdd.glom().collect()
    assert all(len(part) <= 1 for part in parts)
    found = pd.concat(spread.collect(), ignore_index=True)
    pd.testing.assert_frame_equal(found, whole)


@pytest.mark.parametrize("count", [1, 3, 6])
def test_repartition_of_lists_and_arrays(sc, count):
    lists = SparkXShards(sc.parallelize([[1, 2, 3, 4], [5, 6], [7], [8, 9]]))
    spread = lists.repartition(count)
    assert spread.num_partitions() == count
    items = [item for part in spread.collect() for item in part]
    assert items == list(range(1, 10))
    assert all(len(part) <= 1 for part in spread.rdd.glom().collect())
    arrays = SparkXShards(
        sc.parallelize([np.arange(4), np.arange(4, 9), np.arange(9, 12)])
    )
    spread = arrays.repartition(count)
    assert spread.num_partitions() == count
    np.testing.assert_array_equal(np.concatenate(spread.collect()), np.arange(12))
    assert all(len(part) <= 1 for part in spread.rdd.glom().collect())


def test_repartition_of_dicts_keeps_dtypes(sc):
    data = {
        "x": np.arange(12, dtype=np.float32).reshape(6, 2),
        "y": np.arange(6, dtype=np.int8),
    }
    spread = XShards.partition(data, 2).repartition(3)
    found = spread.collect()
    assert [shard["x"].shape for shard in found] == [(2, 2)] * 3
    assert found[0]["x"].dtype == np.float32
    assert found[0]["y"].dtype == np.int8
    np.testing.assert_array_equal(np.concatenate([s["x"] for s in found]), data["x"])


def test_repartition_moves_other_elements_whole(sc):
    spread = SparkXShards(sc.parallelize(["a", "b", "c"], 1)).repartition(2)
    assert spread.rdd.glom().collect() == [["a", "b"], ["c"]]


def test_split_errors(sc):
    with pytest.raises(RuntimeError, match="have different split length"):
        SparkXShards(sc.parallelize([(1, 2), (1, 2, 3)])).split()
    numbers = SparkXShards(sc.parallelize([1, 2]))
    assert numbers.split() == [numbers]


def test_zip_gives_tuples(frames):
    frames.cache()
    doubled = frames.transform_shard(lambda df: df[["ID"]] * 2)
    left, right = frames.zip(doubled).collect()[0]
    assert (left["ID"] * 2 == right["ID"]).all()


def test_zip_errors(frames, sc):
    with pytest.raises(RuntimeError, match="other should be a SparkXShards"):
        frames.zip([1, 2])
    with pytest.raises(RuntimeError, match="same number of partitions"):
        frames.zip(frames.cache().repartition(3))
    dicts = SparkXShards(sc.parallelize([{"x": 1}, {"x": 2}, {"x": 3}, {"x": 4}], 2))
    with pytest.raises(RuntimeError, match="same number of elements in each partition"):
        frames.zip(dicts)


def test_for_each_gives_errors_as_values(frames):
    assert isinstance(frames._for_each(operator.itemgetter("ID")).first(), pd.Series)
    assert isinstance(frames._for_each(operator.itemgetter("no")).first(), KeyError)


def test_class_names_are_those_of_orca(frames, sc):
    assert frames._get_class_name() == "pandas.core.frame.DataFrame"
    assert frames["ID"]._get_class_name() == "pandas.core.series.Series"
    assert SparkXShards(sc.parallelize([{}]))._get_class_name() == "builtins.dict"
    assert (
        SparkXShards(sc.parallelize([np.ones(2)]))._get_class_name() == "numpy.ndarray"
    )


def test_schema(frames, sc):
    schema = frames.get_schema()
    assert schema["columns"] == ["ID", "sale_price", "location"]
    assert schema["dtypes"]["sale_price"] == "float64"
    assert SparkXShards(sc.parallelize([1])).get_schema() is None


def test_group_by(frames, whole):
    found = frames.group_by("location", {"sale_price": ["sum", "max"], "*": "count"})
    got = found.concat_to_pdf().set_index("location").sort_index()
    groups = whole.groupby("location")["sale_price"]
    assert got["sum(sale_price)"].to_dict() == groups.sum().to_dict()
    assert got["max(sale_price)"].to_dict() == groups.max().to_dict()
    assert got["count(1)"].to_dict() == groups.size().to_dict()


def test_group_by_knows_the_functions_of_spark(frames, whole):
    functions = "max min count sum avg mean sumDistinct stddev stddev_pop variance"
    more = "var_pop skewness kurtosis collect_list collect_set approx_count_distinct"
    wanted = [*functions.split(), *more.split(), "first", "last"]
    found = frames.cache().group_by("location", {"sale_price": wanted}).concat_to_pdf()
    got = found.set_index("location")
    prices = whole.groupby("location")["sale_price"]
    assert list(got.columns) == [
        f"{name}(sale_price)".replace("sumDistinct(", "sum(DISTINCT ")
        for name in wanted
        if name != "mean"
    ]
    for name, expected in {
        "avg(sale_price)": prices.mean(),
        "sum(DISTINCT sale_price)": prices.apply(lambda s: s.drop_duplicates().sum()),
        "stddev(sale_price)": prices.std(),
        "approx_count_distinct(sale_price)": prices.nunique(),
    }.items():
        pd.testing.assert_series_equal(
            got[name].sort_index(), expected, check_names=False, check_dtype=False
        )
    lists = {
        key: list(values) for key, values in got["collect_list(sale_price)"].items()
    }
    assert {k: sorted(v) for k, v in lists.items()} == {
        key: sorted(values) for key, values in prices
    }
    alone = frames.group_by([], {"sale_price": ["collect_set", "sum"]}).concat_to_pdf()
    assert sorted(alone["collect_set(sale_price)"][0]) == sorted(
        whole["sale_price"].unique()
    )
    assert alone["sum(sale_price)"][0] == whole["sale_price"].sum()
    with pytest.raises(RuntimeError, match="aggregate function 'median' is not one of"):
        frames.group_by("location", "median")


def test_group_by_of_all_columns(frames, whole):
    counts = frames.cache().group_by("location").concat_to_pdf()
    assert list(counts.columns) == ["location", "count(ID)", "count(sale_price)"]
    sums = frames.group_by("location", "sum").concat_to_pdf()
    assert sums["sum(ID)"].sum() == whole["ID"].sum()


def test_group_by_joins_back(frames, whole):
    found = frames.group_by("location", {"sale_price": "sum"}, join=True)
    got = found.concat_to_pdf().sort_values("ID", ignore_index=True)
    expected = whole.groupby("location")["sale_price"].transform("sum")
    assert got["sum(sale_price)"].tolist() == expected.tolist()


def test_merge_sort_and_deduplicate(frames, whole, sc):
    names = pd.DataFrame({"location": ["L0", "L1"], "name": ["zero", "one"]})
    other = SparkXShards(sc.parallelize([names], 1))
    merged = frames.cache().merge(other, on="location")
    assert len(merged) == len(whole.merge(names, on="location"))
    ordered = frames.sort_values("sale_price", ascending=False)
    assert ordered.num_partitions() == frames.num_partitions()
    expected = sorted(whole["sale_price"], reverse=True)
    assert ordered.concat_to_pdf()["sale_price"].tolist() == expected
    twice = frames.transform_shard(lambda df: pd.concat([df, df]))
    assert len(twice.deduplicates()) == 14
    with pytest.raises(RuntimeError, match="right should be a SparkXShards"):
        frames.merge([1])


def test_frame_methods(frames, whole):
    frames.cache()
    assert frames.max_values("ID") == 116
    assert frames.select("ID").collect()[0].columns.tolist() == ["ID"]
    assert len(frames.head(3)) == 3
    pd.testing.assert_frame_equal(frames.concat_to_pdf().reset_index(drop=True), whole)
    assert len(frames.sample(0.5, random_state=1)) == 8
    assert len(frames.sample_to_pdf(0.5, random_state=1)) == 8
    assert frames.describe("ID")["ID"]["mean"] == whole["ID"].mean()
    with pytest.raises(RuntimeError, match="do not exist in this XShards"):
        frames.select("nothing")


def test_missing_values(sc):
    parts = [
        pd.DataFrame({"a": [1.0, None], "b": ["x", "y"]}),
        pd.DataFrame({"a": [None], "b": ["z"]}),
    ]
    shards = SparkXShards(sc.parallelize(parts, 2)).cache()
    counts = shards.get_null_sum()
    assert counts["col"].tolist() == ["a", "b"]
    assert counts["total"].tolist() == [2, 0]
    assert shards.drop_missing_value().concat_to_pdf()["b"].tolist() == ["x"]


def test_features_and_labels(frames):
    with pytest.raises(RuntimeError, match="expect featureCols is a list"):
        frames.assembleFeatureLabelCols("ID", ["sale_price"])
    found = frames.assembleFeatureLabelCols(["ID", "sale_price"], ["sale_price"])
    first = found.collect()[0]
    assert first["x"].shape == (7, 2)
    assert first["y"].shape == (7, 1)


def test_stack_feature_labels(sc):
    pairs = [(np.ones(3) * i, i) for i in range(4)]
    stacked = SparkXShards(sc.parallelize(pairs, 2)).stack_feature_labels().collect()
    assert [shard["x"].shape for shard in stacked] == [(2, 3), (2, 3)]
    assert stacked[1]["y"].tolist() == [2.0, 3.0]
    assert stacked[0]["x"].dtype == np.float32
    with pytest.raises(RuntimeError, match="tuple of features and labels"):
        SparkXShards(sc.parallelize([1])).stack_feature_labels()


def test_partition_errors(sc):
    with pytest.raises(
        Exception,
        match="must all have the same size in first dimension, got first ndarray of "
        "size 4 and another 5",
    ):
        XShards.partition({"x": np.ones(4), "y": np.ones(5)}, 2)
    with pytest.raises(
        Exception,
        match="The length of data 2 is smaller than the total number of shards 3",
    ):
        XShards.partition(np.ones(2), 3)
    with pytest.raises(Exception, match="But got data of type"):
        XShards.partition("text")


def test_partition_of_nested_data(sc):
    data = {"x": (np.arange(5), [np.arange(10).reshape(5, 2)]), "y": np.arange(5)}
    found = XShards.partition(data, 2).collect()
    assert [len(shard["y"]) for shard in found] == [3, 2]
    assert found[1]["x"][1][0].tolist() == [[6, 7], [8, 9]]


def test_pickles(frames, whole, tmp_path):
    path = str(tmp_path / "pickles")
    assert frames.save_pickle(path) is frames
    loaded = SparkXShards.load_pickle(path)
    assert isinstance(loaded, SparkXShards)
    pd.testing.assert_frame_equal(loaded.concat_to_pdf().reset_index(drop=True), whole)


def test_empty_frames_are_elements(frames):
    nothing = frames.transform_shard(lambda df: df[df["ID"] < 0])
    found = nothing.collect()
    assert [len(df) for df in found] == [0, 0]
    assert list(found[0].columns) == ["ID", "sale_price", "location"]
    assert len(nothing) == 0
    assert len(nothing.transform_shard(lambda df: df.assign(n=1)).collect()) == 2


def test_spark_frames_need_spark(frames, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(RuntimeError, match="needs Spark: pip install pyspark"):
        frames.to_spark_df()


def test_only_frames_become_spark_frames(sc):
    arrays = XShards.partition(np.arange(4))
    with pytest.raises(TypeError, match="to_spark_df"):
        arrays.to_spark_df()


def test_transformers(frames, whole):
    from bigdl.orca.data.transformer import MinMaxScaler, StandardScaler, StringIndexer

    frames.cache()
    indexed = StringIndexer(inputCol="location").fit_transform(frames).concat_to_pdf()
    assert indexed["location"].min() == 1
    assert indexed["location"].nunique() == whole["location"].nunique()
    scaled = MinMaxScaler(inputCol=["sale_price"], outputCol="scaled").fit_transform(
        frames
    )
    column = np.stack(scaled.concat_to_pdf()["scaled"]).ravel()
    assert column.min() == 0.0
    assert column.max() == 1.0
    standard = StandardScaler(inputCol="sale_price", outputCol="scaled").fit_transform(
        frames
    )
    assert "scaled" in standard.collect()[0].columns
