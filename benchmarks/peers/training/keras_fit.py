# SPDX-License-Identifier: Apache-2.0
"""Keras as its documentation has it: model.fit over arrays in memory."""

from __future__ import annotations

import sys
import time

import keras
from keras_task import load_data, make_model, measured_loss
from task import arguments, tell


def main() -> None:
    path, kind, rows, batch_size, epochs = arguments()
    x, y = load_data(path, kind, rows)
    jit = {"jit_compile": True} if "--jit" in sys.argv else {}
    model = make_model(keras, kind, **jit)
    model.fit(x, y, batch_size, epochs=1, verbose=0)
    begin = time.perf_counter()
    model.fit(x, y, batch_size, epochs=epochs, verbose=0)
    rate = len(x) * epochs / (time.perf_counter() - begin)
    tell(rate, measured_loss(model, x, y))


if __name__ == "__main__":
    main()
