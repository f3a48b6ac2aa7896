# SPDX-License-Identifier: Apache-2.0
"""Makes the module paths of Orca importable."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import warnings
from typing import TYPE_CHECKING, Any

from xshards.compat.keras_version import leave_keras_alone, select_legacy_keras
from xshards.compat.later import Later
from xshards.compat.modules import MODULES, ROOTS, Alias, Lazy, Planned
from xshards.runtime.shipping import worker_setup

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

__all__ = ["install", "is_installed", "uninstall"]


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the modules of the table."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        entry = MODULES.get(fullname)
        if entry is None:
            return None
        # All are packages: any of them may have modules below it.
        return importlib.machinery.ModuleSpec(
            fullname, _Loader(entry), origin="xshards.compat", is_package=True
        )


class _Loader(importlib.abc.Loader):
    """Fills a module with our names, or with placeholders."""

    def __init__(self, entry: Alias | Lazy | Planned) -> None:
        self._entry = entry

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        match self._entry:
            case Alias(target, renamed):
                source = importlib.import_module(target)
                names = {public: public for public in source.__all__} | dict(renamed)
                for public, ours in names.items():
                    setattr(module, public, getattr(source, ours))
                module.__doc__ = source.__doc__
                vars(module)["__all__"] = list(names)
                vars(module)["__getattr__"] = _submodules_of(name)
            case Lazy(target, names):
                vars(module)["__all__"] = list(names)
                vars(module)["__getattr__"] = _loaded_names_of(name, target, names)
            case Planned(what, names):
                for public in names:
                    setattr(module, public, Later(public, name, what))
                vars(module)["__all__"] = list(names)
                vars(module)["__getattr__"] = _promises_of(name, what)


def _submodule(name: str, attribute: str) -> ModuleType | None:
    path = f"{name}.{attribute}"
    return importlib.import_module(path) if path in MODULES else None


def _submodules_of(name: str) -> Any:
    def find(attribute: str) -> Any:
        found = _submodule(name, attribute)
        if found is None:
            msg = f"module {name!r} of xshards.compat has no {attribute!r}"
            raise AttributeError(msg)
        return found

    return find


def _loaded_names_of(name: str, target: str, names: Sequence[str]) -> Any:
    def find(attribute: str) -> Any:
        if attribute in names:
            return getattr(importlib.import_module(target), attribute)
        return _submodules_of(name)(attribute)

    return find


def _promises_of(name: str, what: str) -> Any:
    def find(attribute: str) -> Any:
        found = _submodule(name, attribute)
        if found is not None:
            return found
        if attribute.startswith("_"):
            msg = f"module {name!r} of xshards.compat has no {attribute!r}"
            raise AttributeError(msg)
        return Later(attribute, name, what)

    return find


_finder = _Finder()


def is_installed() -> bool:
    """Tell whether the module paths of Orca lead here."""
    return _finder in sys.meta_path


def install(*, shadow: bool = False) -> None:
    """Make ``zoo.orca``, ``bigdl.orca`` and their neighbours importable.

    Worker processes do the same. Calling it again changes nothing, but for `shadow`.

    Parameters
    ----------
    shadow : bool, default False
        Take the place of ``zoo`` and ``bigdl`` packages that really are installed. By
        default those are used where they have a module, and a warning says so.

    Examples
    --------
    >>> import xshards.compat
    >>> xshards.compat.install()
    >>> from bigdl.orca.data import XShards
    >>> xshards.compat.uninstall()
    """
    if shadow:
        uninstall()
        _take_over()
        worker_setup.append(_TAKE_OVER)
    elif not is_installed():
        _warn_of_real_packages()
        _fill_in()
        worker_setup.append(_FILL_IN)


def uninstall() -> None:
    """Undo `install`. Imported modules stay usable."""
    if is_installed():
        sys.meta_path.remove(_finder)
    leave_keras_alone()
    for name in [name for name, module in sys.modules.items() if _is_ours(module)]:
        del sys.modules[name]
    worker_setup[:] = [
        name for name in worker_setup if name not in (_FILL_IN, _TAKE_OVER)
    ]


def _fill_in() -> None:
    """Find what nobody else finds."""
    select_legacy_keras()
    if not is_installed():
        sys.meta_path.append(_finder)


def _take_over() -> None:
    """Find what the table has before anybody else does."""
    select_legacy_keras()
    if is_installed():
        sys.meta_path.remove(_finder)
    for name in [name for name in sys.modules if name in MODULES]:
        del sys.modules[name]
    sys.meta_path.insert(0, _finder)


# Called in workers, which use the settings of their parent.
_FILL_IN = f"{__name__}:{_fill_in.__name__}"
_TAKE_OVER = f"{__name__}:{_take_over.__name__}"


def _is_ours(module: ModuleType) -> bool:
    spec = getattr(module, "__spec__", None)
    return isinstance(getattr(spec, "loader", None), _Loader)


def _warn_of_real_packages() -> None:
    for root in ROOTS:
        if importlib.util.find_spec(root) is not None:
            warnings.warn(
                f"the installed package {root!r} is used, not xshards.compat; to put "
                "xshards in its place call xshards.compat.install(shadow=True) or run "
                "python -m xshards.compat --shadow",
                stacklevel=3,
            )
