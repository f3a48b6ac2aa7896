# SPDX-License-Identifier: Apache-2.0
"""The data path of worker processes: shared segments, by reference, recycled."""

import contextlib
import gc
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from frames import assert_same, frames, num_partitions
from hypothesis import given, settings
from segment_frames import ROWS, plain
from stages import run, written

import xshards as xs


def drop_column(df):
    return df.drop(columns="g")


def rename(df):
    return df.rename(columns={"i": "renamed"})


PASSED_ON = [
    lambda df: df,
    lambda df: df[["f", "i"]],
    lambda df: df[["t"]],
    drop_column,
    rename,
    lambda df: df.iloc[1000:90_000].reset_index(drop=True),
]


@pytest.mark.parametrize("function", PASSED_ON)
def test_unchanged_columns_are_not_written(shared, frame, function):
    halves = [frame.iloc[:100_000], frame.iloc[100_000:]]
    expected = pd.concat(
        [function(half.reset_index(drop=True)) for half in halves], ignore_index=True
    )
    run(shared)
    passed = run(shared.transform_shard(function))
    assert written() < 1000
    assert_same(passed.to_pandas(), expected)


@pytest.mark.parametrize("form", ["arrow", "polars", "numpy"])
def test_other_formats_are_passed_on_too(shared, frame, form):
    run(shared)
    columns = ["i", "f", "g"]
    numbers = run(shared.transform_shard(lambda df: df[columns]))
    passed = run(numbers.transform_shard(lambda value: value, format=form))
    assert written() < 1000
    if form == "numpy":
        for name in columns:
            values = np.concatenate([part[name] for part in passed.collect()])
            np.testing.assert_array_equal(values, frame[name])
    else:
        assert_same(passed.to_pandas(), frame[columns])


def test_slices_of_arrow_tables_are_passed_on(shared, frame):
    run(shared)
    passed = run(shared.transform_shard(lambda t: t.slice(11, 70_000), format="arrow"))
    assert written() < 1000
    expected = pd.concat(
        [frame.iloc[11:70_011], frame.iloc[100_011:170_011]], ignore_index=True
    )
    assert_same(passed.to_pandas(), expected)


def test_rows_of_a_cached_scan_are_contiguous(frame, tmp_path):
    frame = frame.drop(columns="f")  # with nulls, which floats of pandas have not
    # Of few texts the engine keeps dictionaries, see below.
    frame["s"] = (frame["s"] + " " + frame.index.astype("str")).astype("str")
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=10_000)
    shards = xs.read_parquet(tmp_path, num_partitions=2).cache()
    out = run(shards.transform_shard(lambda df: df))
    assert written() == 0
    assert_same(out.to_pandas(), frame)
    run(shards.transform_shard(lambda df: df.assign(new=df["i"] + 1)))
    assert 8 * ROWS <= written() < 9 * ROWS


def test_text_of_a_cached_scan_is_decoded_when_written(frame, tmp_path):
    frame = frame.drop(columns="f")
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=10_000)
    shards = xs.read_parquet(tmp_path, num_partitions=2).cache()
    out = run(shards.transform_shard(lambda df: df))
    text = pa.array(frame["s"], pa.large_string()).nbytes
    assert text <= written() < 1.1 * text
    assert_same(out.to_pandas(), frame)
    run(shards.transform_shard(lambda df: df.drop(columns="s")))
    assert written() == 0


def test_one_new_column_is_all_that_is_written(shared, frame):
    run(shared)
    wider = run(shared.transform_shard(lambda df: df.assign(new=df["i"] + 1)))
    assert 8 * ROWS <= written() < 9 * ROWS
    assert_same(wider.to_pandas(), frame.assign(new=frame["i"] + 1))


