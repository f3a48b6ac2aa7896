# SPDX-License-Identifier: Apache-2.0
"""Weighted losses of torch over replicas: equal to torch's own over the whole batch."""

import numpy as np
import pytest
import torch
from classification import CLASS_WEIGHT, OF_CLASSES, classes, classifier, plain
from torch.nn import functional
from training import SEED, arrays, assert_same, sgd, weights_of

import xshards as xs
from xshards.errors import XShardsValueError
from xshards.learn.feeder import Feeder
from xshards.learn.pytorch.callbacks import MainCallback

pytestmark = pytest.mark.torch


def assert_trained_alike(estimator, expected):
    ours = weights_of(estimator.get_model())
    assert_same(ours, weights_of(expected), rtol=1e-9, atol=1e-11)


MANY = [(1, "ps"), (3, "ps"), (3, "torch_distributed")]


# With batches of 2 rows one of 3 replicas has none.
@pytest.mark.parametrize(
    ("workers", "backend", "batch_size"),
    [(1, "ps", 12), (3, "ps", 12), (3, "ps", 2), (3, "torch_distributed", 2)],
)
def test_class_weights_are_those_of_cross_entropy(make, workers, backend, batch_size):
    estimator = make(
        classifier(),
        loss=torch.nn.CrossEntropyLoss(),
        workers=workers,
        backend=backend,
    )
    estimator.fit(classes(), 2, batch_size, class_weight=CLASS_WEIGHT)
    own = torch.nn.CrossEntropyLoss(weight=OF_CLASSES)
    assert_trained_alike(estimator, plain(classes(), own, batch_size))


@pytest.mark.parametrize(("workers", "backend"), MANY)
def test_a_loss_with_weights_of_its_own(make, workers, backend):
    batch_size = 2 if backend == "ps" else 12
    own = torch.nn.CrossEntropyLoss(weight=OF_CLASSES, label_smoothing=0.1)
    estimator = make(classifier(), loss=own, workers=workers, backend=backend)
    estimator.fit(classes(), 2, batch_size)
    assert_trained_alike(estimator, plain(classes(), own, batch_size))


def test_classes_of_weight_zero(make):
    estimator = make(classifier(), loss=torch.nn.CrossEntropyLoss(), workers=2)
    estimator.fit(classes(), 2, 2, class_weight={2: 0.0})
    own = torch.nn.CrossEntropyLoss(weight=torch.tensor([1.0, 1.0, 0.0]).double())
    assert_trained_alike(estimator, plain(classes(), own, 2))


@pytest.mark.parametrize(("workers", "batch_size"), [(1, 12), (3, 12), (2, 2)])
def test_ignored_targets_do_not_count(make, workers, batch_size):
    own = torch.nn.CrossEntropyLoss()
    data = classes(ignored=True)
    estimator = make(classifier(), loss=own, workers=workers)
    history = estimator.fit(data, 2, batch_size, validation_data=data)
    expected = plain(data, own, batch_size)
    assert_trained_alike(estimator, expected)
    x, y = (
        torch.from_numpy(np.concatenate([one[name] for one in data.collect()]))
        for name in "xy"
    )
    with torch.no_grad():
        loss = own(expected(x), y).item()
    assert history[-1]["val_loss"] == pytest.approx(loss, rel=1e-9)


SUM = torch.nn.CrossEntropyLoss(reduction="sum")


@pytest.mark.parametrize(
    ("loss", "workers", "backend"),
    [
        (torch.nn.CrossEntropyLoss(), 1, "ps"),
        (torch.nn.CrossEntropyLoss(), 3, "ps"),
        (torch.nn.CrossEntropyLoss(weight=OF_CLASSES), 2, "ps"),
        (torch.nn.CrossEntropyLoss(reduction="none"), 2, "ps"),
        (functional.cross_entropy, 2, "ps"),
        (SUM, 2, "ps"),
        (torch.nn.CrossEntropyLoss(weight=OF_CLASSES), 2, "torch_distributed"),
        (SUM, 2, "torch_distributed"),
    ],
)
def test_sample_weights(make, loss, workers, backend):
    data = classes(weights=True)
    optimizer = sgd
    if getattr(loss, "reduction", "") == "sum":
        optimizer = lambda model, _=None: torch.optim.SGD(model.parameters(), 0.01)  # noqa: E731
    estimator = make(
        classifier(), optimizer, loss=loss, workers=workers, backend=backend
    )
    estimator.fit(data, 2, 12)
    given = getattr(loss, "weight", None)

    def weighted(output, target, weights):
        losses = functional.cross_entropy(output, target, given, reduction="none")
        total = (losses * weights).sum()
        if getattr(loss, "reduction", "") == "sum":
            return total
        counts = weights if given is None else weights * given[target]
        return total / counts.sum()

    if optimizer is sgd:
        assert_trained_alike(estimator, plain(data, weighted, 12))
        return
    model = classifier()
    step = optimizer(model)
    feeder = Feeder(data, batch_size=12, shuffle=True, seed=SEED)
    for epoch in range(2):
        for batch in feeder.epoch(epoch):
            x, y, w = (torch.from_numpy(one.copy()) for one in batch.arrays)
            step.zero_grad()
            weighted(model(x), y, w).backward()
            step.step()
    assert_trained_alike(estimator, model)


@pytest.mark.parametrize(
    "loss", [torch.nn.BCEWithLogitsLoss(), torch.nn.MSELoss()], ids=["bce", "mse"]
)
def test_losses_of_single_outputs(make, loss):
    random = np.random.default_rng(0)
    data = {"x": arrays(60)["x"], "y": random.integers(0, 2, 60)}
    data = xs.XShards.partition(data, num_shards=3)
    estimator = make(classifier(outputs=1), loss=loss, workers=3)
    estimator.fit(data, 2, 12, class_weight={0: 1.0, 1: 5.0})

    def weighted(output, target):
        weights = torch.where(target == 1, 5.0, 1.0).double()
        losses = type(loss)(reduction="none")(output[:, 0], target.double())
        return (losses * weights).sum() / weights.sum()

    model = plain(data, weighted, 12, classifier(outputs=1))
    assert_trained_alike(estimator, model)


def test_a_loss_without_rows_is_refused(make):
    def mean_error(output, target):
        return (output - target[:, None]).abs().mean()

    estimator = make(classifier(), loss=mean_error)
    with pytest.raises(XShardsValueError, match=r"a loss for each row: .* mean_error"):
        estimator.fit(classes(), class_weight={0: 2.0})


def test_main_callback_that_ignores_weights_raises(make):
    estimator = make(classifier(), loss=torch.nn.CrossEntropyLoss())
    with pytest.raises(XShardsValueError, match="made a loss without them"):
        estimator.fit(classes(), class_weight={0: 2.0}, callbacks=[MainCallback()])
