# SPDX-License-Identifier: Apache-2.0
"""Training by replicas is what Keras does with the same batches."""

import os
import signal

import keras
import numpy as np
import pandas as pd
import pytest
from keras_models import PACKAGES, dense, names

import xshards as xs
from xshards.learn.tf import Estimator

pytestmark = pytest.mark.tensorflow


def weights_of(estimator):
    return estimator._model.keras.get_weights()


def assert_close(ours, theirs, tolerance=2e-6):
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=tolerance)


def assert_same_history(ours, theirs, rtol=1e-5):
    assert list(ours) == list(theirs)
    for name, values in theirs.items():
        np.testing.assert_allclose(ours[name], values, rtol=rtol, err_msg=name)


@pytest.mark.parametrize("package", PACKAGES, ids=names)
@pytest.mark.parametrize(("kind", "workers"), [("SGD", 1), ("SGD", 2), ("Adam", 3)])
def test_replicas_do_what_keras_does(rows, estimators, package, kind, workers):
    """The last batch has 22 of 150 rows, which 3 replicas share unevenly."""
    x, y = rows

    def make():
        return dense(package, getattr(package.optimizers, kind)(0.02))

    theirs = make()
    expected = theirs.fit(
        x,
        y,
        batch_size=32,
        epochs=3,
        shuffle=False,
        verbose=0,
        validation_data=(x[:50], y[:50]),
    ).history
    ours = Estimator.from_keras(model=make(), workers=workers, seed=1)
    estimators.append(ours)
    found = ours.fit(
        (x, y),
        epochs=3,
        batch_size=32,
        shuffle=False,
        verbose=0,
        validation_data=(x[:50], y[:50]),
    )
    assert_close(weights_of(ours), theirs.get_weights())
    assert_same_history(found, expected)
    measured = ours.evaluate((x, y), batch_size=40)
    wanted = theirs.evaluate(x, y, batch_size=40, verbose=0, return_dict=True)
    assert_same_history(measured, wanted)


@pytest.mark.parametrize("package", PACKAGES, ids=names)
def test_a_seed_repeats_training_bitwise(rows, estimators, package):
    x, y = rows

    def train(other_seed):
        package.utils.set_random_seed(3)
        model = package.Sequential(
            [
                package.layers.Input((4,)),
                package.layers.Dense(8, activation="relu"),
                package.layers.Dropout(0.5),
                package.layers.Dense(1),
            ]
        )
        package.utils.set_random_seed(other_seed)
        model.compile("adam", "mse", jit_compile=False)
        estimator = Estimator.from_keras(model=model, workers=2, seed=11)
        estimators.append(estimator)
        history = estimator.fit((x, y), epochs=2, batch_size=32, verbose=0)
        return history, weights_of(estimator)

    (first, weights), (second, again) = train(1), train(2)
    assert first == second
    for one, other in zip(weights, again, strict=True):
        np.testing.assert_array_equal(one, other)


def test_random_layers_draw_anew_for_each_batch_and_replica(estimators):
    inputs = keras.Input((4,))
    outputs = keras.layers.Dense(1, use_bias=False, kernel_initializer="ones")(
        keras.layers.Dropout(0.5)(inputs)
    )
    model = keras.Model(inputs, outputs)
    model.compile(keras.optimizers.SGD(0.0), "mse", jit_compile=False)
    estimator = Estimator.from_keras(model=model, workers=2, seed=2)
    estimators.append(estimator)
    ones = np.ones((64, 4), "float32")
    losses = estimator.fit((ones, ones[:, :1]), epochs=4, batch_size=32, verbose=0)
    assert len(set(losses["loss"])) == 4


