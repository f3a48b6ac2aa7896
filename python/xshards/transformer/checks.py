# SPDX-License-Identifier: Apache-2.0
"""Checks of all transformers: columns, shards, and that `fit` was called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xshards._util.arguments import as_names, require
from xshards.errors import XShardsRuntimeError, XShardsValueError
from xshards.shards import XShards

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["as_columns", "check_shards", "learnt_by"]


def as_columns(what: str, columns: str | Iterable[str]) -> list[str]:
    """Take the names of at least one column."""
    names = as_names(what, columns)
    if not names:
        msg = f"{what} must name at least one column"
        raise XShardsValueError(msg)
    return names


def check_shards(shards: XShards, columns: list[str]) -> None:
    """Raise unless `shards` are XShards that have the columns."""
    require(shards, XShards, "transformers take XShards")
    shards._check_columns(columns, shards.schema.names)


def learnt_by(found: Any, transformer: object) -> Any:
    """Return what a transformer learnt; an error if it has not been fitted."""
    if found is None:
        name = type(transformer).__name__
        msg = f"this {name} is not fitted: call fit or fit_transform first"
        raise XShardsRuntimeError(msg)
    return found
