# SPDX-License-Identifier: Apache-2.0
"""Where checkpoints are, which is the newest, and how a file is written whole.

The layout is BigDL's: `model_dir/<time>/model.<iteration>`, and beside each model
`optimMethod-<prefix>.<iteration>`. A checkpoint counts once both files are there, so
one that was cut short is passed over. The optimizer's file is written first.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from xshards.errors import XShardsFileNotFoundError, XShardsValueError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "DEFAULT_PREFIX",
    "Checkpoint",
    "find_checkpoint",
    "latest_checkpoint",
    "list_checkpoints",
    "new_run",
    "written_whole",
]

DEFAULT_PREFIX = "xshards"

_OPTIMIZER = re.compile(r"optimMethod-(?P<prefix>.+)\.(?P<version>\d+)")
_EPOCH = re.compile(r"(?:.*-)?epoch=(\d+)(?:-.*)?\.ckpt")
# Directories of runs: 2026-01-31_23-59-59 as written here, 20260131_235959 by BigDL.
_RUN = re.compile(r"\d{4}-?\d\d-?\d\d_\d\d-?\d\d-?\d\d(\.\d+)?")
_LAST = "last.ckpt"


@dataclass(frozen=True)
class Checkpoint:
    """The two files of one iteration.

    Examples
    --------
    >>> from xshards.learn.training.checkpoints.files import Checkpoint
    >>> checkpoint = Checkpoint(Path("models/2026-01-31_23-59-59"), 40)
    >>> checkpoint.model.name, checkpoint.optimizer.name
    ('model.40', 'optimMethod-xshards.40')
    """

    directory: Path
    version: int
    prefix: str = DEFAULT_PREFIX

    @property
    def model(self) -> Path:
        """The file of the model."""
        return self.directory / f"model.{self.version}"

    @property
    def optimizer(self) -> Path:
        """The file of the optimizer and of all else that is needed to go on."""
        return self.directory / f"optimMethod-{self.prefix}.{self.version}"


def new_run(model_dir: str | os.PathLike[str]) -> Path:
    """Make a directory for the checkpoints of a run, named by the time."""
    name = datetime.now().strftime("%Y-%m-%d_%H-%M-%S")
    parent = Path(model_dir)
    parent.mkdir(parents=True, exist_ok=True)
    number = 0
    while True:
        # Runs that begin in the same second are numbered.
        run = parent / (f"{name}.{number}" if number else name)
        with contextlib.suppress(FileExistsError):
            run.mkdir()
            return run
        number += 1


def list_checkpoints(
    path: str | os.PathLike[str], prefix: str | None = None
) -> list[Checkpoint]:
    """List the checkpoints in a run's directory or in those of all runs, oldest first.

    Parameters
    ----------
    path
        `model_dir`, or one of the directories in it.
    prefix
        List those only whose optimizer's file has this prefix.
    """
    root = Path(path)
    if not root.is_dir():
        msg = f"there is no directory of checkpoints at {root}"
        raise XShardsFileNotFoundError(msg)
    runs = [each for each in root.iterdir() if each.is_dir() and _is_run(each.name)]
    # In the directory itself too: it may be that of one run.
    ordered = [root, *sorted(runs, key=lambda run: _time_of(run.name))]
    return [found for run in ordered for found in _in_run(run, prefix)]


def find_checkpoint(
    path: str | os.PathLike[str],
    version: int | None = None,
    prefix: str | None = None,
) -> Checkpoint:
    """Find a checkpoint: the newest, or one of a given iteration.

    Parameters
    ----------
    path
        `model_dir`, or one of the directories in it.
    version
        The iteration; of several runs that have it, the newest one's. By default the
        last iteration of the newest run.
    prefix
        The prefix of the optimizer's file, if there are several.
    """
    listed = list_checkpoints(path, prefix)
    if not listed:
        msg = (
            "there is no complete checkpoint (model.<n> and "
            f"optimMethod-{prefix or '*'}.<n>) in {Path(path)} or in the directories "
            "of runs in it"
        )
        raise XShardsFileNotFoundError(msg)
    if version is None:
        return listed[-1]
    matching = [each for each in listed if each.version == version]
    if not matching:
        known = ", ".join(str(v) for v in sorted({each.version for each in listed}))
        msg = f"{Path(path)} has the versions {known}; got {version}"
        raise XShardsValueError(msg)
    return matching[-1]


def latest_checkpoint(path: str | os.PathLike[str]) -> str:
    """Name the newest checkpoint file in a directory.

    This is `last.ckpt`, or else the `.ckpt` of the largest epoch, as the callback
    `ModelCheckpoint` writes them; or else the newest `model.<iteration>`.
    """
    root = Path(path)
    if (root / _LAST).is_file():
        return str(root / _LAST)
    if root.is_dir():
        epochs = [
            (int(match[1]), file)
            for file in root.iterdir()
            if (match := _EPOCH.fullmatch(file.name))
        ]
        if epochs:
            return str(max(epochs)[1])
    return str(find_checkpoint(root).model)


@contextlib.contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a file to write to that takes the place of `path` if all goes well.

    Whoever looks at `path`, now or after a crash, finds the old file or the new one. It
    keeps the permissions of the old one; a link stays, and its target is replaced.

    Examples
    --------
    >>> import tempfile
    >>> from xshards.learn.training.checkpoints.files import written_whole
    >>> path = Path(tempfile.mkdtemp(), "weights")
    >>> with written_whole(path) as aside:
    ...     _ = aside.write_text("all of it")
    >>> path.read_text()
    'all of it'
    """
    target = Path(path).resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    # Not by tempfile, whose files only their owner may read.
    aside = target.parent / f".{target.name}.tmp-{secrets.token_hex(8)}"
    aside.touch(0o600 if target.exists() else 0o666, exist_ok=False)
    try:
        yield aside
        if target.exists():
            aside.chmod(target.stat().st_mode & 0o7777)
        _sync(aside)
        aside.replace(target)
        _sync(target.parent)
    finally:
        aside.unlink(missing_ok=True)


def _is_run(name: str) -> bool:
    return _RUN.fullmatch(name) is not None


def _time_of(run: str) -> tuple[str, int]:
    time, _, number = run.partition(".")
    return time.replace("-", ""), int(number or 0)


def _in_run(run: Path, prefix: str | None) -> list[Checkpoint]:
    found = []
    for file in run.iterdir():
        match = _OPTIMIZER.fullmatch(file.name)
        if match is None or prefix not in (None, match["prefix"]):
            continue
        checkpoint = Checkpoint(run, int(match["version"]), match["prefix"])
        if checkpoint.model.exists() and checkpoint.optimizer == file:
            found.append(checkpoint)
    return sorted(found, key=lambda each: (each.version, each.prefix))


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
