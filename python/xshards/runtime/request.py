# SPDX-License-Identifier: Apache-2.0
"""What is sent to a worker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pickle
    from collections.abc import Mapping

__all__ = ["Request"]


@dataclass(frozen=True)
class Request:
    """One fragment to run. The descriptors of its segments travel beside it."""

    fragment: pickle.PickleBuffer | bytearray
    #: (kind, size) of each segment, in the order of the descriptors.
    segments: list[tuple[int, int]]
    #: Pickles of the functions this worker has not had yet, by hash.
    functions: Mapping[str, bytes]
    #: Drop the functions sent before: the parent counts on none of them any more.
    forget: bool
    #: The working directory and module path, if they are not what was sent before.
    surroundings: tuple[str, list[str]] | None
    #: Call functions for a partition without rows too, to learn what they return.
    call_on_empty: bool
