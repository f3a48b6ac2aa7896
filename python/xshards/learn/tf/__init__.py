# SPDX-License-Identifier: Apache-2.0
"""Train Keras models on shards."""

from xshards.learn.tf.estimator import Estimator

__all__ = ["Estimator"]
