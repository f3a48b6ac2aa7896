# SPDX-License-Identifier: Apache-2.0
"""Measures how the time of each operation grows with the number of rows.

    python benchmarks/growth.py
    python benchmarks/growth.py --rows 1000000 4000000 --only sort group_by_text

Each operation runs on 1, 4 and 16 million rows in memory: once untimed, with its result
checked against numpy's or pyarrow's, then timed in --rounds, in each of which all sizes
come in turn: a fast or a slow moment of a shared host is then one of all sizes. A line
says the nanoseconds a row of the median, and their ratio to the smallest size: 1.0 all
along is linear.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from measure import machine

import xshards as xs

if TYPE_CHECKING:
    from collections.abc import Callable

SIZES = (1_000_000, 4_000_000, 16_000_000)
NUM_TEXTS = 4044
SMALL_ROWS = 1000
SEED = 7
SECONDS_OF_ROUND = 0.3


@dataclass(frozen=True)
class Operation:
    """An operation, and the check of its result."""

    run: Callable[[Inputs], Any]
    is_right: Callable[[Any, Inputs], bool]


class Inputs:
    """The rows of one size, as XShards and as pyarrow has them."""

    def __init__(self, rows: int) -> None:
        rng = np.random.default_rng(SEED)
        texts = pa.array([f"N{i:05d}" for i in range(NUM_TEXTS)], pa.large_string())
        self.rows = rows
        self.table = pa.table(
            {
                "text": texts.take(pa.array(rng.integers(0, NUM_TEXTS, rows))),
                "id": rng.permutation(rows),
                "number": rng.integers(0, 1_000_000, rows),
                "value": rng.normal(size=rows),
            }
        )
        small = pa.table(
            {"text": texts.slice(0, SMALL_ROWS), "name": pa.array(range(SMALL_ROWS))}
        )
        ids = rng.permutation(rows)
        more = rng.normal(size=rows)
        self.shards = xs.from_arrow(self.table, 8)
        self.small = xs.from_arrow(small, 1)
        self.other = xs.from_arrow(pa.table({"id": ids, "more": more}), 8)
        # Half of the keys are those of the table; each occurs twice on both sides.
        apart = pa.table({"id": ids + rows // 2, "more": more})
        twice = self.table.select(["id", "value"])
        twice = twice.set_column(0, "id", pa.array(self.table["id"].to_numpy() // 2))
        self.apart = xs.from_arrow(apart, 8)
        self.twice = xs.from_arrow(twice, 8)
        self.other_twice = xs.from_arrow(pa.table({"id": ids // 2, "more": more}), 8)

    def sum_of(self, name: str) -> int:
        """Sum a column."""
        return pc.sum(self.table[name]).as_py()


def total(shards: Any, name: str) -> int:
    """Sum a column of a result."""
    return pc.sum(shards.to_arrow()[name]).as_py()


def known_rows(inputs: Inputs) -> int:
    """Count the rows whose text the small table has."""
    last = f"N{SMALL_ROWS:05d}"
    return pc.sum(pc.less(inputs.table["text"], last)).as_py()


def is_sorted(made: Any, inputs: Inputs) -> bool:
    """Tell whether rows are in order, and all there."""
    table = made.to_arrow().combine_chunks()
    texts = pc.index_in(table["text"], pc.unique(table["text"])).to_numpy()
    ids = table["id"].to_numpy()
    steps = np.diff(texts)
    distinct = pc.unique(table["text"]).to_pylist()
    return (
        len(table) == inputs.rows
        and distinct == sorted(distinct)
        and bool(np.all(steps >= 0))
        and bool(np.all((steps > 0) | (np.diff(ids) > 0)))
    )


def materialized(shards: Any) -> Any:
    """Run a plan and keep what comes out in the engine."""
    return shards.cache().compute()


OPERATIONS = {
    "partition_by": Operation(
        lambda i: materialized(i.shards.partition_by("text", 8)),
        lambda made, i: len(made) == i.rows and total(made, "id") == i.sum_of("id"),
    ),
    "repartition": Operation(
        lambda i: materialized(i.shards.repartition(5)),
        lambda made, i: total(made, "id") == i.sum_of("id"),
    ),
    "unique_text": Operation(
        lambda i: i.shards["text"].unique(),
        lambda made, i: list(made) == pc.unique(i.table["text"]).to_pylist(),
    ),
    "unique_numbers": Operation(
        lambda i: i.shards["id"].unique(),
        lambda made, i: bool(np.array_equal(made, i.table["id"].to_numpy())),
    ),
    "drop_duplicates": Operation(
        lambda i: materialized(i.shards.drop_duplicates("text")),
        lambda made, _: len(made) == NUM_TEXTS,
    ),
    "group_by_text": Operation(
        lambda i: materialized(
            i.shards.group_by("text", {"number": ["sum", "max"], "value": "mean"})
        ),
        lambda made, i: (
            len(made) == NUM_TEXTS and total(made, "sum(number)") == i.sum_of("number")
        ),
    ),
    "group_by_numbers": Operation(
        lambda i: materialized(i.shards.group_by("id", {"number": "sum"})),
        lambda made, i: (
            len(made) == i.rows and total(made, "sum(number)") == i.sum_of("number")
        ),
    ),
    "median_by_text": Operation(
        lambda i: materialized(i.shards.group_by("text", {"value": "median"})),
        lambda made, _: len(made) == NUM_TEXTS,
    ),
    "approx_count_distinct": Operation(
        lambda i: i.shards.group_by([], {"id": "approx_count_distinct"}).to_pandas(),
        lambda made, i: abs(made.iloc[0, 0] / i.rows - 1) < 0.08,
    ),
    "merge_small": Operation(
        lambda i: materialized(i.shards.merge(i.small, on="text")),
        lambda made, i: len(made) == known_rows(i),
    ),
    "merge_large": Operation(
        lambda i: materialized(i.shards.merge(i.other, on="id")),
        lambda made, i: (
            len(made) == i.rows and total(made, "number") == i.sum_of("number")
        ),
    ),
    "merge_left": Operation(
        lambda i: materialized(i.shards.merge(i.apart, "left", on="id")),
        lambda made, i: (
            len(made) == i.rows and made.to_arrow()["more"].null_count == i.rows // 2
        ),
    ),
    "merge_outer": Operation(
        lambda i: materialized(
            i.shards[["id", "value"]].merge(i.apart, "outer", on="id")
        ),
        lambda made, i: (
            total(made, "id") == sum(range(i.rows + i.rows // 2))
            and made.to_arrow()["more"].null_count == i.rows // 2
            and made.to_arrow()["value"].null_count == i.rows // 2
        ),
    ),
    "merge_repeated": Operation(
        lambda i: materialized(i.twice.merge(i.other_twice, on="id")),
        lambda made, i: (
            len(made) == 2 * i.rows and total(made, "id") == 4 * sum(range(i.rows // 2))
        ),
    ),
    "sort": Operation(
        lambda i: materialized(i.shards.sort_values(["text", "id"])), is_sorted
    ),
    "sample": Operation(
        lambda i: materialized(i.shards.sample(0.25, random_state=1)),
        lambda made, i: len(made) == i.rows // 4,
    ),
    "quantile": Operation(
        lambda i: i.shards["value"].quantile([0.1, 0.9]).tolist(),
        lambda made, i: np.allclose(
            made, np.quantile(i.table["value"].to_numpy(), [0.1, 0.9])
        ),
    ),
    "value_counts": Operation(
        lambda i: i.shards["text"].value_counts(),
        lambda made, i: int(made.sum()) == i.rows and len(made) == NUM_TEXTS,
    ),
    "filter_and_compute": Operation(
        lambda i: materialized(
            i.shards.filter(xs.col("value") > 0).with_column(
                "value", xs.col("value") * 2
            )
        ),
        lambda made, i: len(made) == pc.sum(pc.greater(i.table["value"], 0)).as_py(),
    ),
}


def check(operation: Operation, inputs: Inputs) -> None:
    """Run an operation once, untimed, and check its result."""
    if not operation.is_right(operation.run(inputs), inputs):
        msg = f"the result on {inputs.rows:,} rows is wrong"
        raise AssertionError(msg)


def times_of(operation: Operation, inputs: Inputs) -> list[float]:
    """Time an operation, for a while."""
    times: list[float] = []
    while sum(times) < SECONDS_OF_ROUND:
        begin = time.perf_counter()
        operation.run(inputs)
        times.append(time.perf_counter() - begin)
    return times


def seconds_of(
    operation: Operation, sizes: list[Inputs], rounds: int
) -> dict[int, float]:
    """Time an operation on all sizes in turn: the median of each size's runs."""
    times: dict[int, list[float]] = {inputs.rows: [] for inputs in sizes}
    for inputs in sizes:
        check(operation, inputs)
    for _ in range(rounds):
        for inputs in sizes:
            times[inputs.rows] += times_of(operation, inputs)
    return {rows: statistics.median(found) for rows, found in times.items()}


def main() -> None:
    """Measure what the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--only", nargs="+", choices=OPERATIONS, default=[*OPERATIONS])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--memory", default="6GB")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    xs.init(memory=arguments.memory)
    sizes = [Inputs(rows) for rows in sorted(arguments.rows)]
    print(f"{'operation':24}" + "".join(f"{inputs.rows:>22,}" for inputs in sizes))
    found = {}
    for name in arguments.only:
        times = seconds_of(OPERATIONS[name], sizes, arguments.rounds)
        first = next(iter(times.values())) / next(iter(times))
        cells = [
            f"{seconds / rows * 1e9:9.1f} ns  x{seconds / rows / first:5.2f}"
            for rows, seconds in times.items()
        ]
        print(f"{name:24}" + "".join(f"{cell:>22}" for cell in cells), flush=True)
        found[name] = times
    if arguments.json is not None:
        report = {"machine": machine(), "seconds": found}
        arguments.json.write_text(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
