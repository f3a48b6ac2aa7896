# SPDX-License-Identifier: Apache-2.0
"""Mistakes of users, each answered with what to do."""

import numpy as np
import pandas as pd
import pytest
from numpy_adapter import Mlp, Sgd
from test_numpy_model import COLUMNS, arrays, assert_bitwise, frame, shards, weights_of

from xshards.errors import XShardsTypeError, XShardsValueError


@pytest.mark.parametrize("name", ["epochs", "batch_size", "max_steps", "accumulate"])
def test_numbers_of_fit(make, name):
    model = Mlp(3, 4)
    estimator = make(model, Sgd(model))
    for wrong in ("3", 2.5, [1]):
        with pytest.raises(XShardsTypeError) as caught:
            estimator.fit(shards(), **{name: wrong})
        expected = f"{name} must be a whole number such as 3, got {wrong!r}"
        assert str(caught.value) == expected
    for wrong in (0, -5):
        with pytest.raises(XShardsValueError, match=f"^{name} must be at least 1, got"):
            estimator.fit(shards(), **{name: wrong})


def test_batch_sizes_of_the_others(make):
    estimator = make(Mlp(3, 4))
    for call in (estimator.evaluate, estimator.predict):
        for wrong in (0, -5):
            with pytest.raises(XShardsValueError, match=f"at least 1, got {wrong}"):
                call(arrays(), wrong)
        with pytest.raises(XShardsTypeError, match="batch_size must be a whole number"):
            call(arrays(), "32")
        assert call(arrays(), np.int32(32)) is not None
    with pytest.raises(XShardsTypeError, match="workers must be a whole number"):
        make(Mlp(3, 4), workers="2")


def test_missing_features_are_named(make):
    model = Mlp(3, 4)
    estimator = make(model, Sgd(model), workers=2)
    table = frame(20)
    table.loc[7, "b"] = np.nan
    with pytest.raises(XShardsValueError) as caught:
        estimator.fit(table, batch_size=4, **COLUMNS)
    assert "since there are missing values in 'b': fill them" in str(caught.value)
    table = frame(20).assign(y=pd.Series([np.nan] * 20))
    with pytest.raises(XShardsValueError, match="missing values in 'y'"):
        estimator.fit(table, batch_size=4, **COLUMNS)
    data = arrays(20)
    data["x"][3, 1] = np.nan
    with pytest.raises(XShardsValueError, match="missing values in array 0 of the"):
        estimator.fit(data, batch_size=20)


def test_a_loss_of_nan_stops_before_the_update(make):
    model = Mlp(3, 4)
    model.parameters["output.bias"].data[:] = np.nan
    estimator = make(model, Sgd(model), workers=2)
    before = weights_of(model)
    text = r"^the loss is NaN in batch 1 of epoch 1, though .* lower the learning rate"
    with pytest.raises(XShardsValueError, match=text):
        estimator.fit(shards(), batch_size=16)
    assert_bitwise(weights_of(estimator.get_model()), before)
    assert estimator._job.num_steps == 0
