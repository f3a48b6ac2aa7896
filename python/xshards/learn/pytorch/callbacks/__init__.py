# SPDX-License-Identifier: Apache-2.0
"""Code of one's own at each stage of training, validation and prediction."""

from xshards.learn import callbacks as _neutral
from xshards.learn.callbacks import *  # noqa: F403 - all of them work with torch
from xshards.learn.pytorch.callbacks.maincallback import (
    MainCallback,
    with_main_callback,
)

__all__ = ["MainCallback", "with_main_callback"]
__all__ += _neutral.__all__
