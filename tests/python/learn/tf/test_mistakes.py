# SPDX-License-Identifier: Apache-2.0
"""Mistakes of users, each answered with what to do."""

import numpy as np
import pandas as pd
import pytest
from keras_models import PACKAGES, dense, names

from xshards.errors import XShardsValueError
from xshards.learn.tf import Estimator

pytestmark = pytest.mark.tensorflow


@pytest.mark.parametrize("package", PACKAGES, ids=names)
def test_missing_values_are_named_before_the_update(rows, estimators, package):
    x, y = rows
    ours = Estimator.from_keras(model=dense(package), workers=2)
    estimators.append(ours)
    before = ours._model.keras.get_weights()
    frame = pd.DataFrame(x, columns=list("abcd")).assign(y=y[:, 0])
    frame.loc[140, "c"] = np.nan
    columns = {"feature_cols": list("abcd"), "label_cols": "y"}
    with pytest.raises(XShardsValueError) as caught:
        ours.fit(frame, batch_size=150, verbose=0, **columns)
    text = "the loss is NaN in batch 1 of epoch 1, since there are missing values in"
    assert str(caught.value) == (
        f"{text} 'c': fill them (fillna) or drop their rows (dropna)"
    )
    for one, other in zip(ours._model.keras.get_weights(), before, strict=True):
        np.testing.assert_array_equal(one, other)
    x = x.copy()
    x[3, 1] = np.nan
    with pytest.raises(
        XShardsValueError, match="missing values in array 0 of the batch"
    ):
        ours.fit((x, y), batch_size=150, verbose=0)


def test_a_loss_that_grows_beyond_all_numbers_is_an_error(rows, estimators):
    x, y = rows
    model = dense()
    model.set_weights([one * np.nan for one in model.get_weights()])
    ours = Estimator.from_keras(model=model, workers=2)
    estimators.append(ours)
    with pytest.raises(XShardsValueError, match=r"^the loss is NaN .* lower the learn"):
        ours.fit((x, y), verbose=0)
    assert ours._job.num_steps == 0
