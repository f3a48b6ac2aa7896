# SPDX-License-Identifier: Apache-2.0
"""Python functions on shards, in worker processes."""

import os
import signal
import threading
import time

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from frames import assert_same, frames, num_partitions
from hypothesis import given, settings

import xshards as xs

OFFSET = 100


def double(df):
    return df.assign(n=df["n"] * 2)


def add_offset(df):
    return df.assign(a=df["a"] + OFFSET)


@pytest.fixture
def numbers():
    return xs.from_pandas(pd.DataFrame({"a": range(10)}), 3)


@settings(max_examples=25)
@given(frames(), num_partitions)
def test_gives_what_pandas_gives(df, n):
    assert_same(xs.from_pandas(df, n).transform_shard(double).to_pandas(), double(df))


@settings(max_examples=25)
@given(frames(), num_partitions)
def test_identity_keeps_everything(df, n):
    assert_same(xs.from_pandas(df, n).transform_shard(lambda d: d).to_pandas(), df)


def test_awkward_columns_survive(awkward):
    assert_same(
        xs.from_pandas(awkward, 3).transform_shard(lambda d: d).to_pandas(), awkward
    )


def test_runs_in_other_processes(numbers):
    pids = set(numbers.transform_shard(lambda df: os.getpid()).collect())
    assert os.getpid() not in pids
    assert 1 <= len(pids) <= 2


def test_module_functions_closures_lambdas_and_classes(numbers):
    step = 7

    def closure(df):
        return df.assign(a=df["a"] + step)

    class Scaler:
        def __init__(self, by):
            self.by = by

        def __call__(self, df):
            return df.assign(a=df["a"] * self.by)

    for function, expected in [
        (add_offset, range(100, 110)),
        (closure, range(7, 17)),
        (lambda df: df.assign(a=-df["a"]), range(0, -10, -1)),
        (Scaler(3), range(0, 30, 3)),
    ]:
        assert list(numbers.transform_shard(function).to_pandas()["a"]) == list(
            expected
        )


def test_arguments(numbers):
    def scale(df, by, *, plus):
        return df["a"] * by + plus

    parts = numbers.transform_shard(scale, 2, plus=1).collect()
    assert [value for part in parts for value in part] == list(range(1, 21, 2))


def test_in_place_changes_are_allowed_and_private():
    df = pd.DataFrame({"a": [1, 2, 3, 4], "f": [1.0, 2.0, 3.0, 4.0], "s": list("wxyz")})
    shards = xs.from_pandas(df, 2)
    kept = shards.transform_shard(lambda d: d)

    def change(d):
        d.loc[d.index[0], "a"] = -1
        d.iloc[1, 1] = -1.0
        d.at[d.index[0], "s"] = "changed"
        d["new"] = 1
        return d

    changed = kept.transform_shard(change).to_pandas()
    assert list(changed["a"]) == [-1, 2, -1, 4]
    assert list(changed["f"]) == [1.0, -1.0, 3.0, -1.0]
    assert list(changed["s"]) == ["changed", "x", "changed", "z"]
    assert_same(kept.to_pandas(), df)
    assert_same(shards.to_pandas(), df)


class Model:
    def __init__(self, weights):
        self.weights = weights


@pytest.mark.parametrize(
    "value",
    [
        np.arange(6).reshape(2, 3),
        np.array(2.5),
        np.zeros((0, 4), dtype=np.float32),
        np.array(["2024-01-01"], dtype="datetime64[D]"),
        {"x": np.arange(3), "y": [np.ones(2), (np.zeros(1, dtype=bool),)]},
        (np.arange(2), np.arange(3.0)),
        np.array(["a", None], dtype=object),
        {"a": 1},
        [],
        "text",
        None,
        3.5,
        {1, 2},
    ],
    ids=repr,
)
def test_values_round_trip(numbers, value):
    shards = numbers.transform_shard(lambda _: value)
    for result in shards.collect():
        assert_equal(result, value)
    # And they can be shards of the next function, which may change them.
    assert (
        shards.transform_shard(lambda v: type(v).__name__).collect()
        == [type(value).__name__] * 3
    )


