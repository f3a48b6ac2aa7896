# SPDX-License-Identifier: Apache-2.0
"""Random numbers that a seed repeats: those of creators, and of legacy layers."""

from __future__ import annotations

import contextlib
import importlib
import random
import secrets
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from xshards.learn.tf.packages import load_tensorflow

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["drawn_from", "generator_states"]

# Where Keras 3 keeps its seed and its generator.
_OF_KERAS = ("global_random_seed", "global_seed_generator")


def generator_states(model: Any) -> list[Any]:
    """Return the variables that random layers of legacy Keras draw from.

    Usually such layers draw from TensorFlow's operations, whose state nobody can set.
    They are switched to generators of their own, which legacy Keras has too.
    """
    layers = getattr(model, "_flatten_layers", None)
    states = []
    for layer in layers() if layers is not None else []:
        generator = getattr(layer, "_random_generator", None)
        if generator is not None and hasattr(generator, "_rng_type"):
            if generator._rng_type == generator.RNG_LEGACY_STATEFUL:
                seed = generator._seed
                generator._generator = load_tensorflow().random.Generator.from_seed(
                    secrets.randbits(31) if seed is None else seed
                )
                generator._rng_type, generator._built = generator.RNG_STATEFUL, True
            generator._maybe_init()
            if generator._generator is not None:
                states.append(generator._generator.state)
    return states


@contextlib.contextmanager
def drawn_from(seed: int | None) -> Iterator[None]:
    """Draw all random numbers of a block from a seed; None changes nothing."""
    if seed is None:
        yield
        return
    tensorflow = load_tensorflow()
    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    with _tensorflow_kept(), _keras_kept(tensorflow.keras), _legacy_seeded(seed):
        tensorflow.keras.utils.set_random_seed(seed)
        try:
            yield
        finally:
            random.setstate(python)
            np.random.set_state(numpy)  # noqa: NPY002


@contextlib.contextmanager
def _tensorflow_kept() -> Iterator[None]:
    context = importlib.import_module("tensorflow.python.eager.context").context()
    seed, generator = context._seed, getattr(context, "_rng", None)
    state = None if generator is None else generator.getstate()
    try:
        yield
    finally:
        context._set_global_seed(seed)
        if state is not None:
            context._rng.setstate(state)


@contextlib.contextmanager
def _keras_kept(keras: Any) -> Iterator[None]:
    if keras.__name__.partition(".")[0] == "tf_keras" or not hasattr(keras, "random"):
        yield  # legacy Keras draws from the generators of Python and TensorFlow
        return
    state = importlib.import_module("keras.src.backend.common.global_state")
    kept = {name: state.get_global_attribute(name) for name in _OF_KERAS}
    try:
        yield
    finally:
        for name, value in kept.items():
            state.set_global_attribute(name, value)


@contextlib.contextmanager
def _legacy_seeded(seed: int) -> Iterator[None]:
    """Seed what legacy Keras draws from once a user has set its seed."""
    backend = sys.modules.get("tf_keras.src.backend")
    if backend is None:  # not imported: there is nothing that a user could have set
        yield
        return
    kept = getattr(backend._SEED_GENERATOR, "generator", None)
    backend._SEED_GENERATOR.generator = random.Random(seed)
    try:
        yield
    finally:
        backend._SEED_GENERATOR.generator = kept
