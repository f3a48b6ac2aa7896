# SPDX-License-Identifier: Apache-2.0
"""What replicas measured, put together."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from xshards.learn.training.meters import NUM_SAMPLES, Meters

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["average", "mean_of", "merge_validation"]


def merge_validation(
    answers: Sequence[tuple[dict[str, Any], list[Any], float | None]],
    metrics: Mapping[str, Any],
) -> dict[str, Any]:
    """Merge results and the states of metrics, as if one replica had seen all rows."""
    merged = _summary(
        [result for result, *_ in answers], [weight for *_, weight in answers]
    )
    del merged["batch_count"]
    if all(NUM_SAMPLES not in result for result, *_ in answers):
        del merged[NUM_SAMPLES]
    averages = {
        name: value for name, value in merged.items() if not name.startswith("last_")
    }
    return averages | {
        name: _value_of(metric, [states[index] for _, states, _ in answers])
        for index, (name, metric) in enumerate(metrics.items())
    }


def average(results: list[dict[str, Any]]) -> dict[str, Any]:
    """Average what operators returned, by rows; the names are those of the first."""
    merged = _summary(results)
    return {name: merged[name] for name in results[0] if name in merged}


def mean_of(values: Iterable[Any]) -> Any:
    """Return the mean of float arrays, and the first of others."""
    values = list(values)
    if values[0].dtype.kind != "f":
        return values[0]
    return np.mean(values, axis=0, dtype=values[0].dtype)


def _summary(
    results: Sequence[dict[str, Any]], weights: Sequence[float | None] = ()
) -> dict[str, Any]:
    meters = []
    for result, weight in itertools.zip_longest(results, weights):
        one = Meters()
        one.count(int(result.get(NUM_SAMPLES, 1)))
        one.add(result, one.num_samples, weight)
        meters.append(one.state())
    return Meters.merged(meters).summary()


def _value_of(metric: Any, states: Iterable[Any]) -> Any:
    metric.reset()
    for state in states:
        metric.merge(state)
    value = metric.compute()
    return value.item() if getattr(value, "ndim", None) == 0 else value
