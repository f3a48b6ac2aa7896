# SPDX-License-Identifier: Apache-2.0
"""Functions on threads of this process, and the names of our own arguments."""

import functools
import os
import threading

import numpy as np
import pandas as pd
import pytest
from frames import assert_same, frames, num_partitions
from hypothesis import given, settings

import xshards as xs


@pytest.fixture
def numbers():
    return xs.from_pandas(pd.DataFrame({"a": range(10)}), 3)


@settings(max_examples=25)
@given(frames(), num_partitions)
def test_threads_give_what_processes_give(df, n):
    shards = xs.from_pandas(df, n)
    assert_same(shards.transform_shard(lambda d: d, workers="threads").to_pandas(), df)


def test_runs_here_on_several_threads(numbers):
    met = threading.Barrier(2)

    def meet(df):
        met.wait(30)
        return os.getpid()

    shards = numbers.repartition(2)
    pids = shards.transform_shard(meet, workers="threads").collect()
    assert pids == [os.getpid()] * 2


@pytest.mark.parametrize("format", ["pandas", "arrow", "polars", "numpy"])
def test_in_place_changes_stay_private(numbers, format):
    cached = numbers.with_column("f", xs.col("a") * 0.5).cache()
    before = cached.to_pandas()

    def change(shard):
        if format == "pandas":
            shard.loc[:, "a"] = -1
            shard["f"].array[:] = -1.0
            shard.iloc[0, 0] = -2
        if format == "numpy":
            shard["a"][:] = -1
            shard["f"] += 7
        return len(shard["a"])

    changed = cached.transform_shard(change, workers="threads", format=format)
    assert changed.collect() == [4, 3, 3]
    assert_same(cached.to_pandas(), before)


def test_arrays_and_objects_stay_private(numbers):
    arrays = numbers.transform_shard(lambda d: d["a"].to_numpy(copy=True)).cache()

    def clear(array):
        array[:] = 0
        return int(array.sum())

    assert arrays.transform_shard(clear, workers="threads").collect() == [0, 0, 0]
    assert arrays.collect()[0].tolist() == [0, 1, 2, 3]
    lists = numbers.transform_shard(lambda d: [1, 2]).cache()
    assert lists.transform_shard(list.clear, workers="threads").collect() == [None] * 3
    assert lists.collect() == [[1, 2]] * 3


def test_unpicklable_functions_run_on_threads(numbers):
    lock = threading.Lock()
    seen = []

    def note(df):
        with lock:
            seen.append(len(df))
        return len(df)

    mapped = numbers.transform_shard(note, workers="threads")
    del note
    assert mapped.collect() == [4, 3, 3]
    assert mapped.collect() == [4, 3, 3]
    assert sorted(seen) == [3, 3, 4]  # once a partition


def test_errors_and_exits_on_threads(numbers):
    def fail(df):
        raise KeyError("here")

    with pytest.raises(KeyError, match="here"):
        numbers.transform_shard(fail, workers="threads").collect()
    for error in (SystemExit(3), KeyboardInterrupt()):

        def leave(df, error=error):
            raise error

        with pytest.raises(
            xs.XShardsError, match=f"leave raised {type(error).__name__}"
        ):
            numbers.transform_shard(leave, workers="threads").collect()


def test_a_function_on_a_thread_may_run_plans(numbers):
    other = xs.from_pandas(pd.DataFrame({"b": range(4)}), 2)

    def nested(df):
        here = other.transform_shard(len, workers="threads").collect()
        return len(df) + sum(here) + other.transform_shard(len).collect()[0]

    mapped = numbers.transform_shard(nested, workers="threads")
    assert mapped.collect() == [10, 9, 9]


def test_stages_of_both_kinds_follow_each_other(numbers):
    lock = threading.Lock()

    def here(df):
        with lock:
            return df.assign(here=os.getpid())

    def there(df):
        return df.assign(there=os.getpid())

    for first, second in ((here, there), (there, here)):
        mapped = numbers
        for function in (first, second):
            workers = "threads" if function is here else "processes"
            mapped = mapped.transform_shard(function, workers=workers)
        frame = mapped.to_pandas()
        assert set(frame["here"]) == {os.getpid()}
        assert os.getpid() not in set(frame["there"])
        assert list(frame["a"]) == list(range(10))


def test_explain_and_profile_show_threads(numbers):
    mapped = numbers.transform_shard(len, workers="threads")
    text = mapped.explain(as_text=True)
    assert "on threads" in text
    assert "processes]" not in text
    mapped.collect()
    assert xs.last_profile().stages[-1].runner == "threads"


def write(df, format="csv", workers=1):
    return f"{format} {workers} {len(df)}"


def test_names_of_ours_are_never_taken_from_the_function(numbers):
    with pytest.raises(TypeError, match="write has an argument 'format' of its own"):
        numbers.transform_shard(write, format="arrow")
    with pytest.raises(TypeError, match=r"functools\.partial"):
        numbers.transform_shard(write, workers=4)
    # Not passing them is no question, and bound ones are answered.
    assert numbers.transform_shard(write).collect()[0] == "csv 1 4"
    bound = functools.partial(write, format="xml")
    assert numbers.transform_shard(bound).collect()[0] == "xml 1 4"
    assert numbers.transform_shard(bound, format="arrow").collect()[0] == "xml 1 4"
    assert numbers.transform_shard(write, "json").collect()[0] == "json 1 4"

    def sized(df, batch_size=3):
        return batch_size

    with pytest.raises(TypeError, match="batch_size"):
        numbers.map_batches(sized, batch_size=2)
    with pytest.raises(ValueError, match="workers must be one of"):
        numbers.transform_shard(len, workers="fibres")
    assert numbers.transform_shard(np.shape, format="pandas").collect()[0] == (4, 1)
