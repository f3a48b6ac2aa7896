# SPDX-License-Identifier: Apache-2.0
"""What `fit` returns: Keras' dict of lists, which is also a table and a plot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from xshards.learn.history import EpochResults

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["KerasHistory"]


class KerasHistory(EpochResults, dict[str, list[Any]]):
    """The results of epochs: a dict with a list for each, as Keras' `History.history`.

    It has the attributes of Keras' `History` too, so that ``history.history["loss"]``
    and ``history["loss"]`` are the same.

    Examples
    --------
    >>> from xshards.learn.tf.history import KerasHistory
    >>> history = KerasHistory()
    >>> history.take(0, {"loss": [0.5]})
    >>> history.take(1, {"loss": [0.5, 0.25], "val_loss": [0.75]})
    >>> history["loss"]
    [0.5, 0.25]
    >>> history
    History of 2 epochs
     epoch  loss  val_loss
         0  0.50       NaN
         1  0.25      0.75
    """

    def __init__(self) -> None:
        super().__init__()
        self._epochs: list[int] = []
        self._having: dict[str, list[int]] = {}

    @property
    def history(self) -> dict[str, list[Any]]:
        """The values of each result, of the epochs that have it."""
        return dict(self)

    @property
    def epoch(self) -> list[int]:
        """The numbers of the epochs, counted from 0, as Keras has them."""
        return list(self._epochs)

    def take(self, epoch: int, values: Mapping[str, list[Any]]) -> None:
        """Add what Keras' `History` has after an epoch.

        Parameters
        ----------
        epoch
            The number of the epoch.
        values
            The values of all epochs until then.
        """
        self._epochs.append(epoch)
        for name, found in values.items():
            if len(found) > len(self.get(name, [])):
                self._having.setdefault(name, []).append(epoch)
            self[name] = list(found)

    def to_pandas(self) -> pd.DataFrame:
        """Return a row for each epoch.

        Returns
        -------
        DataFrame
            With a column for each result; missing where an epoch does not have it.

        Examples
        --------
        >>> from xshards.learn.tf.history import KerasHistory
        >>> history = KerasHistory()
        >>> history.take(0, {"loss": [0.5]})
        >>> history.to_pandas()
           epoch  loss
        0      0   0.5
        """
        columns = {
            name: pd.Series(values, index=self._having[name])
            for name, values in self.items()
        }
        index = pd.Index(self._epochs, name="epoch")
        return pd.DataFrame(columns, index=index).reset_index()

    def _points(self, name: str) -> tuple[list[int], list[Any]]:
        return self._having[name], self[name]
