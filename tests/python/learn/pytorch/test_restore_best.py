# SPDX-License-Identifier: Apache-2.0
"""The weights and statistics of the best epoch of a torch model."""

import numpy as np
import pytest
import torch
from training import adam, arrays, assert_same, mlp, shards, weights_of

pytestmark = pytest.mark.torch


def with_statistics():
    return torch.nn.Sequential(torch.nn.BatchNorm1d(4).double(), mlp())


@pytest.mark.parametrize("backend", ["ps", "torch_distributed"])
def test_the_model_is_that_of_the_best_epoch(make, backend):
    data = arrays()
    wrong = {"x": data["x"], "y": -data["y"]}

    def trained(epochs, **options):
        estimator = make(with_statistics(), adam, metrics=["mae"], backend=backend)
        given = {"batch_size": 20, "validation_data": wrong, **options}
        return estimator, estimator.fit(shards(), epochs, **given)

    estimator, history = trained(4, restore_best=True, monitor="val_mae")
    assert history.best_epoch == 1 + int(np.argmin(history.history["val_mae"])) < 4
    expected, _ = trained(history.best_epoch)
    ours = estimator.get_model()
    assert_same(weights_of(ours), weights_of(expected.get_model()), rtol=0, atol=0)
    # In fit each replica had statistics of its own; now all have the model's.
    with torch.no_grad():
        output = ours.eval()(torch.from_numpy(wrong["x"]))
    mae = (output - torch.from_numpy(wrong["y"])).abs().mean().item()
    assert estimator.evaluate(wrong, batch_size=20)["mae"] == pytest.approx(mae)
    assert len(estimator.fit(shards(), 1, batch_size=20)) == 1
