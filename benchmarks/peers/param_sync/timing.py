# SPDX-License-Identifier: Apache-2.0
"""Shared by all engines of param_sync."""

from __future__ import annotations

import json
import sys
import time

import numpy as np

WARMUP = 2
CHECKED = 1000  # elements whose final weights are compared


def local_gradient(replica: int, count: int) -> np.ndarray:
    """Make one replica's gradient; it is the same in every step."""
    random = np.random.default_rng(replica)
    return random.normal(size=count).astype(np.float32)


def expected_weights(count: int, replicas: int, steps: int) -> np.ndarray:
    """Apply Adam in float64 to the first elements."""
    gradients = [local_gradient(r, count)[:CHECKED] for r in range(replicas)]
    g = np.mean(gradients, axis=0, dtype=np.float64)
    w, m, v = (np.zeros(len(g)) for _ in range(3))
    for step in range(1, steps + 1):
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g * g
        root = np.sqrt(v / (1 - 0.999**step))
        w -= 1e-3 * m / (1 - 0.9**step) / (root + 1e-8)
    return w


class Times:
    """When each step's gradients were ready here, and when its weights were."""

    def __init__(self) -> None:
        self.spans: list[tuple[float, float]] = []

    def __enter__(self) -> None:
        self.start = time.clock_gettime(time.CLOCK_MONOTONIC)

    def __exit__(self, *_: object) -> None:
        end = time.clock_gettime(time.CLOCK_MONOTONIC)
        self.spans.append((self.start, end))

    def tell(self, weights: np.ndarray) -> None:
        """Print what happened, for the driver."""
        print(json.dumps({"spans": self.spans, "weights": weights[:CHECKED].tolist()}))
        sys.stdout.flush()
