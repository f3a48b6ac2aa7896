# SPDX-License-Identifier: Apache-2.0
"""What is sent to a worker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pickle
    from collections.abc import Mapping

__all__ = ["Item", "Request", "Surroundings"]


@dataclass(frozen=True)
class Surroundings:
    """The environment of a function, which workers take over from their parent."""

    #: No other job of the session has this number.
    job: int
    directory: str
    module_path: tuple[str, ...]
    #: The levels of the loggers that have one; the root's is under "".
    log_levels: tuple[tuple[str, int], ...]
    #: What to call first; see `worker_setup`.
    setup: tuple[str, ...]


@dataclass(frozen=True)
class Item:
    """One fragment to run."""

    index: int
    fragment: pickle.PickleBuffer | memoryview
    #: (kind, size) of each segment.
    segments: list[tuple[int, int]]


@dataclass(frozen=True)
class Request:
    """Fragments to run, one after the other.

    Descriptors travel beside it: of the claims (see `Assignment`), of the items'
    segments and of the shared values, in this order.
    """

    items: list[Item]
    #: Pickles of the functions this worker has not had yet, by hash.
    functions: Mapping[str, pickle.PickleBuffer | memoryview]
    #: Names and sizes of the shared values it has not had yet.
    values: list[tuple[str, int]]
    #: Drop functions and values sent before: the parent relies on none of them.
    forget: bool
    #: If they are not what was sent before: a job begins, and what functions of others
    #: did to the process is undone.
    surroundings: Surroundings | None
    #: Call functions for a partition without rows too, to learn what they return.
    call_on_empty: bool
