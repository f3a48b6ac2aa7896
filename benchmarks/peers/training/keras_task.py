# SPDX-License-Identifier: Apache-2.0
"""The models of Keras that engines train, and the rows that they train them on."""

from __future__ import annotations

from typing import Any

import numpy as np
from task import FEATURES, LEARNING_RATE, WIDTHS, load_rows

CLASSES = 10
SIDE = 28
# Kept fused into one call of TensorFlow by engines that can.
STEPS_PER_EXECUTION = 32


def load_data(path: str, kind: str, rows: int) -> tuple[np.ndarray[Any, Any], ...]:
    """Give features and labels: of flights, or images of ten classes."""
    return load_images(rows) if kind == "conv" else load_rows(path, rows)


def load_images(rows: int) -> tuple[np.ndarray[Any, Any], ...]:
    """Make noisy images; a class is a pattern of its own under the noise."""
    random = np.random.default_rng(0)
    patterns = random.random((CLASSES, SIDE, SIDE, 1), dtype=np.float32)
    labels = random.integers(0, CLASSES, rows)
    noise = random.normal(0, 1, (rows, SIDE, SIDE, 1)).astype(np.float32)
    return patterns[labels] + noise, labels.astype(np.int32)


def make_model(keras: Any, kind: str, **compiled: Any) -> Any:
    """Make the same compiled model in each engine, for Keras 3 or legacy Keras."""
    keras.utils.set_random_seed(0)
    layers = keras.layers
    if kind == "conv":
        model = keras.Sequential(
            [
                keras.Input((SIDE, SIDE, 1)),
                layers.Conv2D(8, 3, activation="relu"),
                layers.MaxPooling2D(),
                layers.Conv2D(16, 3, activation="relu"),
                layers.MaxPooling2D(),
                layers.Flatten(),
                layers.Dense(CLASSES),
            ]
        )
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    else:
        hidden = [layers.Dense(width, activation="relu") for width in WIDTHS[kind]]
        model = keras.Sequential(
            [keras.Input((len(FEATURES),)), *hidden, layers.Dense(1)]
        )
        loss = keras.losses.MeanSquaredError()
    model.compile(keras.optimizers.Adam(LEARNING_RATE), loss, **compiled)
    return model


def measured_loss(
    model: Any, x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]
) -> float:
    """Give the mean loss over all rows."""
    found = model.evaluate(x, y, batch_size=4096, verbose=0)
    return float(np.ravel(found)[0])
