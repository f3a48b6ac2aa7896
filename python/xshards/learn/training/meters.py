# SPDX-License-Identifier: Apache-2.0
"""Averages of what batches return, over batches and over replicas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["NUM_SAMPLES", "Meters"]

NUM_SAMPLES = "num_samples"


class Meters:
    """The sum of each value times its samples, its last value, and the samples.

    What is no number is kept as it was last.
    """

    def __init__(self) -> None:
        self.num_samples = 0
        self.num_batches = 0
        self.last_samples = 0
        #: What the last batch counts in averages: its rows, or their weights.
        self.last_weight = 0.0
        self.sums: dict[str, float] = {}
        self.weights: dict[str, float] = {}
        self.last: dict[str, Any] = {}

    def count(self, rows: int) -> None:
        """Note a batch that begins."""
        self.num_samples += rows
        self.num_batches += 1
        self.last_samples = rows
        self.last_weight = rows

    def add(
        self, values: Mapping[str, Any], rows: int, weight: float | None = None
    ) -> None:
        """Add what a batch of this many rows returned.

        Averages count it by its rows, unless rows have weights: then by their sum.
        """
        weight = int(values.get(NUM_SAMPLES, rows)) if weight is None else weight
        self.last_weight = weight
        for name, value in values.items():
            if name == NUM_SAMPLES:
                continue
            number = _number(value)
            if number is not None:
                self.sums[name] = self.sums.get(name, 0.0) + number * weight
                self.weights[name] = self.weights.get(name, 0) + weight
                value = number
            self.last[name] = value

    def state(self) -> tuple[Any, ...]:
        """Return everything, as plain values."""
        return (
            self.num_samples,
            self.num_batches,
            self.last_samples,
            self.last_weight,
            dict(self.sums),
            dict(self.weights),
            dict(self.last),
        )

    @classmethod
    def from_state(cls, state: tuple[Any, ...]) -> Meters:
        """Make one of what `state` gave."""
        made = cls()
        *counts, sums, weights, last = state
        made.num_samples, made.num_batches, made.last_samples = counts[:3]
        # Checkpoints of older versions lack it: their rows had no weights.
        made.last_weight = counts[3] if len(counts) > 3 else made.last_samples
        made.sums, made.weights, made.last = dict(sums), dict(weights), dict(last)
        return made

    @classmethod
    def merged(cls, states: Iterable[tuple[Any, ...]]) -> Meters:
        """Put the meters of replicas together, as if one had seen all rows."""
        parts = [cls.from_state(state) for state in states]
        made = cls()
        made.num_samples = sum(part.num_samples for part in parts)
        made.num_batches = max((part.num_batches for part in parts), default=0)
        made.last_samples = sum(part.last_samples for part in parts)
        made.last_weight = sum(part.last_weight for part in parts)
        for name in dict.fromkeys(name for part in parts for name in part.last):
            having = [part for part in parts if name in part.last]
            if all(name in part.sums for part in having):
                made.sums[name] = sum(part.sums[name] for part in having)
                made.weights[name] = sum(part.weights[name] for part in having)
                made.last[name] = _mean(
                    [(part.last[name], part.last_weight) for part in having]
                )
            else:
                made.last[name] = having[0].last[name]
        return made

    def summary(self) -> dict[str, Any]:
        """Return the averages, and the last values as ``last_<name>``."""
        result: dict[str, Any] = {
            "batch_count": self.num_batches,
            NUM_SAMPLES: self.num_samples,
        }
        for name, value in self.last.items():
            if name in self.sums:
                total = self.weights[name]
                result[name] = self.sums[name] / total if total else float("nan")
            else:
                result[name] = value
            result[f"last_{name}"] = value
        return result


def _mean(values: list[tuple[float, float]]) -> float:
    total = sum(weight for _, weight in values)
    if total == 0:
        return values[0][0]
    return sum(value * weight for value, weight in values if weight) / total


def _number(value: Any) -> float | None:
    if isinstance(value, (int, float, np.number)):
        return float(value)
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        return float(value.item())
    return None
