# SPDX-License-Identifier: Apache-2.0
"""Times feeding alone: shuffled mini-batches out of shards, and no model.

    python benchmarks/feeding.py [--rows 2000000] [--batch-size 1024] [--runs 5]
                                 [--json out.json]

Eight float32 features and a label. Ours beside what a torch user has: a DataLoader
with two workers over a TensorDataset, and torch.randperm + index_select over tensors in
memory, which is the least that can be done. Each is run over whole epochs; before a
time is printed, every row has been seen exactly once and with its own label.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import measure
import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset

import xshards as xs
from xshards.learn.feeder import Feeder, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parent.parent
FEATURES = 8
Batches = "Iterator[tuple[Any, Any]]"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--batch-size", type=int, default=1024)
    parser.add_argument("--partitions", type=int, default=8)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", type=Path, default=ROOT / "build/bench/feed.json")
    args = parser.parse_args()
    torch.set_num_threads(os.cpu_count() or 1)
    load = measure.load()
    if load > 0.5:
        print(f"Others are using this machine (load {load}): take times with care")
    features, label = made_rows(args.rows)
    rates = {
        name: rate_of(make(features, label, args), features, args.runs)
        for name, make in FEEDS.items()
    }
    report(rates)
    about = {
        "machine": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "torch": torch.__version__,
        "load_before": load,
        "rows": args.rows,
        "batch_size": args.batch_size,
    }
    args.json.parent.mkdir(parents=True, exist_ok=True)
    args.json.write_text(
        json.dumps({"about": about, "rows_per_second": rates}, indent=1)
    )
    print(f"Kept in {args.json}")
    return 0


def made_rows(rows: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Make distinguishable rows: the label is the row's number."""
    features = np.random.default_rng(0).random((rows, FEATURES), np.float32)
    return features, np.arange(rows, dtype=np.int64)


def ours(features: Any, label: Any, args: Any) -> Callable[[int], Batches]:
    xs.init(cores=os.cpu_count() or 1, memory="4GB")
    shards = xs.XShards.partition({"x": features, "y": label}, args.partitions)
    feeder = Feeder(shards, batch_size=args.batch_size, shuffle=True)

    def epoch(number: int) -> Batches:
        for batch in feeder.epoch(number):
            yield batch.arrays[0], batch.arrays[1]

    return epoch


def ours_of_columns(features: Any, label: Any, args: Any) -> Callable[[int], Batches]:
    import pandas as pd

    names = [f"f{number}" for number in range(FEATURES)]
    frame = pd.DataFrame(dict(zip(names, features.T, strict=True))).assign(y=label)
    shards = xs.from_pandas(frame, num_partitions=args.partitions)
    feeder = Feeder(
        shards,
        [Tensor(names, "float32"), Tensor(["y"])],
        batch_size=args.batch_size,
        shuffle=True,
    )

    def epoch(number: int) -> Batches:
        for batch in feeder.epoch(number):
            yield batch.arrays[0], batch.arrays[1]

    return epoch


def index_select(features: Any, label: Any, args: Any) -> Callable[[int], Batches]:
    x, y = torch.from_numpy(features), torch.from_numpy(label)

    def epoch(number: int) -> Batches:
        torch.manual_seed(number)
        for rows in torch.randperm(len(x)).split(args.batch_size):
            yield x.index_select(0, rows), y.index_select(0, rows)

    return epoch


def data_loader(features: Any, label: Any, args: Any) -> Callable[[int], Batches]:
    data = TensorDataset(torch.from_numpy(features), torch.from_numpy(label))
    loader = DataLoader(
        data, args.batch_size, shuffle=True, num_workers=2, persistent_workers=True
    )

    def epoch(number: int) -> Batches:
        torch.manual_seed(number)
        yield from loader

    return epoch


FEEDS: dict[str, Callable[[Any, Any, Any], Callable[[int], Batches]]] = {
    "xshards arrays": ours,
    "xshards columns": ours_of_columns,
    "randperm + index_select": index_select,
    "DataLoader, 2 workers": data_loader,
}


def rate_of(epoch: Callable[[int], Batches], features: Any, runs: int) -> float:
    """Give rows a second: the median of whole epochs, after one that is checked."""
    check(list(epoch(0)), features)
    seconds = []
    for number in range(1, runs + 1):
        begin = time.perf_counter()
        seen = sum(len(y) for _, y in epoch(number))
        seconds.append(time.perf_counter() - begin)
        assert seen == len(features)
    return len(features) / statistics.median(seconds)


def check(batches: list[tuple[Any, Any]], features: Any) -> None:
    """Every row once, in another order, each label with the features of its row."""
    labels = np.concatenate([np.asarray(y) for _, y in batches])
    assert np.array_equal(np.sort(labels), np.arange(len(features)))
    assert not np.array_equal(labels, np.arange(len(features)))
    for x, y in batches:
        assert np.array_equal(np.asarray(x), features[np.asarray(y)])


def report(rates: dict[str, float]) -> None:
    best = rates["xshards arrays"]
    print("million rows a second; x ours = our rate (arrays) over its")
    for name, rate in rates.items():
        print(f"{name:>24} {rate / 1e6:8.2f}  ({best / rate:.2f})")


if __name__ == "__main__":
    sys.exit(main())
