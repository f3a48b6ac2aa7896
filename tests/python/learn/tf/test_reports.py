# SPDX-License-Identifier: Apache-2.0
"""What fit returns and an Estimator shows, as with every framework."""

import keras
import numpy as np
import pandas as pd
import pytest
import tf_keras
from keras_models import PACKAGES, dense, names

from xshards.errors import XShardsTypeError, XShardsValueError
from xshards.learn.tf import Estimator

pytestmark = pytest.mark.tensorflow

OPTIONS = {"batch_size": 32, "shuffle": False, "verbose": 0}


@pytest.mark.parametrize("package", PACKAGES, ids=names)
def test_an_estimator_shows_what_it_is(rows, estimators, package):
    x, y = rows
    ours = Estimator.from_keras(model=dense(package), workers=2)
    estimators.append(ours)
    text = repr(ours)
    assert text.splitlines()[0] == "Estimator(keras)"
    assert "\n  model: Sequential 'sequential" in text
    assert "Dense, 40 parameters\n" in text
    assert "trained parameters: 49 in 4 tensors" in text
    assert "optimizer: Adam (lr=0.01)\n  loss: mse\n  workers: 2\n" in text
    assert text.endswith("state: not trained yet")
    options = {**OPTIONS, "validation_data": (x, y), "validation_freq": [np.int64(3)]}
    history = ours.fit((x, y), np.int64(4), initial_epoch=1, **options)
    assert list(history.epoch) == [1, 2, 3]
    assert [len(one) for one in history.history.values()] == [3, 3, 1, 1]
    assert history.to_pandas()["val_loss"].notna().tolist() == [False, True, False]
    assert "state: 3 epochs, 15 updates" in repr(ours)
    assert "<strong>Estimator(keras)</strong>" in ours._repr_html_()
    unbuilt = package.Sequential([package.layers.Dense(1)])
    assert "Dense, not built" in repr(Estimator.from_keras(model=unbuilt, workers=1))


def classifier(package, outputs, loss):
    package.utils.set_random_seed(1)
    last = package.layers.Dense(
        outputs, activation="softmax" if outputs > 1 else "sigmoid"
    )
    model = package.Sequential([package.layers.Input((4,)), last])
    model.compile("sgd", loss)
    return model


@pytest.mark.parametrize(
    ("package", "outputs", "loss"),
    [
        (keras, 1, "binary_crossentropy"),
        (keras, 3, "sparse_categorical_crossentropy"),
        (tf_keras, 3, "categorical_crossentropy"),
    ],
)
def test_a_confusion_matrix_counts_all_rows(rows, estimators, package, outputs, loss):
    x, _ = rows
    true = np.random.default_rng(3).integers(0, max(2, outputs), len(x))
    model = classifier(package, outputs, loss)
    scores = model.predict(x, verbose=0)
    found = scores.argmax(1) if outputs > 1 else (scores[:, 0] >= 0.5).astype(int)
    classes = range(max(2, outputs))
    expected = pd.crosstab(true, found).reindex(
        index=classes, columns=classes, fill_value=0
    )
    target = np.eye(outputs, dtype="f4")[true] if loss[0] == "c" else true[:, None]
    ours = Estimator.from_keras(model=model, workers=2)
    estimators.append(ours)
    counts = ours.confusion_matrix((x, target), 40)
    np.testing.assert_array_equal(counts, expected)
    if package is keras and outputs == 1:
        with pytest.raises(XShardsValueError, match="expected class indices from 0 on"):
            ours.confusion_matrix((x, target - 0.5))


@pytest.mark.parametrize("package", PACKAGES, ids=names)
def test_the_model_is_that_of_the_best_epoch(rows, estimators, package):
    x, y = rows
    ours = Estimator.from_keras(model=dense(package), workers=2)
    estimators.append(ours)
    # What is learned is wrong for the validation data: the first epoch is the best.
    history = ours.fit((x, y), 3, **OPTIONS, validation_data=(x, -y), restore_best=True)
    assert history.best_epoch == int(np.argmin(history["val_loss"])) == 0
    theirs = dense(package)
    theirs.fit(x, y, epochs=1, **OPTIONS)
    measured = ours.evaluate((x, -y))  # replicas have it too
    assert measured["loss"] == pytest.approx(min(history["val_loss"]), rel=1e-6)
    for one, other in zip(
        ours.get_model().get_weights(), theirs.get_weights(), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-6)
    with pytest.raises(XShardsValueError, match="add restore_best=True"):
        ours.fit((x, y), monitor="loss")


