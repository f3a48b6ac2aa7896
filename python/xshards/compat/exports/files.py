# SPDX-License-Identifier: Apache-2.0
"""What ``orca.data.file`` exports: small helpers for local files and ``file://``."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from xshards.compat.errors import OrcaInputError
from xshards.compat.later import not_yet

__all__ = [
    "exists",
    "get_remote_dir_to_local",
    "get_remote_file_to_local",
    "is_file",
    "listdir",
    "load_numpy",
    "makedirs",
    "open_image",
    "open_text",
    "put_local_dir_to_remote",
    "put_local_dir_tree_to_remote",
    "put_local_file_to_remote",
    "rmdir",
    "write_text",
]


def open_text(path: str) -> list[str]:
    r"""Give the lines of a text file, without their ends.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     write_text(f"file://{directory}/a.txt", "one\ntwo\n")
    ...     open_text(f"{directory}/a.txt")
    8
    ['one', 'two']
    """
    lines = _local(path).read_text().splitlines()
    return [line.strip() for line in lines]


def open_image(path: str) -> Any:
    """Open a picture with Pillow."""
    try:
        from PIL import Image  # type: ignore[import-not-found, unused-ignore]
    except ImportError as error:
        msg = "open_image needs Pillow: pip install pillow"
        raise ImportError(msg) from error
    return Image.open(_local(path))


def load_numpy(path: str) -> Any:
    """Load an array from a .npy or .npz file."""
    return np.load(_local(path))


def exists(path: str) -> bool:
    """Tell whether there is a file or directory."""
    return _local(path).exists()


def is_file(path: str) -> bool:
    """Tell whether there is a file."""
    return _local(path).is_file()


def listdir(path: str) -> list[str]:
    """List a directory; with ``file://``, as complete URIs."""
    names = sorted(entry.name for entry in _local(path).iterdir())
    if path.startswith("file://"):
        return [f"{path.rstrip('/')}/{name}" for name in names]
    return names


def makedirs(path: str) -> None:
    """Make a directory, and those above it."""
    _local(path).mkdir(parents=True, exist_ok=True)


def rmdir(path: str) -> None:
    """Remove an empty directory."""
    _local(path).rmdir()


def write_text(path: str, text: str) -> int:
    """Write a text file; gives the number of characters."""
    return _local(path).write_text(text)


def put_local_file_to_remote(
    local_path: str,
    remote_path: str,
    filemode: int | None = None,
    over_write: bool = False,  # noqa: FBT001 - as in Orca
) -> None:
    """Copy a file to where `remote_path` says."""
    target = _local(remote_path)
    if target.exists() and not over_write:
        msg = f"{remote_path!r} exists already: pass over_write=True to replace it"
        raise OrcaInputError(msg)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(_local(local_path), target)
    if filemode is not None:
        target.chmod(filemode)


def get_remote_file_to_local(
    remote_path: str,
    local_path: str,
    over_write: bool = False,  # noqa: FBT001 - as in Orca
) -> None:
    """Copy a file from where `remote_path` says."""
    put_local_file_to_remote(remote_path, local_path, over_write=over_write)


def put_local_dir_to_remote(local_dir: str, remote_dir: str) -> None:
    """Copy the files of a directory, without those below it."""
    for entry in sorted(_local(local_dir).iterdir()):
        if entry.is_file():
            target = os.path.join(remote_dir, entry.name)  # noqa: PTH118 - may be a URI
            put_local_file_to_remote(str(entry), target, over_write=True)


def put_local_dir_tree_to_remote(
    local_dir: str,
    remote_dir: str,
    over_write: bool = False,  # noqa: FBT001 - as in Orca
) -> None:
    """Copy a directory and all below it."""
    target = _local(remote_dir)
    if target.exists() and not over_write:
        msg = f"{remote_dir!r} exists already: pass over_write=True to add to it"
        raise OrcaInputError(msg)
    shutil.copytree(_local(local_dir), target, dirs_exist_ok=True)


def get_remote_dir_to_local(remote_dir: str, local_dir: str) -> None:
    """Copy the files of a directory from where `remote_dir` says."""
    put_local_dir_to_remote(remote_dir, local_dir)


def _local(path: str | os.PathLike[str]) -> Path:
    text = os.fspath(path)
    if text.startswith("file://"):
        return Path(text.removeprefix("file://"))
    scheme, found, _ = text.partition("://")
    if found:
        name = f"{scheme}:// in orca.data.file"
        raise not_yet(name, "remote files")
    return Path(text)