def test_a_changed_column_is_written_and_its_neighbours_are_not(shared, frame):
    def change(df):
        df.loc[:, "i"] = df["i"].to_numpy()[::-1].copy()
        return df

    run(shared)
    changed = run(shared.transform_shard(change))
    assert 8 * ROWS <= written() < 9 * ROWS
    out = changed.to_pandas()
    assert_same(out.drop(columns="i"), frame.drop(columns="i"))
    halves = [frame["i"].to_numpy()[:100_000], frame["i"].to_numpy()[100_000:]]
    np.testing.assert_array_equal(out["i"], np.concatenate([h[::-1] for h in halves]))


def test_an_undone_change_is_not_written(shared, frame):
    def there_and_back(df):
        old = df.at[0, "i"]
        df.at[0, "i"] = old + 1
        df.at[0, "i"] = old
        return df

    run(shared)
    passed = run(shared.transform_shard(there_and_back))
    assert written() < 1000
    assert_same(passed.to_pandas(), frame)


def test_a_few_rows_do_not_keep_a_segment(shared, context):
    run(shared)
    few = run(shared.transform_shard(lambda df: df.head(10)))
    assert written() > 0
    used = context._core.used_bytes
    del shared
    gc.collect()
    context._core.spill_all()
    assert context._core.used_bytes < used
    assert len(few) == 20


def test_arrays_and_objects_are_lent_and_forwarded():
    table = xs.from_pandas(pd.DataFrame({"n": range(4)}), 2)
    big = 300_000
    arrays = run(
        table.transform_shard(
            lambda df: {"x": np.full((big, 2), df["n"].iloc[0]), "y": [np.arange(3)]}
        )
    )
    same = run(arrays.transform_shard(lambda value: value))
    assert written() < 2000
    objects = run(
        table.transform_shard(lambda df: ("kept", np.full(big, df["n"].iloc[0])))
    )
    again = run(objects.transform_shard(lambda value: value))
    assert written() < 5000

    def change(value):
        value["x"] += 1
        value["y"][0][:] = 9
        return value

    def change_object(value):
        value[1][:] = -1
        return value

    for part, other, n in zip(
        arrays.transform_shard(change).collect(), same.collect(), [0, 2], strict=True
    ):
        assert (part["x"] == n + 1).all()
        assert (part["y"][0] == 9).all()
        np.testing.assert_array_equal(other["x"], np.full((big, 2), n))
        np.testing.assert_array_equal(other["y"][0], np.arange(3))
    changed = objects.transform_shard(change_object).collect()
    for part, other, n in zip(changed, again.collect(), [0, 2], strict=True):
        assert (part[1] == -1).all()
        assert (other[1] == n).all()


def test_columns_without_bytes_are_forwarded():
    empty = pd.DataFrame({"s": pd.Series([""] * 1000, dtype="str")})
    shards = run(xs.from_pandas(empty, 2).transform_shard(lambda df: df.copy()))
    passed = run(shards.transform_shard(lambda df: df))
    assert written() < 1000
    assert_same(passed.transform_shard(lambda df: df).to_pandas(), empty)


def test_references_survive_the_shards_they_point_into(shared, frame, context):
    run(shared)
    passed = run(shared.transform_shard(lambda df: df[["i", "f"]]))
    del shared
    gc.collect()
    # Overwrites whatever would wrongly be taken for free.
    for n in range(3):
        run(xs.from_pandas(frame, 2).transform_shard(lambda df, n=n: df.assign(i=n)))
    assert_same(passed.to_pandas(), frame[["i", "f"]])
    context._core.spill_all()
    assert_same(passed.to_pandas(), frame[["i", "f"]])
    again = passed.transform_shard(lambda df: df.assign(i=df["i"] * 2))
    np.testing.assert_array_equal(again.to_pandas()["i"], frame["i"] * 2)


def test_memory_is_counted_once_however_often_it_is_referred_to(shared, context):
    run(shared)
    before = context._core.used_bytes
    kept = [run(shared.transform_shard(lambda df, n=n: df)) for n in range(5)]
    assert written() < 1000
    assert context._core.used_bytes - before < 1 << 20
    assert len(kept) == 5


