# SPDX-License-Identifier: Apache-2.0
"""The RDD facade: results, order and partitions as Spark gives them.

What Spark does is written out here; test_rdd_against_spark.py asks Spark itself.
"""

import operator
import os

import numpy as np
import pandas as pd
import pytest


@pytest.mark.parametrize(
    ("count", "slices", "sizes"),
    [
        (10, 4, [2, 2, 2, 4]),
        (10, 3, [3, 3, 4]),
        (3, 5, [0, 1, 0, 1, 1]),
        (0, 2, [0, 0]),
        (1, 1, [1]),
        (7, 2, [3, 4]),
    ],
)
def test_parallelize_cuts_lists_as_spark_does(sc, count, slices, sizes):
    rdd = sc.parallelize(list(range(count)), slices)
    assert [len(part) for part in rdd.glom().collect()] == sizes
    assert rdd.getNumPartitions() == slices
    assert rdd.collect() == list(range(count))


def test_parallelize_cuts_ranges_evenly(sc):
    assert sc.range(10, numSlices=4).glom().collect() == [
        [0, 1],
        [2, 3, 4],
        [5, 6],
        [7, 8, 9],
    ]
    assert sc.range(2, 11, 3).collect() == [2, 5, 8]


def test_parallelize_takes_as_many_slices_as_cores(sc):
    assert sc.parallelize([1, 2, 3]).getNumPartitions() == sc.defaultParallelism


def test_elements_are_any_objects_and_round_trip(sc):
    import pyarrow as pa

    elements = [
        None,
        "Zürich",
        {"x": np.arange(3)},
        (1, [2.5]),
        np.arange(6.0).reshape(2, 3),
        pd.DataFrame({"a": [1, 2]}),
        pd.DataFrame({"a": []}),
        pa.table({"a": [1]}),
        set(),
    ]
    for slices in (1, 4, len(elements), 20):
        found = sc.parallelize(elements, slices).map(lambda x: x).collect()
        assert [type(e) for e in found] == [type(e) for e in elements]
        assert found[1] == "Zürich"
        np.testing.assert_array_equal(found[4], elements[4])
        pd.testing.assert_frame_equal(found[5], elements[5])
        assert len(found[6]) == 0
        assert list(found[6].columns) == ["a"]
        assert found[7].equals(elements[7])


def test_frames_of_different_columns_are_separate_elements(sc):
    frames = [pd.DataFrame({"a": [1]}), pd.DataFrame({"b": ["x"]})]
    found = sc.parallelize(frames, 2).collect()
    assert [list(frame.columns) for frame in found] == [["a"], ["b"]]


def test_frames_that_arrow_cannot_hold_are_elements_too(sc):
    odd = pd.DataFrame([[1, 2]], columns=["a", "a"])
    tuples = pd.DataFrame({0: [1], ("x", 1): [2]})
    found = sc.parallelize([odd, tuples], 2).map(lambda frame: frame).collect()
    pd.testing.assert_frame_equal(found[0], odd)
    assert list(found[1].columns) == [0, ("x", 1)]


def test_narrow_operations(sc):
    rdd = sc.parallelize(list(range(6)), 3)
    assert rdd.map(lambda x: x * x).collect() == [0, 1, 4, 9, 16, 25]
    assert rdd.flatMap(lambda x: [x] * (x % 3)).collect() == [1, 2, 2, 4, 5, 5]
    assert rdd.filter(lambda x: x % 2).glom().collect() == [[1], [3], [5]]
    assert rdd.mapPartitions(lambda part: [sum(part)]).collect() == [1, 5, 9]
    tagged = rdd.mapPartitionsWithIndex(lambda i, part: ((i, x) for x in part))
    assert tagged.collect() == [(0, 0), (0, 1), (1, 2), (1, 3), (2, 4), (2, 5)]


def test_functions_see_empty_partitions(sc):
    rdd = sc.parallelize([1], 3)
    assert rdd.mapPartitions(lambda part: [len(list(part))]).collect() == [0, 0, 1]
    assert rdd.glom().collect() == [[], [], [1]]


