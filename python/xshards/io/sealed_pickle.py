# SPDX-License-Identifier: Apache-2.0
"""Pickle files with a seal: a digest under a secret key, checked before unpickling.

A file is one line of JSON (what it is: which save, which partition of how many), the
HMAC-SHA256 of the line and of all that follows, and the pickle of a list: the shards,
and of each whether it is a frame whose index is data.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import itertools
import json
import os
import pickle
import secrets
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cloudpickle

from xshards.errors import (
    XShardsFileExistsError,
    XShardsFileNotFoundError,
    XShardsPermissionError,
    XShardsValueError,
)
from xshards.runtime.convert import is_indexed, to_payload, to_value
from xshards.shards.tasks.partition_tasks import values_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xshards._core import Payload
    from xshards.interop.frames import FrameInfo

__all__ = ["Label", "as_key", "listed", "read", "staged", "write"]

_MAGIC = "xshards-pickle"
_VERSION = 1
_SEAL_BYTES = hashlib.sha256().digest_size
_KEY_BYTES = 32
_LONGEST_LINE = 4096


@dataclass(frozen=True)
class Label:
    """Which save files belong to, and how many there are."""

    save: str
    count: int

    def line(self, partition: int) -> bytes:
        """Return the first line of a partition's file."""
        content = [_MAGIC, _VERSION, self.save, partition, self.count]
        return json.dumps(content).encode() + b"\n"


def as_key(key: bytes | str | None) -> bytes:
    """Take a key that was given, or the user's own."""
    if key is None:
        return _own_key()
    if not isinstance(key, bytes | str) or not key:
        msg = f"key must be bytes or str, and not empty, got {key!r}"
        raise XShardsValueError(msg)
    return key.encode() if isinstance(key, str) else key


def _own_key() -> bytes:
    """Read the user's secret, or make it."""
    config = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    path = Path(config, "xshards", "pickle.key")
    if not path.exists():
        _make_key(path)
    status = path.stat()
    if status.st_uid != os.getuid() or status.st_mode & 0o077:
        msg = (
            f"{path} seals pickle files, so it must be yours and closed to others: "
            f"chmod 600 {path}, or remove it if others may have read it"
        )
        raise XShardsPermissionError(msg)
    key = path.read_bytes()
    if len(key) != _KEY_BYTES:
        msg = f"{path} is damaged; restore it, or remove it to seal with a new key"
        raise XShardsValueError(msg)
    return key


def _make_key(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # Written to a temporary file (mode 600), so that nobody reads half a key; of two
    # processes that create one concurrently, the first wins.
    descriptor, aside = tempfile.mkstemp(dir=path.parent, prefix=".pickle.key-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(_KEY_BYTES))
        with contextlib.suppress(FileExistsError):
            os.link(aside, path)
    finally:
        Path(aside).unlink()


@contextlib.contextmanager
def staged(path: Path) -> Iterator[Path]:
    """Return a directory to write to that becomes `path` if all goes well."""
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        msg = (
            f"{path} exists and is not an empty directory; choose another or remove it"
        )
        raise XShardsFileExistsError(msg)
    target = path.resolve()  # a link stays, and leads to the files
    target.parent.mkdir(parents=True, exist_ok=True)
    staging = target.parent / f".{target.name}.tmp-{secrets.token_hex(8)}"
    # The umask decides the mode of a new directory. One that replaces another stays
    # private until it takes its place.
    staging.mkdir(0o700 if target.exists() else 0o777)
    try:
        yield staging
        if target.exists():
            staging.chmod(target.stat().st_mode & 0o7777)
        staging.rename(target)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def write(
    partition: int,
    payloads: list[Payload],
    info: FrameInfo | None,
    directory: str,
    label: Label,
    key: bytes,
) -> list[Payload]:
    """Write a partition's file, in a worker process."""
    line = label.line(partition)
    labelled = [is_indexed(payload) for payload in payloads]
    shards = list(zip(values_of(payloads, info), labelled, strict=True))
    content = cloudpickle.dumps(shards, protocol=5)
    path = Path(directory, f"part-{partition:05d}.pickle")
    # A worker that replaces a dead one writes the complete file again.
    with path.open("wb") as file:
        file.write(line)
        file.write(_seal(key, line, content))
        file.write(content)
    return []


def _seal(key: bytes, line: bytes, content: bytes | memoryview) -> bytes:
    seal = hmac.new(key, line, hashlib.sha256)
    seal.update(content)
    return seal.digest()


def listed(directory: Path) -> list[Path]:
    """Find the files of one save, all of them, in order."""
    if not directory.is_dir():
        msg = f"no directory {directory} to load shards from"
        raise XShardsFileNotFoundError(msg)
    files = sorted(path for path in directory.iterdir() if path.name[0] not in "._")
    if not files:
        msg = f"no pickle files in {directory}"
        raise XShardsFileNotFoundError(msg)
    labels = [_read_label(path) for path in files]
    save, _, count = labels[0]
    found: dict[int, Path] = {}
    for path, (own_save, partition, own_count) in zip(files, labels, strict=True):
        if (own_save, own_count) != (save, count) or partition in found:
            msg = (
                f"{path} was written by a different save_pickle call than {files[0]}: "
                "it is not loaded"
            )
            raise XShardsValueError(msg)
        found[partition] = path
    # What a label says is not known to be true before its seal is checked, so nothing
    # is made of that size: the existing files show what is missing.
    beyond = [path for partition, path in found.items() if not 0 <= partition < count]
    if beyond:
        raise XShardsValueError(_not_ours(beyond[0]))
    if len(found) < count:
        gaps = (partition for partition in itertools.count() if partition not in found)
        missing = list(itertools.islice(gaps, min(10, count - len(found))))
        msg = f"{directory} lacks the files of partitions {missing} of {count}"
        raise XShardsFileNotFoundError(msg)
    return [found[partition] for partition in range(len(found))]


def _not_ours(path: Path) -> str:
    return f"{path} was not written by save_pickle: it is not loaded"


def _read_label(path: Path) -> tuple[str, int, int]:
    if not path.is_file():  # opening a FIFO would wait for a writer
        msg = f"{path} is not a regular file: loading of {path.parent} was refused"
        raise XShardsValueError(msg)
    with path.open("rb") as file:
        return _parse_label(path, file.readline(_LONGEST_LINE))


def _parse_label(path: Path, line: bytes) -> tuple[str, int, int]:
    with contextlib.suppress(ValueError, TypeError, RecursionError):
        match json.loads(line):
            case [str(magic), int(version), str(save), int(partition), int(count)]:
                if magic == _MAGIC and version == _VERSION:
                    return save, partition, count
    raise XShardsValueError(_not_ours(path))


def read(partition: int, payloads: list[Payload], key: bytes) -> list[Payload]:
    """Read a partition's file, in a worker process."""
    path = Path(to_value(payloads[0], "pandas"))
    content = memoryview(path.read_bytes())
    line = bytes(content[:_LONGEST_LINE]).partition(b"\n")[0] + b"\n"
    body = content[len(line) :]
    seal, pickled = bytes(body[:_SEAL_BYTES]), body[_SEAL_BYTES:]
    _, own, _ = _parse_label(path, line)
    if own != partition or not hmac.compare_digest(seal, _seal(key, line, pickled)):
        msg = (
            f"{path} was modified after it was written, or sealed with another key: it "
            "is not loaded. Pass the key that save_pickle was given, if any"
        )
        raise XShardsValueError(msg)
    shards: list[tuple[Any, bool]] = pickle.loads(pickled)
    return [to_payload(value, indexed=labelled) for value, labelled in shards]
