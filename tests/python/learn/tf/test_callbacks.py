# SPDX-License-Identifier: Apache-2.0
"""Callbacks of Keras see and change what they do in Keras."""

import csv

import keras
import numpy as np
import pytest
from keras_models import PACKAGES, dense, names

from xshards.errors import XShardsTypeError
from xshards.learn.tf import Estimator
from xshards.learn.tf.callbacks import wants_batches

pytestmark = pytest.mark.tensorflow

OPTIONS = {"batch_size": 32, "shuffle": False, "verbose": 0}
STAGES = (
    "on_train_begin",
    "on_train_end",
    "on_epoch_begin",
    "on_epoch_end",
    "on_test_begin",
    "on_test_end",
)
OF_BATCHES = ("on_train_batch_begin", "on_train_batch_end")


def recorder(package, stages, calls):
    """Make a callback that notes each call: its stage, number and logs."""

    def noting(stage):
        def note(_, *arguments, logs=None):
            numbers = [one for one in arguments if isinstance(one, int)]
            given = [one for one in arguments if isinstance(one, dict)]
            calls.append((stage, *numbers, dict(logs or (given or [{}])[0])))

        return note

    return type(
        "Recorder", (package.callbacks.Callback,), {one: noting(one) for one in stages}
    )()


def trained_both(package, rows, estimators, make_callbacks, **options):
    """Train by Keras and by 2 replicas; returns both models and histories."""
    x, y = rows

    def make():
        return dense(package, package.optimizers.SGD(0.05, momentum=0.5))

    options = {**OPTIONS, "validation_data": (x[:50], y[:50]), **options}
    theirs, ours = make(), Estimator.from_keras(model=make(), workers=2)
    estimators.append(ours)
    expected = theirs.fit(x, y, callbacks=make_callbacks("theirs"), **options).history
    found = ours.fit((x, y), callbacks=make_callbacks("ours"), **options)
    assert list(found) == list(expected)
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=2e-5, err_msg=name)
    return theirs, ours, expected


def assert_same_weights(ours, theirs):
    trained = ours._model.keras.get_weights()
    for one, other in zip(trained, theirs.get_weights(), strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-6)


def assert_same_calls(found, wanted):
    assert [call[:-1] for call in found] == [call[:-1] for call in wanted]
    for (*call, logs), (*_, expected) in zip(found, wanted, strict=True):
        assert list(logs) == list(expected), call
        assert logs == pytest.approx(expected, rel=2e-5), call


@pytest.mark.parametrize("package", PACKAGES, ids=names)
@pytest.mark.parametrize("stages", [STAGES, STAGES + OF_BATCHES], ids=["epochs", "all"])
def test_callbacks_are_called_as_keras_calls_them(rows, estimators, package, stages):
    """Batches have their begin before the step that a callback may change."""
    calls = {"theirs": [], "ours": []}
    trained_both(
        package,
        rows,
        estimators,
        lambda name: [recorder(package, stages, calls[name])],
        epochs=3,
        validation_freq=2,
    )
    assert_same_calls(calls["ours"], calls["theirs"])


