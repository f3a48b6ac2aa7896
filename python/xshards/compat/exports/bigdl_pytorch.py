# SPDX-License-Identifier: Apache-2.0
"""What ``bigdl.orca.learn.pytorch`` exports."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, NoReturn

from xshards.compat.errors import OrcaInputError
from xshards.compat.later import not_yet
from xshards.compat.orca.torch_estimators import (
    OrcaEstimator,
    SparkEstimator,
    engine,
    workers_of,
)
from xshards.learn import pytorch
from xshards.learn.pytorch import TrainingOperator
from xshards.learn.training.checkpoint_files import latest_checkpoint

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Estimator", "TrainingOperator"]

_BACKENDS = ("spark", "ray", "horovod")


class Estimator:
    """Makes Estimators of PyTorch models."""

    def __new__(cls, *_: object, **__: object) -> NoReturn:
        """Refuse: Estimators are made by `from_torch`."""
        msg = "call Estimator.from_torch to make an Estimator"
        raise OrcaInputError(msg)

    @staticmethod
    def from_torch(
        *,
        model: Any = None,
        optimizer: Any = None,
        loss: Any = None,
        metrics: Any = None,
        backend: str = "spark",
        config: dict[str, Any] | None = None,
        workers_per_node: int = 1,
        scheduler_creator: Callable[..., Any] | None = None,
        use_tqdm: bool = False,
        model_dir: str | None = None,
        sync_stats: bool = False,
        log_level: int = logging.INFO,
        log_to_driver: bool = True,
        training_operator_cls: type[TrainingOperator] = TrainingOperator,
        initialization_hook: Callable[[], object] | None = None,
        scheduler_step_freq: Any = "batch",
    ) -> OrcaEstimator:
        """Make an Estimator of a model, an optimizer and a loss, or of their creators.

        Parameters are those of `xshards.learn.pytorch.Estimator.from_torch`. All
        backends train the same way. `log_level` and `log_to_driver` have no effect.
        """
        if backend not in _BACKENDS:
            known = ", ".join(_BACKENDS)
            msg = f"Only {known} are supported as backend, but got {backend!r}"
            raise OrcaInputError(msg)
        return SparkEstimator(
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
                sync_stats=sync_stats,
                context=engine(),
            )
        )

    @staticmethod
    def from_mmcv(**_: object) -> NoReturn:
        """Say that this comes later."""
        name = "bigdl.orca.learn.pytorch.Estimator.from_mmcv"
        raise not_yet(name, "runners of MMCV")

    latest_checkpoint = staticmethod(latest_checkpoint)