def test_a_killed_replica_changes_nothing(rows, estimators):
    x, y = rows
    whole = Estimator.from_keras(model=dense(metrics=["mae", "mse"]), workers=2, seed=1)
    broken = Estimator.from_keras(
        model=dense(metrics=["mae", "mse"]), workers=2, seed=1
    )
    estimators += [whole, broken]
    expected = whole.fit((x, y), epochs=3, batch_size=16, verbose=0)

    class Killer(keras.callbacks.Callback):
        epoch = 0

        def on_epoch_begin(self, epoch, logs=None):
            self.epoch = epoch

        def on_train_batch_end(self, batch, logs=None):
            if (self.epoch, batch) == (1, 5):
                os.kill(broken._job.pids[1], signal.SIGKILL)

    found = broken.fit((x, y), epochs=3, batch_size=16, verbose=0, callbacks=[Killer()])
    assert found == expected
    for one, other in zip(weights_of(whole), weights_of(broken), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_resumed_job_ends_with_the_same_weights(rows, estimators, tmp_path):
    x, y = rows
    whole = Estimator.from_keras(model=dense(), workers=2, seed=1)
    first = Estimator.from_keras(
        model=dense(), workers=2, seed=1, model_dir=str(tmp_path)
    )
    second = Estimator.from_keras(model=dense(), workers=2, seed=9)
    estimators += [whole, first, second]
    whole.fit((x, y), epochs=5, batch_size=32, verbose=0)
    first.fit(
        (x, y), epochs=3, batch_size=32, verbose=0, checkpoint_trigger="everyepoch"
    )
    first.shutdown()
    second.fit((x, y), epochs=1, batch_size=32, verbose=0)  # made, then overwritten
    second.load_orca_checkpoint(tmp_path)
    second.fit((x, y), epochs=5, initial_epoch=3, batch_size=32, verbose=0)
    for one, other in zip(weights_of(whole), weights_of(second), strict=True):
        np.testing.assert_array_equal(one, other)


def test_class_and_sample_weights_are_those_of_keras(estimators):
    draw = np.random.default_rng(0)
    x = draw.normal(size=(90, 4)).astype("float32")
    y = (x[:, 0] > 0.3).astype("int64")
    weight = draw.uniform(0.1, 2, 90).astype("float32")

    def make():
        keras.utils.set_random_seed(1)
        model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
        model.compile(
            keras.optimizers.SGD(0.1),
            keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            metrics=["accuracy"],
            weighted_metrics=["accuracy"],
            jit_compile=False,
        )
        return model

    by_class = {"class_weight": {0: 1.0, 1: 5.0}}
    for keras_arguments, our_arguments, data in [
        (by_class, by_class, (x, y)),
        ({"sample_weight": weight}, {}, (x, y, weight)),
    ]:
        theirs = make()
        expected = theirs.fit(
            x, y, batch_size=32, epochs=2, shuffle=False, verbose=0, **keras_arguments
        ).history
        ours = Estimator.from_keras(model=make(), workers=2)
        estimators.append(ours)
        found = ours.fit(
            data, epochs=2, batch_size=32, shuffle=False, verbose=0, **our_arguments
        )
        assert_close(weights_of(ours), theirs.get_weights())
        assert_same_history(found, expected)


def test_metrics_are_exact_over_replicas(estimators):
    """AUC and precision of all rows are no means of those of replicas."""
    draw = np.random.default_rng(2)
    x = draw.normal(size=(101, 4)).astype("float32")
    y = (x.sum(axis=1) + draw.normal(size=101) > 0).astype("float32")[:, None]

    def make():
        keras.utils.set_random_seed(1)
        model = keras.Sequential(
            [keras.Input((4,)), keras.layers.Dense(1, activation="sigmoid")]
        )
        model.compile(
            "sgd",
            "binary_crossentropy",
            metrics=[
                keras.metrics.AUC(name="auc"),
                keras.metrics.Precision(name="precision"),
                "accuracy",
            ],
            jit_compile=False,
        )
        return model

    ours = Estimator.from_keras(model=make(), workers=3)
    estimators.append(ours)
    found = ours.evaluate((x, y), batch_size=10)
    expected = make().evaluate(x, y, batch_size=10, verbose=0, return_dict=True)
    assert found == pytest.approx(expected, rel=1e-6)


def test_statistics_of_batch_normalization_are_those_of_a_replica(rows, estimators):
    x, y = rows

    def make():
        keras.utils.set_random_seed(1)
        model = keras.Sequential(
            [
                keras.Input((4,)),
                keras.layers.BatchNormalization(momentum=0.5),
                keras.layers.Dense(1),
            ]
        )
        model.compile(keras.optimizers.SGD(0.01), "mse", jit_compile=False)
        return model

    theirs = make()
    theirs.fit(x, y, batch_size=32, epochs=2, shuffle=False, verbose=0)
    ours = Estimator.from_keras(model=make(), workers=1)
    estimators.append(ours)
    ours.fit((x, y), epochs=2, batch_size=32, shuffle=False, verbose=0)
    assert_close(weights_of(ours), theirs.get_weights())
    assert_close(ours.get_model().get_weights(), theirs.get_weights())


def test_replicas_measure_the_statistics_of_the_model_that_users_get(rows, estimators):
    x, y = rows
    keras.utils.set_random_seed(1)
    model = keras.Sequential(
        [
            keras.Input((4,)),
            keras.layers.BatchNormalization(momentum=0.5),
            keras.layers.Dense(1),
        ]
    )
    model.compile(keras.optimizers.SGD(0.01), "mse", metrics=["mae"])
    ours = Estimator.from_keras(model=model, workers=2)
    estimators.append(ours)
    data = {"epochs": 2, "batch_size": 32, "shuffle": False, "verbose": 0}
    history = ours.fit((x, y), validation_data=(x, y), **data)
    found = ours.evaluate((x, y), batch_size=32)
    expected = ours.get_model().evaluate(x, y, verbose=0, return_dict=True)
    assert found == pytest.approx(expected, rel=1e-5)
    assert history["val_loss"][-1] == pytest.approx(expected["loss"], rel=1e-5)


def test_columns_of_shards_are_features_and_target(rows, estimators):
    x, y = rows
    frame = pd.DataFrame(x, columns=list("abcd")).assign(y=y[:, 0])
    ours = Estimator.from_keras(model=dense(), workers=2)
    estimators.append(ours)
    shards = xs.from_pandas(frame, num_partitions=3)
    columns = {"feature_cols": list("abcd"), "label_cols": ["y"]}
    found = ours.fit(shards, batch_size=32, shuffle=False, verbose=0, **columns)
    theirs = dense()
    expected = theirs.fit(x, y, batch_size=32, shuffle=False, verbose=0).history
    assert_same_history(found, expected)
    predicted = ours.predict(shards, feature_cols=list("abcd")).to_pandas()
    assert list(predicted.columns) == [*"abcdy", "prediction"]
    np.testing.assert_allclose(
        predicted["prediction"],
        theirs.predict(x, verbose=0)[:, 0],
        rtol=1e-4,
        atol=1e-5,
    )
