# SPDX-License-Identifier: Apache-2.0
"""Checks of arguments, with errors that name what was expected and what was given."""

from __future__ import annotations

import secrets
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from xshards.errors import XShardsTypeError, XShardsValueError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["as_count", "as_ddof", "as_names", "as_rows", "as_seed", "require"]


def require(value: object, kinds: Any, expectation: str) -> None:
    """Raise unless a value is of one of these kinds."""
    if not isinstance(value, kinds):
        msg = f"{expectation}, got {type(value).__name__}"
        raise XShardsTypeError(msg)


def as_names(what: str, names: str | Iterable[str]) -> list[str]:
    """Take one name or several."""
    listed = [names] if isinstance(names, str) else list(names)
    for name in listed:
        require(name, str, f"{what} must be strings")
    return listed


def as_count(what: str, value: int | None) -> int:
    """Take a number of partitions; 0 stands for None."""
    if value is None:
        return 0
    require(value, Integral, f"{what} must be an integer")
    if value < 1:
        msg = f"{what} must be at least 1, got {value}"
        raise XShardsValueError(msg)
    return int(value)


def as_rows(what: str, value: Any) -> int | None:
    """Take a number of rows, which may be an integral float, as in pandas."""
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    require(value, Integral, f"{what} must be an integer")
    if value < 0:
        msg = f"{what} must be 0 or more, got {value}"
        raise XShardsValueError(msg)
    return int(value)


def as_ddof(value: Any) -> Any:
    """Take what a variance subtracts from the number of values."""
    expected = "ddof must be a number such as 0 or 1"
    if isinstance(value, str):  # a ValueError in pandas, not a TypeError
        msg = f"{expected}, got {value!r}"
        raise XShardsValueError(msg)
    require(value, Real, expected)
    return value


def as_seed(random_state: int | None) -> int:
    """Return the engine's seed: the given one, or a new one."""
    if random_state is None:
        return secrets.randbits(64)
    require(random_state, Integral, "random_state must be an integer")
    return int(random_state) % 2**64
