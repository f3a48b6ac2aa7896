# SPDX-License-Identifier: Apache-2.0
"""Metrics that accumulate over batches, and over replicas, on torch tensors."""

from xshards.learn.pytorch.metrics import confusion, curves, means
from xshards.learn.pytorch.metrics.base import TorchMetric
from xshards.learn.pytorch.metrics.confusion import *  # noqa: F403
from xshards.learn.pytorch.metrics.curves import *  # noqa: F403
from xshards.learn.pytorch.metrics.means import *  # noqa: F403

__all__ = ["TorchMetric"]
__all__ += confusion.__all__
__all__ += curves.__all__
__all__ += means.__all__
