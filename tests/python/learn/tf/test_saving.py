# SPDX-License-Identifier: Apache-2.0
"""Models and weights in the formats of Keras: what is loaded predicts the same."""

import contextlib
import warnings

import keras
import numpy as np
import pytest
import tf_keras
from keras_models import PACKAGES, dense, names

from xshards.errors import XShardsFileNotFoundError, XShardsValueError
from xshards.learn.tf import Estimator

pytestmark = pytest.mark.tensorflow

FILES = ["model.keras", "model.h5", "folder"]
OPTIONS = {"batch_size": 32, "shuffle": False, "verbose": 0}


@contextlib.contextmanager
def without_advice():
    """HDF5 works; both generations advise against it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def with_statistics(package):
    """A model with variables that no gradient changes."""
    package.utils.set_random_seed(3)
    model = package.Sequential(
        [
            package.layers.Input((4,)),
            package.layers.BatchNormalization(momentum=0.5),
            package.layers.Dense(6, activation="tanh"),
            package.layers.Dense(1),
        ]
    )
    model.compile(package.optimizers.Adam(0.01), "mse", metrics=["mae"])
    return model


def changed(estimator):
    model = estimator._model.keras
    model.set_weights([one + 0.5 for one in model.get_weights()])
    return estimator


@pytest.mark.parametrize("package", PACKAGES, ids=names)
@pytest.mark.parametrize("name", FILES)
def test_a_saved_model_is_loaded_and_trained_on(
    rows, estimators, tmp_path, package, name
):
    x, y = rows
    ours = Estimator.from_keras(model=with_statistics(package), workers=2, seed=1)
    other = changed(Estimator.from_keras(model=with_statistics(package), workers=2))
    estimators += [ours, other]
    ours.fit((x, y), **OPTIONS)
    with without_advice():
        file = ours.save(tmp_path / name)
        other.load(file)
    np.testing.assert_allclose(other.predict(x), ours.predict(x), rtol=1e-6)
    measured = ours.get_model().evaluate(x, y, verbose=0, return_dict=True)
    assert other.evaluate((x, y)) == pytest.approx(measured, rel=1e-5)
    if name == "model.keras" or (name == "model.h5" and package is tf_keras):
        # With the optimizer's state, training goes on as if nothing had been saved.
        found, wanted = (one.fit((x, y), **OPTIONS) for one in (other, ours))
        assert found["loss"] == pytest.approx(wanted["loss"], rel=1e-5)
        np.testing.assert_allclose(other.predict(x), ours.predict(x), rtol=1e-4)
    else:
        assert other.fit((x, y), **OPTIONS)["loss"][0] < measured["loss"] * 1.1


@pytest.mark.parametrize("package", PACKAGES, ids=names)
@pytest.mark.parametrize("name", FILES[:2])
def test_keras_itself_loads_what_was_saved(rows, estimators, tmp_path, package, name):
    x, y = rows
    ours = Estimator.from_keras(model=dense(package), workers=2)
    estimators.append(ours)
    ours.fit((x, y), **OPTIONS)
    with without_advice():
        file = ours.save(tmp_path / name)
        theirs = package.models.load_model(file, compile=False)
    np.testing.assert_allclose(
        theirs.predict(x, verbose=0), ours.predict(x), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("package", PACKAGES, ids=names)
def test_saved_weights_are_loaded(rows, estimators, tmp_path, package):
    x, y = rows
    ours = Estimator.from_keras(model=with_statistics(package), workers=2)
    other = changed(Estimator.from_keras(model=with_statistics(package), workers=2))
    estimators += [ours, other]
    ours.fit((x, y), **OPTIONS)
    file = tmp_path / "a folder" / "model.weights.h5"
    ours.save_weights(file)
    other.load_weights(file)
    np.testing.assert_allclose(other.predict(x), ours.predict(x), rtol=1e-6)
    # Replicas have them too, also if they ran before.
    ours.fit((x, y), **OPTIONS)
    ours.load_weights(file)
    assert ours.evaluate((x, y)) == pytest.approx(other.evaluate((x, y)), rel=1e-6)


@pytest.mark.parametrize("package", PACKAGES, ids=names)
def test_what_is_no_such_file_is_refused(tmp_path, package):
    ours = Estimator.from_keras(model=dense(package), workers=1)
    absent = r"there is no file .*absent"
    for name in ("absent.keras", "absent.h5", "absent"):
        with pytest.raises(XShardsFileNotFoundError, match=absent):
            ours.load(tmp_path / name)
    with pytest.raises(XShardsFileNotFoundError, match=absent):
        ours.load_weights(tmp_path / "absent.weights.h5")
    for name in ("text.keras", "text.h5"):
        (tmp_path / name).write_text("no model")
        with pytest.raises(XShardsValueError, match=f"{name} is no model that"):
            ours.load(tmp_path / name)
    (tmp_path / "text.weights.h5").write_text("no weights")
    with pytest.raises(XShardsValueError, match=r"text\.weights\.h5 has no weights"):
        ours.load_weights(tmp_path / "text.weights.h5")
    (tmp_path / "empty").mkdir()
    with pytest.raises(XShardsValueError, match="empty is no model that"):
        ours.load(tmp_path / "empty")


@pytest.mark.parametrize("package", PACKAGES, ids=names)
def test_weights_of_another_model_are_refused(tmp_path, package):
    small = Estimator.from_keras(model=dense(package, hidden=3), workers=1)
    ours = Estimator.from_keras(model=dense(package), workers=1)
    small.save_weights(tmp_path / "small.weights.h5")
    before = ours._model.keras.get_weights()
    with pytest.raises(XShardsValueError, match=r"small\.weights\.h5 has no weights"):
        ours.load_weights(tmp_path / "small.weights.h5")
    for one, other in zip(ours._model.keras.get_weights(), before, strict=True):
        np.testing.assert_array_equal(one, other)


def test_weights_of_another_saved_model_are_refused(tmp_path):
    small = Estimator.from_keras(model=dense(hidden=3), workers=1)
    ours = Estimator.from_keras(model=dense(), workers=1)
    small.save(tmp_path / "small")
    with pytest.raises(XShardsValueError, match="variables of another model"):
        ours.load(tmp_path / "small")


def test_a_loaded_optimizer_clips_as_it_was_told_to(tmp_path):
    """In place of the former one; what users set stays."""
    plain, clipped, scaled = (
        Estimator.from_keras(model=dense(optimizer=one), workers=1)
        for one in (
            keras.optimizers.SGD(0.1),
            keras.optimizers.SGD(0.1, clipvalue=0.5),
            keras.optimizers.SGD(0.1, global_clipnorm=2.0),
        )
    )
    files = [
        one.save(tmp_path / f"{number}.keras")
        for number, one in enumerate((plain, clipped, scaled))
    ]
    limits = []
    for number in (1, 2, 0):
        plain.load(files[number])
        limits.append((plain._clip.constant, plain._clip.norm))
    assert limits == [((-0.5, 0.5), None), (None, 2.0), (None, None)]
    plain.set_constant_gradient_clipping(-3.0, 3.0)
    plain.load(files[2])
    assert (plain._clip.constant, plain._clip.norm) == ((-3.0, 3.0), 2.0)
    plain.load(files[1])
    assert (plain._clip.constant, plain._clip.norm) == ((-0.5, 0.5), None)


def test_nothing_is_overwritten_unasked(tmp_path):
    ours = Estimator.from_keras(model=dense(), workers=1)
    file = ours.save(tmp_path / "model.keras")
    with pytest.raises(XShardsValueError, match="exists; pass overwrite=True"):
        ours.save(file, overwrite=False)


def test_a_name_that_keras_refuses_is_refused(tmp_path):
    ours = Estimator.from_keras(model=dense(), workers=1)
    with pytest.raises(XShardsValueError, match=r"must end in `\.weights\.h5`"):
        ours.save_weights(tmp_path / "weights.txt")


@pytest.mark.parametrize("name", ["model.h5", "folder"])
def test_a_subclassed_model_is_saved_where_keras_can(rows, tmp_path, name):
    """Legacy Keras has no HDF5 of subclassed models; Keras 3 exports and loads it."""
    x, _ = rows
    package = tf_keras if name == "model.h5" else keras

    class Own(package.Model):
        def __init__(self):
            super().__init__()
            self.layer = package.layers.Dense(1)

        def call(self, inputs):
            return self.layer(inputs)

    model = Own()
    model.compile("sgd", "mse")
    model(x[:1])
    ours = Estimator.from_keras(model=model, workers=1)
    if name == "model.h5":
        with pytest.raises(XShardsValueError, match=r"model\.h5 cannot be written"):
            ours.save(tmp_path / name)
        return
    before = ours.predict(x)
    ours.save(tmp_path / name)
    changed(ours).load(tmp_path / name)
    np.testing.assert_allclose(ours.predict(x), before, rtol=1e-6)
