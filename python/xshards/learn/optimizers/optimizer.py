# SPDX-License-Identifier: Apache-2.0
"""Optimizers with Orca's arguments, which the parameter server runs."""

from __future__ import annotations

import sys
from dataclasses import InitVar, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from xshards.errors import XShardsNotImplementedError
from xshards.learn.optimizers.schedule import Default, Scheduler, checked

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xshards import _core

__all__ = [
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "Adamax",
    "Ftrl",
    "Optimizer",
    "ParallelAdam",
    "RMSprop",
]

Rule = tuple[str, dict[str, float]]


class Optimizer:
    """How gradients update the weights.

    It is a description: it holds no parameters and no state, so one can be used for
    several estimators. A subclass names its rule and which attribute is which option.

    Examples
    --------
    >>> from xshards.learn.optimizers import Adam, Optimizer
    >>> isinstance(Adam(), Optimizer)
    True
    """

    #: The update rule of the parameter server, and its options by their names there: an
    #: attribute's name, or a number.
    _rule: ClassVar[tuple[str, Mapping[str, str | float]]]
    #: How the learning rate changes; None if it is constant.
    scheduler: Scheduler | None = None
    learningrate_decay: float = 0.0

    def rule(self) -> Rule:
        """Return the update rule of the parameter server, and its options.

        Returns
        -------
        (str, dict of str to float)
            The rule's name and its options.

        Raises
        ------
        XShardsNotImplementedError
            If the parameter server has no such rule.

        Examples
        --------
        >>> from xshards.learn.optimizers import Adam
        >>> name, options = Adam(learningrate=0.01).rule()
        >>> name, options["learning_rate"]
        ('adam', 0.01)
        """
        name, options = self._rule
        return name, {
            option: float(getattr(self, source) if isinstance(source, str) else source)
            for option, source in options.items()
        }

    @property
    def schedule(self) -> _core.LearningRateSchedule | None:
        """A new schedule in its initial state; None if the rate is constant."""
        if self.scheduler is None:
            return None
        return self.scheduler.native(self.learningrate_decay)

    @property
    def monitor(self) -> str | None:
        """The result of an epoch that the schedule monitors, if any."""
        return self.scheduler.monitor if self.scheduler is not None else None

    def __repr__(self) -> str:
        name, options = self.rule()
        shown = ", ".join(f"{key}={value:g}" for key, value in options.items())
        return f"{type(self).__name__}({name}: {shown})"


class _Decaying(Optimizer):
    """Divides the rate by 1 + iteration * learningrate_decay."""

    def __post_init__(self) -> None:
        if self.learningrate_decay:
            self.scheduler = Default()


@dataclass(repr=False, eq=False)
class SGD(_Decaying):
    """Stochastic gradient descent.

    Parameters
    ----------
    learningrate, momentum, weightdecay, nesterov
        As torch has them.
    learningrate_decay
        The rate is divided by 1 + iteration * this, unless a schedule says otherwise.
    dampening
        By default the momentum, and 0 with `nesterov`.
    learningrate_schedule
        One of `xshards.learn.optimizers.schedule`.
    learningrates, weightdecays
        Values for single weights are not supported; leave them out.

    Raises
    ------
    XShardsNotImplementedError
        If values for single weights are given.
    XShardsTypeError
        If `learningrate_schedule` is not a schedule.

    Examples
    --------
    >>> from xshards.learn.optimizers import SGD
    >>> SGD(0.1, momentum=0.9, dampening=0.0).rule()
    ('sgd', {'learning_rate': 0.1, 'momentum': 0.9, 'dampening': 0.0,
     'weight_decay': 0.0, 'nesterov': 0.0})
    """

    _rule = (
        "sgd",
        {
            "learning_rate": "learningrate",
            "momentum": "momentum",
            "dampening": "dampening",
            "weight_decay": "weightdecay",
            "nesterov": "nesterov",
        },
    )
    learningrate: float = 1e-3
    learningrate_decay: float = 0.0
    weightdecay: float = 0.0
    momentum: float = 0.0
    dampening: float = sys.float_info.max
    nesterov: bool = False
    learningrate_schedule: InitVar[Scheduler | None] = None
    learningrates: InitVar[Any] = None
    weightdecays: InitVar[Any] = None

    def __post_init__(
        self,
        learningrate_schedule: Scheduler | None,
        learningrates: Any,
        weightdecays: Any,
    ) -> None:
        if learningrates is not None or weightdecays is not None:
            msg = (
                "SGD: learningrates and weightdecays for single weights are not "
                "supported; use parameter groups of a torch optimizer"
            )
            raise XShardsNotImplementedError(msg)
        if self.dampening == sys.float_info.max:
            self.dampening = 0.0 if self.nesterov else self.momentum
        super().__post_init__()
        if learningrate_schedule is not None:
            self.scheduler = checked(learningrate_schedule)


