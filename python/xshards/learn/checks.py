# SPDX-License-Identifier: Apache-2.0
"""Checks of counts, precision and losses, with errors that name a remedy."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from xshards.errors import XShardsTypeError, XShardsValueError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["check_count", "check_precision", "is_nan", "nan_loss"]


def check_count(name: str, value: Any, *, least: int = 1) -> int:
    """Return a number of epochs, rows or steps, checked to be whole and not too small.

    Parameters
    ----------
    name
        The argument.
    value
        The value given.
    least
        The smallest number it may be.

    Returns
    -------
    int
        The number, at least `least`.

    Raises
    ------
    XShardsTypeError
        If it is not a whole number.
    XShardsValueError
        If it is less than that.

    Examples
    --------
    >>> from xshards.learn.checks import check_count
    >>> check_count("epochs", np.int64(3))
    3
    """
    try:
        count = operator.index(value)
    except TypeError:
        msg = f"{name} must be a whole number such as 3, got {value!r}"
        raise XShardsTypeError(msg) from None
    if count < least:
        msg = f"{name} must be at least {least}, got {count}"
        raise XShardsValueError(msg)
    return count


def check_precision(given: Any, known: Sequence[str]) -> str | None:
    """Return the precision that models compute in; None for their parameters' own.

    Parameters
    ----------
    given
        What the user gave.
    known
        The other precisions of the framework.

    Returns
    -------
    str, or None
        One of `known`.

    Raises
    ------
    XShardsValueError
        If it is none of these.

    Examples
    --------
    >>> from xshards.learn.checks import check_precision
    >>> check_precision("bf16", ["bf16"])
    'bf16'
    """
    if given in (None, "fp32"):
        return None
    if given not in known:
        names = ", ".join(repr(name) for name in ("fp32", *known))
        msg = f"precision must be one of {names}; got {given!r}"
        raise XShardsValueError(msg)
    return str(given)


def is_nan(value: Any) -> bool:
    """Return whether a value is NaN.

    Parameters
    ----------
    value
        Anything.

    Returns
    -------
    bool
        Whether it is the float NaN.

    Examples
    --------
    >>> from xshards.learn.checks import is_nan
    >>> is_nan(float("nan")), is_nan("nan")
    (True, False)
    """
    return isinstance(value, float) and math.isnan(value)


def nan_loss(
    batches: Sequence[Any],
    where: str,
    columns: Sequence[Sequence[str]],
    to_numpy: Callable[[Any], Any],
) -> XShardsValueError:
    """Return the error for a NaN loss, with its cause and remedy.

    Parameters
    ----------
    batches
        The batches of the step: features, and the target last.
    where
        Which step it is.
    columns
        The columns of each tensor of a batch; empty if they have no names.
    to_numpy
        Makes arrays of tensors.

    Returns
    -------
    XShardsValueError
        To be raised.

    Examples
    --------
    >>> from xshards.learn.checks import nan_loss
    >>> x, y = np.array([[1.0, np.nan]]), np.array([0])
    >>> nan_loss([(x, y)], "in batch 1", [["a", "b"], ["y"]], np.asarray)
    XShardsValueError("the loss is NaN in batch 1, since there are missing values in 'b': fill them (fillna) or drop their rows (dropna)")
    """  # noqa: E501 - the message is one line
    named: list[str] = []
    for batch in batches:
        for number, leaf in enumerate(_leaves(batch)):
            values = to_numpy(leaf)
            if isinstance(values, np.ndarray) and values.dtype.kind == "f":
                named += _names(values, number, columns)
    if named:
        found = ", ".join(dict.fromkeys(named))
        msg = (
            f"the loss is NaN {where}, since there are missing values in {found}: fill "
            "them (fillna) or drop their rows (dropna)"
        )
    else:
        msg = (
            f"the loss is NaN {where}, though no value of the batch is: lower the "
            "learning rate, scale the features, or clip gradients "
            "(set_l2_norm_gradient_clipping)"
        )
    return XShardsValueError(msg)


def _names(
    values: np.ndarray[Any, Any], number: int, columns: Sequence[Sequence[str]]
) -> list[str]:
    """Name the columns of a tensor that have NaN, or the tensor."""
    missing = np.isnan(values)
    if not missing.any():
        return []
    names = columns[number] if number < len(columns) else []
    if len(names) > 1 and missing.ndim == 2 and missing.shape[1] == len(names):
        by_column = missing.any(axis=0)
        return [repr(name) for name, any_ in zip(names, by_column, strict=True) if any_]
    if names:
        return [repr(name) for name in names]
    return [f"array {number} of the batch"]


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (list, tuple)):
        yield value
        return
    for part in value:
        yield from _leaves(part)
