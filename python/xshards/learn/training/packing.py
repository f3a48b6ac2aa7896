# SPDX-License-Identifier: Apache-2.0
"""How a model is sent to replicas: without the parameters they already have."""

from __future__ import annotations

import io
import pickle
from typing import TYPE_CHECKING, Any

import cloudpickle

from xshards.errors import XShardsValueError
from xshards.runtime.shipping import by_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["Places", "pack", "unpack"]

#: The number of the optimizer and of the parameter in it, by the parameter's id.
Places = dict[int, tuple[int, int]]


class _Packer(cloudpickle.Pickler):  # type: ignore[misc]
    """Leaves trained parameters out: a replica has them in the shared region."""

    def __init__(self, file: io.BytesIO, places: Mapping[int, tuple[int, int]]) -> None:
        super().__init__(file, protocol=5)
        self._places = places

    def persistent_id(self, value: object) -> tuple[int, int] | None:
        return self._places.get(id(value))


class _Unpacker(pickle.Unpickler):
    def __init__(self, content: bytes, parameters: Sequence[Sequence[object]]) -> None:
        super().__init__(io.BytesIO(content))
        self._parameters = parameters

    def persistent_load(self, place: tuple[int, int]) -> object:
        optimizer, index = place
        return self._parameters[optimizer][index]


def pack(
    content: object, places: Mapping[int, tuple[int, int]], code: Iterable[object] = ()
) -> bytes:
    """Pickle something for a replica.

    Parameters
    ----------
    content
        Anything; parameters in it that have a place are left out.
    places
        Where parameters are; see `Places`. They must live until this returns.
    code
        Objects whose modules need not be importable there.
    """
    file = io.BytesIO()
    try:
        with by_value(code):
            _Packer(file, places).dump(content)
    except (pickle.PicklingError, TypeError, AttributeError, RuntimeError) as error:
        msg = (
            "the model, its loss and everything else a replica needs must be picklable "
            f"to train in other processes: {error}"
        )
        raise XShardsValueError(msg) from error
    return file.getvalue()


def unpack(content: bytes, parameters: Sequence[Sequence[object]] = ()) -> Any:
    """Unpickle what `pack` returned, around these parameters."""
    return _Unpacker(content, parameters).load()
