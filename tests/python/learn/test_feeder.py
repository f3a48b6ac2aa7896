# SPDX-License-Identifier: Apache-2.0
"""Batches against numpy: every row once, whatever the shapes."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xshards as xs
from xshards.learn.feeder import Feeder, Tensor


def frame(rows):
    return pd.DataFrame(
        {
            "id": np.arange(rows),
            "a": np.arange(rows) * 0.5,
            "b": (np.arange(rows) % 7).astype("int32"),
        }
    )


TENSORS = [Tensor(["a", "b"], "float32"), Tensor(["id"])]


def ids(batches):
    return [batch.arrays[1].tolist() for batch in batches]


@given(
    rows=st.integers(0, 60),
    partitions=st.integers(1, 9),
    batch_size=st.integers(1, 70),
    shuffle=st.booleans(),
    window_rows=st.integers(1, 80),
    replicas=st.integers(1, 4),
    seed=st.integers(0, 2**64 - 1),
)
def test_every_row_comes_once_with_its_values(
    rows, partitions, batch_size, shuffle, window_rows, replicas, seed
):
    data = frame(rows)
    shards = xs.from_pandas(data, num_partitions=partitions)
    seen = []
    for replica in range(replicas):
        feeder = Feeder(
            shards,
            TENSORS,
            batch_size=batch_size,
            shuffle=shuffle,
            seed=seed,
            window_rows=window_rows,
            replica=(replica, replicas),
        )
        assert feeder.num_rows == rows
        batches = list(feeder.epoch(1))
        assert len(batches) == feeder.num_steps == -(-rows // batch_size)
        seen += batches
    places = np.concatenate([[], *(b.arrays[1] for b in seen)]).astype(int)
    assert sorted(places) == list(range(rows))
    for batch in seen:
        x, place = batch.arrays
        assert x.dtype == np.float32
        assert x.shape == (len(place), 2)
        expected = data.loc[place, ["a", "b"]].to_numpy("float32")
        np.testing.assert_array_equal(x, expected)


def test_steps_do_not_depend_on_the_number_of_replicas():
    shards = xs.from_pandas(frame(100), num_partitions=7)

    def steps(replica, replicas):
        options = {"shuffle": True, "seed": 4, "window_rows": 30}
        feeder = Feeder(
            shards, TENSORS, batch_size=9, replica=(replica, replicas), **options
        )
        return ids(feeder.epoch(0))

    alone = steps(0, 1)
    together = [sum(shares, []) for shares in zip(*(steps(r, 3) for r in range(3)))]  # noqa: B905, RUF017
    assert together == alone
    assert alone != ids(Feeder(shards, TENSORS, batch_size=9).epoch(0))


def test_arrays_are_fed_in_their_order():
    shards = xs.from_pandas(frame(10), num_partitions=3).transform_shard(
        lambda df: {"x": df[["a", "b"]].to_numpy("float32"), "y": df["id"].to_numpy()}
    )
    batches = list(Feeder(shards, batch_size=4).epoch(0))
    x = np.concatenate([batch.arrays[0] for batch in batches])
    np.testing.assert_array_equal(x, frame(10)[["a", "b"]].to_numpy("float32"))
    assert ids(batches) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


def test_views_of_kept_data_are_read_only():
    shards = xs.from_pandas(frame(10), num_partitions=1).cache()
    (batch,) = Feeder(shards, TENSORS, batch_size=10).epoch(0)
    stacked, column = batch.arrays
    stacked[:] = 0
    with pytest.raises(ValueError, match="read-only"):
        column[:] = 0


def test_arrays_outlive_everything():
    context = xs.Context(cores=1)
    shards = xs.from_pandas(frame(10), context=context)
    batches = list(Feeder(shards, TENSORS, batch_size=5).epoch(0))
    context.close()
    del shards, context
    assert ids(batches) == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]


def test_one_epoch_at_a_time():
    feeder = Feeder(xs.from_pandas(frame(10)), TENSORS, batch_size=1)
    first = feeder.epoch(0)
    next(first)
    second = feeder.epoch(0)
    next(second)
    with pytest.raises(RuntimeError, match="another epoch"):
        next(first)
    assert len(list(second)) == 9


def test_errors_name_the_argument():
    shards = xs.from_pandas(pd.DataFrame({"city": ["Oslo"], "n": [1]}))
    with pytest.raises(ValueError, match="batch_size must be at least 1"):
        Feeder(shards, [Tensor(["n"])], batch_size=0)
    with pytest.raises(TypeError, match=r"\['n'\]"):
        Feeder(shards, [Tensor("n")])
    with pytest.raises(ValueError, match="feature_cols"):
        Feeder(shards)
    with pytest.raises(TypeError, match=r"column .city.: .*StringIndexer"):
        list(Feeder(shards, [Tensor(["city"])]).epoch(0))
    with pytest.raises(KeyError, match="no column 'x'"):
        list(Feeder(shards, [Tensor(["x"])]).epoch(0))
    with pytest.raises(TypeError, match=r"unknown tensor dtype .<c8"):
        Feeder(shards, [Tensor(["n"], "complex64")])
