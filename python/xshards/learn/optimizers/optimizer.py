# SPDX-License-Identifier: Apache-2.0
"""Optimizers with Orca's arguments, which the parameter server runs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from xshards.errors import XShardsNotImplementedError
from xshards.learn.optimizers.schedule import Default, Scheduler, checked

if TYPE_CHECKING:
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
    """What an update of the weights does with the gradients.

    It is a description: it holds no parameters and no state, so one can be used for
    several estimators.
    """

    #: How the learning rate changes; None if it stays.
    scheduler: Scheduler | None = None
    learningrate_decay: float = 0.0

    def rule(self) -> Rule:
        """Give the update rule of the parameter server, and its options."""
        raise NotImplementedError

    @property
    def schedule(self) -> _core.LearningRateSchedule | None:
        """A new schedule, which has seen nothing; None if the rate stays."""
        if self.scheduler is None:
            return None
        return self.scheduler.native(self.learningrate_decay)

    @property
    def monitor(self) -> str | None:
        """The value that the schedule wants to be told at each epoch's end, if any."""
        return self.scheduler.monitor if self.scheduler is not None else None

    def _decay(self, learningrate_decay: float) -> None:
        self.learningrate_decay = learningrate_decay
        if learningrate_decay:
            self.scheduler = Default()

    def __repr__(self) -> str:
        name, options = self.rule()
        shown = ", ".join(f"{key}={value:g}" for key, value in options.items())
        return f"{type(self).__name__}({name}: {shown})"


