# SPDX-License-Identifier: Apache-2.0
"""What ``zoo.orca.learn.pytorch`` exports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from xshards.compat.errors import OrcaInputError
from xshards.compat.orca.torch_estimators import (
    BigDLEstimator,
    OrcaEstimator,
    WorkerEstimator,
    engine,
    workers_of,
)
from xshards.learn import pytorch
from xshards.learn.optimizers import SGD
from xshards.learn.pytorch import TrainingOperator
from xshards.learn.training.checkpoint_files import latest_checkpoint

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Estimator", "TrainingOperator"]

_BACKENDS = {
    "bigdl": BigDLEstimator,
    "horovod": WorkerEstimator,
    "torch_distributed": WorkerEstimator,
}


class Estimator:
    """Makes Estimators of PyTorch models."""

    def __new__(cls, *_: object, **__: object) -> NoReturn:
        """Refuse: Estimators are made by `from_torch`."""
        msg = "call Estimator.from_torch to make an Estimator"
        raise OrcaInputError(msg)

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
        if backend not in _BACKENDS:
            known = ", ".join(_BACKENDS)
            msg = f"Only {known} are supported as backend, but got {backend!r}"
            raise OrcaInputError(msg)
        if optimizer is None and backend == "bigdl":
            optimizer = SGD()
        return _BACKENDS[backend](
            pytorch.Estimator.from_torch(
                model=model,
                optimizer=optimizer,
                loss=loss,
                metrics=metrics,
                scheduler_creator=scheduler_creator,
                training_operator_cls=training_operator_cls,
                initialization_hook=initialization_hook,
                config=config,
                scheduler_step_freq=scheduler_step_freq,
                use_tqdm=use_tqdm,
                workers=workers_of(workers_per_node),
                model_dir=model_dir,
                backend="torch_distributed" if backend == "torch_distributed" else "ps",
                context=engine(),
            )
        )

    latest_checkpoint = staticmethod(latest_checkpoint)
