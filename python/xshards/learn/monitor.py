# SPDX-License-Identifier: Apache-2.0
"""Which epoch was the best, by one of its results."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

from xshards.errors import XShardsKeyError, XShardsValueError
from xshards.learn.metrics.names import more_is_better

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Monitor"]

#: Whether less or more is better; None decides by the name.
Mode = Literal["min", "max"] | None


class Monitor:
    """Follows one result of epochs and says when it is the best so far.

    Parameters
    ----------
    name
        The result, such as "val_loss".
    mode
        Whether less or more is better. By default more for what counts hits, such as
        "val_accuracy" or "val_auc", and less for everything else.
    min_delta
        Smaller changes do not count as improvement.

    Examples
    --------
    >>> from xshards.learn.monitor import Monitor
    >>> monitor = Monitor("val_loss")
    >>> [monitor.improves({"val_loss": loss}) for loss in (3.0, 4.0, 2.0)]
    [True, False, True]
    >>> monitor.best
    2.0
    """

    def __init__(self, name: str, mode: Mode = None, *, min_delta: float = 0.0) -> None:
        if mode not in ("min", "max", None):
            msg = f'mode must be "min" or "max", got {mode!r}'
            raise XShardsValueError(msg)
        self.name = name
        self.mode = mode or ("max" if more_is_better(name) else "min")
        self.min_delta = min_delta
        self.best: float | None = None

    def improves(self, stats: Mapping[str, Any], *, asked_by: str = "monitor") -> bool:
        """Note the results of an epoch; return whether it is the best so far.

        Parameters
        ----------
        stats
            The results of the epoch.
        asked_by
            Name of the caller, for the message.

        Returns
        -------
        bool
            False for what is not a number.

        Raises
        ------
        XShardsKeyError
            If the result is not among them.

        Examples
        --------
        >>> from xshards.learn.monitor import Monitor
        >>> loss = Monitor("val_loss")
        >>> [loss.improves({"val_loss": value}) for value in (0.5, 0.6, 0.4)]
        [True, False, True]
        """
        if self.name not in stats:
            known = ", ".join(sorted(stats))
            msg = (
                f"{asked_by}: {self.name!r} is not among the results of the epoch: "
                f"{known}"
            )
            raise XShardsKeyError(msg)
        value = float(stats[self.name])
        if math.isnan(value) or not self._is_better(value):
            return False
        self.best = value
        return True

    def _is_better(self, value: float) -> bool:
        if self.best is None:
            return True
        gain = self.best - value if self.mode == "min" else value - self.best
        return gain > self.min_delta
