# SPDX-License-Identifier: Apache-2.0
"""What each task is: its input, and how its result is checked.

Each task is a folder beside this file with one file an engine. To every engine
`files["flights"]` is the list of files of the task's data set and format,
`files["bookings"]` and `files["payments"]` are lists of Parquet files,
`files["planes"]` and `files["fares"]` one file each. What belongs to every engine alike
is here too.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Task:
    """One thing to do with the flights."""

    about: str
    format: str = "parquet"  # of files["flights"]
    check: str = "rows"  # see digest.summarize
    keys: tuple[str, ...] = ()
    data: str = "flights"  # or of csv_datasets.py: "numbers", "texts"
    like: str = (
        ""  # the task whose code is used by engines without their own for this one
    )


# The operators' input is in memory when the clock starts; the readers' and end_to_end's
# is on disk, in the page cache.
TASKS = {
    "read_csv": Task("4 files to memory, all columns, types inferred", "csv"),
    "read_csv_columns": Task("the same, 3 of the 21 columns", "csv"),
    "read_csv_numbers": Task(
        "4 files of 100 float columns, a row for each 20 flights",
        "csv",
        data="numbers",
        like="read_csv",
    ),
    "read_csv_texts": Task(
        "4 files of quoted text with line ends, a row for each 4 flights",
        "csv",
        data="texts",
        like="read_csv",
    ),
    "read_json": Task("4 files of JSON lines to memory", "json"),
    "read_parquet": Task("4 files to memory, all columns"),
    "unique_strings": Task("distinct tailnum: 4,044 and missing"),
    "unique_integers": Task("distinct flight: 8,499"),
    "unique_many": Task("distinct booking: as many as rows"),
    "unique_two_columns": Task("distinct pairs of tailnum and dest"),
    "partition_by": Task(
        "8 tables by the hash of dest", "parquet", "partitions", ("dest",)
    ),
    "group_by": Task("sum, mean, max of arr_delay by carrier and dest"),
    "group_by_one": Task("sum, mean, max of arr_delay by tailnum: 4,044 groups"),
    "group_by_many": Task("sum of price, max of seats by booking: as many as rows"),
    "sort": Task(
        "by carrier and arr_delay, missing last, all columns",
        "parquet",
        "sorted",
        ("carrier", "arr_delay"),
    ),
    "join": Task("inner, with 3,322 planes on tailnum, all columns"),
    "join_large": Task("inner, bookings with as many payments on booking"),
    "join_small": Task("inner, bookings with 1,000 fares on price"),
    "python_udf": Task("a Python function called for every row"),
    "end_to_end": Task("read CSV, filter, compute, join, group, sort", "csv"),
}

# How many flights there are for a row of the other data sets.
FLIGHTS_PER_ROW = {"numbers": 20, "texts": 4}

NUM_PARTITIONS = 8
READ_COLUMNS = ["dep_delay", "carrier", "distance"]  # of read_csv_columns


def peer_path(task: str, engine: str) -> Path:
    """Tell where an engine's code for a task is, if there is any."""
    here = Path(__file__).parent
    own = here / task / f"{engine}.py"
    return own if own.exists() else here / TASKS[task].like / f"{engine}.py"


def grade(carrier: str, distance: int, arr_delay: float | None) -> str:
    """Tell how good a flight was, as only Python can: the function of python_udf."""
    if arr_delay is None or arr_delay != arr_delay:
        return f"{carrier} lost"
    minutes = arr_delay * 60.0 / max(distance / 8.0, 30.0)
    return (
        f"{carrier} {'early' if minutes < -5 else 'fine' if minutes < 15 else 'late'}"
    )