def assert_equal(actual, expected):
    assert type(actual) is type(expected)
    if isinstance(expected, dict):
        assert list(actual) == list(expected)
        for key in expected:
            assert_equal(actual[key], expected[key])
    elif isinstance(expected, list | tuple):
        assert len(actual) == len(expected)
        for left, right in zip(actual, expected, strict=True):
            assert_equal(left, right)
    elif isinstance(expected, np.ndarray):
        assert actual.dtype == expected.dtype
        np.testing.assert_array_equal(actual, expected)
    else:
        assert actual == expected


def test_objects_with_arrays(numbers):
    models = numbers.transform_shard(lambda df: Model(df["a"].to_numpy())).collect()
    assert [type(model) for model in models] == [Model] * 3
    assert [len(model.weights) for model in models] == [4, 3, 3]


def test_arrays_can_be_changed_in_place(numbers):
    def fill(array):
        array[:] = 5
        return array

    arrays = numbers.transform_shard(lambda df: df["a"].to_numpy(copy=True))
    assert [list(a) for a in arrays.transform_shard(fill).collect()] == [
        [5] * 4,
        [5] * 3,
        [5] * 3,
    ]
    assert list(arrays.collect()[0]) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "convert",
    [
        lambda df: df,
        lambda df: pa.Table.from_pandas(df),
        lambda df: pa.RecordBatch.from_pandas(df),
        lambda df: pl.from_pandas(df),
    ],
    ids=["pandas", "table", "batch", "polars"],
)
def test_tables_of_every_kind_give_rows(numbers, convert):
    shards = numbers.transform_shard(convert)
    assert list(shards.to_pandas()["a"]) == list(range(10))
    assert shards.filter(xs.col("a") > 7).count() == 2


def test_series_stay_series(numbers):
    series = numbers.transform_shard(lambda df: df["a"] % 3)
    assert all(isinstance(part, pd.Series) for part in series.collect())
    assert sorted(series.unique()) == [0, 1, 2]
    column = numbers["a"].transform_shard(lambda s: s.to_frame("b"))
    assert list(column.to_pandas()["b"]) == list(range(10))


@pytest.mark.parametrize(
    ("form", "kind"),
    [
        ("pandas", "DataFrame"),
        ("arrow", "Table"),
        ("polars", "DataFrame"),
        ("numpy", "dict"),
    ],
)
def test_formats(numbers, form, kind):
    names = numbers.transform_shard(lambda d: type(d).__name__, format=form).collect()
    assert names == [kind] * 3


class CustomError(Exception):
    def __init__(self, code, reason):
        super().__init__(f"{reason} ({code})")
        self.code = code


def test_exceptions_keep_their_type(numbers):
    def fail(df):
        if 5 in df["a"].to_numpy():
            raise CustomError(42, "no fives")
        return df

    with pytest.raises(CustomError, match=r"no fives \(42\)") as caught:
        numbers.transform_shard(fail).collect()
    assert caught.value.code == 42
    notes = "".join(caught.value.__notes__)
    assert "partition 1" in notes
    assert "in fail" in notes
    with pytest.raises(KeyError, match="'missing'"):
        numbers.transform_shard(lambda df: df["missing"]).collect()
    # The workers are still good.
    assert numbers.transform_shard(len).collect() == [4, 3, 3]


def test_local_exception_classes(numbers):
    class LocalError(Exception):
        pass

    def fail(_):
        raise LocalError("here")

    with pytest.raises(LocalError, match="here"):
        numbers.transform_shard(fail).collect()


