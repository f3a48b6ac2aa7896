# SPDX-License-Identifier: Apache-2.0
"""Whole records of TFRecord files, without TensorFlow."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from xshards.compat.errors import OrcaInputError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["read_records"]

# A record: its length, a checksum of that, its bytes, a checksum of those.
_LENGTH, _CHECKSUM = 8, 4


def read_records(path: str) -> Iterator[bytes]:
    """Return the records of a file that is not compressed."""
    with Path(path).open("rb") as file:
        while head := file.read(_LENGTH + _CHECKSUM):
            size = int.from_bytes(head[:_LENGTH], "little")
            record = file.read(size)
            if len(record) < size or len(file.read(_CHECKSUM)) < _CHECKSUM:
                msg = f"{path} ends inside of a record; it is cut off or no TFRecord"
                raise OrcaInputError(msg)
            yield record
