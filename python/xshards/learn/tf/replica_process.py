# SPDX-License-Identifier: Apache-2.0
"""What a replica of a Keras model runs; the fork server imports it before it forks.

Importing TensorFlow starts nothing that a fork would lose: its threads start with the
first operation, which is in a replica.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from xshards.learn.tf.packages import load_tensorflow
from xshards.learn.training import replica_process

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xshards.runtime.channel import Channel
    from xshards.runtime.worker import Settings

__all__ = ["main"]

_tensorflow = load_tensorflow()


def main(channel: Channel, settings: Settings, output: Sequence[int]) -> NoReturn:
    """Share the cores with other replicas, then do what the driver asks."""
    threading = _tensorflow.config.threading
    threading.set_intra_op_parallelism_threads(settings.threads)
    threading.set_inter_op_parallelism_threads(1)
    replica_process.main(channel, settings, output)
