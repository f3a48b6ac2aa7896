# SPDX-License-Identifier: Apache-2.0
"""Models, data and the plain loop that the tests of the Estimator compare with."""

import numpy as np
import pandas as pd
import torch

import xshards as xs
from xshards.learn.feeder import Feeder
from xshards.learn.pytorch import Estimator

SEED = 7


def arrays(rows=100, seed=0):
    random = np.random.default_rng(seed)
    x = random.normal(size=(rows, 4))
    weights = np.array([[1.0], [-2.0], [0.5], [3.0]])
    noise = random.normal(scale=0.1, size=(rows, 1))
    return {"x": x, "y": x @ weights + noise}


def frame(rows=100, seed=0):
    data = arrays(rows, seed)
    columns = {name: data["x"][:, i] for i, name in enumerate("abcd")}
    return pd.DataFrame({**columns, "y": data["y"][:, 0]})


def shards(rows=100, num_shards=3):
    return xs.XShards.partition(arrays(rows), num_shards=num_shards)


def mlp(seed=1):
    """Give a small model, of doubles: the order of a sum then hardly shows."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return torch.nn.Sequential(
            torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)
        ).double()


def sgd(model, config=None):
    return torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)


def adam(model, config=None):
    return torch.optim.Adam(model.parameters(), lr=0.01)


def estimator_of(model, optimizer=sgd, **options):
    given = {"loss": torch.nn.MSELoss(), "workers": 2, "seed": SEED, **options}
    return Estimator.from_torch(model=model, optimizer=optimizer, **given)


def plain_loop(model, optimizer, data, epochs, batch_size, after_batch=None):
    """Train as one would without an Estimator, on the batches the Estimator has."""
    feeder = Feeder(data, batch_size=batch_size, shuffle=True, seed=SEED)
    losses = []
    for epoch in range(epochs):
        total = 0.0
        for batch in feeder.epoch(epoch):
            x, y = (torch.from_numpy(array.copy()) for array in batch.arrays)
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            if after_batch is not None:
                after_batch()
            total += loss.item() * len(x)
        losses.append(total / feeder.num_rows)
    return losses


def weights_of(model):
    return {name: value.clone() for name, value in model.state_dict().items()}


def assert_same(ours, theirs, **tolerance):
    assert ours.keys() == theirs.keys()
    for name, value in ours.items():
        torch.testing.assert_close(value, theirs[name], **tolerance)