def test_nothing_runs_before_an_action(sc, tmp_path):
    marks = tmp_path / "marks"
    marks.mkdir()

    def mark(x):
        (marks / f"{x}-{os.urandom(4).hex()}").touch()
        return x

    rdd = sc.parallelize([1, 2, 3], 2).map(mark)
    assert not list(marks.iterdir())
    rdd.count()
    assert len(list(marks.iterdir())) == 3
    rdd.count()
    assert len(list(marks.iterdir())) == 6
    kept = rdd.cache()
    assert kept.is_cached
    kept.count()
    kept.map(lambda x: x + 1).collect()
    assert len(list(marks.iterdir())) == 9
    kept.unpersist()
    kept.count()
    assert len(list(marks.iterdir())) == 12


def test_functions_run_in_other_processes(sc):
    pids = set(sc.parallelize(list(range(8)), 4).map(lambda _: os.getpid()).collect())
    assert os.getpid() not in pids


def test_zip_pairs_elements(sc):
    left = sc.parallelize(list(range(6)), 3)
    assert left.zip(left.map(str)).collect() == [(i, str(i)) for i in range(6)]
    with pytest.raises(ValueError, match="same number of partitions"):
        left.zip(sc.parallelize([1], 2))
    uneven = left.zip(left.filter(lambda x: x > 0))
    with pytest.raises(ValueError, match="same number of elements"):
        uneven.collect()


def test_zip_with_index_counts_over_partitions(sc):
    rdd = sc.parallelize(list("abcde"), 4).zipWithIndex()
    assert rdd.collect() == [("a", 0), ("b", 1), ("c", 2), ("d", 3), ("e", 4)]


def test_union_concatenates_partitions(sc):
    joined = sc.parallelize([1, 2], 2).union(sc.parallelize(["x"], 1))
    assert joined.glom().collect() == [[1], [2], ["x"]]
    assert joined.getNumPartitions() == 3


def test_repartition_is_exact_even_and_keeps_order(sc):
    rdd = sc.parallelize(list(range(10)), 2)
    for count in (1, 3, 4, 12):
        spread = rdd.repartition(count)
        assert spread.getNumPartitions() == count
        parts = spread.glom().collect()
        assert [x for part in parts for x in part] == list(range(10))
        sizes = [len(part) for part in parts]
        assert max(sizes) - min(sizes) <= 1


def test_coalesce_joins_neighbours(sc):
    rdd = sc.parallelize(list(range(8)), 4)
    assert rdd.coalesce(2).glom().collect() == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert rdd.coalesce(9).getNumPartitions() == 4
    assert rdd.coalesce(9, shuffle=True).getNumPartitions() == 9


def test_random_split_draws_what_spark_draws(sc):
    # What pyspark 3 and 4 give for these weights and this seed.
    low, high = sc.parallelize(list(range(20)), 2).randomSplit([1, 2], seed=7)
    assert sorted(low.collect() + high.collect()) == list(range(20))
    assert low.collect() == low.collect()


@pytest.mark.parametrize("ascending", [True, False])
@pytest.mark.parametrize("slices", [1, 2, 5])
def test_sort_by(sc, ascending, slices):
    data = [5, 3, 9, 1, 1, 7, 8, 2, 0, 5]
    ordered = sc.parallelize(data, 3).sortBy(lambda x: x, ascending, slices)
    assert ordered.collect() == sorted(data, reverse=not ascending)
    assert ordered.getNumPartitions() == slices


def test_sort_by_keeps_the_order_of_equal_keys(sc):
    data = [(i % 3, i) for i in range(30)]
    ordered = sc.parallelize(data, 4).sortBy(lambda pair: pair[0])
    assert ordered.collect() == sorted(data, key=operator.itemgetter(0))


def test_sort_by_of_no_rows(sc):
    ordered = sc.parallelize([], 3).sortBy(lambda x: x)
    assert ordered.collect() == []
    assert ordered.glom().collect() == [[], [], []]


def test_actions(sc):
    rdd = sc.parallelize([4, 1, 3, 2], 3)
    assert rdd.count() == 4
    assert rdd.first() == 4
    assert rdd.take(3) == [4, 1, 3]
    assert rdd.take(0) == []
    assert rdd.take(99) == [4, 1, 3, 2]
    assert rdd.reduce(operator.sub) == 4 - 1 - (3 - 2)
    assert rdd.sum() == 10
    assert rdd.max() == 4
    assert rdd.min() == 1
    assert rdd.mean() == 2.5
    assert rdd.fold(0, operator.add) == 10
    assert rdd.aggregate(
        (0, 0),
        lambda a, x: (a[0] + x, a[1] + 1),
        lambda a, b: (a[0] + b[0], a[1] + b[1]),
    ) == (10, 4)
    assert not rdd.isEmpty()
    assert list(rdd.toLocalIterator()) == [4, 1, 3, 2]


