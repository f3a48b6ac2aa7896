# SPDX-License-Identifier: Apache-2.0
"""A replica's view of the one weight vector."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xshards import _core

__all__ = ["WeightsView"]


class WeightsView:
    """The shared weights as arrays, private copies of which are made on write.

    The mapping is private and writable: what code of the model changes in place, the
    kernel copies, so changes are private. `refresh` drops such copies, so that after
    each step the arrays are the shared weights again, whatever was done to them.
    """

    def __init__(
        self, client: _core.ReplicaClient, shapes: Sequence[tuple[int, ...]]
    ) -> None:
        self._private = client.private_weights()
        self._shared = [client.weights(index) for index in range(len(shapes))]
        #: Of each parameter, flat.
        self.values = [self._private.parameter(index) for index in range(len(shapes))]
        self.shapes = list(shapes)
        #: Show the weights as they are now.
        self.refresh = self._private.refresh

    def changed(self) -> list[int]:
        """Name the parameters that were written to since the last refresh."""
        pairs = enumerate(zip(self.values, self._shared, strict=True))
        return [
            index
            for index, (own, shared) in pairs
            if own.tobytes() != shared.tobytes()  # bytes: NaN is equal to itself
        ]
