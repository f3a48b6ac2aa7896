# SPDX-License-Identifier: Apache-2.0
"""Fragments given to a worker, which can be taken back until it begins them."""

from __future__ import annotations

import os
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Assignment", "claim"]


class Assignment:
    """The fragments of one message. The worker runs them in order.

    Worker and parent share a counter with one claim for each fragment. The worker takes
    a claim before it begins the next fragment, from the front; the parent takes claims
    to have fragments back, from the end. The kernel gives out each claim once, so no
    fragment is both begun and taken back, and neither side ever waits for the other.
    """

    def __init__(self, fragments: Iterable[int]) -> None:
        self._left = deque(fragments)  # neither reported nor taken back
        flags = os.EFD_SEMAPHORE | os.EFD_NONBLOCK | os.EFD_CLOEXEC
        self._claims = os.eventfd(len(self._left), flags)

    def fileno(self) -> int:
        """Return the descriptor of the claims, to be sent with the message."""
        return self._claims

    def __len__(self) -> int:
        return len(self._left)

    def __contains__(self, fragment: int) -> bool:
        return fragment in self._left

    def report(self, fragment: int) -> None:
        """Note that the result of a fragment has come."""
        self._left.remove(fragment)

    def take_back(self, count: int | None = None) -> list[int]:
        """Take back up to `count` fragments (all by default) that are not begun yet."""
        wanted = len(self._left) if count is None else min(count, len(self._left))
        taken: list[int] = []
        while len(taken) < wanted and claim(self._claims):
            taken.append(self._left.pop())
        return taken[::-1]

    def end(self) -> tuple[list[int], int | None]:
        """Close it because its worker died.

        Returns
        -------
        list of int
            All fragments that have no result.
        int or None
            The one that ran when the worker died.
        """
        not_begun = self.take_back()
        begun = list(self._left)
        self.close()
        return begun + not_begun, begun[-1] if begun else None

    def close(self) -> None:
        """Close the descriptor of the claims."""
        if self._claims >= 0:
            os.close(self._claims)
            self._claims = -1
        self._left.clear()


def claim(claims: int) -> bool:
    """Take one claim; False if none is left."""
    try:
        os.eventfd_read(claims)
    except BlockingIOError:
        return False
    return True
