# SPDX-License-Identifier: Apache-2.0
"""How far an epoch is, on stderr."""

from __future__ import annotations

import sys
import time
from typing import Any

from xshards.profile.progress import is_watched

__all__ = ["ProgressLine"]


class ProgressLine:
    """A bar on a terminal or in a notebook; elsewhere one line, when it is done.

    Parameters
    ----------
    name
        What the line begins with.
    unit
        What is counted.
    total
        How many there will be; None if that is not known.
    scaled
        Whether large counts are shown as 1.2k.
    leave
        Whether the bar stays on a terminal when it is done.
    terminal
        Whether to show a bar; by default if a person watches stderr.

    Examples
    --------
    >>> import contextlib, sys
    >>> from xshards.learn.training.progress_line import ProgressLine
    >>> with contextlib.redirect_stderr(sys.stdout):
    ...     line = ProgressLine("epoch 1", " samples", terminal=False)
    ...     for count in (32, 64, 96):
    ...         line.advance(count, {"train_loss": "0.5"})
    ...     line.close()
    epoch 1: 96 samples [..., train_loss=0.5]
    """

    def __init__(
        self,
        name: str,
        unit: str,
        *,
        total: int | None = None,
        scaled: bool = False,
        leave: bool = True,
        terminal: bool | None = None,
    ) -> None:
        from tqdm import tqdm

        self._begin = time.monotonic()
        self._format: dict[str, Any] = {"unit": unit, "unit_scale": scaled}
        self._name, self._total, self._count = name, total, 0
        self._shown: dict[str, str] = {}
        self._meter = tqdm.format_meter
        self._bar: Any = None
        if is_watched() if terminal is None else terminal:
            self._bar = tqdm(total=total, desc=name, leave=leave, **self._format)

    @property
    def count(self) -> int:
        """How many are done."""
        return self._count

    def advance(self, count: int, shown: dict[str, str]) -> None:
        """Record how many are done, and values to show with it."""
        self._shown = shown
        if self._bar is not None:
            self._bar.set_postfix(shown, refresh=False)
            self._bar.update(count - self._count)
        self._count = count

    def close(self) -> None:
        """End the line."""
        if self._bar is not None:
            self._bar.close()
            return
        values = ", ".join(f"{name}={value}" for name, value in self._shown.items())
        text = self._meter(
            self._count,
            self._total,
            time.monotonic() - self._begin,
            prefix=self._name,
            postfix=values or None,
            **self._format,
        )
        print(text, file=sys.stderr, flush=True)
