# SPDX-License-Identifier: Apache-2.0
"""The RDD facade beside Spark itself, where Spark and Java are installed."""

import operator
import shutil

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xshards.compat.exports.data import SparkXShards

pyspark = pytest.importorskip("pyspark")
pytestmark = [
    pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java"),
    pytest.mark.filterwarnings("default"),
]


@pytest.fixture(scope="module")
def spark():
    conf = pyspark.SparkConf().setMaster("local[2]").set("spark.ui.enabled", "false")
    context = pyspark.SparkContext(conf=conf)
    context.setLogLevel("ERROR")
    yield context
    context.stop()


elements = st.lists(st.integers(-50, 50), max_size=30)
slices = st.integers(1, 6)
few = settings(max_examples=5)


def same(spark, sc, data, count, operation):
    expected = operation(spark.parallelize(data, count))
    assert operation(sc.parallelize(data, count)) == expected


OPERATIONS = {
    "glom": lambda rdd: rdd.glom().collect(),
    "map": lambda rdd: rdd.map(lambda x: x * 2).glom().collect(),
    "flatMap": lambda rdd: rdd.flatMap(lambda x: range(x % 3)).glom().collect(),
    "filter": lambda rdd: rdd.filter(lambda x: x > 0).glom().collect(),
    "mapPartitionsWithIndex": lambda rdd: rdd.mapPartitionsWithIndex(
        lambda i, part: [(i, sum(part))]
    ).collect(),
    "zipWithIndex": lambda rdd: rdd.zipWithIndex().glom().collect(),
    "zip": lambda rdd: rdd.zip(rdd.map(str)).glom().collect(),
    "union": lambda rdd: rdd.union(rdd.map(str)).glom().collect(),
    "randomSplit": lambda rdd: [
        part.glom().collect() for part in rdd.randomSplit([1, 2, 1], seed=11)
    ],
    "sortBy": lambda rdd: rdd.sortBy(lambda x: x).collect(),
    "sortBy down": lambda rdd: rdd.sortBy(lambda x: x, ascending=False).collect(),
    "coalesce": lambda rdd: rdd.coalesce(2).glom().collect(),
    "repartition": lambda rdd: (
        rdd.repartition(4).getNumPartitions(),
        sorted(rdd.repartition(4).collect()),
    ),
    "take": lambda rdd: rdd.take(5),
    "count": lambda rdd: rdd.count(),
    "sum": lambda rdd: rdd.sum(),
    "fold": lambda rdd: rdd.fold(0, operator.add),
    "isEmpty": lambda rdd: rdd.isEmpty(),
    "reduceByKey": lambda rdd: sorted(
        rdd.keyBy(lambda x: x % 3).reduceByKey(operator.add).collect()
    ),
    "partitionBy": lambda rdd: [
        sorted(part) for part in rdd.keyBy(lambda x: x).partitionBy(3).glom().collect()
    ],
    "groupByKey": lambda rdd: sorted(
        (key, sorted(values))
        for key, values in rdd.keyBy(lambda x: x % 2).groupByKey().collect()
    ),
    "countByValue": lambda rdd: dict(rdd.countByValue()),
    "distinct": lambda rdd: sorted(rdd.distinct().collect()),
}


@pytest.mark.parametrize("name", OPERATIONS)
@few
@given(data=elements, count=slices)
def test_same_as_spark(spark, sc, name, data, count):
    same(spark, sc, data, count, OPERATIONS[name])


@few
@given(start=st.integers(-5, 5), size=st.integers(0, 30), count=slices)
def test_ranges_are_cut_as_spark_cuts_them(spark, sc, start, size, count):
    expected = spark.range(start, start + size, 1, count).glom().collect()
    assert sc.range(start, start + size, 1, count).glom().collect() == expected


def test_frames_become_spark_frames(spark, sc):
    whole = pd.DataFrame(
        {
            "i": range(7),
            "f": [0.5, 1.5, -2.0, 3.25, 4.0, 5.0, 6.0],
            "s": ["a", "", None, "Zürich", "日本", "b", "c"],
            "t": pd.date_range("2024-01-01", periods=7, freq="h"),
        }
    )
    # Two frames in a partition, and one that is empty.
    parts = [whole.iloc[:3], whole.iloc[3:3], whole.iloc[3:5], whole.iloc[5:]]
    given_to_spark = SparkXShards(sc.parallelize(parts, 2)).to_spark_df()
    rows = [tuple(row) for row in given_to_spark.sort("i").collect()]
    texts = [None if pd.isna(text) else text for text in whole["s"]]
    times = [moment.to_pydatetime() for moment in whole["t"]]
    assert rows == list(zip(whole["i"], whole["f"], texts, times, strict=True))
    assert given_to_spark.dtypes == [
        ("i", "bigint"),
        ("f", "double"),
        ("s", "string"),
        ("t", "timestamp"),
    ]
