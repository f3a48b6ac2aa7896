# SPDX-License-Identifier: Apache-2.0
"""Computes the right answer of a task with pandas, from the generator's Parquet files.

    python benchmarks/peers/reference.py <task> <data directory>

Prints the summary that every engine's must equal.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from digest import summarize
from tasks import NUM_PARTITIONS, READ_COLUMNS, TASKS, grade


def unique(frame: pd.DataFrame, *columns: str) -> pd.DataFrame:
    return frame[list(columns)].drop_duplicates()


def group_by(flights: pd.DataFrame, *keys: str) -> pd.DataFrame:
    delay = flights.groupby(list(keys), dropna=False)["arr_delay"]
    return delay.agg(["sum", "mean", "max"]).reset_index()


def group_by_many(bookings: pd.DataFrame) -> pd.DataFrame:
    groups = bookings.groupby("booking")
    return groups.agg(price=("price", "sum"), seats=("seats", "max")).reset_index()


def python_udf(flights: pd.DataFrame) -> pd.DataFrame:
    rows = zip(
        flights["carrier"], flights["distance"], flights["arr_delay"], strict=True
    )
    return flights.assign(grade=[grade(*row) for row in rows])


def end_to_end(flights: pd.DataFrame, planes: pd.DataFrame) -> pd.DataFrame:
    late = flights[flights["arr_delay"] > 30]
    late = late.assign(hours=late["arr_delay"] / 60.0)
    groups = late.merge(planes, on="tailnum").groupby(["manufacturer", "dest"])
    result = groups.agg(hours=("hours", "sum"), flights=("hours", "count"))
    return result.reset_index().sort_values(["manufacturer", "dest"])


def answer(task: str, directory: Path) -> dict[str, object]:
    """Summarise the right answer."""
    table = pq.read_table(directory / "parquet")
    keys = list(TASKS[task].keys)
    if task == "read_csv_columns":
        table = table.select(READ_COLUMNS)
    if task.startswith("read_"):
        return summarize(table, "rows", keys)
    flights = table.to_pandas()
    if task == "partition_by":
        rows = summarize(table, "rows", keys)
        split = {"partitions": NUM_PARTITIONS, "keys in more than one partition": 0}
        return split | rows
    planes = pd.read_parquet(directory / "planes.parquet")
    bookings = pd.read_parquet(directory / "bookings")
    payments = pd.read_parquet(directory / "payments")
    fares = pd.read_parquet(directory / "fares.parquet")
    answers = {
        "unique_strings": lambda: unique(flights, "tailnum"),
        "unique_integers": lambda: unique(flights, "flight"),
        "unique_many": lambda: unique(bookings, "booking"),
        "unique_two_columns": lambda: unique(flights, "tailnum", "dest"),
        "group_by": lambda: group_by(flights, "carrier", "dest"),
        "group_by_one": lambda: group_by(flights, "tailnum"),
        "group_by_many": lambda: group_by_many(bookings),
        "sort": lambda: flights.sort_values(["carrier", "arr_delay"]),
        "join": lambda: flights.merge(planes, on="tailnum"),
        "join_large": lambda: bookings.merge(payments, on="booking"),
        "join_small": lambda: bookings.merge(fares, on="price"),
        "python_udf": lambda: python_udf(flights),
        "end_to_end": lambda: end_to_end(flights, planes),
    }
    result = pa.Table.from_pandas(answers[task](), preserve_index=False)
    return summarize(result, TASKS[task].check, keys)


if __name__ == "__main__":
    print(json.dumps(answer(sys.argv[1], Path(sys.argv[2]))))
