# SPDX-License-Identifier: Apache-2.0
"""Losses that are no mean over rows, and what replicas make of them."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from xshards.errors import XShardsValueError
from xshards.learn.tf.packages import is_of_keras, load_tensorflow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["SharedLosses", "check_losses"]

_DEFAULT = '"sum_over_batch_size"'


class SharedLosses:
    """The losses of a model that several replicas compute, each for its rows.

    The parameter server averages the gradients of replicas by rows, and metrics average
    losses by rows. Both give the sum over all rows if each replica's sum is multiplied
    by the rows of the step and divided by its own. Only these losses are: what layers
    add (regularization) is the same in each replica.

    Keras 3 logs the loss of each output as the mean over batches, whatever their rows.
    So what a replica adds to that mean counts as its part of a batch.
    """

    def __init__(self, keras_model: Any) -> None:
        found = {id(one): one for one in _losses_of(keras_model)}
        self._sums = [one for one in found.values() if _reduction_of(one) == "sum"]
        compiled = getattr(keras_model, "_compile_loss", None)
        self._means = list(getattr(compiled, "metrics", []))

    @contextlib.contextmanager
    def of(self, share: Any) -> Iterator[None]:
        """Trace a step for a replica that has this share of a batch's rows."""
        for loss in self._sums:
            object.__setattr__(loss, "call", _divided(loss.call, share))
        for mean in self._means:
            object.__setattr__(mean, "update_state", _part(mean.update_state, share))
        try:
            yield
        finally:
            for loss in self._sums:
                object.__delattr__(loss, "call")
            for mean in self._means:
                object.__delattr__(mean, "update_state")


def check_losses(keras_model: Any, *, weighted: bool) -> None:
    """Refuse losses that several replicas cannot compute together."""
    own = [
        name
        for name in ("train_step", "compute_loss")
        if not is_of_keras(getattr(type(keras_model), name, None))
    ]
    for one in _losses_of(keras_model):
        reduction = _reduction_of(one)
        loss = f"the loss {type(one).__name__} has reduction={reduction!r}"
        if reduction is None and not own:
            msg = (
                f"{loss}, a value for each row, which several replicas do not train "
                f'on: use "sum", which has the same gradients, or {_DEFAULT}'
            )
            raise XShardsValueError(msg)
        if reduction == "sum" and own:
            msg = (
                f"{loss}, and {type(keras_model).__name__} its own {own[0]}, so that "
                "replicas cannot know whether what it returns is a sum or a mean over "
                f"rows: use {_DEFAULT}, or workers=1"
            )
            raise XShardsValueError(msg)
        if reduction == "mean_with_sample_weight" and weighted:
            msg = (
                f"{loss}, a mean by weights, and several replicas average by rows: use "
                f"{_DEFAULT}, or workers=1"
            )
            raise XShardsValueError(msg)


def _losses_of(keras_model: Any) -> list[Any]:
    """Return the losses that `compile` was given as objects; all others are means."""
    given = load_tensorflow().nest.flatten(getattr(keras_model, "loss", None))
    return [one for one in given if hasattr(one, "reduction")]


def _reduction_of(loss: Any) -> str | None:
    return None if loss.reduction in (None, "none") else str(loss.reduction)


def _part(update_state: Callable[..., Any], share: Any) -> Callable[..., Any]:
    def update(value: Any, sample_weight: Any = None) -> Any:
        return update_state(value, share if sample_weight is None else sample_weight)

    return update


def _divided(call: Callable[..., Any], share: Any) -> Callable[..., Any]:
    tensorflow = load_tensorflow()

    def divided(*arguments: Any, **options: Any) -> Any:
        values = tensorflow.convert_to_tensor(call(*arguments, **options))
        return values / tensorflow.cast(share, values.dtype)

    return divided
