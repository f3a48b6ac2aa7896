# SPDX-License-Identifier: Apache-2.0
"""Optimizers of the parameter server under Orca's names; no framework is needed."""

from xshards.learn.optimizers.optimizer import (
    LBFGS,
    SGD,
    Adadelta,
    Adagrad,
    Adam,
    Adamax,
    Ftrl,
    Optimizer,
    ParallelAdam,
    RMSprop,
)

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