@pytest.mark.parametrize("package", PACKAGES, ids=names)
def test_rates_and_files_are_those_of_keras(rows, estimators, tmp_path, package):
    rates = {"theirs": [], "ours": []}
    written = {"theirs": [], "ours": []}

    def make_callbacks(name):
        class Checkpoint(package.callbacks.ModelCheckpoint):
            def _save_model(self, *arguments, **options):
                written[name].append(1)
                return super()._save_model(*arguments, **options)

        kinds = package.callbacks
        return [
            kinds.LearningRateScheduler(lambda epoch, rate: rate / (epoch + 1)),
            kinds.CSVLogger(str(tmp_path / f"{name}.csv")),
            Checkpoint(
                str(tmp_path / f"{name}.{{epoch}}.weights.h5"), save_weights_only=True
            ),
            kinds.LambdaCallback(
                on_epoch_end=lambda epoch, logs: rates[name].append(
                    (epoch, float(logs["learning_rate" if package is keras else "lr"]))
                )
            ),
        ]

    theirs, ours, _ = trained_both(package, rows, estimators, make_callbacks, epochs=3)
    assert_same_weights(ours, theirs)
    assert rates["ours"] == [
        (epoch, pytest.approx(rate, rel=1e-6)) for epoch, rate in rates["theirs"]
    ]
    assert len(written["ours"]) == len(written["theirs"]) == 3
    files = sorted(one.name for one in tmp_path.glob("ours*"))
    saved_files = [f"ours.{epoch}.weights.h5" for epoch in (1, 2, 3)]
    assert files == [*saved_files, "ours.csv"]
    logged = {}
    for name in ("ours", "theirs"):
        with (tmp_path / f"{name}.csv").open() as file:
            logged[name] = list(csv.DictReader(file))
    assert len(logged["ours"]) == 3
    for one, other in zip(logged["ours"], logged["theirs"], strict=True):
        assert list(one) == list(other)
        for column, value in other.items():
            assert float(one[column]) == pytest.approx(float(value), rel=2e-5)
    saved = dense(package, package.optimizers.SGD(0.05, momentum=0.5))
    saved.optimizer.build(saved.trainable_variables)
    saved.load_weights(str(tmp_path / "ours.3.weights.h5"))
    for one, other in zip(saved.get_weights(), theirs.get_weights(), strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("package", PACKAGES, ids=names)
def test_a_plateau_lowers_the_rate(rows, estimators, package):
    def make_callbacks(_):
        return [
            package.callbacks.ReduceLROnPlateau(
                monitor="val_loss", factor=0.5, patience=1, min_delta=10.0
            )
        ]

    theirs, ours, expected = trained_both(
        package, rows, estimators, make_callbacks, epochs=4
    )
    rates = expected["learning_rate" if package is keras else "lr"]
    assert rates[-1] < rates[0]
    assert_same_weights(ours, theirs)


@pytest.mark.parametrize("package", PACKAGES, ids=names)
def test_early_stopping_restores_the_best_weights(rows, estimators, package):
    made = {}

    def make_callbacks(name):
        # The loss gets better, which is worse by "max".
        made[name] = package.callbacks.EarlyStopping(
            monitor="loss", patience=1, mode="max", restore_best_weights=True
        )
        return [made[name]]

    theirs, ours, expected = trained_both(
        package, rows, estimators, make_callbacks, epochs=9
    )
    assert len(expected["loss"]) == 2
    assert made["ours"].stopped_epoch == made["theirs"].stopped_epoch
    assert_same_weights(ours, theirs)
    # The shared weights, not only the driver's, are those.
    x, y = rows
    measured = ours.evaluate((x, y))
    wanted = theirs.evaluate(x, y, verbose=0, return_dict=True)
    assert measured == pytest.approx(wanted, rel=2e-5)


@pytest.mark.parametrize("package", PACKAGES, ids=names)
def test_a_stop_within_an_epoch_holds_at_its_end(rows, estimators, package):
    """Replicas compute the next batch already; Keras would stop after 2 of 5."""

    class Stop(package.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if batch == 1:
                self.model.stop_training = True

    x, y = rows
    ours = Estimator.from_keras(model=dense(package), workers=2)
    estimators.append(ours)
    found = ours.fit((x, y), epochs=3, callbacks=[Stop()], **OPTIONS)
    theirs = dense(package)
    theirs.fit(x, y, epochs=1, **OPTIONS)
    assert len(found["loss"]) == 1
    assert_same_weights(ours, theirs)


@pytest.mark.parametrize("package", PACKAGES, ids=names)
def test_a_rate_set_before_a_batch_holds_for_it(rows, estimators, package):
    def make_callbacks(_):
        class WarmUp(package.callbacks.Callback):
            def on_train_batch_begin(self, batch, logs=None):
                self.model.optimizer.learning_rate = 0.01 * (batch + 1)

        return [WarmUp()]

    theirs, ours, _ = trained_both(package, rows, estimators, make_callbacks, epochs=2)
    assert_same_weights(ours, theirs)


def test_batches_are_reported_only_where_a_callback_wants_them():
    def wants(*callbacks):
        return wants_batches(
            keras.callbacks.CallbackList(
                list(callbacks), add_history=True, model=dense()
            )
        )

    assert not wants(keras.callbacks.EarlyStopping(), keras.callbacks.CSVLogger("log"))
    assert not wants(keras.callbacks.ModelCheckpoint("file.keras"))
    assert wants(keras.callbacks.ModelCheckpoint("file.keras", save_freq=2))
    assert wants(keras.callbacks.LambdaCallback(on_train_batch_end=print))


def test_what_is_no_callback_is_refused(rows, estimators):
    ours = Estimator.from_keras(model=dense(), workers=1)
    estimators.append(ours)
    with pytest.raises(
        XShardsTypeError, match=r"callbacks are those of keras.*got int"
    ):
        ours.fit(rows, callbacks=[5], verbose=0)