def test_actions_on_empty_shards(sc):
    empty = sc.parallelize([], 2)
    assert empty.collect() == []
    assert empty.count() == 0
    assert empty.isEmpty()
    with pytest.raises(ValueError, match="RDD is empty"):
        empty.first()
    with pytest.raises(ValueError, match="empty RDD"):
        empty.reduce(operator.add)


def test_first_looks_past_empty_partitions(sc):
    assert sc.parallelize([7], 5).filter(lambda x: True).first() == 7


def test_foreach(sc, tmp_path):
    sc.parallelize(["a", "b"], 2).foreach(lambda name: (tmp_path / name).touch())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_pairs(sc):
    pairs = sc.parallelize([("a", 1), ("b", 2), ("a", 3), (None, 4)], 3)
    assert dict(pairs.reduceByKey(operator.add).collect()) == {"a": 4, "b": 2, None: 4}
    grouped = dict(pairs.groupByKey().mapValues(list).collect())
    assert grouped == {"a": [1, 3], "b": [2], None: [4]}
    assert pairs.keys().collect() == ["a", "b", "a", None]
    assert pairs.values().collect() == [1, 2, 3, 4]
    assert pairs.countByKey() == {"a": 2, "b": 1, None: 1}
    assert pairs.collectAsMap() == {"a": 3, "b": 2, None: 4}
    assert sc.parallelize([1, 2, 3]).keyBy(lambda x: x % 2).collect() == [
        (1, 1),
        (0, 2),
        (1, 3),
    ]


def test_partition_by_puts_numbers_where_spark_puts_them(sc):
    pairs = sc.parallelize([(i, i) for i in range(7)], 2).partitionBy(3)
    assert pairs.keys().glom().collect() == [[0, 3, 6], [1, 4], [2, 5]]


def test_distinct(sc):
    assert sorted(sc.parallelize([1, 2, 1, 3, 2], 3).distinct().collect()) == [1, 2, 3]


def test_broadcast_reaches_workers(sc):
    table = sc.broadcast({"a": 10})
    assert sc.parallelize(["a"]).map(lambda key: table.value[key]).collect() == [10]
    table.unpersist()


def test_an_exception_reaches_the_caller(sc):
    with pytest.raises(ZeroDivisionError):
        sc.parallelize([1, 0], 2).map(lambda x: 1 / x).collect()


def module_level(x):
    return x + HUNDRED


HUNDRED = 100


def test_functions_of_modules_that_workers_cannot_import(sc):
    assert sc.parallelize([1], 1).map(module_level).collect() == [101]


def test_functions_may_import_names_of_orca(sc):
    def kind(_):
        from bigdl.orca.learn.pytorch import Estimator
        from zoo.orca.data import SparkXShards

        return SparkXShards.__name__, Estimator.__name__

    found = sc.parallelize([1], 1).map(kind).first()
    assert found == ("SparkXShards", "Estimator")


def test_functions_may_refer_to_modules_of_orca(sc):
    import zoo.orca.data.pandas as orca_pandas

    def read(_):
        return orca_pandas.read_csv.__name__

    assert sc.parallelize([1], 1).map(read).first() == "read_csv"


def test_pickle_files(sc, tmp_path):
    path = str(tmp_path / "pickles")
    sc.parallelize(list(range(10)), 3).saveAsPickleFile(path)
    assert sc.pickleFile(path).collect() == list(range(10))


def test_missing_features_are_reported(sc):
    with pytest.raises(NotImplementedError, match=r"RDD\.toDF is not in XShards yet"):
        sc.parallelize([1]).toDF()
    with pytest.raises(ValueError, match="numPartitions must be at least 1, got 0"):
        sc.parallelize([1]).repartition(0)


def test_a_death_is_reported_with_the_names_of_the_functions(sc):
    def give_up(x):
        os._exit(3)

    def before(x):
        return x

    from xshards.errors import XShardsWorkerError

    with pytest.raises(XShardsWorkerError, match="before, give_up"):
        sc.parallelize([1], 1).map(before).map(give_up).collect()
