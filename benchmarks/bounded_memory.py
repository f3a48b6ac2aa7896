# SPDX-License-Identifier: Apache-2.0
"""Checks that an operation and cache() of data larger than the budget stay within it.

    python benchmarks/bounded_memory.py --gigabytes 4 --memory 512MB
    python benchmarks/bounded_memory.py --operation sort --skew 0.9

Makes a data set in a temporary folder, does the operation to it and caches the result
twice, once within --memory and once without limit, and compares what comes out:
partition by partition the rows of each key and a checksum of each column (of what is
not partitioned over all partitions, of a sort and of unique rows with the place of
every row), and the whole with what was generated.
Prints the largest memory of the process tree (the sum of PSS) up to the end of cache,
and up to the end of writing the partitions out. Exits with 1 if it was ever above
--limit, counted with shared segments that no process has mapped, if the results differ,
or if the spill folder is not empty afterwards.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measure import MemoryWatch

HERE = Path(__file__).resolve().parent

# One run, in a separate process. Prints "cached" and waits, so that both parts are
# measured; writes each partition to an IPC file.
RUN = """
import json, sys, time
settings = json.loads(sys.argv[1])
import xshards as xs
context = xs.init(
    cores=settings["cores"], memory=settings["memory"], spill_dir=settings["spill"],
    progress=False,
)
start = time.perf_counter()
read = getattr(xs, "read_" + settings["format"])
rows = read(settings["data"])


def join():
    names = {"integer_0": "other_integer", "text_0": "other_text"}
    return rows.merge(rows.select(["id", *names]).rename(names), on="id")


def join_outer():
    # Neither side stays where it is: all rows of a key meet in one partition.
    return rows.merge(rows.select(["key"]).drop_duplicates(), "outer", on="key")


def group_by():
    # Every row is a group, so that groups are as large as the data.
    values = {name: (name, "first") for name in rows.columns if name != "id"}
    return rows.group_by("id", **values)


