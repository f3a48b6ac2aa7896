# SPDX-License-Identifier: Apache-2.0
"""``bigdl.orca.learn.tf.estimator``: as Analytics Zoo has it, but for messages."""

from __future__ import annotations

from xshards.compat.tfpark import estimator
from xshards.compat.tfpark.estimator import KerasEstimator, TensorFlowEstimator

__all__ = ["Estimator", "KerasEstimator", "TensorFlowEstimator"]


class Estimator(estimator.Estimator):
    """Makes Estimators of TensorFlow 1 graphs and of Keras models in them."""

    _triggers = "bigdl.dllib.utils.triggers"
