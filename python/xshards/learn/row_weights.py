# SPDX-License-Identifier: Apache-2.0
"""How much each row counts in the loss: by its class, or by a number of its own."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from xshards.errors import XShardsTypeError, XShardsValueError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["WeightedBatch", "check_class_weight", "class_weights", "sample_weights"]

Weights = np.ndarray[Any, np.dtype[np.float64]]


class WeightedBatch(tuple[Any, ...]):
    """A batch, as any other, with the weights of its rows beside.

    Parameters
    ----------
    parts
        The features, and the target last.
    weights
        One for each row.

    Examples
    --------
    >>> from xshards.learn.row_weights import WeightedBatch
    >>> x, y = batch = WeightedBatch(("x", "y"), np.array([1.0, 0.5]))
    >>> batch.weights
    array([1. , 0.5])
    """

    weights: Weights

    def __new__(cls, parts: Iterable[Any], weights: Weights) -> WeightedBatch:
        """Make a tuple of the parts."""
        made = super().__new__(cls, parts)
        made.weights = weights
        return made


def check_class_weight(given: Any) -> dict[int, float] | None:
    """Return class weights, checked.

    Parameters
    ----------
    given
        A dict from class indices to weights, or None.

    Returns
    -------
    dict, or None
        The same, of ints and floats.

    Raises
    ------
    XShardsTypeError
        If it is not a dict of numbers.
    XShardsValueError
        If a class or a weight is negative or not finite.

    Examples
    --------
    >>> from xshards.learn.row_weights import check_class_weight
    >>> check_class_weight({0: 1, 1: 5})
    {0: 1.0, 1: 5.0}
    """
    if given is None:
        return None
    if not isinstance(given, dict) or not given:
        msg = (
            "class_weight is a dict from class indices to weights, such as "
            f"{{0: 1.0, 1: 5.0}}; got {given!r}"
        )
        raise XShardsTypeError(msg)
    checked = {}
    for name, weight in given.items():
        if not (_is_number(name) and _is_number(weight) and float(name).is_integer()):
            msg = (
                f"class_weight maps class indices to numbers, got {name!r}: {weight!r}"
            )
            raise XShardsTypeError(msg)
        if name < 0 or weight < 0 or not math.isfinite(weight):
            msg = (
                "class_weight has classes and weights of at least 0, got "
                f"{name!r}: {weight!r}"
            )
            raise XShardsValueError(msg)
        checked[int(name)] = float(weight)
    return checked


def class_weights(
    target: np.ndarray[Any, Any], weights: Mapping[int, float]
) -> Weights:
    """Return the weight of each row by its class; 1 where the class has none.

    Parameters
    ----------
    target
        Class indices, one a row, or one-hot rows.
    weights
        The weight of each class.

    Returns
    -------
    ndarray
        One for each row.

    Raises
    ------
    XShardsValueError
        If the targets are not classes.

    Examples
    --------
    >>> from xshards.learn.row_weights import class_weights
    >>> class_weights(np.array([0, 1, 1]), {1: 5.0})
    array([1., 5., 5.])
    """
    if target.ndim > 1 and math.prod(target.shape[1:]) > 1:
        if target.ndim != 2:
            msg = (
                "class_weight needs one class a row, or a one-hot row; got targets of "
                f"shape {target.shape}"
            )
            raise XShardsValueError(msg)
        target = target.argmax(axis=1)
    classes = target.reshape(len(target))
    whole = classes.astype(np.int64)
    if classes.dtype.kind == "f" and not (whole == classes).all():
        odd = classes[whole != classes][0]
        msg = f"class_weight needs class indices as targets, got {odd}"
        raise XShardsValueError(msg)
    found = np.ones(len(whole))
    for number, weight in weights.items():
        found[whole == number] = weight
    return found


def sample_weights(values: np.ndarray[Any, Any]) -> Weights:
    """Return the weights of rows as an array, checked.

    Parameters
    ----------
    values
        One number for each row.

    Returns
    -------
    ndarray
        Of doubles, in one dimension.

    Raises
    ------
    XShardsValueError
        If there is not one for each row, or one is negative or not finite.

    Examples
    --------
    >>> from xshards.learn.row_weights import sample_weights
    >>> sample_weights(np.array([[1], [2]]))
    array([1., 2.])
    """
    if values.size != len(values) or values.dtype.kind not in "fiub":
        msg = (
            "sample weights are one number for each row, got "
            f"{values.dtype} of shape {values.shape}"
        )
        raise XShardsValueError(msg)
    weights = values.reshape(len(values)).astype(np.float64)
    wrong = ~np.isfinite(weights) | (weights < 0)
    if wrong.any():
        msg = (
            "sample weights must be finite and at least 0: fill in or drop those that "
            f"are missing; got {weights[wrong][0]}"
        )
        raise XShardsValueError(msg)
    return weights


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number))