@pytest.mark.parametrize("package", PACKAGES, ids=names)
def test_batches_add_up_to_one_update(rows, estimators, package):
    """As one large batch does; 4 of 16 rows with a last group of 22 in 2 of them."""
    x, y = rows
    loss = package.losses.MeanSquaredError(reduction="sum")
    ours = Estimator.from_keras(model=dense(package, loss=loss), workers=2)
    estimators.append(ours)
    weights = np.linspace(0.5, 1.5, len(x), dtype="float32")
    options = {"epochs": 2, "shuffle": False, "verbose": 0}
    found = ours.fit((x, y, weights), batch_size=16, accumulate=4, **options)
    theirs = dense(package, loss=loss)
    expected = theirs.fit(x, y, sample_weight=weights, batch_size=64, **options)
    assert ours._job.num_steps == 6
    for one, other in zip(
        ours._model.keras.get_weights(), theirs.get_weights(), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-6)
    np.testing.assert_allclose(found["mae"], expected.history["mae"], rtol=1e-5)


@pytest.mark.parametrize("package", PACKAGES, ids=names)
def test_a_bar_shows_how_far_an_epoch_is(estimators, capsys, monkeypatch, package):
    monkeypatch.setattr("xshards.learn.tf.fit_loop._SHOW_SECONDS", 0.0)
    seen = []
    logger = package.callbacks.ProgbarLogger
    on_batch = logger.on_train_batch_end

    def note(bar, batch, logs=None):
        seen.append((batch + 1, dict(logs)))
        on_batch(bar, batch, logs)

    monkeypatch.setattr(logger, "on_train_batch_end", note)
    ours = Estimator.from_keras(model=dense(package), workers=2)
    estimators.append(ours)
    x = np.zeros((4000, 4), "float32")
    ours.fit((x, x[:, :1]), batch_size=8)
    shown = capsys.readouterr().out
    assert "500/500" in shown
    steps = [step for step, _ in seen]
    assert steps == sorted(steps)
    assert any(0 < step < 500 for step in steps)
    assert all(list(logs) == ["loss", "mae"] for _, logs in seen)
    count = len(seen)
    ours.fit((x, x[:, :1]), batch_size=1000, verbose=2)
    assert len(seen) == count


def test_numbers_are_checked(rows):
    ours = Estimator.from_keras(model=dense(), workers=1)
    for name in (
        "epochs",
        "batch_size",
        "accumulate",
        "steps_per_epoch",
        "validation_steps",
        "validation_freq",
    ):
        with pytest.raises(XShardsTypeError, match=f"^{name} must be a whole number"):
            ours.fit(rows, **{name: "3"})
        with pytest.raises(XShardsValueError, match=f"^{name} must be at least 1"):
            ours.fit(rows, **{name: 0})
    with pytest.raises(XShardsValueError, match=r"^initial_epoch must be at least 0"):
        ours.fit(rows, initial_epoch=-1)
    with pytest.raises(XShardsValueError, match=r"^validation_freq must be at least 1"):
        ours.fit(rows, validation_freq=[0, 2])
    with pytest.raises(XShardsTypeError, match=r"^class_weight is a dict"):
        ours.fit(rows, class_weight=[1, 2])
    with pytest.raises(XShardsTypeError, match=r"^batch_size must be a whole number"):
        ours.evaluate(rows, "32")


def test_validation_frames_may_lack_weights(rows, estimators):
    """Weights are a column: of training, and of validation where it is there."""
    x, y = rows
    weights = np.linspace(0.1, 2, len(x), dtype="float32")
    frame = pd.DataFrame(x, columns=list("abcd")).assign(y=y[:, 0])
    options = {"feature_cols": list("abcd"), "label_cols": "y"}
    options |= {"sample_weight_col": "w", **OPTIONS}
    theirs = dense(optimizer=keras.optimizers.SGD(0.05))
    expected = theirs.fit(x, y, sample_weight=weights, **OPTIONS).history
    for validation, given in (
        (frame, None),
        (frame.assign(w=weights), weights),
    ):
        ours = Estimator.from_keras(
            model=dense(optimizer=keras.optimizers.SGD(0.05)), workers=2
        )
        estimators.append(ours)
        found = ours.fit(frame.assign(w=weights), validation_data=validation, **options)
        assert found["loss"] == pytest.approx(expected["loss"], rel=1e-5)
        measured = theirs.evaluate(x, y, sample_weight=given, verbose=0)
        assert found["val_loss"] == [pytest.approx(measured[0], rel=1e-4)]
