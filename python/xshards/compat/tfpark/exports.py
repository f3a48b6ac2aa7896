# SPDX-License-Identifier: Apache-2.0
"""What ``zoo.tfpark``, ``zoo.pipeline.api.net`` and ``bigdl.orca.tfpark`` export."""

from __future__ import annotations

from xshards.compat.tfpark.keras_model import KerasModel
from xshards.compat.tfpark.tf_dataset import TFDataset
from xshards.compat.tfpark.tf_estimator import TFEstimator
from xshards.compat.tfpark.tf_optimizer import TFOptimizer
from xshards.compat.tfpark.tf_predictor import TFPredictor
from xshards.compat.tfpark.tfnet import TFNet
from xshards.compat.tfpark.zoo_optimizer import ZooOptimizer

__all__ = [
    "KerasModel",
    "TFDataset",
    "TFEstimator",
    "TFNet",
    "TFOptimizer",
    "TFPredictor",
    "ZooOptimizer",
]
