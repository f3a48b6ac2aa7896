# SPDX-License-Identifier: Apache-2.0
"""Public names of methods, for Python's own errors about arguments."""

from __future__ import annotations

from types import FunctionType

__all__ = ["name_methods"]


def name_methods(cls: type, public: str) -> None:
    """Name the methods of a class, and those it inherits from ours, after `public`.

    Python says ``XShards.merge() got an unexpected keyword argument`` then, without the
    name of the private class that has the method. `cls` is where pickle finds them.
    """
    for owner in cls.__mro__:
        if not owner.__module__.startswith("xshards"):
            continue
        for name, member in list(vars(owner).items()):
            function = getattr(member, "__func__", getattr(member, "fget", member))
            if isinstance(function, FunctionType):
                if vars(owner).get(function.__name__) is not member:  # not an alias
                    function.__name__ = name
                function.__qualname__ = f"{public}.{function.__name__}"
                function.__module__ = cls.__module__
