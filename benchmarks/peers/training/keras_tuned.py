# SPDX-License-Identifier: Apache-2.0
"""Keras tuned: batches cached by tf.data, many steps a call, compiled by XLA or not.

Batches are drawn in another order each epoch, rows are not: to shuffle rows would cost
tf.data more than the model does.
"""

from __future__ import annotations

import sys
import time

import keras
import tensorflow as tf
from keras_task import STEPS_PER_EXECUTION, load_data, make_model, measured_loss
from task import arguments, tell


def main() -> None:
    path, kind, rows, batch_size, epochs = arguments()
    x, y = load_data(path, kind, rows)
    model = make_model(
        keras,
        kind,
        jit_compile="--jit" in sys.argv,
        steps_per_execution=STEPS_PER_EXECUTION,
    )
    # XLA compiles for one size: the rows of the last, smaller batch are left out.
    batches = tf.data.Dataset.from_tensor_slices((x, y)).batch(
        batch_size, drop_remainder=True
    )
    count = len(x) // batch_size
    batches = batches.cache().shuffle(count).prefetch(tf.data.AUTOTUNE)
    model.fit(batches, epochs=1, verbose=0)
    begin = time.perf_counter()
    model.fit(batches, epochs=epochs, verbose=0)
    rate = count * batch_size * epochs / (time.perf_counter() - begin)
    tell(rate, measured_loss(model, x, y))


if __name__ == "__main__":
    main()
