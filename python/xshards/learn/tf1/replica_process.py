# SPDX-License-Identifier: Apache-2.0
"""What a replica of a graph runs; the fork server imports it before it forks."""

from __future__ import annotations

# Takes seconds: it should be there when replicas are forked.
from xshards.learn.tf1 import graph_session
from xshards.learn.training.replica_process import main

__all__ = ["graph_session", "main"]
