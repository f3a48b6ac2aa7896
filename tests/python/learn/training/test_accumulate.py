# SPDX-License-Identifier: Apache-2.0
"""Several batches before an update are one batch of that many times the size."""

import numpy as np
import pytest
from numpy_adapter import Mlp, NumpyOperator, Sgd
from test_numpy_model import (
    assert_bitwise,
    momentum_step,
    noisy,
    plain_loop,
    shards,
    weights_of,
)
from weighted_rows import plain_weighted_loop, weighted

import xshards as xs
from xshards.errors import XShardsValueError
from xshards.learn.trigger import SeveralIteration


def assert_close(ours, theirs):
    theirs = weights_of(theirs)
    for name, value in weights_of(ours).items():
        np.testing.assert_allclose(value, theirs[name], rtol=1e-11, atol=1e-13)


# 96 rows in batches of 8: five of them make groups of 5, 5 and 2.
@pytest.mark.parametrize(
    ("workers", "batch_size", "accumulate"), [(1, 8, 5), (3, 8, 5), (3, 1, 7)]
)
def test_it_is_a_larger_batch(make, workers, batch_size, accumulate):
    model, expected = Mlp(3, 4), Mlp(3, 4)
    estimator = make(model, Sgd(model, 0.1, 0.9), workers=workers)
    history = estimator.fit(shards(), 2, batch_size, accumulate=accumulate)
    size = batch_size * accumulate
    losses = plain_loop(expected, shards(), 2, size, momentum_step(0.1, 0.9))
    assert history.history["train_loss"] == pytest.approx(losses, rel=1e-11)
    assert history[0]["num_samples"] == 96
    assert history[0]["batch_count"] == -(-96 // size)
    assert estimator._job.num_steps == 2 * history[0]["batch_count"]
    assert_close(estimator.get_model(), expected)


def test_weights_of_rows_add_up(make):
    data = xs.XShards.partition(weighted(), num_shards=3)
    model, expected = Mlp(3, 4), Mlp(3, 4)
    estimator = make(model, Sgd(model, 0.1, 0.9), workers=3)
    history = estimator.fit(data, 2, 8, accumulate=3)
    losses = plain_weighted_loop(
        expected, data, 2, 24, momentum_step(0.1, 0.9), lambda y, w: w
    )
    assert history.history["train_loss"] == pytest.approx(losses, rel=1e-11)
    assert_close(estimator.get_model(), expected)


def test_a_checkpoint_in_the_middle_of_an_epoch_resumes_bitwise(make, tmp_path):
    given = {"batch_size": 4, "accumulate": 3}
    model = noisy()
    whole = make(model, Sgd(model, 0.05, 0.9), model_dir=str(tmp_path))
    whole.fit(shards(), 2, checkpoint_trigger=SeveralIteration(5), **given)
    model = noisy()
    resumed = make(model, Sgd(model, 0.05, 0.9))
    resumed.load_orca_checkpoint(tmp_path, version=5)
    resumed.fit(shards(), 2, **given)
    assert_bitwise(weights_of(resumed.get_model()), weights_of(whole.get_model()))
    assert resumed._job.num_steps == whole._job.num_steps == 16


class OneByOne(NumpyOperator):
    def train_batch(self, batch, batch_info):
        return super().train_batch(batch, batch_info)


def test_operators_that_update_each_batch_are_rejected(make):
    model = Mlp(3, 4)
    estimator = make(model, Sgd(model))
    with pytest.raises(XShardsValueError, match="accumulate must be at least 1, got 0"):
        estimator.fit(shards(), accumulate=0)
    estimator._job.parts.operator_class = OneByOne
    with pytest.raises(XShardsValueError, match=r"needs OneByOne\.train_batches"):
        estimator.fit(shards(), accumulate=2)
