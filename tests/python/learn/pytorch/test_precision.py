# SPDX-License-Identifier: Apache-2.0
"""Half precision: computed in by autocast, and of parameters; torch alone as oracle."""

import numpy as np
import pytest
import torch
from training import SEED, adam, assert_same, frame, mlp, sgd, shards, weights_of

import xshards as xs
from xshards.learn.feeder import Feeder
from xshards.learn.optimizers import SGD
from xshards.learn.pytorch.callbacks import MainCallback

pytestmark = pytest.mark.torch


def plain(model, optimizer, *, autocast=False, epochs=2, batch_size=20):
    kind = next(model.parameters()).dtype
    feeder = Feeder(shards(), batch_size=batch_size, shuffle=True, seed=SEED)
    for epoch in range(epochs):
        for batch in feeder.epoch(epoch):
            x, y = (torch.from_numpy(one.copy()).to(kind) for one in batch.arrays)
            optimizer.zero_grad()
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast):
                loss = torch.nn.functional.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
    return model


@pytest.mark.parametrize(
    ("workers", "callbacks", "close"),
    [
        (1, [], {"rtol": 1e-6, "atol": 1e-7}),
        (1, [MainCallback()], {"rtol": 1e-6, "atol": 1e-7}),
        # Gradients of fewer rows are rounded to bfloat16 before they are added up.
        (2, [], {"rtol": 0.02, "atol": 0.02}),
    ],
    ids=["one", "callback", "two"],
)
def test_it_computes_as_autocast_does(make, workers, callbacks, close):
    estimator = make(mlp().float(), adam, workers=workers, precision="bf16")
    estimator.fit(shards(), 2, 20, callbacks=callbacks)
    model = mlp().float()
    expected = weights_of(plain(model, adam(model), autocast=True))
    ours = estimator.get_model()
    assert next(ours.parameters()).dtype == torch.float32
    assert_same(weights_of(ours), expected, **close)
    if workers == 1:
        x = np.concatenate([one["x"] for one in shards().collect()]).astype("float32")
        with torch.autocast("cpu", dtype=torch.bfloat16), torch.no_grad():
            output = ours(torch.from_numpy(x))
            full = torch.nn.functional.mse_loss
        assert output.dtype == torch.bfloat16
        predicted = estimator.predict(x, batch_size=100)
        assert predicted.dtype == np.float32
        np.testing.assert_array_equal(predicted, output.float().numpy())
        y = np.concatenate([one["y"] for one in shards().collect()])
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = full(output, torch.from_numpy(y).float()).item()
        result = estimator.evaluate(shards(), batch_size=100, validation_methods="mae")
        assert result["val_loss"] == pytest.approx(loss, rel=1e-3)
        error = np.abs(output.float().numpy() - y).mean()
        assert result["mae"] == pytest.approx(error, rel=1e-3)


def norm(kind, seed=1):
    """Give a model with buffers of half precision too."""
    model = torch.nn.Sequential(torch.nn.BatchNorm1d(4), mlp(seed).float())
    return model.to(kind)


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("optimizer", [sgd, adam])
def test_parameters_of_half_precision(make, tmp_path, kind, optimizer):
    estimator = make(norm(kind), optimizer, workers=1)
    history = estimator.fit(shards(), 2, 20, validation_data=shards())
    model = norm(kind)
    expected = weights_of(plain(model, optimizer(model)))
    ours = weights_of(estimator.get_model())
    assert {one.dtype for one in ours.values()} == {kind, torch.int64}
    assert_same(ours, expected, rtol=0, atol=0)
    assert history[-1]["train_loss"] < history[0]["train_loss"]
    estimator.save(tmp_path / "state")
    again = make(norm(kind, seed=2), optimizer, workers=1)
    again.load(tmp_path / "state")
    assert_same(weights_of(again.get_model()), expected, rtol=0, atol=0)
    for one in (estimator, again):
        one.fit(shards(), 1, 20)
    ours, theirs = (weights_of(one.get_model()) for one in (estimator, again))
    assert_same(ours, theirs, rtol=0, atol=0)


def test_several_replicas_of_half_precision(make):
    estimator = make(mlp().bfloat16(), sgd, workers=3)
    table = frame()
    columns = {"feature_cols": list("abcd"), "label_cols": "y"}
    history = estimator.fit(
        xs.from_pandas(table, num_partitions=3),
        4,
        20,
        validation_data=table,
        restore_best=True,
        mode="max",  # an epoch that is not the last
        **columns,
    )
    assert history.best_epoch < 4
    result = estimator.evaluate(table, **columns)
    best = history[history.best_epoch - 1]
    assert result["val_loss"] == pytest.approx(best["val_loss"], rel=0.02)
    predicted = estimator.predict(table, feature_cols=list("abcd"))["prediction"]
    error = np.square(predicted - table["y"]).mean()
    assert error == pytest.approx(result["val_loss"], rel=0.02)


def test_unknown_precision_is_rejected(make):
    with pytest.raises(ValueError, match=r"one of 'fp32', 'bf16'; got 'int8'"):
        make(mlp(), precision="int8")
    with pytest.raises(ValueError, match="use one of torch for bfloat16 parameters"):
        make(mlp().bfloat16(), SGD()).fit(shards())
