# SPDX-License-Identifier: Apache-2.0
"""What functions need to find in another process."""

from __future__ import annotations

import contextlib
import pkgutil
import sys
from typing import TYPE_CHECKING

import cloudpickle

from xshards.runtime.functions import is_importable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["by_value", "set_up", "worker_setup"]

#: What workers call before they load a function, as "module:function".
worker_setup: list[str] = []


def set_up(names: Iterable[str]) -> None:
    """Call what the parent asked for."""
    for name in names:
        pkgutil.resolve_name(name)()


@contextlib.contextmanager
def by_value(functions: Iterable[object]) -> Iterator[None]:
    """Have functions pickled by value whose modules a worker could not import.

    For functions inside of arguments; `pack_task` handles that of a `Task`.
    """
    names = {getattr(function, "__module__", None) for function in functions}
    modules = [sys.modules[name] for name in names if name in sys.modules]
    known = cloudpickle.list_registry_pickle_by_value()
    added = [
        module
        for module in modules
        if module.__name__ not in known and not is_importable(module)
    ]
    for module in added:
        cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        for module in added:
            cloudpickle.unregister_pickle_by_value(module)
