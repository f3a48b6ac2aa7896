# SPDX-License-Identifier: Apache-2.0
"""Makes ``import tensorflow as tf`` what it was when TFPark's scripts were written."""

from __future__ import annotations

import importlib
import logging
import sys
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from xshards.learn.tf1.framework import tf

__all__ = ["use_version_1"]

_done = False


def use_version_1() -> None:
    """Give the module ``tensorflow`` the names of version 1, and ``tf.contrib.slim``.

    It is changed in place, for a script may have imported it already. Scripts that use
    TensorFlow 2 do not come here: what does is importing names of TFPark or of the
    TensorFlow 1 Estimator.
    """
    global _done
    if _done:
        return
    _done = True
    module = importlib.import_module("tensorflow")
    level = tf.logging.get_verbosity()
    tf.logging.set_verbosity(tf.logging.ERROR)  # it warns of what is wanted here
    tf.disable_v2_behavior()
    tf.logging.set_verbosity(level)
    for name, value in vars(tf).items():
        if not name.startswith("_"):
            setattr(module, name, value)
    contrib = _Contrib("tensorflow.contrib")
    vars(module)["contrib"] = vars(tf)["contrib"] = contrib
    sys.modules["tensorflow.contrib"] = contrib
    if "estimator" not in vars(tf):
        vars(module)["estimator"] = vars(tf)["estimator"] = _estimator()
    logging.getLogger(__name__).info(
        "the module tensorflow has the names of TensorFlow 1 from now on"
    )


@dataclass
class EstimatorSpec:
    """What a model function returns; tf.estimator is gone since TensorFlow 2.16."""

    mode: str
    predictions: Any = None
    loss: Any = None
    train_op: Any = None
    eval_metric_ops: Any = None
    export_outputs: Any = None


class ModeKeys:
    """What a model function is called for."""

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"


def _estimator() -> ModuleType:
    made = ModuleType("tensorflow.estimator")
    vars(made).update(EstimatorSpec=EstimatorSpec, ModeKeys=ModeKeys)
    return made


class _Contrib(ModuleType):
    """What is left of tf.contrib: packages of their own."""

    __path__: list[str] = []  # noqa: RUF012 - as packages have it

    def __getattr__(self, name: str) -> Any:
        if name != "slim":
            msg = f"module 'tensorflow.contrib' has no {name!r} any more"
            raise AttributeError(msg)
        found = _slim()
        sys.modules["tensorflow.contrib.slim"] = found
        self.slim = found
        return found


def _slim() -> ModuleType:
    try:
        return importlib.import_module("tf_slim")
    except ModuleNotFoundError as error:
        msg = "tf.contrib.slim is a package now; pip install --no-deps tf-slim"
        raise ModuleNotFoundError(msg) from error
