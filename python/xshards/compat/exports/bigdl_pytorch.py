# SPDX-License-Identifier: Apache-2.0
"""What ``bigdl.orca.learn.pytorch`` exports."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, NoReturn

from xshards.compat.later import not_yet
from xshards.compat.orca.torch_estimators import (
    EstimatorFactory,
    OrcaEstimator,
    SparkEstimator,
    check_backend,
    make_estimator,
)
from xshards.learn.pytorch import TrainingOperator

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Estimator", "TrainingOperator"]

_BACKENDS = ("spark", "ray", "horovod")


class Estimator(EstimatorFactory):
    """Makes Estimators of PyTorch models."""

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
        given = dict(locals())
        check_backend(backend, _BACKENDS)
        return SparkEstimator(make_estimator(given))

    @staticmethod
    def from_mmcv(**_: object) -> NoReturn:
        """Say that this comes later."""
        name = "bigdl.orca.learn.pytorch.Estimator.from_mmcv"
        raise not_yet(name, "runners of MMCV")
