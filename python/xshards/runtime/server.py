# SPDX-License-Identifier: Apache-2.0
"""The fork server, as the process that started it knows it."""

from __future__ import annotations

import contextlib
import math
import os
import subprocess
import sys
import time
import uuid
from typing import TYPE_CHECKING

from xshards.errors import XShardsWorkerError
from xshards.runtime.channel import Channel, wait_readable
from xshards.runtime.processes import MARK, end_marked
from xshards.runtime.stopped import StoppedWatch

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from xshards.runtime.worker import Settings

__all__ = ["SET_PATH", "ForkServer", "heavy_modules", "module_path", "start_python"]

_START_SECONDS = 60.0
_STOP_SECONDS = 5.0
_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
# Modules that are slow to import. A worker that inherits them from the fork server
# starts at once and shares their memory. pyarrow, pandas and numpy are imported by this
# package; polars starts threads on import, so every worker imports it itself.
_HEAVY = (
    "catboost",
    "cv2",
    "jax",
    "keras",
    "lightgbm",
    "matplotlib",
    "scipy",
    "sklearn",
    "statsmodels",
    "tensorflow",
    "torch",
    "torchvision",
    "transformers",
    "xgboost",
)
# sys.path is set to the parent's before anything is imported: sys is built in, and any
# other module could be a file in the current folder.
SET_PATH = "import sys; sys.path[:] = sys.argv[4:]; "
_START_CODE = SET_PATH + "from xshards.runtime.forkserver import main; main()"


def heavy_modules() -> set[str]:
    """Name the modules this process has loaded that take long to import."""
    return {name for name in _HEAVY if name in sys.modules}


def module_path() -> list[str]:
    """Return the places modules are imported from, as another process must see them."""
    return [os.path.abspath(entry) for entry in sys.path]  # noqa: PTH100 - "" is here


def isolation_flags() -> list[str]:
    """Return the options by which another interpreter trusts no more than this one.

    The current folder is never on its module path before `SET_PATH` has run.
    """
    site = ["-S"] if sys.flags.no_site else []
    if sys.flags.isolated:
        return ["-I", *site]
    environment = ["-E"] if sys.flags.ignore_environment else []
    user_site = ["-s"] if sys.flags.no_user_site else []
    return ["-P", *environment, *user_site, *site]


def start_python(
    code: str,
    arguments: tuple[str, str, str],
    descriptors: Iterable[int],
    threads: int,
) -> tuple[subprocess.Popen[bytes], str]:
    """Start an interpreter that keeps to a number of threads.

    Its code begins with `SET_PATH`; the rest finds the arguments in ``sys.argv``. The
    second result marks it and all that it will start; see `end_marked`.
    """
    mark = uuid.uuid4().hex
    environment = {**os.environ, **dict.fromkeys(_THREAD_VARIABLES, str(threads))}
    # Processes started in a worker inherit the marks of all processes they end with.
    environment[MARK] = f"{environment.get(MARK, '')}/{mark}"
    process = subprocess.Popen(
        [sys.executable, *isolation_flags(), "-c", code, *arguments, *module_path()],
        stdin=subprocess.DEVNULL,
        pass_fds=list(descriptors),
        # Ctrl-C in the terminal is for the parent, which stops workers.
        start_new_session=True,
        env=environment,
    )
    return process, mark


class ForkServer:
    """A process that forks workers.

    EOFError or OSError from any method means that it is gone, and its workers too.
    """

    def __init__(
        self, threads: int, modules: Iterable[str], stopped_timeout: float = math.inf
    ) -> None:
        self.modules = frozenset(modules)
        self.exits: dict[int, int] = {}
        self._watch = StoppedWatch(stopped_timeout)
        self._control, theirs = Channel.pair()
        arguments = (
            str(theirs.fileno()),
            str(os.getpid()),
            ",".join(sorted(self.modules)),
        )
        try:
            self._process, self._mark = start_python(
                _START_CODE, arguments, [theirs.fileno()], threads
            )
        finally:
            theirs.close()

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self._process.poll() is None

    def fork(self, settings: Settings, descriptors: Sequence[int]) -> int:
        """Make a worker that gets these descriptors; returns its process id."""
        self._control.send(settings, descriptors)
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            if pid := self._read(0.2):
                return pid
            self._watch.look({self._process.pid: "the fork server"})
        msg = f"no worker process after {_START_SECONDS:.0f} s"
        raise XShardsWorkerError(msg)

    def wait_for_exit(self, pid: int, seconds: float) -> int | None:
        """Return the exit code of a worker that is ending; None if unknown."""
        deadline = time.monotonic() + seconds
        with contextlib.suppress(EOFError, OSError):
            while pid not in self.exits and time.monotonic() < deadline:
                self._read(0.05)
        return self.exits.pop(pid, None)

    def close(self) -> None:
        """End it and its workers, and wait until they are gone."""
        with contextlib.suppress(OSError):
            self._control.send(None)
        self._control.close()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.returncode != 0:
            end_marked(self._mark)  # it was killed before it could end its workers

    def forget(self) -> None:
        """Close the copies a forked child has of another process's server."""
        self._control.close()
        self._process.returncode = 0  # not a child of this process

    def _read(self, timeout: float) -> int | None:
        """Note exits; give the process id if a fork was reported."""
        if not wait_readable([self._control], timeout):
            return None
        message, _ = self._control.receive()
        match message:
            case ("forked", pid):
                return int(pid)
            case ("exited", pid, code):
                self.exits[pid] = code
        return None