@settings(max_examples=25)
@given(frames(), num_partitions)
def test_chains_of_references_give_what_pandas_gives(df, n):
    first = xs.from_pandas(df, n).transform_shard(lambda d: d).cache()
    second = first.transform_shard(lambda d: d[["n"]]).cache()
    third = first.transform_shard(lambda d: d.assign(n=d["n"] * 2))
    assert_same(second.to_pandas(), df[["n"]])
    assert_same(third.to_pandas(), df.assign(n=df["n"] * 2))
    assert_same(first.to_pandas(), df)


def add_and_set(df, n):
    return df.assign(i=df["i"] + n, f=1.5)


def test_segments_are_used_again(frame, context):
    """The same job again and again needs no more memory than one or two of them."""
    shards = run(xs.from_pandas(frame, 2).transform_shard(lambda df: df.copy()))
    one = context._core.used_bytes
    for n in range(10):
        out = run(
            shards.transform_shard(lambda df, n=n: df.assign(i=df["i"] + n, f=1.5))
        )
        np.testing.assert_array_equal(out.to_pandas()["i"], frame["i"] + n)
        del out
        gc.collect()
    assert context._core.used_bytes < 3 * one


def test_memory_kept_by_a_function_is_never_overwritten(frame):
    xs.init(cores=2, memory="1GB")  # these workers keep things

    def keep(df):
        import builtins

        builtins.kept = getattr(builtins, "kept", [])
        builtins.kept.append((df, df["i"].sum()))
        return len(df)

    def look(df):
        import builtins

        return [
            int(kept["i"].sum() - total)
            for kept, total in getattr(builtins, "kept", [])
        ]

    shards = run(xs.from_pandas(frame, 2).transform_shard(lambda df: df.copy()))
    shards.transform_shard(keep).collect()
    del shards
    gc.collect()
    for n in range(6):
        out = run(
            xs.from_pandas(frame, 2).transform_shard(lambda df, n=n: df.assign(i=n))
        )
        del out
        gc.collect()
    differences = xs.from_pandas(frame, 2).transform_shard(look).collect()
    assert [d for part in differences for d in part]
    assert not any(d for part in differences for d in part)


def test_idle_segments_are_freed_before_anything_is_spilled(frame, context):
    out = run(xs.from_pandas(frame, 2).transform_shard(lambda df: df.copy()))
    del out
    gc.collect()
    before = context._core.used_bytes
    context._core.spill_all()
    assert context._core.used_bytes < before


def test_few_bytes_go_through_the_sockets(context):
    rows = 100 << 20 >> 3
    shards = xs.from_pandas(pd.DataFrame({"x": np.arange(rows)}), 8)
    run(shards.transform_shard(lambda df: df))  # workers are up
    pool = context._dispatcher._pool
    before = sum(worker.channel.num_bytes for worker in pool._idle)
    total = shards.transform_shard(lambda df: df + 1).transform_shard(lambda df: df * 2)
    assert len(total) == rows
    after = sum(worker.channel.num_bytes for worker in pool._idle)
    assert 0 < after - before < 1 << 20


def test_workers_read_the_files_themselves(tmp_path):
    frame = plain(100_000)
    for number in range(4):
        frame.to_csv(tmp_path / f"{number}.csv", index=False)
    size = sum(file.stat().st_size for file in tmp_path.iterdir())
    shards = xs.read_csv(str(tmp_path / "*.csv")).transform_shard(len)
    before = bytes_this_process_read()
    assert sum(shards.collect()) == 4 * len(frame)
    assert bytes_this_process_read() - before < size / 20
    (stage,) = xs.last_profile().stages
    assert stage.runner == "processes"
    assert stage.bytes_read > 0.99 * size


def bytes_this_process_read():
    lines = Path("/proc/self/io").read_text().splitlines()
    return int(dict(line.split(": ") for line in lines)["rchar"])


