# SPDX-License-Identifier: Apache-2.0
"""How the learning rate changes over iterations, under Orca's names."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Literal

from xshards import _core
from xshards.errors import XShardsTypeError, XShardsValueError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "Default",
    "Exponential",
    "MultiStep",
    "Plateau",
    "Poly",
    "Scheduler",
    "SequentialSchedule",
    "Step",
    "Warmup",
]


class Scheduler(ABC):
    """A description of a schedule; `native` makes one for a run.

    Examples
    --------
    >>> from xshards.learn.optimizers.schedule import Scheduler, Step
    >>> isinstance(Step(10, 0.5), Scheduler)
    True
    """

    #: The result of an epoch that the schedule monitors, if any.
    monitor: str | None = None

    @abstractmethod
    def native(self, learningrate_decay: float = 0.0) -> _core.LearningRateSchedule:
        """Make a schedule in its initial state.

        Parameters
        ----------
        learningrate_decay
            That of the optimizer.

        Returns
        -------
        LearningRateSchedule
            Its `rate_at` gives the rate of an iteration.

        Examples
        --------
        >>> from xshards.learn.optimizers.schedule import Step
        >>> schedule = Step(10, 0.5).native()
        >>> [schedule.rate_at(1.0, iteration) for iteration in (0, 10, 20)]
        [1.0, 0.5, 0.25]
        """


def checked(scheduler: object) -> Scheduler:
    """Return the schedule; anything else is named in an error."""
    if not isinstance(scheduler, Scheduler):
        msg = (
            "expected a schedule of xshards.learn.optimizers.schedule, "
            f"got {type(scheduler).__name__}"
        )
        raise XShardsTypeError(msg)
    return scheduler


class Default(Scheduler):
    """rate / (1 + iteration * the optimizer's learningrate_decay).

    Examples
    --------
    >>> from xshards.learn.optimizers.schedule import Default
    >>> schedule = Default().native(learningrate_decay=1.0)
    >>> [schedule.rate_at(1.0, iteration) for iteration in range(2)]
    [1.0, 0.5]
    """

    def native(  # noqa: D102
        self, learningrate_decay: float = 0.0
    ) -> _core.LearningRateSchedule:
        return _core.LearningRateSchedule.default(learningrate_decay)


class _Stateless(Scheduler):
    """A schedule defined by its arguments, which are checked by the constructor."""

    def __init__(self) -> None:
        self._make()

    def native(self, learningrate_decay: float = 0.0) -> _core.LearningRateSchedule:
        return self._make()

    @abstractmethod
    def _make(self) -> _core.LearningRateSchedule: ...


class Poly(_Stateless):
    """rate * (1 - iteration / max_iteration) ^ power, and 0 afterwards.

    Parameters
    ----------
    power
        How fast it falls.
    max_iteration
        Where it becomes 0.

    Raises
    ------
    XShardsValueError
        If an argument is out of range.

    Examples
    --------
    >>> from xshards.learn.optimizers.schedule import Poly
    >>> schedule = Poly(power=1, max_iteration=4).native()
    >>> [schedule.rate_at(0.5, iteration) for iteration in range(6)]
    [0.5, 0.375, 0.25, 0.125, 0.0, 0.0]
    """

    def __init__(self, power: float, max_iteration: int) -> None:
        self.power = power
        self.max_iteration = max_iteration
        super().__init__()

    def _make(self) -> _core.LearningRateSchedule:
        return _core.LearningRateSchedule.poly(self.power, self.max_iteration)


class Exponential(_Stateless):
    """rate * decay_rate ^ (iteration / decay_step), in whole steps if `stair_case`.

    Parameters
    ----------
    decay_step
        Iterations of a step.
    decay_rate
        What a step multiplies the rate by.
    stair_case
        Whether the rate stays within a step.

    Raises
    ------
    XShardsValueError
        If an argument is out of range.

    Examples
    --------
    >>> from xshards.learn.optimizers.schedule import Exponential
    >>> schedule = Exponential(2, 0.25, stair_case=True).native()
    >>> [schedule.rate_at(1.0, iteration) for iteration in range(4)]
    [1.0, 1.0, 0.25, 0.25]
    """

    def __init__(
        self,
        decay_step: int,
        decay_rate: float,
        stair_case: bool = False,  # noqa: FBT001
    ) -> None:
        self.decay_step = decay_step
        self.decay_rate = decay_rate
        self.stair_case = stair_case
        super().__init__()

    def _make(self) -> _core.LearningRateSchedule:
        return _core.LearningRateSchedule.exponential(
            self.decay_step, self.decay_rate, self.stair_case
        )


class Step(_Stateless):
    """rate * gamma ^ floor(iteration / step_size).

    Parameters
    ----------
    step_size
        Iterations of a step.
    gamma
        What a step multiplies the rate by.

    Raises
    ------
    XShardsValueError
        If an argument is out of range.

    Examples
    --------
    >>> from xshards.learn.optimizers.schedule import Step
    >>> schedule = Step(2, 0.5).native()
    >>> [schedule.rate_at(1.0, iteration) for iteration in range(4)]
    [1.0, 1.0, 0.5, 0.5]
    """

    def __init__(self, step_size: int, gamma: float) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__()

    def _make(self) -> _core.LearningRateSchedule:
        return _core.LearningRateSchedule.step(self.step_size, self.gamma)


class MultiStep(_Stateless):
    """rate * gamma for each of the ascending step sizes that has been reached.

    Parameters
    ----------
    step_sizes
        Iterations at which the rate changes.
    gamma
        What the rate is multiplied by.

    Raises
    ------
    XShardsValueError
        If an argument is out of range.

    Examples
    --------
    >>> from xshards.learn.optimizers.schedule import MultiStep
    >>> schedule = MultiStep([1, 3], 0.5).native()
    >>> [schedule.rate_at(1.0, iteration) for iteration in range(4)]
    [1.0, 0.5, 0.5, 0.25]
    """

    def __init__(self, step_sizes: Sequence[int], gamma: float) -> None:
        self.step_sizes = list(step_sizes)
        self.gamma = gamma
        super().__init__()

    def _make(self) -> _core.LearningRateSchedule:
        return _core.LearningRateSchedule.multi_step(self.step_sizes, self.gamma)


class Warmup(_Stateless):
    """rate + delta * iteration.

    Parameters
    ----------
    delta
        What each iteration adds.

    Raises
    ------
    XShardsValueError
        If an argument is out of range.

    Examples
    --------
    >>> from xshards.learn.optimizers.schedule import Warmup
    >>> schedule = Warmup(0.5).native()
    >>> [schedule.rate_at(1.0, iteration) for iteration in range(3)]
    [1.0, 1.5, 2.0]
    """

    def __init__(self, delta: float) -> None:
        self.delta = delta
        super().__init__()

    def _make(self) -> _core.LearningRateSchedule:
        return _core.LearningRateSchedule.warmup(self.delta)


class Plateau(_Stateless):
    """Reduces the rate when a monitored value has stopped improving.

    Parameters
    ----------
    monitor
        What to watch: "loss", "score", or the name of a validation metric.
    factor
        What to multiply the rate by.
    patience
        Epochs without improvement to wait for.
    mode
        Whether less or more is better.
    epsilon
        Smaller changes do not count as improvement.
    cooldown
        Epochs after a reduction in which none is counted.
    min_lr
        The rate to stop at.

    Raises
    ------
    XShardsValueError
        If `mode` is unknown, or a number is out of range.

    Examples
    --------
    >>> from xshards.learn.optimizers import SGD
    >>> from xshards.learn.optimizers.schedule import Plateau
    >>> SGD(0.1, learningrate_schedule=Plateau("val_loss", patience=2)).monitor
    'val_loss'
    """

    def __init__(
        self,
        monitor: str,
        factor: float = 0.1,
        patience: int = 10,
        mode: Literal["min", "max"] = "min",
        epsilon: float = 1e-4,
        cooldown: int = 0,
        min_lr: float = 0.0,
    ) -> None:
        if mode not in ("min", "max"):
            msg = f'Plateau: mode must be "min" or "max", got {mode!r}'
            raise XShardsValueError(msg)
        self.monitor = monitor
        self.factor = factor
        self.patience = patience
        self.mode = mode
        self.epsilon = epsilon
        self.cooldown = cooldown
        self.min_lr = min_lr
        super().__init__()

    def _make(self) -> _core.LearningRateSchedule:
        return _core.LearningRateSchedule.plateau(
            factor=self.factor,
            patience=self.patience,
            maximize=self.mode == "max",
            epsilon=self.epsilon,
            cooldown=self.cooldown,
            min_rate=self.min_lr,
        )


class SequentialSchedule(Scheduler):
    """One schedule after another, each starting from the last rate of the one before.

    Parameters
    ----------
    iteration_per_epoch
        Accepted for compatibility with Orca; epochs are counted as they end.

    Examples
    --------
    >>> from xshards.learn.optimizers.schedule import *
    >>> sequence = SequentialSchedule(5).add(Warmup(1.0), 2).add(Step(1, 0.5), 9)
    >>> schedule = sequence.native()
    >>> [schedule.rate_at(8.0, iteration) for iteration in range(5)]
    [8.0, 9.0, 10.0, 5.0, 2.5]
    """

    def __init__(self, iteration_per_epoch: int) -> None:
        self.iteration_per_epoch = iteration_per_epoch
        self._parts: list[tuple[Scheduler, int]] = []

    def add(self, scheduler: Scheduler, max_iteration: int) -> SequentialSchedule:
        """Append a schedule for a number of iterations; the last one goes on.

        Parameters
        ----------
        scheduler
            Any other schedule.
        max_iteration
            How long it holds.

        Returns
        -------
        SequentialSchedule
            This one, to add more.

        Examples
        --------
        >>> from xshards.learn.optimizers.schedule import SequentialSchedule, Warmup
        >>> schedule = SequentialSchedule(1).add(Warmup(1.0), 5).add(Warmup(0.0), 5)
        >>> schedule.native().rate_at(8.0, 3)
        11.0
        """
        self._parts.append((checked(scheduler), max_iteration))
        self.monitor = self.monitor or scheduler.monitor
        self.native()
        return self

    def native(  # noqa: D102
        self, learningrate_decay: float = 0.0
    ) -> _core.LearningRateSchedule:
        return _core.LearningRateSchedule.sequential(
            [(part.native(learningrate_decay), count) for part, count in self._parts]
        )
