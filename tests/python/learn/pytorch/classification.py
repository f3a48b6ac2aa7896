# SPDX-License-Identifier: Apache-2.0
"""A classifier, its data, and the plain loop with a loss that weighs rows."""

import numpy as np
import torch
from training import SEED, arrays, sgd

import xshards as xs
from xshards.learn.feeder import Feeder

CLASS_WEIGHT = {0: 0.2, 1: 5.0, 2: 0.5}
OF_CLASSES = torch.tensor([0.2, 5.0, 0.5], dtype=torch.float64)


def classifier(seed=1, outputs=3):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return torch.nn.Sequential(
            torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, outputs)
        ).double()


def classes(rows=60, *, weights=False, ignored=False):
    random = np.random.default_rng(3)
    targets = random.choice(3, rows, p=[0.6, 0.2, 0.2])
    if ignored:
        targets[random.random(rows) < 0.4] = -100
    data = {"x": arrays(rows)["x"], "y": targets}
    if weights:
        data["sample_weight"] = random.random(rows)
    return xs.XShards.partition(data, num_shards=3)


def plain(data, loss, batch_size, model=None, epochs=2):
    model = model or classifier()
    optimizer = sgd(model)
    feeder = Feeder(data, batch_size=batch_size, shuffle=True, seed=SEED)
    for epoch in range(epochs):
        for batch in feeder.epoch(epoch):
            x, *rest = (torch.from_numpy(one.copy()) for one in batch.arrays)
            value = loss(model(x), *rest)
            if bool(value.isnan()):
                continue  # no row of the batch counts
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
    return model