class SGD(Optimizer):
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

    Examples
    --------
    >>> from xshards.learn.optimizers import SGD
    >>> SGD(0.1, momentum=0.9, dampening=0.0).rule()
    ('sgd', {'learning_rate': 0.1, 'momentum': 0.9, 'dampening': 0.0,
     'weight_decay': 0.0, 'nesterov': 0.0})
    """

    def __init__(
        self,
        learningrate: float = 1e-3,
        learningrate_decay: float = 0.0,
        weightdecay: float = 0.0,
        momentum: float = 0.0,
        dampening: float = sys.float_info.max,
        nesterov: bool = False,  # noqa: FBT001
        learningrate_schedule: Scheduler | None = None,
        learningrates: Any = None,
        weightdecays: Any = None,
    ) -> None:
        if learningrates is not None or weightdecays is not None:
            msg = (
                "SGD: learningrates and weightdecays for single weights are not "
                "supported; use parameter groups of a torch optimizer"
            )
            raise XShardsNotImplementedError(msg)
        self.learningrate = learningrate
        self.weightdecay = weightdecay
        self.momentum = momentum
        self.nesterov = nesterov
        if dampening == sys.float_info.max:
            dampening = 0.0 if nesterov else momentum
        self.dampening = dampening
        self._decay(learningrate_decay)
        if learningrate_schedule is not None:
            self.scheduler = checked(learningrate_schedule)

    def rule(self) -> Rule:  # noqa: D102
        return "sgd", {
            "learning_rate": float(self.learningrate),
            "momentum": float(self.momentum),
            "dampening": float(self.dampening),
            "weight_decay": float(self.weightdecay),
            "nesterov": float(self.nesterov),
        }


class Adagrad(Optimizer):
    """Adagrad: rates that shrink with the sum of squared gradients."""

    def __init__(
        self,
        learningrate: float = 1e-3,
        learningrate_decay: float = 0.0,
        weightdecay: float = 0.0,
    ) -> None:
        self.learningrate = learningrate
        self.learningrate_decay = learningrate_decay
        self.weightdecay = weightdecay

    def rule(self) -> Rule:  # noqa: D102
        return "adagrad", {
            "learning_rate": float(self.learningrate),
            "learning_rate_decay": float(self.learningrate_decay),
            "weight_decay": float(self.weightdecay),
        }


class Adadelta(Optimizer):
    """Adadelta: steps in the units of the weights, without a learning rate."""

    def __init__(self, decayrate: float = 0.9, epsilon: float = 1e-10) -> None:
        self.decayrate = decayrate
        self.epsilon = epsilon

    def rule(self) -> Rule:  # noqa: D102
        return "adadelta", {
            "learning_rate": 1.0,
            "rho": float(self.decayrate),
            "epsilon": float(self.epsilon),
        }


class Adam(Optimizer):
    """Adam: means of gradients, scaled by those of their squares."""

    def __init__(
        self,
        learningrate: float = 1e-3,
        learningrate_decay: float = 0.0,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
    ) -> None:
        self.learningrate = learningrate
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self._decay(learningrate_decay)

    def rule(self) -> Rule:  # noqa: D102
        return "adam", {
            "learning_rate": float(self.learningrate),
            "beta1": float(self.beta1),
            "beta2": float(self.beta2),
            "epsilon": float(self.epsilon),
        }


class ParallelAdam(Adam):
    """Adam. Every optimizer here runs on all cores, whatever `parallel_num` says."""

    def __init__(
        self,
        learningrate: float = 1e-3,
        learningrate_decay: float = 0.0,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        parallel_num: int = -1,
    ) -> None:
        super().__init__(learningrate, learningrate_decay, beta1, beta2, epsilon)
        self.parallel_num = parallel_num


class Ftrl(Optimizer):
    """Follow the regularised leader: weights that become exactly 0."""

    def __init__(
        self,
        learningrate: float = 1e-3,
        learningrate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        l2_shrinkage_regularization_strength: float = 0.0,
    ) -> None:
        self.learningrate = learningrate
        self.learningrate_power = learningrate_power
        self.initial_accumulator_value = initial_accumulator_value
        self.l1_regularization_strength = l1_regularization_strength
        self.l2_regularization_strength = l2_regularization_strength
        self.l2_shrinkage_regularization_strength = l2_shrinkage_regularization_strength

    def rule(self) -> Rule:  # noqa: D102
        return "ftrl", {
            "learning_rate": float(self.learningrate),
            "learning_rate_power": float(self.learningrate_power),
            "initial_accumulator": float(self.initial_accumulator_value),
            "l1": float(self.l1_regularization_strength),
            "l2": float(self.l2_regularization_strength),
            "l2_shrinkage": float(self.l2_shrinkage_regularization_strength),
        }


class Adamax(Optimizer):
    """Adam with the largest gradient in place of the mean of squares."""

    def __init__(
        self,
        learningrate: float = 0.002,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-38,
    ) -> None:
        self.learningrate = learningrate
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon

    def rule(self) -> Rule:  # noqa: D102
        return "adamax", {
            "learning_rate": float(self.learningrate),
            "beta1": float(self.beta1),
            "beta2": float(self.beta2),
            "epsilon": float(self.epsilon),
        }


class RMSprop(Optimizer):
    """RMSprop: gradients scaled by the mean of their squares."""

    def __init__(
        self,
        learningrate: float = 1e-2,
        learningrate_decay: float = 0.0,
        decayrate: float = 0.99,
        epsilon: float = 1e-8,
    ) -> None:
        self.learningrate = learningrate
        self.decayrate = decayrate
        self.epsilon = epsilon
        self._decay(learningrate_decay)

    def rule(self) -> Rule:  # noqa: D102
        return "rmsprop", {
            "learning_rate": float(self.learningrate),
            "alpha": float(self.decayrate),
            "epsilon": float(self.epsilon),
        }


class LBFGS(Optimizer):
    """Limited-memory BFGS, which asks for the loss several times a step.

    The parameter server has no such rule. `torch.optim.LBFGS` does the same with one
    replica.
    """

    def __init__(
        self,
        max_iter: int = 20,
        max_eval: float = sys.float_info.max,
        tolfun: float = 1e-5,
        tolx: float = 1e-9,
        ncorrection: int = 100,
        learningrate: float = 1.0,
        verbose: bool = False,  # noqa: FBT001
        linesearch: Any = None,
        linesearch_options: Any = None,
    ) -> None:
        if linesearch is not None or linesearch_options is not None:
            msg = "LBFGS: a line search of one's own is not supported; leave it out"
            raise XShardsNotImplementedError(msg)
        self.max_iter = max_iter
        self.max_eval = max_eval
        self.tolfun = tolfun
        self.tolx = tolx
        self.ncorrection = ncorrection
        self.learningrate = learningrate
        self.verbose = verbose

    def rule(self) -> Rule:  # noqa: D102
        msg = (
            "LBFGS asks for the loss several times a step, which replicas cannot "
            "share; use torch.optim.LBFGS with one replica, or another optimizer"
        )
        raise XShardsNotImplementedError(msg)

    def __repr__(self) -> str:
        return f"LBFGS(max_iter={self.max_iter}, learningrate={self.learningrate:g})"
