# SPDX-License-Identifier: Apache-2.0
"""Pickling of functions for workers, and of exceptions for the driver."""

from __future__ import annotations

import functools
import hashlib
import inspect
import pickle
import sys
import traceback
import uuid
import weakref
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import cloudpickle

from xshards.errors import XShardsTypeError, XShardsValueError, XShardsWorkerError
from xshards.interop.field_metadata import session_token
from xshards.runtime.values import SharedSegment, collect_segments

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from xshards.interop.frames import FrameInfo

__all__ = [
    "PackedTask",
    "Task",
    "check_own_names",
    "find_packed",
    "is_importable",
    "keep_task",
    "load_error",
    "name_of",
    "pack_error",
    "pack_task",
]


@dataclass(frozen=True)
class Task:
    """A function, the arguments it gets after the shard, and what the shard was.

    With `by_payloads` it is one of the package's own: called once a partition, with the
    partition's number and the payloads of each input, it gives payloads.
    The session's token lets workers read the pickles in its columns.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    info: FrameInfo | None
    by_payloads: bool = False
    session: bytes = field(default_factory=session_token)

    @property
    def name(self) -> str:
        """The function's name, for display."""
        return name_of(self.function)


class PackedTask(bytearray):
    """The pickle of a task, and what must live as long as it can be run.

    The plan holds it as a buffer. The bytes of a task that stays in this process are
    never read.
    """

    name: str
    #: The shared values that the task uses.
    segments: list[SharedSegment]
    #: The task itself, if it stays in this process.
    task: Task | None = None


_packed: weakref.WeakValueDictionary[str, PackedTask] = weakref.WeakValueDictionary()


def find_packed(name: str) -> PackedTask | None:
    """Return the task of a hash, as long as a plan holds it."""
    return _packed.get(name)


def name_of(function: Callable[..., Any]) -> str:
    """Return the display name of a callable."""
    while isinstance(function, functools.partial):
        function = function.func
    name = getattr(function, "__qualname__", None) or type(function).__name__
    return str(name).rpartition("<locals>.")[2]


def check_own_names(function: Callable[..., Any], given: Iterable[str]) -> None:
    """Raise if an argument name belongs to both the function and the method."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # some builtins have no signature
        return
    bound = function.keywords if isinstance(function, functools.partial) else {}
    for name in given:
        if name in parameters and name not in bound:
            msg = (
                f"{name_of(function)} has an argument {name!r} of its own, so {name}= "
                "could be meant for either. Bind it first: functools.partial"
                f"({name_of(function)}, {name}=...); what is then passed as {name}= "
                "is for XShards"
            )
            raise XShardsTypeError(msg)


def pack_task(task: Task) -> tuple[str, PackedTask]:
    """Pickle a task; returns its content hash and the pickle."""
    module = sys.modules.get(getattr(task.function, "__module__", None) or "")
    by_value = module is not None and not is_importable(module)
    if by_value:
        cloudpickle.register_pickle_by_value(module)
    try:
        with collect_segments() as segments:
            packed = PackedTask(cloudpickle.dumps(task, protocol=5))
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        msg = (
            f"the function {task.name} and its arguments must be picklable to run in "
            f'worker processes: {error}. With workers="threads" they need not be'
        )
        raise XShardsValueError(msg) from error
    finally:
        if by_value:
            cloudpickle.unregister_pickle_by_value(module)
    packed.name = task.name
    packed.segments = segments
    name = hashlib.sha256(packed).hexdigest()
    _packed[name] = packed
    return name, packed


def keep_task(task: Task) -> tuple[str, PackedTask]:
    """Name a task that stays in this process; returns what a plan holds it by."""
    packed = PackedTask()
    packed.name = task.name
    packed.segments = []
    packed.task = task
    name = uuid.uuid4().hex
    _packed[name] = packed
    return name, packed


def is_importable(module: Any) -> bool:
    """Return whether a worker can import a module."""
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


def load_error(pickled: bytes, text: str, where: str) -> BaseException:
    """Restore an exception, with the worker's traceback as a note."""
    error = _revive(pickle.loads(pickled))
    error.add_note(f"\nIn a worker process, {where}:\n\n{text}")
    return error


def _revive(content: Any) -> BaseException:
    if isinstance(content, BaseException):
        return content
    # The constructor takes other arguments than the exception stores.
    cls, args, state = content
    error: BaseException = cls.__new__(cls)
    error.args = args
    error.__dict__.update(state)
    return error
