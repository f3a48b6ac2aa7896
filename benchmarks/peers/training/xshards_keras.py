# SPDX-License-Identifier: Apache-2.0
"""Ours: Estimator.fit of a Keras model, two replicas; from CSV to a first step."""

from __future__ import annotations

import sys
import time

import keras
from keras_task import load_data, make_model, measured_loss
from task import arguments, tell
from xshards_fit import REPLICAS, seconds_to_first_step

import xshards as xs
from xshards.learn.tf import Estimator


def main() -> None:
    path, kind, rows, batch_size, epochs = arguments()
    x, y = load_data(path, kind, rows)
    xs.init(cores=REPLICAS, memory="4GB")
    model = make_model(keras, kind, jit_compile="--jit" in sys.argv)
    estimator = Estimator.from_keras(model=model, workers=REPLICAS, seed=0)
    shards = xs.XShards.partition({"x": x, "y": y}, num_shards=2 * REPLICAS)
    estimator.fit(shards, epochs=1, batch_size=batch_size, verbose=0)
    begin = time.perf_counter()
    estimator.fit(shards, epochs=epochs, batch_size=batch_size, verbose=0)
    rate = len(x) * epochs / (time.perf_counter() - begin)
    more = {}
    if "--first-step" in sys.argv:
        more["first_step"] = seconds_to_first_step(
            estimator, x, y, epochs=1, steps_per_epoch=1, batch_size=batch_size
        )
    tell(rate, measured_loss(estimator.get_model(), x, y), **more)
    estimator.shutdown()
    xs.stop()


if __name__ == "__main__":
    main()
