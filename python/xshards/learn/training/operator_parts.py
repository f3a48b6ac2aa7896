# SPDX-License-Identifier: Apache-2.0
"""What an operator is given: models, optimizers and options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xshards.learn.training.replica_turn import Turn

__all__ = ["OperatorParts"]


class OperatorParts:
    """Keeps what `Operator` is made with, under the names that user code knows."""

    def __init__(
        self,
        config: dict[str, Any] | None,
        models: Sequence[Any],
        optimizers: Sequence[Any],
        world_rank: int,
        criterion: Any = None,
        schedulers: Sequence[Any] | None = None,
        use_fp16: bool = False,  # noqa: FBT001 - the signature users override
        use_tqdm: bool = False,  # noqa: FBT001
    ) -> None:
        self._config = config if config is not None else {}
        self._models = list(models)
        self._optimizers = list(optimizers)
        self._world_rank = world_rank
        self._criterion = criterion
        self._schedulers = list(schedulers or [])
        self._use_fp16 = use_fp16
        self._use_tqdm = use_tqdm
        self._scheduler_step_freq: str | None = "batch"
        self._turn: Turn | None = None
        self._output: Any = None  # of the last batch, for callbacks
        self._precision: str | None = None
        self.global_step = 0
        self.setup(self._config)

    def setup(self, config: dict[str, Any]) -> None:
        """Prepare what batches need; overridden by `Operator` and by users."""

    @property
    def config(self) -> dict[str, Any]:
        """What was given to the Estimator."""
        return self._config

    @property
    def model(self) -> Any:
        """The first model."""
        return self._models[0]

    @property
    def models(self) -> list[Any]:
        """All models."""
        return self._models

    @property
    def optimizer(self) -> Any:
        """The first optimizer."""
        return self._optimizers[0]

    @property
    def optimizers(self) -> list[Any]:
        """All optimizers."""
        return self._optimizers

    @property
    def criterion(self) -> Any:
        """The loss."""
        return self._criterion

    @property
    def scheduler(self) -> Any:
        """The first scheduler, or None."""
        return self._schedulers[0] if self._schedulers else None

    @property
    def schedulers(self) -> list[Any]:
        """All schedulers."""
        return self._schedulers

    @property
    def world_rank(self) -> int:
        """The number of this replica."""
        return self._world_rank

    @property
    def use_fp16(self) -> bool:
        """Whether half precision was asked for."""
        return self._use_fp16

    @property
    def use_tqdm(self) -> bool:
        """Whether a progress bar was asked for."""
        return self._use_tqdm
