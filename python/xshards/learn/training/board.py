# SPDX-License-Identifier: Apache-2.0
"""What replica 0 reports to the driver between steps, through shared memory."""

from __future__ import annotations

import mmap
import os
import pickle
import struct
from typing import Any

from xshards.errors import XShardsValueError

__all__ = ["Board"]

_SIZE = 1 << 16
_HEAD = struct.Struct("<QQ")


class Board:
    """The options of an optimizer's groups, as the last who changed them left them.

    Replica 0 writes before it pushes, the driver reads before it updates: the push
    keeps them apart.
    """

    def __init__(self, descriptor: int | None = None) -> None:
        self.descriptor = (
            os.memfd_create("xshards-board", os.MFD_CLOEXEC)
            if descriptor is None
            else descriptor
        )
        if descriptor is None:
            os.ftruncate(self.descriptor, _SIZE)
        self._memory = mmap.mmap(self.descriptor, _SIZE)
        self._version = memoryview(self._memory)[:8].cast("Q")

    @property
    def version(self) -> int:
        """How often it was written."""
        return self._version[0]

    @property
    def version_word(self) -> memoryview:
        """Where the version is, for those who watch it."""
        return self._version

    def write(self, options: list[dict[str, Any]]) -> None:
        """Leave options for the next update."""
        content = pickle.dumps(options, protocol=5)
        if len(content) > _SIZE - _HEAD.size:
            msg = (
                f"expected at most {_SIZE - _HEAD.size} bytes of optimizer options, "
                f"got {len(content)}"
            )
            raise XShardsValueError(msg)
        self._memory[_HEAD.size : _HEAD.size + len(content)] = content
        self._memory[: _HEAD.size] = _HEAD.pack(self.version + 1, len(content))

    def read(self) -> list[dict[str, Any]]:
        """Return the options written last."""
        _, size = _HEAD.unpack_from(self._memory)
        options: list[dict[str, Any]] = pickle.loads(
            self._memory[_HEAD.size : _HEAD.size + size]
        )
        return options

    def close(self) -> None:
        """Let go of the memory."""
        self._version.release()
        self._memory.close()
        os.close(self.descriptor)
