# SPDX-License-Identifier: Apache-2.0
"""Whole models in files, code and all; sealed, since loading one runs code."""

from __future__ import annotations

import hashlib
import hmac
import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xshards.errors import XShardsValueError
from xshards.io.sealed_pickle import as_key
from xshards.learn.training.checkpoints.files import written_whole
from xshards.learn.training.packing import pack

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from xshards.learn.training.adapter import ModelAdapter

__all__ = ["is_sealed", "load_model", "save_model"]

_MAGIC = b"xshards-model-1\n"
_SEAL_BYTES = hashlib.sha256().digest_size


def save_model(
    adapter: ModelAdapter,
    models: Sequence[Any],
    path: str | os.PathLike[str],
    key: bytes | str | None,
) -> None:
    """Write models with their classes, sealed with a key."""
    code = [type(part) for model in models for part in adapter.modules(model)]
    content = pack(list(models), {}, code)
    with written_whole(path) as aside:
        aside.write_bytes(_MAGIC + _seal(content, key) + content)


def is_sealed(path: str | os.PathLike[str]) -> bool:
    """Return whether `save_model` wrote a file."""
    with Path(path).open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def load_model(path: str | os.PathLike[str], key: bytes | str | None) -> list[Any]:
    """Read models, if the file was sealed with the key and not modified since."""
    content = memoryview(Path(path).read_bytes())[len(_MAGIC) :]
    seal, pickled = bytes(content[:_SEAL_BYTES]), content[_SEAL_BYTES:]
    if not hmac.compare_digest(seal, _seal(pickled, key)):
        msg = (
            f"{path} was changed after it was written, or sealed with another key: it "
            "is not loaded. Pass the key that save was given, if it was given one"
        )
        raise XShardsValueError(msg)
    models: list[Any] = pickle.loads(pickled)
    return models


def _seal(content: bytes | memoryview, key: bytes | str | None) -> bytes:
    seal = hmac.new(as_key(key), _MAGIC, hashlib.sha256)
    seal.update(content)
    return seal.digest()
