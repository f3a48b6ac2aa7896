# SPDX-License-Identifier: Apache-2.0
"""Keras: model.fit over arrays in memory."""

from __future__ import annotations

import keras
import numpy as np
from task import (
    FEATURES,
    LEARNING_RATE,
    WIDTHS,
    arguments,
    load_rows,
    tell,
    time_epochs,
)


def main() -> None:
    path, kind, rows, batch_size, epochs = arguments()
    keras.utils.set_random_seed(0)
    x, y = load_rows(path, rows)
    layers = [keras.layers.Dense(width, activation="relu") for width in WIDTHS[kind]]
    model = keras.Sequential(
        [keras.Input((len(FEATURES),)), *layers, keras.layers.Dense(1)]
    )
    model.compile(keras.optimizers.Adam(LEARNING_RATE), "mse", jit_compile=False)

    def run_epoch(number: int) -> None:
        model.fit(x, y, batch_size, epochs=1, verbose=0)

    rate = time_epochs(epochs, run_epoch, len(x))
    outputs = model.predict(x, 65536, verbose=0)
    tell(rate, float(np.mean((outputs - y) ** 2)))


if __name__ == "__main__":
    main()
