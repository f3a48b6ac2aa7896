# SPDX-License-Identifier: Apache-2.0
"""A replica's view of the one weight vector."""

from __future__ import annotations

import mmap
from typing import TYPE_CHECKING

import numpy as np
import torch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xshards import _core

__all__ = ["WeightsView"]


class WeightsView:
    """The shared weights as tensors that may be written to without harm.

    The mapping is private and writable: what code of the model changes in place, the
    kernel copies, and nobody else sees. `refresh` drops such copies, so that after each
    step the tensors are the shared weights again, whatever was done to them.
    """

    def __init__(
        self,
        descriptor: int,
        client: _core.ReplicaClient,
        shapes: Sequence[tuple[int, ...]],
    ) -> None:
        shared = [client.weights(index) for index in range(len(shapes))]
        places = [client.weights_place(index) for index in range(len(shapes))]
        ends = [place + values.nbytes for place, values in zip(places, shared)]  # noqa: B905
        begin = min(places) // mmap.PAGESIZE * mmap.PAGESIZE
        self._memory = mmap.mmap(
            descriptor,
            max(ends) - begin,
            flags=mmap.MAP_PRIVATE,
            prot=mmap.PROT_READ | mmap.PROT_WRITE,
            offset=begin,
        )
        self._shared = shared
        self._own = [
            np.frombuffer(self._memory, values.dtype, len(values), place - begin)
            for place, values in zip(places, shared, strict=True)
        ]
        self.tensors = [
            torch.from_numpy(values).view(shape)
            for values, shape in zip(self._own, shapes, strict=True)
        ]

    def refresh(self) -> None:
        """Show the weights as they are now."""
        self._memory.madvise(mmap.MADV_DONTNEED)

    def changed(self) -> list[int]:
        """Name the parameters that were written to since the last refresh."""
        pairs = enumerate(zip(self._own, self._shared, strict=True))
        return [
            index
            for index, (own, shared) in pairs
            if own.tobytes() != shared.tobytes()  # bytes: NaN is equal to itself
        ]
