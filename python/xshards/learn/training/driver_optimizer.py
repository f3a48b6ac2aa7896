# SPDX-License-Identifier: Apache-2.0
"""An optimizer as the driver has it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from xshards.errors import XShardsNotImplementedError, XShardsValueError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np

    from xshards import _core
    from xshards.learn.training.clip import Clip

__all__ = ["DriverOptimizer", "Rule", "Spec", "check_apart", "refuse_closure"]

#: (name, number of elements, dtype, parameter group), as the server wants it.
Spec = tuple[str, int, str, int]
#: An update rule of the parameter server: its name and options.
Rule = tuple[str, dict[str, float]]


class DriverOptimizer(ABC):
    """One optimizer of the framework, on the driver.

    It has the state that checkpoints are made of; while training runs the parameter
    server, or a replica, has it, and gives it back when asked.
    """

    #: The framework's object.
    handle: Any
    #: The parameters that it changes, each once. Their order is that of `specs`, of the
    #: weights in `adopt` and of indices everywhere.
    parameters: Sequence[Any]
    #: Whether a step evaluates the loss several times, which only one replica can do.
    evaluates_loss: bool = False
    #: Where a schedule begins, and which result of an epoch it waits for.
    base_rate: float = 0.0
    monitor: str | None = None

    @property
    def name(self) -> str:
        """The optimizer's class, for messages."""
        return type(self.handle).__name__

    @property
    @abstractmethod
    def shapes(self) -> list[tuple[int, ...]]:
        """The shape of each parameter."""

    @property
    def kinds(self) -> list[str | None]:
        """The type of each parameter that is narrower than the server's; else None."""
        return [None] * len(self.parameters)

    @property
    @abstractmethod
    def num_groups(self) -> int:
        """How many parameter groups there are."""

    @abstractmethod
    def specs(self, models: Sequence[Any]) -> list[Spec]:
        """Describe the parameters; refuses those that models do not have."""

    @abstractmethod
    def rules(self) -> list[Rule] | None:
        """Return the rule of each group; None if only the framework can update."""

    @abstractmethod
    def adopt(self, weights: Sequence[np.ndarray[Any, Any]]) -> None:
        """Copy the parameters to flat shared arrays and make them views of these."""

    def publish(self) -> None:
        """Copy parameters that could not become views of shared arrays to these."""
        return

    @abstractmethod
    def release(self) -> None:
        """Move the parameters to memory of their own again."""

    def step(
        self,
        gradients: Sequence[Sequence[tuple[float, np.ndarray[Any, Any]]]],
        clip: Clip,
    ) -> None:
        """Update the parameters by the framework's own rule.

        Called where `rules` is None, with the (weight, flat gradient) of each replica
        that has one, for each parameter. Writes to the arrays of `adopt`.
        """
        raise NotImplementedError

    @abstractmethod
    def set_options(self, options: Sequence[Mapping[str, Any]]) -> None:
        """Change options of the groups, in the framework's names."""

    def make_schedule(self) -> _core.LearningRateSchedule | None:
        """Return a new schedule of the learning rate, which the server follows.

        None if the rate is constant, or if the framework's schedulers change it.
        """
        return None

    def rate_options(self, rate: float) -> list[dict[str, Any]] | None:
        """Return options that set this learning rate; None if all groups have it."""
        return None

    @property
    def learning_rate(self) -> float | None:
        """The rate of the first group, for summaries."""
        return None

    @abstractmethod
    def store_state(
        self, index: int, steps: int, values: Mapping[str, np.ndarray[Any, Any]]
    ) -> None:
        """Keep copies of what the server has for a parameter, by the server's names.

        No steps means that there is nothing to keep.
        """

    @abstractmethod
    def stored_state(
        self, index: int, names: Sequence[str]
    ) -> tuple[int, Mapping[str, np.ndarray[Any, Any]]]:
        """Return the steps and flat values for a parameter; (0, {}) if not all."""

    @abstractmethod
    def state_dict(self) -> dict[str, Any]:
        """Return a copy of state and options: plain values and tensors."""

    @abstractmethod
    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take over what `state_dict` returned."""

    @abstractmethod
    def for_server(self) -> Any:
        """Return what `ModelAdapter.server_optimizer` makes its optimizer of."""

    def for_replica(self, num_replicas: int) -> Any:
        """Return all of it, for replicas that run it; refuses what they cannot."""
        msg = f"{self.name} is run by the parameter server only"
        raise XShardsNotImplementedError(msg)


def check_apart(optimizers: Iterable[DriverOptimizer]) -> None:
    """Refuse a parameter that two optimizers would change."""
    seen: set[int] = set()
    for optimizer in optimizers:
        own = {id(parameter) for parameter in optimizer.parameters}
        if own & seen:
            msg = (
                "two optimizers share a parameter; give each parameter to one of them, "
                "or use parameter groups"
            )
            raise XShardsValueError(msg)
        seen |= own


def refuse_closure(optimizer: DriverOptimizer) -> None:
    """Return the error for an optimizer that cannot serve several replicas."""
    msg = (
        f"{optimizer.name} evaluates the loss several times a step, which "
        "replicas cannot do together; use workers=1 or another optimizer"
    )
    raise XShardsValueError(msg)