def test_functions_run_once(numbers, tmp_path):
    def note(df):
        with open(tmp_path / "calls", "a") as file:  # noqa: PTH123
            file.write("x")
        return df

    shards = numbers.transform_shard(note)
    assert not (tmp_path / "calls").exists()
    shards.to_pandas()
    len(shards)
    shards.filter(xs.col("a") > 2).to_pandas()
    assert (tmp_path / "calls").read_text() == "xxx"


def test_empty_partitions_are_skipped():
    shards = xs.from_pandas(pd.DataFrame({"a": [1, 2]}), 5)
    assert shards.transform_shard(len).collect() == [1, 1]
    assert shards.transform_shard(lambda df: df).num_partitions() == 5
    assert list(shards.transform_shard(lambda df: df).to_pandas()["a"]) == [1, 2]


def test_without_any_rows_the_columns_are_known():
    shards = xs.from_pandas(pd.DataFrame({"a": [1, 2]}), 2).filter(xs.col("a") > 5)
    result = shards.transform_shard(lambda df: df.assign(z=df["a"] * 0.5)).to_pandas()
    assert list(result.columns) == ["a", "z"]
    assert len(result) == 0
    assert result["z"].dtype == np.float64


def test_native_steps_run_before_and_after(numbers):
    result = (
        numbers.filter(xs.col("a") > 1)
        .with_column("b", xs.col("a") * 2)
        .transform_shard(lambda df: df.assign(c=df["b"] + 1))
        .filter(xs.col("c") < 12)
        .group_by([], {"c": "sum"})
        .to_pandas()
    )
    assert result.iloc[0, 0] == sum(2 * a + 1 for a in range(2, 6))


def test_fragments_scan_files_in_the_worker(tmp_path):
    frame = pd.DataFrame({"a": range(1000), "s": [f"é{i}" for i in range(1000)]})
    frame.to_csv(tmp_path / "a.csv", index=False)
    shards = xs.read_csv(tmp_path / "a.csv", num_partitions=4)
    native = shards.filter(xs.col("a") > 9).with_column("b", xs.col("a") / 2)
    there = native.transform_shard(lambda df: df)
    # Serialised here, run in a worker: the same partitions.
    for left, right in zip(native.collect(), there.collect(), strict=True):
        assert_same(left, right)


def test_random_numbers_differ_between_workers(numbers):
    def draw(_):
        return np.random.random()  # noqa: NPY002 - the generator that forks share

    draws = numbers.repartition(8).transform_shard(draw).collect()
    assert len(set(draws)) == 8


def test_dead_worker_names_partition_and_signal(numbers):
    def die(df):
        if 5 in df["a"].to_numpy():
            os.kill(os.getpid(), signal.SIGKILL)
        return df

    with pytest.raises(xs.XShardsError, match=r"partition 1 .*SIGKILL"):
        numbers.transform_shard(die).collect()
    assert numbers.transform_shard(len).collect() == [4, 3, 3]


def test_worker_that_dies_once_is_replaced(numbers, tmp_path):
    def die_once(df):
        marker = tmp_path / "died"
        if 5 in df["a"].to_numpy() and not marker.exists():
            marker.touch()
            os._exit(3)
        return df

    assert list(numbers.transform_shard(die_once).to_pandas()["a"]) == list(range(10))


def test_unpicklable_function_is_named(numbers):
    lock = threading.Lock()

    def use(df):
        with lock:
            return df

    with pytest.raises(ValueError, match="use"):
        numbers.transform_shard(use)


def test_not_a_function(numbers):
    with pytest.raises(TypeError, match="function"):
        numbers.transform_shard("nope")
    with pytest.raises(ValueError, match="format"):
        numbers.transform_shard(len, format="excel")


def test_operations_on_objects_name_what_they_need(numbers):
    objects = numbers.transform_shard(len)
    with pytest.raises(TypeError, match="DataFrame"):
        objects.filter(xs.col("a") > 1).to_pandas()
    with pytest.raises(TypeError, match="DataFrame"):
        objects.to_pandas()


