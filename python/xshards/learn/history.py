# SPDX-License-Identifier: Apache-2.0
"""What a fit reports: the results of each epoch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import pandas as pd

from xshards.errors import XShardsKeyError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["EpochResults", "History"]

# Counts of work done, not measurements.
_COUNTS = ("epoch", "replica", "batch_count", "num_samples", "epoch_seconds")


class EpochResults(ABC):
    """What a record of epochs has to be looked at: a table and plots.

    Examples
    --------
    >>> from xshards.learn.history import EpochResults, History
    >>> isinstance(History([{"epoch": 1}]), EpochResults)
    True
    """

    #: The number of the epoch whose weights the model has, after `restore_best`.
    best_epoch: int | None = None

    @property
    @abstractmethod
    def history(self) -> dict[str, list[Any]]:
        """The values of each result, epoch by epoch."""

    @property
    @abstractmethod
    def epoch(self) -> list[int]:
        """The numbers of the epochs."""

    @abstractmethod
    def to_pandas(self) -> pd.DataFrame:
        """Return a row for each epoch.

        Returns
        -------
        DataFrame
            With a column for each result.

        Examples
        --------
        >>> from xshards.learn.history import History
        >>> History([{"epoch": 1, "train_loss": 0.5}]).to_pandas()
           epoch  train_loss
        0      1         0.5
        """

    def plot(self, names: str | Sequence[str] | None = None, *, ax: Any = None) -> Any:
        """Draw how results changed from epoch to epoch; needs matplotlib.

        Parameters
        ----------
        names
            What to draw, such as ``"loss"`` (training and validation) or
            ``["loss", "val_accuracy"]``; by default all results.
        ax
            The axes to draw everything on; by default new ones for each result.

        Returns
        -------
        list of matplotlib Axes
            One for each result, that of training and of validation together.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        XShardsKeyError
            If there is no result of a name.

        Examples
        --------
        >>> axes = history.plot("loss")  # doctest: +SKIP
        """
        groups = self._groups([names] if isinstance(names, str) else names)
        pyplot = _pyplot()
        if ax is None:
            size = (5 * max(1, len(groups)), 4)
            _, made = pyplot.subplots(1, max(1, len(groups)), figsize=size)
            axes = list(made) if len(groups) > 1 else [made]
        else:
            axes = [ax] * max(1, len(groups))
        for axis, (title, results) in zip(axes, groups.items(), strict=False):
            for name in results:
                self._draw(axis, name)
            axis.set_xlabel("epoch")
            axis.set_ylabel(title)
            axis.legend()
        return axes[:1] if ax is not None else axes

    def _draw(self, axis: Any, name: str) -> None:
        style = {"marker": "o" if len(self.epoch) == 1 else None}
        axis.plot(*self._points(name), label=name, **style)

    def _points(self, name: str) -> tuple[list[int], list[Any]]:
        """Return the epochs that have a result, and its values."""
        return self.epoch, self.history[name]

    def _groups(self, names: Sequence[str] | None) -> dict[str, list[str]]:
        """Put the results that are to be drawn together under one name."""
        found = [name for name in self.history if self._is_drawn(name)]
        groups: dict[str, list[str]] = {}
        for name in found:
            groups.setdefault(_base(name), []).append(name)
        if names is None:
            return groups
        chosen = {}
        for name in names:
            results = groups.get(name) or ([name] if name in self.history else None)
            if results is None:
                known = ", ".join([*groups, *found]) or "nothing"
                msg = f"there is no result {name!r} to draw; there are {known}"
                raise XShardsKeyError(msg)
            chosen[name] = results
        return chosen

    def _is_drawn(self, name: str) -> bool:
        values = [one for one in self.history[name] if one is not None]
        numbers = all(isinstance(one, (int, float)) for one in values)
        return numbers and name not in _COUNTS and not name.startswith("last_")

    def _table(self) -> pd.DataFrame:
        table = self.to_pandas()
        shown = [name for name in table if not str(name).startswith("last_")]
        return table[shown]

    def _title(self) -> str:
        count = len(self.epoch)
        return f"History of {count} epoch{'' if count == 1 else 's'}"

    def __repr__(self) -> str:
        if not self.epoch:
            return self._title()
        return f"{self._title()}\n{self._table().to_string(index=False)}"

    def _repr_html_(self) -> str:
        body = self._table().to_html(index=False) if self.epoch else ""
        return f"<div><strong>{self._title()}</strong>{body}</div>"


class History(EpochResults, list[Any]):
    """The results of epochs: a list with a dict for each.

    With ``reduce_results=False`` there is a list of dicts for each epoch instead, one
    for each replica.

    Parameters
    ----------
    epochs
        The results of each epoch, in order.

    Examples
    --------
    >>> from xshards.learn.history import History
    >>> history = History(
    ...     [
    ...         {"epoch": 1, "train_loss": 0.5, "val_loss": 0.75},
    ...         {"epoch": 2, "train_loss": 0.25, "val_loss": 0.5},
    ...     ]
    ... )
    >>> history[-1]["val_loss"]
    0.5
    >>> history.history["train_loss"]
    [0.5, 0.25]
    >>> history
    History of 2 epochs
     epoch  train_loss  val_loss
         1        0.50      0.75
         2        0.25      0.50
    """

    @property
    def history(self) -> dict[str, list[Any]]:
        """The values of each result, epoch by epoch; None where an epoch has none."""
        names = dict.fromkeys(name for row in self._rows() for name in row)
        return {name: [_value(epoch, name) for epoch in self] for name in names}

    @property
    def epoch(self) -> list[int]:
        """The numbers of the epochs, from 1 over all fits of the Estimator."""
        return [_rows_of(epoch)[0]["epoch"] for epoch in self]

    def to_pandas(self) -> pd.DataFrame:
        """Return a row for each epoch, or for each replica of each epoch.

        Returns
        -------
        DataFrame
            With a column for each result.

        Examples
        --------
        >>> from xshards.learn.history import History
        >>> History([{"epoch": 1, "train_loss": 0.5}]).to_pandas()
           epoch  train_loss
        0      1         0.5
        """
        return pd.DataFrame(self._rows())

    def _rows(self) -> list[dict[str, Any]]:
        return [row for epoch in self for row in _rows_of(epoch)]


def _rows_of(epoch: Any) -> list[dict[str, Any]]:
    if isinstance(epoch, dict):
        return [epoch]
    return [
        {"epoch": one.get("epoch"), "replica": rank, **one}
        for rank, one in enumerate(epoch)
    ]


def _value(epoch: Any, name: str) -> Any:
    if isinstance(epoch, dict):
        return epoch.get(name)
    return [row.get(name) for row in _rows_of(epoch)]


def _base(name: str) -> str:
    for prefix in ("train_", "val_"):
        if name.startswith(prefix):
            return name.removeprefix(prefix)
    return name


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as pyplot  # type: ignore[import-not-found, unused-ignore]
    except ImportError as error:
        msg = "plot needs matplotlib: pip install matplotlib"
        raise ImportError(msg) from error
    return pyplot
