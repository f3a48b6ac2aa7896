# SPDX-License-Identifier: Apache-2.0
"""Code of one's own at each stage of training, validation and prediction."""

from xshards.learn.pytorch.callbacks.base import Callback, Runner
from xshards.learn.pytorch.callbacks.early_stopping import EarlyStopping
from xshards.learn.pytorch.callbacks.maincallback import (
    MainCallback,
    with_main_callback,
)
from xshards.learn.pytorch.callbacks.maxsteps import MaxstepsCallback
from xshards.learn.pytorch.callbacks.model_checkpoint import ModelCheckpoint
from xshards.learn.pytorch.callbacks.tensorboard import TensorBoardCallback
from xshards.learn.pytorch.callbacks.tqdm import TqdmCallback

__all__ = [
    "Callback",
    "EarlyStopping",
    "MainCallback",
    "MaxstepsCallback",
    "ModelCheckpoint",
    "Runner",
    "TensorBoardCallback",
    "TqdmCallback",
    "with_main_callback",
]
