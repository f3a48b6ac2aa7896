# SPDX-License-Identifier: Apache-2.0
"""Callbacks of Keras. They run on the driver, on the model that was given to it.

Its variables are views of the shared weights and its optimizer is the one whose options
the parameter server follows, so that callbacks see and change what they do in Keras.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xshards.errors import XShardsTypeError
from xshards.learn.tf.packages import keras_of

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["make_callbacks", "progress_bar", "wants_batches"]

_OF_BATCHES = (
    "on_train_batch_begin",
    "on_train_batch_end",
    "on_batch_begin",
    "on_batch_end",
)
# They look at batches only to show or keep progress, which an epoch's results do too.
_OF_EPOCHS = ("History", "ProgbarLogger")


_OF_TEST_BATCHES = ("on_test_batch_begin", "on_test_batch_end")


def make_callbacks(
    keras_model: Any,
    given: Sequence[Any],
    *,
    verbose: int = 0,
    history: bool = False,
    epochs: int = 1,
    steps: int | None = None,
) -> Any:
    """Return Keras' list of callbacks, with its progress bar and history if wanted."""
    callbacks = keras_of(keras_model).callbacks
    for one in given:
        if not isinstance(one, callbacks.Callback):
            msg = (
                f"callbacks are those of {callbacks.__name__}, as the model is; got "
                f"{type(one).__name__}"
            )
            raise XShardsTypeError(msg)
    return callbacks.CallbackList(
        list(given),
        add_history=history,
        add_progbar=verbose != 0,
        verbose=verbose,
        epochs=epochs,
        steps=steps,
        model=keras_model,
    )


def progress_bar(callbacks: Any) -> Any:
    """Return Keras' progress bar if it shows how far an epoch is; else None."""
    for one in callbacks.callbacks:
        if type(one).__name__ == "ProgbarLogger" and one.verbose == 1:
            return one
    return None


def wants_batches(callbacks: Any, *, testing: bool = False) -> bool:
    """Whether a callback wants to be called for each batch, of training or testing."""
    return any(
        _overrides(one, name)
        for one in callbacks.callbacks
        if type(one).__name__ not in _OF_EPOCHS
        for name in (_OF_TEST_BATCHES if testing else _OF_BATCHES)
    )


def _overrides(callback: Any, name: str) -> bool:
    if name in vars(callback):  # a LambdaCallback has functions of its own
        return True
    base = keras_of(callback).callbacks.Callback
    found = getattr(type(callback), name, None)
    if found is None or found is getattr(base, name):
        return False
    # Those of Keras that save now and then do so for each batch only if asked to.
    return getattr(callback, "save_freq", "epoch") != "epoch" or not (
        type(callback).__module__.partition(".")[0] in ("keras", "tf_keras")
        and hasattr(callback, "save_freq")
    )
