# SPDX-License-Identifier: Apache-2.0
"""The bar that shows a person how far an action is."""

from __future__ import annotations

import sys
import time
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["ProgressBar", "is_watched", "progress_bar"]

#: Actions shorter than this show nothing.
DELAY_SECONDS = 1.0


class ProgressBar:
    """Counts the partitions of the running stage, on stderr.

    Called by the engine with the stage's number and label, and how many of its
    partitions are done. Shows itself only after `DELAY_SECONDS`.
    """

    def __init__(self, delay: float = DELAY_SECONDS) -> None:
        self._show_at = time.monotonic() + delay
        self._bar: Any = None
        self._stage = -1

    def __call__(self, stage: int, label: str, done: int, total: int) -> None:
        """Show how far the stage is."""
        if time.monotonic() < self._show_at or total == 0:
            return
        if stage != self._stage:
            self._open(label, total)
            self._stage = stage
        # A screen shows the seconds go by; in a file each refresh is a line more.
        if done != self._bar.n or is_watched():
            self._bar.n = done
            self._bar.refresh()

    def _open(self, label: str, total: int) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a notebook without widgets: text will do
            from tqdm.auto import tqdm

        self.close()
        self._bar = tqdm(total=total, desc=label, unit="part", leave=False)

    def close(self) -> None:
        """Clear the bar from the screen."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def is_watched() -> bool:
    """Return whether stderr is a terminal or a notebook, which a person watches."""
    if sys.stderr is not None and sys.stderr.isatty():
        return True
    if "ipykernel" not in sys.modules:
        return False
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


class _Silent:
    """Replaces the bar if output is not a terminal."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, *error: object) -> None:
        return None


def progress_bar(wanted: bool | None) -> ProgressBar | _Silent:  # noqa: FBT001
    """Make a bar if it is wanted, or if a person is watching and it was not refused."""
    if wanted is None:
        wanted = is_watched()
    return ProgressBar() if wanted else _Silent()