def test_functions_may_return_unusual_labels(numbers):
    result = numbers.transform_shard(lambda df: pd.DataFrame(df.to_numpy()))
    expected = pd.DataFrame(numbers.to_pandas().to_numpy())
    pd.testing.assert_frame_equal(result.to_pandas(), expected)
    assert result.columns == [0]
    assert list(result[0].to_pandas()) == list(expected[0])


def test_big_results_cross_processes():
    rows = 300_000
    shards = xs.from_pandas(pd.DataFrame({"a": np.arange(rows)}), 4)
    result = shards.transform_shard(
        lambda df: df.assign(b=df["a"] * 1.5, s=df["a"].astype(str))
    )
    frame = result.to_pandas()
    assert len(frame) == rows
    assert frame["b"].sum() == pytest.approx(1.5 * rows * (rows - 1) / 2)
    assert frame["s"].iloc[-1] == str(rows - 1)


def test_a_killed_fork_server_is_survived():
    shards = xs.from_pandas(pd.DataFrame({"a": range(8)}), num_partitions=8)
    [server, *_] = shards.transform_shard(lambda df: os.getppid()).collect()

    def end_first_server(df):
        if os.getppid() == server:
            os.kill(server, signal.SIGKILL)  # and this worker dies with it
            time.sleep(10)
        return df

    result = shards.transform_shard(end_first_server).to_pandas()
    pd.testing.assert_frame_equal(result, pd.DataFrame({"a": range(8)}))


def test_a_function_that_could_not_be_loaded_can_be_tried_again(tmp_path):
    needed = tmp_path / "needed.txt"

    class Text:
        """Becomes the text of the file where it is unpickled."""

        def __reduce__(self):
            return needed.read_text.__func__, (needed,)

    shards = xs.from_pandas(pd.DataFrame({"a": [1]}), num_partitions=1)
    mapped = shards.transform_shard(lambda df, text: text, Text())
    with pytest.raises(FileNotFoundError, match="needed"):
        mapped.collect()
    needed.write_text("here")
    assert mapped.collect() == ["here"]


def test_workers_do_not_keep_every_function():
    shards = xs.from_pandas(pd.DataFrame({"a": [1]}), num_partitions=1)
    for number in range(20):
        ballast = np.full(1_000_000, number)
        result = shards.transform_shard(lambda df, b: int(b[-1]), ballast).collect()
        assert result == [number]
    # The last function again, after others were forgotten.
    assert shards.transform_shard(len).collect() == [1]


def test_shards_inside_a_function_are_refused_with_a_way_out(numbers):
    other = xs.from_pandas(pd.DataFrame({"a": [1]}))
    with pytest.raises(ValueError, match=r"SharedValue") as caught:
        numbers.transform_shard(lambda df: df.merge(other.to_pandas()))
    assert "merge" in str(caught.value)
    with pytest.raises(ValueError, match=r"SharedValue"):
        numbers.transform_shard(lambda df, more: df, other)


def test_numpy_format_has_every_column():
    df = pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"])
    seen = xs.from_pandas(df, 1).transform_shard(lambda d: d, format="numpy").first()
    assert {name: list(values) for name, values in seen.items()} == {
        "a": [1, 3],
        "a.1": [2, 4],
    }
    column = xs.from_pandas(df.set_axis([0, 1], axis=1), 1)[1]
    (values,) = column.transform_shard(lambda d: d["1"], format="numpy").collect()
    assert list(values) == [2, 4]


def test_the_next_function_gets_the_last_result_of_its_partition():
    shards = xs.from_pandas(pd.DataFrame({"a": [1, 2]}), num_partitions=2)
    named = shards.transform_shard(lambda df: df.rename(columns={"a": f"c{df.a[0]}"}))
    columns = named.cache().transform_shard(lambda df: list(df.columns)).collect()
    assert columns == [["c1"], ["c2"]]
