# SPDX-License-Identifier: Apache-2.0
"""What ``bigdl.orca.learn.tf2`` exports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xshards.compat.errors import OrcaInputError
from xshards.compat.orca.keras_estimators import (
    BigDLKerasEstimator,
    KerasFactory,
    make_options,
)

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Estimator", "SparkTFEstimator", "TensorFlow2Estimator"]

# The first releases of BigDL 2 had Analytics Zoo's name for "ray".
_BACKENDS = ("horovod", "ray", "spark", "tf2")

SparkTFEstimator = TensorFlow2Estimator = BigDLKerasEstimator


class Estimator(KerasFactory):
    """Makes Estimators of Keras models."""

    @staticmethod
    def from_keras(
        *,
        model_creator: Callable[[dict[str, Any]], Any] | None = None,
        config: dict[str, Any] | None = None,
        verbose: bool = False,
        workers_per_node: int = 1,
        compile_args_creator: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
        backend: str = "ray",
        cpu_binding: bool = False,
        log_to_driver: bool = True,
        model_dir: str | None = None,
        **_: object,
    ) -> BigDLKerasEstimator:
        """Make an Estimator of a function that makes a model of a config.

        Without `model_creator` it has none until `load`. Parameters are those of
        `xshards.learn.tf.Estimator.from_keras`; checkpoints go to `model_dir` after
        each epoch. All backends train the same way, by the parameter server; all other
        arguments have no effect.
        """
        if backend == "spark" and cpu_binding:
            msg = "cpu_binding should not be True when using spark backend"
            raise OrcaInputError(msg)
        if backend not in _BACKENDS:
            msg = (
                "Only horovod, ray and spark backends are supported for now, got "
                f"backend: {backend}"
            )
            raise OrcaInputError(msg)
        options = make_options(
            backend=backend,
            model_creator=model_creator,
            compile_args_creator=compile_args_creator,
            config=config,
            workers_per_node=workers_per_node,
            model_dir=model_dir,
        )
        return BigDLKerasEstimator(options)
