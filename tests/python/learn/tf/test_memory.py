# SPDX-License-Identifier: Apache-2.0
"""One copy of weights and of the optimizer's state, whatever the replicas."""

import numpy as np
import pytest
import tensorflow as tf
from keras_models import PACKAGES, names

from xshards.learn.tf import Estimator
from xshards.learn.tf.variables import address_of

pytestmark = pytest.mark.tensorflow

OPTIONS = {"batch_size": 32, "shuffle": False, "verbose": 0}


def counting(package, **compiled):
    """A model that logs how many variables the optimizer of its replica has."""

    class Counting(package.Sequential):
        def train_step(self, data):
            logs = super().train_step(data)
            found = self.optimizer.variables
            found = found() if callable(found) else found
            count = sum(int(np.prod(one.shape, dtype=int)) for one in found)
            return {**logs, "elements": tf.constant(float(count))}

    package.utils.set_random_seed(3)
    model = Counting([package.layers.Input((4,)), package.layers.Dense(500)])
    model.compile(package.optimizers.Adam(0.01), "mse", jit_compile=False)
    return model


def slots(package, optimizer):
    lists = (optimizer._momentums, optimizer._velocities)
    return [one for same in lists for one in same]


@pytest.mark.parametrize("package", PACKAGES, ids=names)
def test_only_the_server_has_the_state_of_the_optimizer(rows, estimators, package):
    x, _ = rows
    y = np.zeros((len(x), 500), "float32")
    ours = Estimator.from_keras(model_creator=lambda _: counting(package), workers=2)
    estimators.append(ours)
    history = ours.fit((x, y), **OPTIONS)
    assert 0 < history["elements"][0] < 5  # iterations and the learning rate
    optimizer = ours._model.keras.optimizer
    assert not getattr(optimizer, "_momentums", [])
    (owner,) = ours._job.servers
    # Once they are looked at, they are the server's memory.
    ours._job.take_state()
    shared = {
        owner.server.state(number, index).__array_interface__["data"][0]
        for number in range(2)
        for index in range(2)
    }
    assert {address_of(one) for one in slots(package, optimizer)} == shared
    before = [one.numpy().copy() for one in slots(package, optimizer)]
    ours.fit((x, y), **OPTIONS)
    after = [one.numpy() for one in slots(package, optimizer)]
    assert all((one != other).any() for one, other in zip(before, after, strict=True))
    # They are the model's own when there is no server.
    ours.shutdown()
    assert not {address_of(one) for one in slots(package, optimizer)} & shared
    for one, other in zip(slots(package, optimizer), after, strict=True):
        np.testing.assert_array_equal(one.numpy(), other)


@pytest.mark.parametrize("package", PACKAGES, ids=names)
@pytest.mark.parametrize("change", ["state", "schedule"])
def test_training_goes_on_with_the_state_it_had(rows, estimators, package, change):
    """Over shutdown, and where a callback gives the optimizer another state."""
    x, y = rows
    schedule = package.optimizers.schedules.ExponentialDecay(0.05, 3, 0.7)

    class Forget(package.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            if epoch == 1:
                for one in slots(package, self.model.optimizer):
                    one.assign(tf.zeros_like(one))
                self.model.optimizer.iterations.assign(1)

    def make():
        package.utils.set_random_seed(3)
        model = package.Sequential(
            [package.layers.Input((4,)), package.layers.Dense(1)]
        )
        rate = schedule if change == "schedule" else 0.05
        model.compile(package.optimizers.Adam(rate), "mse", jit_compile=False)
        return model

    callbacks = [Forget()] if change == "state" else []
    ours, theirs = Estimator.from_keras(model=make(), workers=2), make()
    estimators.append(ours)
    for _ in range(2):
        ours.fit((x, y), 3, callbacks=callbacks, **OPTIONS)
        ours.shutdown()
        theirs.fit(x, y, epochs=3, callbacks=callbacks, **OPTIONS)
    trained = ours._model.keras.get_weights()
    for one, other in zip(trained, theirs.get_weights(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
    steps = int(theirs.optimizer.iterations.numpy())
    assert int(ours._model.keras.optimizer.iterations.numpy()) == steps


@pytest.mark.parametrize("package", PACKAGES, ids=names)
@pytest.mark.parametrize("frequency", [None, 3])
def test_averages_of_weights_are_those_of_keras(rows, estimators, package, frequency):
    x, y = rows

    def make():
        package.utils.set_random_seed(3)
        model = package.Sequential(
            [package.layers.Input((4,)), package.layers.Dense(1)]
        )
        options = {"ema_momentum": 0.7, "ema_overwrite_frequency": frequency}
        optimizer = package.optimizers.Adam(0.05, use_ema=True, **options)
        model.compile(optimizer, "mse", jit_compile=False)
        return model

    ours, theirs = Estimator.from_keras(model=make(), workers=2), make()
    estimators.append(ours)
    for _ in range(2):
        found = ours.fit((x, y), 2, validation_data=(x, y), **OPTIONS)
        expected = theirs.fit(x, y, epochs=2, validation_data=(x, y), **OPTIONS).history
        assert found == {
            name: pytest.approx(one, 1e-4) for name, one in expected.items()
        }
        trained = ours._model.keras.get_weights()
        for one, other in zip(trained, theirs.get_weights(), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    measured = ours.evaluate((x, y))  # by replicas
    wanted = theirs.evaluate(x, y, verbose=0)
    assert measured["loss"] == pytest.approx(wanted, rel=1e-4)
