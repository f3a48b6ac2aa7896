# SPDX-License-Identifier: Apache-2.0
"""Pickles that carry a digest, which is checked before anything is unpickled."""

from __future__ import annotations

import hashlib
import hmac
import pickle
from typing import IO, Any

from xshards.compat.errors import OrcaInputError

__all__ = ["SafePickle"]


class SafePickle:
    """Pickle with a keyed digest: a modified file is rejected.

    The key is the same everywhere, so this finds damage, not malice; what must be safe
    against others belongs in `XShards.save_pickle`.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> SafePickle.dump({"a": 1}, file, return_digest=True)[:8]
    '...'
    """

    key = b"shared-key"

    @classmethod
    def _digest(cls, data: bytes) -> str:
        return hmac.new(cls.key, data, hashlib.sha1).hexdigest()

    @classmethod
    def dump(
        cls,
        obj: Any,
        file: IO[bytes],
        return_digest: bool = False,  # noqa: FBT001 - as in Orca
        *args: Any,
        **kwargs: Any,
    ) -> str | None:
        """Write a pickle; gives its digest, or writes it on a first line of its own."""
        data = pickle.dumps(obj, *args, **kwargs)
        digest = cls._digest(data)
        if return_digest:
            file.write(data)
            return digest
        file.write(digest.encode() + b"\n")
        file.write(data)
        return None

    @classmethod
    def load(
        cls, file: IO[bytes], digest: str | None = None, *args: Any, **kwargs: Any
    ) -> Any:
        """Read a pickle, unless it is not what was written."""
        expected = digest
        if expected is None:
            expected = file.readline().strip().decode(errors="replace")
        data = file.read()
        if not hmac.compare_digest(expected.encode(), cls._digest(data).encode()):
            msg = (
                "Pickle safe check failed: the data is damaged, or was not written by "
                "SafePickle"
            )
            raise OrcaInputError(msg)
        return pickle.loads(data, *args, **kwargs)

    @classmethod
    def dumps(cls, obj: Any, *args: Any, **kwargs: Any) -> bytes:
        """Give a pickle as bytes."""
        return pickle.dumps(obj, *args, **kwargs)
