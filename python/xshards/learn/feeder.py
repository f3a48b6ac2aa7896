# SPDX-License-Identifier: Apache-2.0
"""Mini-batches of numpy arrays from shards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from xshards import _core
from xshards.errors import XShardsRuntimeError, XShardsTypeError
from xshards.profile.progress import progress_bar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import DTypeLike

    from xshards.shards import XShards

__all__ = ["Batch", "Feeder", "Tensor"]


@dataclass(frozen=True)
class Tensor:
    """Which columns become one array of a batch.

    Parameters
    ----------
    columns
        One column gives an array of its cells; several are stacked side by side.
    dtype
        The array's dtype; by default the one that holds all columns.

    Examples
    --------
    >>> from xshards.learn.feeder import Tensor
    >>> features = Tensor(["a", "b"], "float32")
    """

    columns: Sequence[str]
    dtype: DTypeLike | None = None

    def _spec(self) -> tuple[list[str], str | None]:
        if isinstance(self.columns, str):
            msg = f"columns is a list of names, such as [{self.columns!r}]"
            raise XShardsTypeError(msg)
        name = None if self.dtype is None else np.dtype(self.dtype).str
        return list(self.columns), name


@dataclass(frozen=True)
class Batch:
    """One replica's share of a step.

    Parameters
    ----------
    step
        The number of the step in its epoch, from 0.
    step_rows
        Rows of the step over all replicas; the arrays may have fewer, or none.
    arrays
        One for each `Tensor`.

    Examples
    --------
    >>> from xshards.learn.feeder import Batch
    >>> Batch(0, 2, [np.array([1.0, 2.0])]).step_rows
    2
    """

    step: int
    step_rows: int
    arrays: list[np.ndarray[Any, Any]]


class Feeder:
    """Feeds the rows of shards, once an epoch, in batches of one size.

    Batches are made ahead, without the interpreter, on a thread of its own. The rows of
    each step depend on the shards, `seed`, the epoch and `batch_size` alone: replicas
    that share a step see together what one replica would see.

    Parameters
    ----------
    shards : XShards
        DataFrames, or arrays in dicts, lists and tuples. Run and kept while fed.
    tensors : list of Tensor, optional
        The arrays to make of columns. Leave out for shards of arrays, which are fed in
        their order.
    batch_size : int
        Rows of a step, over all replicas. Any size will do; the last step of an epoch
        takes what is left.
    shuffle : bool
        Visit partitions in a random order, and rows in a random order within windows of
        `window_rows`.
    seed : int
        The seed of the random order.
    replica : (int, int)
        The rank of this replica and the number of replicas.
    prefetch : int
        Batches made ahead.

    Examples
    --------
    >>> from xshards.learn.feeder import Feeder, Tensor
    >>> shards = xs.from_pandas(pd.DataFrame({"a": [1.0, 2.0, 3.0], "y": [0, 1, 0]}))
    >>> feeder = Feeder(shards, [Tensor(["a"], "float32"), Tensor(["y"])], batch_size=2)
    >>> for batch in feeder.epoch(0):
    ...     print(batch.step, *batch.arrays)
    0 [1. 2.] [0 1]
    1 [3.] [0]
    """

    def __init__(
        self,
        shards: XShards,
        tensors: Sequence[Tensor] = (),
        *,
        batch_size: int = 32,
        shuffle: bool = False,
        seed: int = 0,
        replica: tuple[int, int] = (0, 1),
        window_rows: int = 1 << 20,
        prefetch: int = 4,
    ) -> None:
        self._epochs_begun = 0
        specs = [tensor._spec() for tensor in tensors]
        with progress_bar(shards._context.progress) as bar:
            self._core = _core.Feeder(
                shards._core,
                bar,
                specs,
                batch_size,
                replica,
                shuffle,
                seed,
                window_rows,
                prefetch,
            )

    @property
    def num_rows(self) -> int:
        """Rows of an epoch, over all replicas."""
        return self._core.num_rows

    @property
    def num_steps(self) -> int:
        """Steps of an epoch."""
        return self._core.num_steps

    def epoch(self, epoch: int, first_step: int = 0) -> Iterator[Batch]:
        """Visit the batches of an epoch, from one of its steps on.

        One epoch is read at a time: an iterator that was begun before may not go on.

        Parameters
        ----------
        epoch
            Which one, from 0; decides the order of rows if they are shuffled.
        first_step
            Skip the steps before this one.

        Returns
        -------
        iterator of Batch
            In the order of steps.

        Raises
        ------
        XShardsRuntimeError
            If another epoch has begun since.

        Examples
        --------
        >>> from xshards.learn.feeder import Feeder
        >>> shards = xs.XShards.partition(np.arange(5.0), num_shards=2)
        >>> feeder = Feeder(shards, batch_size=2, shuffle=False)
        >>> [batch.arrays[0].tolist() for batch in feeder.epoch(0, first_step=1)]
        [[2.0, 3.0], [4.0]]
        """
        self._epochs_begun += 1
        this = self._epochs_begun
        self._core.start(epoch, first_step)
        while (batch := self._core.next()) is not None:
            yield Batch(*batch)
            if this != self._epochs_begun:
                msg = "this feeder has begun another epoch; use a feeder for each"
                raise XShardsRuntimeError(msg)
