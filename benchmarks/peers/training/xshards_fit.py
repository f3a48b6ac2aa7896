# SPDX-License-Identifier: Apache-2.0
"""Ours: Estimator.fit on shards, two replicas; and from CSV files to a first step."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import pandas as pd
import torch
from task import (
    FEATURES,
    LABEL,
    adam,
    arguments,
    load_rows,
    tell,
    torch_loss,
    torch_model,
)

import xshards as xs
from xshards.learn.pytorch import Estimator

REPLICAS = 2


def main() -> None:
    path, kind, rows, batch_size, epochs = arguments()
    x, y = load_rows(path, rows)
    xs.init(cores=REPLICAS, memory="4GB")
    model = torch_model(kind)
    estimator = Estimator.from_torch(
        model=model,
        optimizer=adam(model),
        loss=torch.nn.MSELoss(),
        workers=REPLICAS,
        seed=0,
    )
    shards = xs.XShards.partition({"x": x, "y": y}, num_shards=2 * REPLICAS)
    estimator.fit(shards, epochs=1, batch_size=batch_size)
    begin = time.perf_counter()
    estimator.fit(shards, epochs=epochs, batch_size=batch_size)
    rate = len(x) * epochs / (time.perf_counter() - begin)
    more = {}
    if "--first-step" in sys.argv:
        more["first_step"] = seconds_to_first_step(
            estimator, x, y, max_steps=1, batch_size=batch_size
        )
    tell(rate, torch_loss(estimator.get_model(), x, y), **more)
    estimator.shutdown()
    xs.stop()


def seconds_to_first_step(estimator, x, y, **options) -> float:
    """From the call that reads a folder of CSV files to the end of one update."""
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory, "csv")
        folder.mkdir()
        frame = pd.DataFrame(x, columns=FEATURES).assign(**{LABEL: y[:, 0]})
        for part in range(4):
            frame.iloc[part::4].to_csv(folder / f"{part}.csv", index=False)
        begin = time.perf_counter()
        estimator.fit(
            xs.read_csv(str(folder)),
            **options,
            feature_cols=FEATURES,
            label_cols=[LABEL],
        )
        return time.perf_counter() - begin


if __name__ == "__main__":
    main()
