# SPDX-License-Identifier: Apache-2.0
"""Policies of mixed precision."""

import keras
import numpy as np
import pytest
from keras_models import PACKAGES, dense, names

from xshards.errors import XShardsNotImplementedError
from xshards.learn.tf import Estimator

pytestmark = pytest.mark.tensorflow

OPTIONS = {"batch_size": 32, "epochs": 2, "shuffle": False, "verbose": 0}


@pytest.mark.parametrize("package", PACKAGES, ids=names)
def test_float16_is_refused(rows, package):
    package.mixed_precision.set_global_policy("mixed_float16")
    try:
        model = dense(package)
    finally:
        package.mixed_precision.set_global_policy("float32")
    ours = Estimator.from_keras(model=model, workers=2)
    with pytest.raises(XShardsNotImplementedError, match="use mixed_bfloat16"):
        ours.fit(rows, verbose=0)


def test_bfloat16_is_trained(rows, estimators):
    keras.mixed_precision.set_global_policy("mixed_bfloat16")
    try:
        ours = Estimator.from_keras(model=dense(), workers=2)
        theirs = dense()
    finally:
        keras.mixed_precision.set_global_policy("float32")
    estimators.append(ours)
    x, y = rows
    found = ours.fit((x, y), **OPTIONS)
    expected = theirs.fit(x, y, **OPTIONS).history
    np.testing.assert_allclose(found["loss"], expected["loss"], rtol=0.02)
