# SPDX-License-Identifier: Apache-2.0
"""Code of one's own at each stage of training, validation and prediction."""

from xshards.learn.callbacks.base import Callback, Runner
from xshards.learn.callbacks.early_stopping import EarlyStopping
from xshards.learn.callbacks.max_steps import MaxstepsCallback
from xshards.learn.callbacks.model_checkpoint import ModelCheckpoint
from xshards.learn.callbacks.tensorboard import TensorBoardCallback
from xshards.learn.callbacks.tqdm import TqdmCallback

__all__ = [
    "Callback",
    "EarlyStopping",
    "MaxstepsCallback",
    "ModelCheckpoint",
    "Runner",
    "TensorBoardCallback",
    "TqdmCallback",
]
