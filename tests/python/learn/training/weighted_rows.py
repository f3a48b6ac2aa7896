# SPDX-License-Identifier: Apache-2.0
"""Rows with weights, and the plain loop of a loss that uses them."""

import numpy as np
from numpy_adapter import SquaredError
from test_numpy_model import SEED, arrays

from xshards.learn.feeder import Feeder


def weighted(rows=96, seed=1):
    weights = np.random.default_rng(seed).integers(0, 5, rows) * 0.37
    return {**arrays(rows), "sample_weight": weights}


def plain_weighted_loop(model, data, epochs, batch_size, step, weigh):
    feeder = Feeder(data, batch_size=batch_size, shuffle=True, seed=SEED)
    loss, history = SquaredError(), []
    for epoch in range(epochs):
        total = count = 0.0
        for batch in feeder.epoch(epoch):
            x, y, *rest = batch.arrays
            weights = weigh(y, *rest)
            if weights.sum() == 0:
                continue
            output = model(x)
            gradients = model.gradients(loss.gradient(output, y, weights))
            for number, parameter in enumerate(model.parameters.values()):
                parameter.data -= step(number, gradients[number])
            total += loss(output, y, weights) * weights.sum()
            count += weights.sum()
        history.append(total / count)
    return history
