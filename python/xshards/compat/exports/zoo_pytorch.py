# SPDX-License-Identifier: Apache-2.0
"""What ``zoo.orca.learn.pytorch`` exports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xshards.compat.orca.torch_estimators import (
    BigDLEstimator,
    EstimatorFactory,
    OrcaEstimator,
    WorkerEstimator,
    check_backend,
    make_estimator,
)
from xshards.learn.optimizers import SGD
from xshards.learn.pytorch import TrainingOperator

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Estimator", "TrainingOperator"]

_BACKENDS = {
    "bigdl": BigDLEstimator,
    "horovod": WorkerEstimator,
    "torch_distributed": WorkerEstimator,
}


class Estimator(EstimatorFactory):
    """Makes Estimators of PyTorch models."""

    @staticmethod
    def from_torch(
        *,
        model: Any,
        optimizer: Any = None,
        loss: Any = None,
        metrics: Any = None,
        scheduler_creator: Callable[..., Any] | None = None,
        training_operator_cls: type[TrainingOperator] = TrainingOperator,
        initialization_hook: Callable[[], object] | None = None,
        config: dict[str, Any] | None = None,
        scheduler_step_freq: Any = "batch",
        use_tqdm: bool = False,
        workers_per_node: int = 1,
        model_dir: str | None = None,
        backend: str = "bigdl",
    ) -> OrcaEstimator:
        """Make an Estimator of a model, an optimizer and a loss, or of their creators.

        Parameters are those of `xshards.learn.pytorch.Estimator.from_torch`. The
        backend decides the arguments of the methods; all but "torch_distributed" train
        by the parameter server.
        """
        given = dict(locals())
        check_backend(backend, _BACKENDS)
        if optimizer is None and backend == "bigdl":
            optimizer = SGD()
        distributed = backend == "torch_distributed"
        return _BACKENDS[backend](
            make_estimator(
                given,
                optimizer=optimizer,
                backend="torch_distributed" if distributed else "ps",
            )
        )
