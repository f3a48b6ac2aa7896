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
    """Refuse a value that is of none of these kinds."""
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
    """Take a number of rows, also one that is written as a float, as pandas does."""
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
    expected = "ddof must be a number, as 0 or 1"
    if isinstance(value, str):  # a wrong value to pandas, not a wrong type
        msg = f"{expected}, got {value!r}"
        raise XShardsValueError(msg)
    require(value, Real, expected)
    return value


def as_seed(random_state: int | None) -> int:
    """Give the engine's seed: the one asked for, or a new one."""
    if random_state is None:
        return secrets.randbits(64)
    require(random_state, Integral, "random_state must be an integer")
    return int(random_state) % 2**64
