# SPDX-License-Identifier: Apache-2.0
"""Functions that change a DataFrame in place: only they see the change."""

import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from frames import assert_same
from stages import run

import xshards as xs


def by_loc(df):
    df.loc[df["i"] > 500, "f"] = -1.0
    return df


def by_loc_new_row_value(df):
    df.loc[0, ["i", "f"]] = [5, 6.5]
    return df


def by_iloc(df):
    df.iloc[3, 0] = 77
    df.iloc[10:20, 1] = 0.5
    return df


def by_at(df):
    df.at[2, "i"] = -3
    df.at[4, "t"] = pd.Timestamp("1999-12-31")
    df.iat[5, 2] = 9.0
    return df


def by_augmented_column(df):
    df["i"] += 1
    df["f"] *= 2
    return df


def by_array(df):
    values = df["i"].to_numpy()
    values.flags.writeable = True
    values += 10
    return df


def by_sort_in_place(df):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # deprecated, but there is much such code
        df.sort_values("f", inplace=True, ignore_index=True)
    return df


def by_fillna_in_place(df):
    df.fillna({"f": 0.0}, inplace=True)
    return df


def by_insert_and_delete(df):
    df.insert(0, "new", df["i"] * 2)
    del df["g"]
    return df


def by_mask(df):
    df[df["i"] % 2 == 0] = df[df["i"] % 2 == 0].assign(i=0)
    return df


def by_strings(df):
    df.loc[df["s"] == "", "s"] = "empty"
    return df


CHANGES = [
    by_loc,
    by_loc_new_row_value,
    by_iloc,
    by_at,
    by_augmented_column,
    by_array,
    by_sort_in_place,
    by_fillna_in_place,
    by_insert_and_delete,
    by_mask,
    by_strings,
]


@pytest.mark.parametrize("change", CHANGES)
def test_changes_in_place_stay_in_the_function(shared, frame, change):
    halves = [frame.iloc[:100_000], frame.iloc[100_000:]]
    expected = pd.concat(
        [change(half.reset_index(drop=True).copy()) for half in halves],
        ignore_index=True,
    )
    assert_same(shared.transform_shard(change).to_pandas(), expected)
    assert_same(shared.to_pandas(), frame)
    # A second function over the same input sees the original.
    assert_same(shared.transform_shard(lambda df: df).to_pandas(), frame)


@pytest.mark.parametrize("change", CHANGES)
def test_changes_in_place_work_on_joined_batches(frame, change):
    # Exchanged partitions come in several batches, which are joined for the function.
    pieces = xs.from_pandas(frame, 4).repartition(1)
    expected = change(frame.copy())
    assert_same(pieces.transform_shard(change).to_pandas(), expected)
    assert_same(pieces.to_pandas(), frame)


def test_views_are_writable_and_not_copies(shared):
    def look(df):
        blocks = [block.values for block in df._mgr.blocks]
        arrays = [b for b in blocks if isinstance(b, np.ndarray)]
        return [all(a.flags.writeable and a.base is not None for a in arrays)]

    assert shared.transform_shard(look).collect() == [[True], [True]]


def test_two_columns_of_the_same_memory_do_not_change_together(frame):
    def alias(df):
        return pa.table({"a": df["i"].to_numpy(), "b": df["i"].to_numpy()})

    def change(df):
        df.loc[:, "a"] = -1
        return df

    twice = run(xs.from_pandas(frame, 2).transform_shard(alias))
    again = run(twice.transform_shard(lambda df: df))
    out = again.transform_shard(change).to_pandas()
    assert (out["a"] == -1).all()
    np.testing.assert_array_equal(out["b"], frame["i"])


def test_wide_frames_need_few_blocks():
    wide = pd.DataFrame(
        {f"c{n}": np.arange(1000) * n for n in range(300)}
        | {f"d{n}": np.arange(1000) / (n + 1) for n in range(300)}
    )
    shards = xs.from_pandas(wide, 2).transform_shard(lambda df: df).cache()

    def count_blocks(df):
        df["new"] = 1  # pandas warns here if there are more than 100 blocks
        return len(df._mgr.blocks)

    assert max(shards.transform_shard(count_blocks).collect()) <= 4
