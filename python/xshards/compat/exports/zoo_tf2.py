# SPDX-License-Identifier: Apache-2.0
"""What ``zoo.orca.learn.tf2`` exports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xshards.compat.errors import OrcaInputError
from xshards.compat.orca.keras_estimators import (
    KerasFactory,
    ZooKerasEstimator,
    make_options,
)

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Estimator", "TensorFlow2Estimator"]

TensorFlow2Estimator = ZooKerasEstimator


class Estimator(KerasFactory):
    """Makes Estimators of Keras models."""

    @staticmethod
    def from_keras(
        *,
        model_creator: Callable[[dict[str, Any]], Any],
        config: dict[str, Any] | None = None,
        verbose: bool = False,
        workers_per_node: int = 1,
        compile_args_creator: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
        backend: str = "tf2",
    ) -> ZooKerasEstimator:
        """Make an Estimator of a function that makes a model of a config.

        Parameters are those of `xshards.learn.tf.Estimator.from_keras`. Both backends
        train by the parameter server; `verbose` has no effect.
        """
        if backend not in ("tf2", "horovod"):
            msg = (
                'Only "tf2" and "horovod" are legal values of backend, but got '
                f"{backend}"
            )
            raise OrcaInputError(msg)
        options = make_options(
            backend=backend,
            model_creator=model_creator,
            compile_args_creator=compile_args_creator,
            config=config,
            workers_per_node=workers_per_node,
        )
        return ZooKerasEstimator(options)