def test_spilled_input_is_read_not_mapped(shared, frame, context):
    run(shared)
    context._core.spill_all()

    def look(df):
        maps = Path("/proc/self/maps").read_text().splitlines()
        # Shared ones are of what this worker wrote, kept to be written again.
        private = [line for line in maps if "memfd:xshards" in line and "rw-p" in line]
        df["i"] += 1
        return [len(private), int(df["i"].sum())]

    found = shared.transform_shard(look).collect()
    assert [mapped for mapped, _ in found] == [0, 0]
    assert sum(total for _, total in found) == frame["i"].sum() + ROWS
    assert_same(shared.to_pandas(), frame)


def resident_output():
    """Bytes of the segments this process wrote that it has in memory."""
    lines = iter(Path("/proc/self/smaps").read_text().splitlines())
    total = 0
    for line in lines:
        if "memfd:xshards" in line and "rw-s" in line:
            size = next(lines)
            while not size.startswith("Rss:"):
                size = next(lines)
            total += int(size.split()[1]) << 10
    return total


def test_output_is_written_to_pages_that_are_mapped_already(shared):
    anew = shared.transform_shard(lambda df: df.assign(f=df["f"] + 1))
    run(anew)
    del anew
    gc.collect()
    resident = shared.transform_shard(lambda df: resident_output()).collect()
    assert min(resident) >= ROWS // 2 * 8


def test_mapped_output_pins_no_memory(frame):
    with contextlib.closing(xs.Context(cores=2, memory="1GB")) as context:
        shards = xs.from_pandas(frame, 2, context=context)
        kept = run(shards.transform_shard(lambda df: df.assign(f=df["f"] + 1)))
        resident = kept.transform_shard(lambda df: resident_output()).collect()
        assert min(resident) > 0
        # Once to move what is in memory to disk, once to give its pages back.
        context._core.spill_all()
        context._core.spill_all()
        resident = kept.transform_shard(lambda df: resident_output()).collect()
        assert resident == [0, 0]
        assert_same(kept.to_pandas(), frame.assign(f=frame["f"] + 1))


MANY_PARTITIONS = """
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))
import numpy as np
import pandas as pd
import xshards as xs

def main(count):
    xs.init(cores=2, progress=False)
    values = np.arange(2 * count)
    arrays = xs.XShards.partition(values, count)
    assert len(arrays) == len(values)
    changed = arrays.transform_shard(lambda a: a + 1)
    assert np.array_equal(np.concatenate(changed.collect()), values + 1)
    frame = pd.DataFrame({"k": values % 7, "v": values * 0.5})
    rows = xs.from_pandas(frame, count)
    rows = rows.transform_shard(lambda df: df.assign(w=df.v * 2))
    rows.cache()
    assert rows.num_partitions() == count and len(rows) == len(frame)
    expected = frame.assign(w=frame.v * 2)
    pd.testing.assert_frame_equal(rows.to_pandas(), expected)
    sums = rows.group_by("k", {"w": "sum"}).to_pandas().sort_values("k")
    pd.testing.assert_series_equal(
        sums.set_index("k").iloc[:, 0], expected.groupby("k").w.sum(), check_names=False
    )
    xs.stop()

main(int(sys.argv[1]))
"""


@pytest.mark.parametrize("count", [2500, pytest.param(20_000, marks=pytest.mark.slow)])
def test_many_small_partitions_need_few_descriptors(count):
    code = [sys.executable, "-c", MANY_PARTITIONS, str(count)]
    done = subprocess.run(code, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_partition_larger_than_the_budget_is_named():
    xs.init(cores=2, memory="16MB")
    big = xs.from_pandas(pd.DataFrame({"a": np.arange(5 << 20)}), 1)
    with pytest.warns(ResourceWarning, match="partition 0 of 40 MB"):
        assert big.transform_shard(len).collect() == [5 << 20]