@dataclass(repr=False, eq=False)
class Adagrad(Optimizer):
    """Adagrad: rates that shrink with the sum of squared gradients.

    Parameters
    ----------
    learningrate, weightdecay
        As torch has them.
    learningrate_decay
        The rate is divided by 1 + iteration * this.

    Examples
    --------
    >>> from xshards.learn.optimizers import Adagrad
    >>> Adagrad(0.1)
    Adagrad(adagrad: learning_rate=0.1, learning_rate_decay=0, weight_decay=0)
    """

    _rule = (
        "adagrad",
        {
            "learning_rate": "learningrate",
            "learning_rate_decay": "learningrate_decay",
            "weight_decay": "weightdecay",
        },
    )
    learningrate: float = 1e-3
    learningrate_decay: float = 0.0
    weightdecay: float = 0.0


@dataclass(repr=False, eq=False)
class Adadelta(Optimizer):
    """Adadelta: steps in the units of the weights, without a learning rate.

    Parameters
    ----------
    decayrate
        The share of the past in the running means.
    epsilon
        Added to the means before roots are taken.

    Examples
    --------
    >>> from xshards.learn.optimizers import Adadelta
    >>> Adadelta()
    Adadelta(adadelta: learning_rate=1, rho=0.9, epsilon=1e-10)
    """

    _rule = (
        "adadelta",
        {"learning_rate": 1.0, "rho": "decayrate", "epsilon": "epsilon"},
    )
    decayrate: float = 0.9
    epsilon: float = 1e-10


# Shared by Adam and Adamax.
_MOMENTS = {
    "learning_rate": "learningrate",
    "beta1": "beta1",
    "beta2": "beta2",
    "epsilon": "epsilon",
}


@dataclass(repr=False, eq=False)
class Adam(_Decaying):
    """Adam: means of gradients, scaled by those of their squares.

    Parameters
    ----------
    learningrate, beta1, beta2, epsilon
        As torch has them; the betas are the shares of the past in the two means.
    learningrate_decay
        The rate is divided by 1 + iteration * this.

    Examples
    --------
    >>> from xshards.learn.optimizers import Adam
    >>> Adam(0.01)
    Adam(adam: learning_rate=0.01, beta1=0.9, beta2=0.999, epsilon=1e-08)
    """

    _rule = ("adam", _MOMENTS)
    learningrate: float = 1e-3
    learningrate_decay: float = 0.0
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8


@dataclass(repr=False, eq=False)
class ParallelAdam(Adam):
    """Adam. Every optimizer here runs on all cores, whatever `parallel_num` says.

    Parameters
    ----------
    learningrate, learningrate_decay, beta1, beta2, epsilon
        As `Adam` has them.
    parallel_num
        Has no effect.

    Examples
    --------
    >>> from xshards.learn.optimizers import ParallelAdam
    >>> ParallelAdam(0.01, parallel_num=4).rule()[0]
    'adam'
    """

    parallel_num: int = -1


