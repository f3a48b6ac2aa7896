# SPDX-License-Identifier: Apache-2.0
"""Makes CSV files of other kinds than the flights: always the same for the same rows.

    python benchmarks/csv_datasets.py numbers build/bench-data/numbers --rows 50000

`numbers` is 100 columns of floats; `texts` is mostly text, much of it quoted, with line
ends and doubled quotes inside. Four files of CSV each, and the same rows in Parquet.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import csv

SEED = 20130102
NUM_FILES = 4
NUM_FLOATS = 100
WORDS = ["the", "delay", "of", "this", "flight", "was", "caused", "by", "fog"]
WORDS += ["and", "rain", "a", "late", "crew"]


def numbers(rng: np.random.Generator, rows: int) -> pa.Table:
    """Make rows of floats of 1 to 15 digits, of many magnitudes."""
    columns = {}
    for i in range(NUM_FLOATS):
        values = rng.normal(0, 10.0 ** (i % 6), rows)
        columns[f"x{i}"] = np.round(values, 1 + i % 8)
    return pa.table(columns)


def texts(rng: np.random.Generator, rows: int) -> pa.Table:
    """Make rows of remarks: short and long ones, of one line and of several."""
    separators = [" "] * 12 + ["\n", ", ", ' "quoted" ']
    remarks = []
    for _ in range(10_000):
        picks = rng.integers(0, len(WORDS), rng.integers(1, 40))
        between = rng.integers(0, len(separators), len(picks))
        parts = [WORDS[w] + separators[s] for w, s in zip(picks, between, strict=True)]
        remarks.append("".join(parts).strip())
    pool = pa.array(remarks)

    def drawn() -> pa.Array:
        missing = pa.array(rng.random(rows) < 0.05)
        return pc.if_else(missing, None, pool.take(rng.integers(0, len(pool), rows)))

    return pa.table(
        {
            "id": np.arange(rows),
            "title": pool.take(rng.integers(0, 500, rows)),
            "remark": drawn(),
            "answer": drawn(),
            "author": pa.array(WORDS).take(rng.integers(0, len(WORDS), rows)),
        }
    )


def make(kind: str, directory: Path, rows: int) -> None:
    """Write all files to `directory`."""
    (directory / "csv").mkdir(parents=True)
    (directory / "parquet").mkdir()
    for index in range(NUM_FILES):
        rng = np.random.default_rng([SEED, index])
        count = rows * (index + 1) // NUM_FILES - rows * index // NUM_FILES
        table = {"numbers": numbers, "texts": texts}[kind](rng, count)
        csv.write_csv(table, directory / "csv" / f"{kind}-{index}.csv")
        pq.write_table(table, directory / "parquet" / f"{kind}-{index}.parquet")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("kind", choices=["numbers", "texts"])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--rows", type=int, default=50_000)
    args = parser.parse_args()
    # Written to a temporary name and renamed, so that an existing folder is complete.
    aside = args.directory.with_name(args.directory.name + ".part")
    shutil.rmtree(aside, ignore_errors=True)
    make(args.kind, aside, args.rows)
    aside.rename(args.directory)


if __name__ == "__main__":
    main()
