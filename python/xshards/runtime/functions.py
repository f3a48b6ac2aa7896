# SPDX-License-Identifier: Apache-2.0
"""Python functions on their way to a worker, and exceptions on their way back."""

from __future__ import annotations

import hashlib
import pickle
import sys
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import cloudpickle

from xshards.errors import XShardsValueError, XShardsWorkerError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from xshards._pandas import FrameInfo

__all__ = ["Task", "load_error", "name_of", "pack_error", "pack_task"]


@dataclass(frozen=True)
class Task:
    """A function, the arguments it gets after the shard, and what the shard was.

    With `by_payloads` it is one of the package's own: called once a partition, with the
    partition's number and the payloads of each input, it gives payloads.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    info: FrameInfo | None
    by_payloads: bool = False


def name_of(function: Callable[..., Any]) -> str:
    """Name a callable for people."""
    name = getattr(function, "__qualname__", None) or type(function).__name__
    return str(name).rpartition("<locals>.")[2]


def pack_task(task: Task) -> tuple[str, bytes]:
    """Pickle a task; returns its content hash and the pickle."""
    module = sys.modules.get(getattr(task.function, "__module__", None) or "")
    by_value = module is not None and not _is_importable(module)
    if by_value:
        cloudpickle.register_pickle_by_value(module)
    try:
        pickled = cloudpickle.dumps(task, protocol=5)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        msg = (
            f"the function {name_of(task.function)} and its arguments must be "
            f"picklable to run in worker processes: {error}"
        )
        raise XShardsValueError(msg) from error
    finally:
        if by_value:
            cloudpickle.unregister_pickle_by_value(module)
    return hashlib.sha256(pickled).hexdigest(), pickled


def _is_importable(module: Any) -> bool:
    # A worker imports a module by name. One that was loaded from a file outside
    # sys.path, as test runners do, must travel by value. (importlib.util.find_spec
    # would answer from sys.modules.)
    name = module.__name__
    if name == "__main__":
        return True
    top = name.partition(".")[0]
    try:
        return any(finder.find_spec(top, None) for finder in sys.meta_path)
    except (ImportError, AttributeError, ValueError):
        return False


def pack_error(error: BaseException) -> tuple[bytes, str]:
    """Pickle an exception; returns the pickle and the traceback as text."""
    text = "".join(traceback.format_exception(error))
    for content in (error, (type(error), error.args, error.__dict__)):
        try:
            pickled = cloudpickle.dumps(content, protocol=5)
            _revive(pickle.loads(pickled))
        except Exception:  # the class may do anything
            continue
        return pickled, text
    name = f"{type(error).__module__}.{type(error).__qualname__}"
    stand_in = XShardsWorkerError(f"{name}: {error} (it could not be pickled)")
    return pickle.dumps(stand_in), text


def load_error(pickled: bytes, text: str, partition: int) -> BaseException:
    """Bring an exception back to life, with the worker's traceback as a note."""
    error = _revive(pickle.loads(pickled))
    error.add_note(f"\nIn a worker process, partition {partition}:\n\n{text}")
    return error


def _revive(content: Any) -> BaseException:
    if isinstance(content, BaseException):
        return content
    # An exception whose constructor takes other arguments than it stores.
    cls, args, state = content
    error: BaseException = cls.__new__(cls)
    error.args = args
    error.__dict__.update(state)
    return error
