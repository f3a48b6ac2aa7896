# SPDX-License-Identifier: Apache-2.0
"""When to write a checkpoint, validate or stop: conditions on how far training is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from xshards.errors import XShardsTypeError, XShardsValueError

__all__ = [
    "And",
    "EveryEpoch",
    "MaxEpoch",
    "MaxIteration",
    "MaxScore",
    "MinLoss",
    "Or",
    "SeveralIteration",
    "TrainingState",
    "Trigger",
    "convert_trigger",
]


@dataclass(frozen=True)
class TrainingState:
    """How far training is, after an update of the weights.

    Parameters
    ----------
    epoch
        Epochs that are finished.
    iteration
        Updates made since training began.
    loss
        The loss of the last update; None if it is not known.
    score
        The first validation metric, when it was last computed; None before.
    epoch_finished
        Whether this update was the last one of an epoch.

    Examples
    --------
    >>> from xshards.learn.trigger import TrainingState
    >>> TrainingState(epoch=1, iteration=40, epoch_finished=True).loss is None
    True
    """

    epoch: int
    iteration: int
    loss: float | None = None
    score: float | None = None
    epoch_finished: bool = False


class Trigger(ABC):
    """A condition on the state of training; `&` and `|` combine two.

    A trigger remembers nothing, so a run that was resumed goes on as the first did.

    Examples
    --------
    >>> from xshards.learn.trigger import Trigger, TrainingState
    >>> class Odd(Trigger):
    ...     def fires(self, state):
    ...         return state.iteration % 2 == 1
    >>> Odd().fires(TrainingState(0, 3))
    True
    """

    @abstractmethod
    def fires(self, state: TrainingState) -> bool:
        """Return whether the condition holds.

        Parameters
        ----------
        state
            How far training is.

        Returns
        -------
        bool
            True to act now.

        Examples
        --------
        >>> from xshards.learn.trigger import MaxEpoch, TrainingState
        >>> [MaxEpoch(3).fires(TrainingState(epoch, 10 * epoch)) for epoch in (2, 3)]
        [False, True]
        """

    def __and__(self, other: Trigger) -> Trigger:
        return And(self, other) if isinstance(other, Trigger) else NotImplemented

    def __or__(self, other: Trigger) -> Trigger:
        return Or(self, other) if isinstance(other, Trigger) else NotImplemented


@dataclass(frozen=True)
class EveryEpoch(Trigger):
    """Fires at the end of each epoch.

    Examples
    --------
    >>> from xshards.learn.trigger import EveryEpoch, TrainingState
    >>> EveryEpoch().fires(TrainingState(1, 10, epoch_finished=True))
    True
    """

    def fires(self, state: TrainingState) -> bool:  # noqa: D102
        return state.epoch_finished


@dataclass(frozen=True)
class SeveralIteration(Trigger):
    """Fires after every `interval` updates, over epochs.

    Parameters
    ----------
    interval
        Updates from one firing to the next.

    Raises
    ------
    XShardsTypeError, XShardsValueError
        If it is not an int, or less than 1.

    Examples
    --------
    >>> from xshards.learn.trigger import SeveralIteration, TrainingState
    >>> trigger = SeveralIteration(3)
    >>> [trigger.fires(TrainingState(0, iteration)) for iteration in range(7)]
    [False, False, False, True, False, False, True]
    """

    interval: int

    def __post_init__(self) -> None:
        _check_count("SeveralIteration: interval", self.interval)

    def fires(self, state: TrainingState) -> bool:  # noqa: D102
        return state.iteration > 0 and state.iteration % self.interval == 0


@dataclass(frozen=True)
class _AfterCount(Trigger):
    """Fires after a number of epochs or updates."""

    max: int

    def __post_init__(self) -> None:
        _check_count(f"{type(self).__name__}: max", self.max)


@dataclass(frozen=True)
class MaxEpoch(_AfterCount):
    """Fires once `max` epochs are finished.

    Parameters
    ----------
    max
        Epochs since training began.

    Raises
    ------
    XShardsTypeError, XShardsValueError
        If it is not an int, or less than 1.

    Examples
    --------
    >>> from xshards.learn.trigger import MaxEpoch, TrainingState
    >>> MaxEpoch(2).fires(TrainingState(2, 10))
    True
    """

    def fires(self, state: TrainingState) -> bool:  # noqa: D102
        return state.epoch >= self.max


@dataclass(frozen=True)
class MaxIteration(_AfterCount):
    """Fires once `max` updates are made; raises as `MaxEpoch` does.

    Parameters
    ----------
    max
        Updates since training began.

    Examples
    --------
    >>> from xshards.learn.trigger import MaxIteration, TrainingState
    >>> [MaxIteration(2).fires(TrainingState(0, update)) for update in range(4)]
    [False, False, True, True]
    """

    def fires(self, state: TrainingState) -> bool:  # noqa: D102
        return state.iteration >= self.max


@dataclass(frozen=True)
class MinLoss(Trigger):
    """Fires when the loss is below `min`.

    Parameters
    ----------
    min
        The loss to reach.

    Examples
    --------
    >>> from xshards.learn.trigger import MinLoss, TrainingState
    >>> MinLoss(0.5).fires(TrainingState(0, 10, loss=0.4))
    True
    """

    min: float

    def fires(self, state: TrainingState) -> bool:  # noqa: D102
        return state.loss is not None and state.loss < self.min


@dataclass(frozen=True)
class MaxScore(Trigger):
    """Fires when the validation score is above `max`.

    Parameters
    ----------
    max
        The score to reach; that of the first metric.

    Examples
    --------
    >>> from xshards.learn.trigger import MaxScore, TrainingState
    >>> MaxScore(0.9).fires(TrainingState(1, 10, score=0.95))
    True
    """

    max: float

    def fires(self, state: TrainingState) -> bool:  # noqa: D102
        return state.score is not None and state.score > self.max


class _Combined(Trigger):
    def __init__(self, first: Trigger, *others: Trigger) -> None:
        self.triggers = tuple(convert_trigger(each) for each in (first, *others))

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), self.triggers))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.triggers))})"


class And(_Combined):
    """Fires when all of its triggers do.

    Parameters
    ----------
    first, *others
        Triggers, or their names.

    Examples
    --------
    >>> from xshards.learn.trigger import EveryEpoch, MinLoss, TrainingState
    >>> good_epoch = EveryEpoch() & MinLoss(0.5)
    >>> good_epoch.fires(TrainingState(1, 10, loss=0.4, epoch_finished=True))
    True
    """

    def fires(self, state: TrainingState) -> bool:  # noqa: D102
        return all(trigger.fires(state) for trigger in self.triggers)


class Or(_Combined):
    """Fires when any of its triggers does.

    Parameters
    ----------
    first, *others
        Triggers, or their names.

    Examples
    --------
    >>> from xshards.learn.trigger import MaxEpoch, MinLoss, TrainingState
    >>> enough = MaxEpoch(10) | MinLoss(0.5)
    >>> enough.fires(TrainingState(1, 10, loss=0.4))
    True
    """

    def fires(self, state: TrainingState) -> bool:  # noqa: D102
        return any(trigger.fires(state) for trigger in self.triggers)


def convert_trigger(trigger: object) -> Trigger:
    """Return the trigger of a name ("everyepoch", in any case), or the trigger given.

    Parameters
    ----------
    trigger
        A trigger or its name.

    Returns
    -------
    Trigger
        The trigger.

    Raises
    ------
    XShardsTypeError, XShardsValueError
        If it is neither, or the name is unknown.

    Examples
    --------
    >>> from xshards.learn.trigger import convert_trigger
    >>> convert_trigger("EveryEpoch")
    EveryEpoch()
    """
    if isinstance(trigger, Trigger):
        return trigger
    if not isinstance(trigger, str):
        msg = f"expected a trigger or its name, got {type(trigger).__name__}"
        raise XShardsTypeError(msg)
    if trigger.lower() != "everyepoch":
        msg = (
            'the only trigger with a name is "everyepoch"; use SeveralIteration(n), '
            f"MaxEpoch(n) and the like for others, got {trigger!r}"
        )
        raise XShardsValueError(msg)
    return EveryEpoch()


def _check_count(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        msg = f"{name} must be an int, got {type(value).__name__}"
        raise XShardsTypeError(msg)
    if value < 1:
        msg = f"{name} must be at least 1, got {value}"
        raise XShardsValueError(msg)
