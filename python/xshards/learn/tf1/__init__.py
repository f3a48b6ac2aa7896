# SPDX-License-Identifier: Apache-2.0
"""Trains TensorFlow 1 graphs: placeholders, variables, a loss and a session.

TensorFlow is loaded when the first of these names is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xshards.learn.tf1.estimator import Estimator
    from xshards.learn.tf1.keras_estimator import KerasEstimator

__all__ = ["Estimator", "KerasEstimator"]

_MODULES = {"Estimator": "estimator", "KerasEstimator": "keras_estimator"}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    module = importlib.import_module(f"{__name__}.{_MODULES[name]}")
    return getattr(module, name)
