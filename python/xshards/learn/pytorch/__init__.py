# SPDX-License-Identifier: Apache-2.0
"""Training PyTorch models on shards."""

from xshards.learn.pytorch.estimator import Estimator
from xshards.learn.pytorch.training_operator import TrainingOperator

__all__ = ["Estimator", "TrainingOperator"]
