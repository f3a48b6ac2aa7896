# SPDX-License-Identifier: Apache-2.0
"""The weights of the best epoch, whatever framework made them."""

import numpy as np
import pytest
from numpy_adapter import Mlp, Sgd
from test_numpy_model import arrays, assert_bitwise, shards, weights_of

from xshards.errors import XShardsKeyError, XShardsValueError
from xshards.learn.callbacks import ModelCheckpoint


def other_targets():
    data = arrays()
    return {"x": data["x"], "y": -data["y"]}


def trained(make, epochs, **options):
    model = Mlp(3, 4)
    estimator = make(model, Sgd(model, 0.2, 0.5), workers=2)
    history = estimator.fit(
        shards(), epochs, 16, validation_data=other_targets(), **options
    )
    return estimator, history


def test_the_model_is_that_of_the_best_epoch(make):
    # What is learned is wrong for the validation data: the first epoch is the best.
    estimator, history = trained(make, 4, restore_best=True)
    losses = [one["val_loss"] for one in history]
    assert history.best_epoch == 1 + int(np.argmin(losses)) < 4
    expected, _ = trained(make, history.best_epoch)
    assert_bitwise(weights_of(estimator.get_model()), weights_of(expected.get_model()))
    assert estimator.get_model().mean.tobytes() == expected.get_model().mean.tobytes()
    # Replicas have it too, and predictions.
    again = estimator.evaluate(other_targets(), 16)
    assert again["val_loss"] == pytest.approx(min(losses), rel=1e-12)
    x = arrays()["x"]
    np.testing.assert_array_equal(estimator.predict(x), expected.predict(x))
    # The optimizer goes on.
    steps = estimator._job.num_steps
    estimator.fit(shards(), 1, 16)
    assert estimator._job.num_steps == steps + 6


def test_the_last_epoch_may_be_the_best(make):
    estimator, history = trained(make, 3, restore_best=True, monitor="train_loss")
    assert history.best_epoch == 3
    expected, plain = trained(make, 3)
    assert plain.best_epoch is None
    assert_bitwise(weights_of(estimator.get_model()), weights_of(expected.get_model()))


def test_more_can_be_better(make):
    _, history = trained(make, 3, restore_best=True, monitor="train_loss", mode="max")
    assert history.best_epoch == 1


def test_without_validation_the_loss_of_training_decides(make):
    model = Mlp(3, 4)
    estimator = make(model, Sgd(model, 0.0))
    history = estimator.fit(shards(), 3, 16, restore_best=True)
    assert history.best_epoch in (1, 2, 3)
    model = Mlp(3, 4)
    with pytest.raises(XShardsKeyError, match=r"^'?\"?restore_best: 'val_loss' is not"):
        make(model, Sgd(model)).fit(
            shards(), restore_best=True, monitor="val_loss", batch_size=16
        )
    with pytest.raises(XShardsValueError, match="add restore_best=True"):
        make(model, Sgd(model)).fit(shards(), monitor="val_loss")


def test_the_best_epoch_is_saved(make, tmp_path):
    best = ModelCheckpoint(tmp_path / "net", save_best_only=True)
    _, history = trained(make, 4, callbacks=[best])
    assert [one.name for one in tmp_path.iterdir()] == ["net-best.ckpt"]
    number = 1 + int(np.argmin([one["val_loss"] for one in history]))
    loaded = make(Mlp(3, 4, seed=9))
    loaded.load(tmp_path / "net-best.ckpt")
    expected, _ = trained(make, number)
    assert_bitwise(weights_of(loaded.get_model()), weights_of(expected.get_model()))
