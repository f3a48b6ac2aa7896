# SPDX-License-Identifier: Apache-2.0
"""What an Estimator shows of itself, and the confusion matrix over replicas."""

import numpy as np
import pandas as pd
import pytest
from numpy_adapter import Mlp, Sgd
from test_numpy_model import arrays, shards

import xshards as xs
from xshards.errors import XShardsValueError


def classes(rows=50):
    data = arrays(rows)
    return {"x": data["x"], "y": (data["y"] > 0.2).astype(float)}


@pytest.mark.parametrize(("workers", "batch_size"), [(1, 50), (3, 7), (3, 2)])
def test_counts_are_those_of_all_rows(make, workers, batch_size):
    data = classes()
    predicted = (Mlp(3, 4)(data["x"])[:, 0] >= 0.5).astype(int)
    expected = pd.crosstab(data["y"][:, 0].astype(int), predicted)
    expected = expected.reindex(index=[0, 1], columns=[0, 1], fill_value=0)
    estimator = make(Mlp(3, 4), workers=workers)
    shares = xs.XShards.partition(data, num_shards=4)
    found = estimator.confusion_matrix(shares, batch_size)
    np.testing.assert_array_equal(found, expected)
    assert (found.index.name, found.columns.name) == ("true", "predicted")


def test_shares_and_names(make):
    data = classes()
    estimator = make(Mlp(3, 4), workers=1)
    counts = estimator.confusion_matrix(data).to_numpy()
    for normalize, total in [
        ("true", np.maximum(counts.sum(1, keepdims=True), 1)),
        ("pred", np.maximum(counts.sum(0, keepdims=True), 1)),
        ("all", counts.sum()),
    ]:
        found = estimator.confusion_matrix(data, normalize=normalize, labels="ny")
        np.testing.assert_allclose(found, counts / total)
        assert list(found.index) == list(found.columns) == ["n", "y"]
    named = estimator.confusion_matrix(data, labels={1: "yes"})
    assert list(named.columns) == [0, "yes"]
    with pytest.raises(XShardsValueError, match=r"the 2 classes there are, got \['n'"):
        estimator.confusion_matrix(data, labels=["n"])
    with pytest.raises(XShardsValueError, match="normalize must be"):
        estimator.confusion_matrix(data, normalize="rows")


def test_repr_describes_the_estimator(make):
    model = Mlp(3, 4)
    estimator = make(model, Sgd(model, 0.25), workers=2)
    text = repr(estimator)
    assert text.splitlines()[0] == "Estimator(numpy)"
    assert "trained parameters: 21 in 4 tensors" in text
    assert "optimizer: Sgd (lr=0.25)" in text
    assert "loss: SquaredError" in text
    assert "workers: 2\n" in text
    assert text.endswith("state: not trained yet")
    estimator.fit(shards(), 2, 48)
    text = repr(estimator)
    assert "workers: 2, running as processes " in text
    assert text.endswith("state: 2 epochs, 4 updates")
    html = estimator._repr_html_()
    assert html.count("<tr>") == 6
    assert "&lt;numpy_adapter.Mlp object" in html
    assert "optimizer: none" in repr(make(Mlp(3, 4)))