operations = {
    "partition_by": lambda: rows.partition_by("key", settings["partitions"]),
    "sort": lambda: rows.sort_values(["key", "integer_0"]),
    "join": join,
    "join_outer": join_outer,
    "group_by": group_by,
    # Of which there are none, so that all rows are held to look for them.
    "unique": lambda: rows.drop_duplicates(["key", "id"]),
}
shards = operations[settings["operation"]]().cache()
cached = time.perf_counter() - start
print(json.dumps({"seconds": cached, "account": context.peak_memory}), flush=True)
sys.stdin.readline()
shards.to_ipc(settings["out"])
print("{}", flush=True)
"""


@dataclass
class Run:
    """The figures and results of one run."""

    seconds: float
    cache_pss: int  # bytes, up to the end of cache()
    pss: int  # up to the end
    memory: int  # up to the end, with unmapped segments
    account: int  # the peak of the engine's own budget
    partitions: list[dict[str, Any]]


def run(data: Path, scratch: Path, memory: str | None, args: Any) -> Run:
    """Do the operation on the data set and summarise the partitions."""
    spill, out = scratch / "spill", scratch / "out"
    spill.mkdir()
    settings = {
        "cores": args.threads,
        "memory": memory,
        "spill": str(spill),
        "data": str(data),
        "format": args.format,
        "partitions": args.partitions,
        "operation": args.operation,
        "out": str(out),
    }
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, json.dumps(settings)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process, MemoryWatch(process.pid, interval=0.05) as watch:
        line = process.stdout.readline()
        watch.sample()
        cache_pss = watch.pss
        if line:
            process.stdin.write("\n")
            process.stdin.flush()
            process.stdout.readline()
    if process.returncode != 0:
        sys.exit(f"The run with memory={memory} failed with {process.returncode}")
    left = list(spill.iterdir())
    if left:
        sys.exit(f"The spill folder is not empty: {left}")
    told = json.loads(line)
    partitions = summarize(out)
    shutil.rmtree(out)
    spill.rmdir()
    return Run(
        told["seconds"], cache_pss, watch.pss, watch.total, told["account"], partitions
    )


def summarize(directory: Path) -> list[dict[str, Any]]:
    """Read the partitions' files batch by batch and summarise each.

    `places` is a checksum that knows where in the whole a value is.
    """
    import numpy as np
    import pyarrow as pa
    from datasets import add_checksums, column_hashes

    partitions = []
    num_rows = 0
    for path in sorted(directory.iterdir()):
        keys: dict[str, int] = {}
        checksums: dict[str, int] = {}
        places: dict[str, int] = {}
        with pa.OSFile(str(path)) as file, pa.ipc.open_file(file) as reader:
            for index in range(reader.num_record_batches):
                batch = reader.get_batch(index)
                if batch.num_rows > 0:
                    add_checksums(batch, "key", keys, checksums)
                place = np.arange(num_rows, num_rows + batch.num_rows, dtype=np.uint64)
                num_rows += batch.num_rows
                for column in batch.schema.names:
                    placed = int((column_hashes(batch[column]) * place).sum())
                    places[column] = (places.get(column, 0) + placed) % 2**64
        partitions.append({"keys": keys, "checksums": checksums, "places": places})
    return partitions


def difference(
    operation: str,
    truth: dict[str, Any],
    bounded: list[dict[str, Any]],
    free: list[dict[str, Any]],
) -> str | None:
    """Say in what the bounded run differs from the unlimited one, or from the truth."""
    if operation == "sort":
        keys = [key for partition in bounded for key in partition["keys"]]
        if keys != sorted(keys):
            return "a partition holds keys before those of the one before it"
    in_order = operation in ("sort", "unique")
    if in_order and total(bounded)["places"] != total(free)["places"]:
        return "rows are in another order than those of the unlimited run"
    if operation != "partition_by":
        # The join algorithm, and so the partition of a row, depends on available
        # memory; so do the blocks from which a sort samples its ranges.
        bounded, free = [total(bounded)], [total(free)]
    if len(bounded) != len(free):
        return f"{len(bounded)} partitions, not {len(free)}"
    for index, (one, other) in enumerate(zip(bounded, free, strict=True)):
        for part in ("keys", "checksums"):
            if one[part] != other[part]:
                return f"partition {index}: {part} differ from the unlimited run"
    keys = [key for partition in bounded for key in partition["keys"]]
    if operation == "partition_by" and len(keys) != len(set(keys)):
        return "a key is in more than one partition"
    whole = total(bounded)
    if whole["keys"] != truth["keys"]:
        return "the rows of a key are not as many as were generated"
    for name, checksum in truth["checksums"].items():
        if whole["checksums"][name] != checksum:
            return f"column {name} is not what was generated"
    return None


def total(partitions: list[dict[str, Any]]) -> dict[str, Any]:
    """Add up the summaries of partitions."""
    keys: dict[str, int] = {}
    sums: dict[str, dict[str, int]] = {"checksums": {}, "places": {}}
    for partition in partitions:
        for key, rows in partition["keys"].items():
            keys[key] = keys.get(key, 0) + rows
        for part, of_column in sums.items():
            for name, checksum in partition[part].items():
                of_column[name] = (of_column.get(name, 0) + checksum) % 2**64
    return {"keys": keys, **sums}


def check(args: argparse.Namespace) -> int:
    """Do it all; return the exit code."""
    with tempfile.TemporaryDirectory(prefix="bounded-", dir=args.directory) as name:
        scratch, data = Path(name), Path(name) / "data"
        start = time.perf_counter()
        command = [sys.executable, HERE / "datasets.py", "wide", data]
        command += ["--gigabytes", str(args.gigabytes), "--format", args.format]
        command += ["--skew", str(args.skew)]
        made = subprocess.run(command, stdout=subprocess.PIPE, check=True)
        truth = json.loads(made.stdout)
        on_disk = sum(path.stat().st_size for path in data.iterdir())
        print(
            f"made {truth['rows']:,} rows, {truth['bytes'] / 1e9:.2f} GB in memory, "
            f"{on_disk / 1e9:.2f} GB on disk, in {time.perf_counter() - start:.0f} s",
            flush=True,
        )
        bounded = run(data, scratch, args.memory, args)
        show(f"{args.operation}, memory={args.memory}", bounded)
        free = run(data, scratch, None, args)
        show(f"{args.operation}, no limit", free)
    wrong = difference(args.operation, truth, bounded.partitions, free.partitions)
    print("results are equal" if wrong is None else f"results differ: {wrong}")
    small = bounded.memory <= args.limit * 1e9
    if not small:
        print(f"peak memory is above {args.limit:g} GB")
    return int(wrong is not None or not small)


def show(title: str, run: Run) -> None:
    print(
        f"{title}: with cache {run.seconds:.1f} s, peak PSS "
        f"{run.cache_pss / 1e6:,.0f} MB; with writing {run.pss / 1e6:,.0f} MB "
        f"({run.memory / 1e6:,.0f} MB with unmapped segments); the engine's account "
        f"{run.account / 1e6:,.0f} MB",
        flush=True,
    )


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--gigabytes", type=float, default=4.0)
    operations = ["partition_by", "sort", "join", "join_outer", "group_by", "unique"]
    parser.add_argument("--operation", choices=operations, default=operations[0])
    parser.add_argument("--skew", type=float, default=0.0, help="rows with one key")
    parser.add_argument("--memory", default="512MB")
    parser.add_argument("--limit", type=float, default=1.2, help="of PSS, in GB")
    parser.add_argument("--partitions", type=int, default=8)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--format", choices=["parquet", "csv"], default="parquet")
    parser.add_argument("--directory", type=Path, help="for the temporary folder")
    return check(parser.parse_args(argv))


if __name__ == "__main__":
    sys.exit(main())
