# SPDX-License-Identifier: Apache-2.0
"""Accumulated gradients of torch models, equal to those of one large batch."""

import pytest
import torch
from classification import CLASS_WEIGHT, OF_CLASSES, classes, classifier, plain
from torch.utils.data import DataLoader, TensorDataset
from training import adam, arrays, assert_same, mlp, plain_loop, sgd, shards, weights_of

from xshards.errors import XShardsValueError
from xshards.learn.pytorch.callbacks import MainCallback

pytestmark = pytest.mark.torch
CLOSE = {"rtol": 1e-9, "atol": 1e-11}


@pytest.mark.parametrize(
    ("workers", "backend", "batch_size"),
    [(1, "ps", 8), (3, "ps", 8), (2, "torch_distributed", 8), (3, "ps", 1)],
)
def test_it_is_a_larger_batch(make, workers, backend, batch_size):
    estimator = make(mlp(), adam, workers=workers, backend=backend)
    history = estimator.fit(shards(), 2, batch_size, accumulate=3)
    expected = mlp()
    losses = plain_loop(expected, adam(expected), shards(), 2, 3 * batch_size)
    assert history.history["train_loss"] == pytest.approx(losses, rel=1e-9)
    assert_same(weights_of(estimator.get_model()), weights_of(expected), **CLOSE)


@pytest.mark.parametrize("backend", ["ps", "torch_distributed"])
def test_weights_of_classes_add_up(make, backend):
    loss = torch.nn.CrossEntropyLoss()
    estimator = make(classifier(), loss=loss, workers=3, backend=backend)
    # One row in a micro-batch: two of three replicas have none of it.
    estimator.fit(classes(), 2, 1, accumulate=4, class_weight=CLASS_WEIGHT)
    own = torch.nn.CrossEntropyLoss(weight=OF_CLASSES)
    expected = plain(classes(), own, 4)
    assert_same(weights_of(estimator.get_model()), weights_of(expected), **CLOSE)


def test_sums_add_up(make):
    def small(model, config=None):
        return torch.optim.SGD(model.parameters(), lr=1e-3)

    found = []
    for batch_size, accumulate in [(5, 4), (20, 1)]:
        loss = torch.nn.MSELoss(reduction="sum")
        estimator = make(mlp(), small, loss=loss)
        estimator.fit(shards(), 1, batch_size, accumulate=accumulate)
        found.append(weights_of(estimator.get_model()))
    assert_same(*found, **CLOSE)


def test_batches_of_a_loader(make):
    x, y = (torch.from_numpy(one) for one in arrays(40).values())
    found = []
    for batch_size, accumulate in [(4, 3), (12, 1)]:
        loader = DataLoader(TensorDataset(x, y), batch_size=batch_size)
        estimator = make(mlp(), sgd)
        history = estimator.fit(loader, 2, accumulate=accumulate)
        assert history[0]["batch_count"] == 4
        found.append(weights_of(estimator.get_model()))
    assert_same(*found, **CLOSE)


def test_a_main_callback_is_refused(make):
    with pytest.raises(XShardsValueError, match="leave out accumulate"):
        make(mlp()).fit(shards(), accumulate=2, callbacks=[MainCallback()])
