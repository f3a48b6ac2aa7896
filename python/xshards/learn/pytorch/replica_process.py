# SPDX-License-Identifier: Apache-2.0
"""What a replica of a torch model runs; the fork server imports it before it forks."""

from __future__ import annotations

# Optimizers import it when they are created, which takes seconds: import it before
# replicas are forked.
from xshards.learn.training.replica_process import main

__all__ = ["main"]
