# SPDX-License-Identifier: Apache-2.0
"""Placeholders: names that can be imported but raise when used."""

from __future__ import annotations

from typing import Any, NoReturn

from xshards.errors import XShardsNotImplementedError

__all__ = ["Later", "not_yet"]


def not_yet(name: str, what: str) -> XShardsNotImplementedError:
    """Make the error for a feature of a later version."""
    return XShardsNotImplementedError(
        f"{name} is not in XShards yet: {what} come with a later version"
    )


class Later(type):
    """The class of placeholders: importable, may be a base class, raise otherwise.

    Examples
    --------
    >>> Estimator = Later("Estimator", "bigdl.orca.learn.pytorch", "estimators")
    >>> Estimator.from_torch(model=None)
    Traceback (most recent call last):
        ...
    xshards.errors.XShardsNotImplementedError: bigdl.orca.learn.pytorch.Estimator is not
    in XShards yet: estimators come with a later version
    """

    _promise: tuple[str, str]

    def __new__(cls, name: str, module: str, what: str) -> Later:
        """Make a placeholder for `name` of `module`, which belongs to `what`."""
        content = {
            "__module__": module,
            "__doc__": f"Not there yet: {what} come with a later version.",
            "__init_subclass__": classmethod(_keep_promise),
            "__new__": _refuse_instance,
            "_promise": (f"{module}.{name}", what),
        }
        return type.__new__(_Placeholder, name, (), content)

    def __init__(cls, *_: object) -> None:
        pass


class _Placeholder(Later):
    # Called for subclasses that users define, with the arguments of any class.
    def __new__(cls, name: str, bases: tuple[type, ...], content: Any) -> Any:
        return type.__new__(cls, name, bases, content)

    def __getattr__(cls, attribute: str) -> NoReturn:
        if attribute.startswith("_"):
            raise AttributeError(attribute)
        raise not_yet(*cls._promise)


def _keep_promise(_cls: Any, /, **_: object) -> None:
    """Let users define their subclasses: making an instance is what fails."""


def _refuse_instance(cls: Any, *_args: object, **_kwargs: object) -> NoReturn:
    raise not_yet(*cls._promise)
