# SPDX-License-Identifier: Apache-2.0
"""Callbacks of Keras that look at batches of a test, at steps and at the optimizer."""

import sys

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras_models import PACKAGES, dense, names

from xshards.errors import XShardsTypeError
from xshards.learn.tf import Estimator

pytestmark = pytest.mark.tensorflow

OPTIONS = {"batch_size": 32, "shuffle": False, "verbose": 0}


def both(package, estimators, make=None):
    make = make or (lambda: dense(package, package.optimizers.Adam(0.05)))
    ours = Estimator.from_keras(model=make(), workers=2)
    estimators.append(ours)
    return ours, make()


def assert_same_weights(ours, theirs):
    trained = ours._model.keras.get_weights()
    for one, other in zip(trained, theirs.get_weights(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("package", PACKAGES, ids=names)
def test_batches_of_a_test_are_reported(rows, estimators, package):
    x, y = rows
    calls = {"ours": [], "theirs": []}

    def recorder(name):
        class Recorder(package.callbacks.Callback):
            def on_test_begin(self, logs=None):
                calls[name].append(("begin", None))

            def on_test_batch_begin(self, batch, logs=None):
                calls[name].append((batch, None))

            def on_test_batch_end(self, batch, logs=None):
                calls[name].append((batch, dict(logs)))

            def on_test_end(self, logs=None):
                calls[name].append(("end", dict(logs)))

        return [Recorder()]

    ours, theirs = both(package, estimators)
    ours.fit(
        (x, y), validation_data=(x[:70], y[:70]), callbacks=recorder("ours"), **OPTIONS
    )
    theirs.fit(
        x, y, validation_data=(x[:70], y[:70]), callbacks=recorder("theirs"), **OPTIONS
    )
    found = ours.evaluate((x, y), 40, 2, callbacks=recorder("ours"))
    options = {"batch_size": 40, "steps": 2, "verbose": 0, "return_dict": True}
    expected = theirs.evaluate(x, y, callbacks=recorder("theirs"), **options)
    assert found == pytest.approx(expected, rel=2e-5)
    assert [one for one, _ in calls["ours"]] == [one for one, _ in calls["theirs"]]
    for (_, logs), (_, wanted) in zip(calls["ours"], calls["theirs"], strict=True):
        assert (logs is None) == (wanted is None)
        assert logs is None or logs == pytest.approx(wanted, rel=2e-5)
    with pytest.raises(XShardsTypeError, match="callbacks are those of"):
        ours.evaluate((x, y), callbacks=[5])


def scalars(folder):
    """Return the tags, steps and values of the event files below a folder."""
    found = set()
    for file in sorted(folder.rglob("events*")):
        for event in tf.compat.v1.train.summary_iterator(str(file)):
            for value in event.summary.value:
                number = tf.make_ndarray(value.tensor) if value.tensor.dtype == 1 else 0
                if np.shape(number) == ():
                    found.add((value.tag, event.step, round(float(number), 3)))
    return found


@pytest.mark.parametrize("package", PACKAGES, ids=names)
def test_tensorboard_has_what_keras_writes(
    rows, estimators, tmp_path, monkeypatch, package
):
    # Other tests keep TensorBoard from importing TensorFlow.
    monkeypatch.delitem(sys.modules, "tensorboard.compat.notf", raising=False)
    x, y = rows
    ours, theirs = both(package, estimators)
    logs = {}
    for name, fit in (
        ("ours", lambda **options: ours.fit((x, y), 2, **options)),
        ("theirs", lambda **options: theirs.fit(x, y, epochs=2, **options)),
    ):
        board = package.callbacks.TensorBoard(
            str(tmp_path / name), write_graph=False, update_freq=2, profile_batch=0
        )
        fit(callbacks=[board], validation_data=(x[:50], y[:50]), **OPTIONS)
        logs[name] = scalars(tmp_path / name)
    assert ("epoch_loss", 1) in {(tag, step) for tag, step, _ in logs["ours"]}
    assert logs["ours"] == logs["theirs"]


@pytest.mark.parametrize("package", PACKAGES, ids=names)
def test_an_interrupted_fit_goes_on_from_a_backup(rows, estimators, tmp_path, package):
    """With the optimizer's state, as if it had not been interrupted."""

    class Interrupt(package.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            if epoch == 2:
                raise InterruptedError

    x, y = rows
    first, theirs = both(package, estimators)
    second, _ = both(package, estimators)
    theirs.fit(x, y, epochs=4, **OPTIONS)
    backup = package.callbacks.BackupAndRestore(str(tmp_path / "backup"))
    with pytest.raises(InterruptedError):
        first.fit((x, y), 4, callbacks=[backup, Interrupt()], **OPTIONS)
    backup = package.callbacks.BackupAndRestore(str(tmp_path / "backup"))
    history = second.fit((x, y), 4, callbacks=[backup], **OPTIONS)
    assert history.epoch == [2, 3]
    assert_same_weights(second, theirs)


def test_averages_of_weights_are_swapped_in_for_validation(rows, estimators):
    x, y = rows

    def make():
        optimizer = keras.optimizers.SGD(0.05, use_ema=True, ema_momentum=0.8)
        return dense(keras, optimizer)

    ours, theirs = both(keras, estimators, make)
    options = {**OPTIONS, "epochs": 2, "validation_data": (x[:50], y[:50])}
    found = ours.fit(
        (x, y),
        callbacks=[keras.callbacks.SwapEMAWeights(swap_on_epoch=True)],
        **options,
    )
    expected = theirs.fit(
        x, y, callbacks=[keras.callbacks.SwapEMAWeights(swap_on_epoch=True)], **options
    ).history
    for name, values in expected.items():
        assert found[name] == pytest.approx(values, rel=1e-4), name
    assert_same_weights(ours, theirs)
