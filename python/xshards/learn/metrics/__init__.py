# SPDX-License-Identifier: Apache-2.0
"""Validation metrics, named without a framework; `get_metric` makes one that counts."""

from xshards.learn.metrics import accuracies, classes, errors
from xshards.learn.metrics.accuracies import *  # noqa: F403
from xshards.learn.metrics.classes import *  # noqa: F403
from xshards.learn.metrics.errors import *  # noqa: F403
from xshards.learn.metrics.metric import (
    CustomizedMetric,
    Metric,
    convert_metrics,
    register_metrics,
)
from xshards.learn.metrics.names import metric_names, metric_of_name, more_is_better

__all__ = [
    "CustomizedMetric",
    "Metric",
    "convert_metrics",
    "metric_names",
    "metric_of_name",
    "more_is_better",
    "register_metrics",
]
__all__ += accuracies.__all__
__all__ += classes.__all__
__all__ += errors.__all__
