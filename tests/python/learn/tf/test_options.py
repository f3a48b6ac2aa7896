# SPDX-License-Identifier: Apache-2.0
"""The rest of what from_keras, fit, evaluate and predict can be told."""

import random

import keras
import numpy as np
import pandas as pd
import pytest
import tensorflow as tf
import tf_keras
from keras_models import PACKAGES, dense, names

import xshards as xs
from xshards.learn.tf import Estimator

pytestmark = pytest.mark.tensorflow

OPTIONS = {"batch_size": 32, "shuffle": False, "verbose": 0}


def of_config(config):
    package = tf_keras if config["legacy"] else keras
    return package.Sequential(
        [package.layers.Input((4,)), package.layers.Dense(config["units"])]
    )


def arguments_of_config(config):
    package = tf_keras if config["legacy"] else keras
    optimizer = package.optimizers.SGD(config["rate"])
    return {"optimizer": optimizer, "loss": "mse", "jit_compile": False}


@pytest.mark.parametrize("package", PACKAGES, ids=names)
def test_creators_take_the_config_and_a_seed_repeats_them(package):
    """The random numbers that users draw are none of the seed's."""
    config = {"units": 3, "rate": 0.125, "legacy": package is tf_keras}

    def make(seed):
        return Estimator.from_keras(
            model_creator=of_config,
            compile_args_creator=arguments_of_config,
            config=config,
            workers=1,
            seed=seed,
        )

    def state():
        python, numpy = random.random(), np.random.random()  # noqa: NPY002
        drawn = [
            float(tf.random.normal(())),
            float(package.random.normal(())) if package is keras else 0.0,
        ]
        return [python, numpy, *drawn]

    def weights(estimator):
        return estimator._model.keras.get_weights()[0]

    keras.utils.set_random_seed(8)
    expected = [state(), state()]
    keras.utils.set_random_seed(8)
    before = state()
    first, again, other = make(5), make(5), make(6)
    assert [before, state()] == expected
    assert weights(first).shape == (4, 3)
    assert float(first._model.keras.optimizer.learning_rate.numpy()) == 0.125
    np.testing.assert_array_equal(weights(first), weights(again))
    assert (weights(first) != weights(other)).any()


def test_clipping_limits_updates_from_the_next_fit_on(rows, estimators):
    x, y = rows
    ours = Estimator.from_keras(
        model=dense(optimizer=keras.optimizers.SGD(1.0)), workers=2
    )
    estimators.append(ours)

    def change():
        before = ours._model.keras.get_weights()
        ours.fit((x, y), 1, 150, shuffle=False, verbose=0)
        after = ours._model.keras.get_weights()
        return np.concatenate(
            [(one - two).ravel() for one, two in zip(after, before, strict=True)]
        )

    ours.set_constant_gradient_clipping(-0.001, 0.002)
    found = change()
    assert found.min() == pytest.approx(-0.002, rel=1e-4)
    assert found.max() == pytest.approx(0.001, rel=1e-4)
    ours.clear_gradient_clipping()
    ours.set_l2_norm_gradient_clipping(0.01)
    assert np.linalg.norm(change()) == pytest.approx(0.01, rel=1e-3)


def test_summaries_checkpoints_and_steps(rows, estimators, tmp_path):
    x, y = rows
    ours = Estimator.from_keras(model=dense(), workers=2, model_dir=str(tmp_path / "c"))
    estimators.append(ours)
    ours.set_tensorboard(str(tmp_path / "logs"), "app")
    history = ours.fit(
        (x, y),
        3,
        steps_per_epoch=2,
        validation_data=(x, y),
        validation_steps=1,
        checkpoint_trigger="everyepoch",
        **OPTIONS,
    )
    assert ours._job.num_steps == 6
    losses = np.asarray(ours.get_train_summary("Loss"))
    assert losses[:, 0].tolist() == [1, 2, 3, 4, 5, 6]
    # Keras' loss of a step is the mean of the epoch so far.
    np.testing.assert_allclose(losses[1::2, 1], history["loss"], rtol=1e-5)
    measured = np.asarray(ours.get_validation_summary("Loss"))
    np.testing.assert_allclose(measured[:, 1], history["val_loss"], rtol=1e-5)
    newest = Estimator.latest_checkpoint(tmp_path / "c")
    assert newest.endswith("model.6")
    found = ours.evaluate((x, y), 32, 1)
    assert found["loss"] == pytest.approx(history["val_loss"][-1], rel=1e-6)


def test_weights_in_shards_and_names_of_predictions(rows, estimators):
    x, y = rows
    weights = np.linspace(0.1, 2, len(x), dtype="float32")
    shards = xs.XShards.partition(
        {"x": x, "y": y, "sample_weight": weights}, num_shards=3
    )

    def make():
        a = keras.Input((4,))
        outputs = [keras.layers.Dense(1)(a), keras.layers.Dense(1)(a)]
        keras.utils.set_random_seed(3)
        return keras.Model(a, outputs)

    ours = Estimator.from_keras(
        model=dense(optimizer=keras.optimizers.SGD(0.05)), workers=2
    )
    theirs = dense(optimizer=keras.optimizers.SGD(0.05))
    estimators.append(ours)
    found = ours.fit(shards, **OPTIONS)
    expected = theirs.fit(x, y, sample_weight=weights, **OPTIONS).history
    assert found["loss"] == pytest.approx(expected["loss"], rel=1e-5)
    frame = pd.DataFrame(x, columns=list("abcd"))
    model = make()
    predicted = Estimator.from_keras(model=model, workers=1).predict(
        frame, feature_cols=list("abcd"), output_cols=["one", "two"]
    )
    assert list(predicted.columns) == [*"abcd", "one", "two"]
    wanted = model.predict(x, verbose=0)
    np.testing.assert_allclose(predicted["two"], wanted[1][:, 0], rtol=1e-4, atol=1e-5)


def test_statistics_of_replicas_may_be_averaged(rows, estimators):
    """Of one batch: the mean of what 2 replicas have of its halves."""
    x, y = rows

    def make():
        keras.utils.set_random_seed(1)
        norm = keras.layers.BatchNormalization(momentum=0.0)
        model = keras.Sequential([keras.Input((4,)), norm, keras.layers.Dense(1)])
        model.compile(keras.optimizers.SGD(0.0), "mse", jit_compile=False)
        return model

    for sync in (True, False):
        ours = Estimator.from_keras(model=make(), workers=2, sync_stats=sync)
        estimators.append(ours)
        ours.fit((x, y), 1, 150, shuffle=False, verbose=0)
        means = ours.get_model().layers[0].moving_mean.numpy()
        of_all = np.abs(means - x.mean(0)).max() < 1e-5
        assert of_all == sync