@dataclass(repr=False, eq=False)
class Ftrl(Optimizer):
    """Follow the regularised leader: weights that become exactly 0.

    Parameters
    ----------
    learningrate
        The rate at the first step.
    learningrate_power
        How the rate falls with the sum of squared gradients; 0 keeps it.
    initial_accumulator_value
        Where that sum begins.
    l1_regularization_strength, l2_regularization_strength
        Penalties on the weights.
    l2_shrinkage_regularization_strength
        A penalty on the weights in the gradient only.

    Examples
    --------
    >>> from xshards.learn.optimizers import Ftrl
    >>> Ftrl(0.1, l1_regularization_strength=0.01).rule()[1]["l1"]
    0.01
    """

    _rule = (
        "ftrl",
        {
            "learning_rate": "learningrate",
            "learning_rate_power": "learningrate_power",
            "initial_accumulator": "initial_accumulator_value",
            "l1": "l1_regularization_strength",
            "l2": "l2_regularization_strength",
            "l2_shrinkage": "l2_shrinkage_regularization_strength",
        },
    )
    learningrate: float = 1e-3
    learningrate_power: float = -0.5
    initial_accumulator_value: float = 0.1
    l1_regularization_strength: float = 0.0
    l2_regularization_strength: float = 0.0
    l2_shrinkage_regularization_strength: float = 0.0


@dataclass(repr=False, eq=False)
class Adamax(Optimizer):
    """Adam with the largest gradient in place of the mean of squares.

    Parameters
    ----------
    learningrate, beta1, beta2, epsilon
        As torch has them.

    Examples
    --------
    >>> from xshards.learn.optimizers import Adamax
    >>> Adamax()
    Adamax(adamax: learning_rate=0.002, beta1=0.9, beta2=0.999, epsilon=1e-38)
    """

    _rule = ("adamax", _MOMENTS)
    learningrate: float = 0.002
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-38


@dataclass(repr=False, eq=False)
class RMSprop(_Decaying):
    """RMSprop: gradients scaled by the mean of their squares.

    Parameters
    ----------
    learningrate, epsilon
        As torch has them.
    learningrate_decay
        The rate is divided by 1 + iteration * this.
    decayrate
        The share of the past in the mean.

    Examples
    --------
    >>> from xshards.learn.optimizers import RMSprop
    >>> RMSprop(decayrate=0.9)
    RMSprop(rmsprop: learning_rate=0.01, alpha=0.9, epsilon=1e-08)
    """

    _rule = (
        "rmsprop",
        {"learning_rate": "learningrate", "alpha": "decayrate", "epsilon": "epsilon"},
    )
    learningrate: float = 1e-2
    learningrate_decay: float = 0.0
    decayrate: float = 0.99
    epsilon: float = 1e-8


@dataclass(repr=False, eq=False)
class LBFGS(Optimizer):
    """Limited-memory BFGS, which asks for the loss several times a step.

    The parameter server has no such rule. `torch.optim.LBFGS` does the same with one
    replica.

    Parameters
    ----------
    max_iter, max_eval, tolfun, tolx, ncorrection, learningrate, verbose
        Kept, so that scripts can make one; nothing runs it.
    linesearch, linesearch_options
        Not supported; leave them out.

    Raises
    ------
    XShardsNotImplementedError
        If a line search is given.

    Examples
    --------
    >>> from xshards.learn.optimizers import LBFGS
    >>> LBFGS(max_iter=5)
    LBFGS(max_iter=5, learningrate=1)
    """

    max_iter: int = 20
    max_eval: float = sys.float_info.max
    tolfun: float = 1e-5
    tolx: float = 1e-9
    ncorrection: int = 100
    learningrate: float = 1.0
    verbose: bool = False
    linesearch: InitVar[Any] = None
    linesearch_options: InitVar[Any] = None

    def __post_init__(self, linesearch: Any, linesearch_options: Any) -> None:
        if linesearch is not None or linesearch_options is not None:
            msg = "LBFGS: a custom line search is not supported; omit it"
            raise XShardsNotImplementedError(msg)

    def rule(self) -> Rule:  # noqa: D102
        msg = (
            "LBFGS asks for the loss several times a step, which replicas cannot "
            "share; use torch.optim.LBFGS with one replica, or another optimizer"
        )
        raise XShardsNotImplementedError(msg)

    def __repr__(self) -> str:
        return f"LBFGS(max_iter={self.max_iter}, learningrate={self.learningrate:g})"
