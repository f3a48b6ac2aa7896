# SPDX-License-Identifier: Apache-2.0
"""Columns turned into categories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xshards._deferred import pd

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["category_of", "to_categories"]


def category_of(
    dtype: object, distinct: Callable[[], Any]
) -> pd.CategoricalDtype[Any] | None:
    """Give the dtype if it is a category, with categories; None if it is another.

    Where it names no categories, they are those that `distinct` values have in pandas.
    """
    if isinstance(dtype, pd.CategoricalDtype):
        known: Any = dtype.categories
        if known is not None:
            return dtype
        ordered = dtype.ordered
    elif dtype == "category":
        ordered = False
    else:
        return None
    return pd.CategoricalDtype(pd.Categorical(distinct()).categories, ordered)


def to_categories(frame: Any, dtypes: Mapping[int, pd.CategoricalDtype[Any]]) -> Any:
    """Convert a frame's columns at these positions, or a Series."""
    if isinstance(frame, pd.Series):
        return frame.astype(dtypes[0])
    for position, dtype in dtypes.items():
        frame.isetitem(position, frame.iloc[:, position].astype(dtype))
    return frame
