# SPDX-License-Identifier: Apache-2.0
"""The parameter server's rules for Keras' optimizers do what these do, step by step."""

import keras
import numpy as np
import pytest
from keras_models import PACKAGES, names

from xshards.context import default_context
from xshards.learn.tf.driver_optimizer import KerasOptimizer
from xshards.learn.tf.model import KerasModel
from xshards.learn.tf.optimizer_rules import take_clipping
from xshards.learn.training.clip import Clip
from xshards.learn.training.server_mode import OptimizerServer

pytestmark = pytest.mark.tensorflow

CASES = {
    "sgd": ("SGD", {}),
    "sgd_decay": ("SGD", {"weight_decay": 0.1}),
    "momentum": ("SGD", {"momentum": 0.9}),
    "nesterov": ("SGD", {"momentum": 0.9, "nesterov": True}),
    "adam": ("Adam", {}),
    "amsgrad": ("Adam", {"amsgrad": True, "epsilon": 1e-3}),
    "adamw": ("AdamW", {"weight_decay": 0.05}),
    "rmsprop": ("RMSprop", {}),
    "rmsprop_momentum": ("RMSprop", {"momentum": 0.7}),
    "rmsprop_centered": ("RMSprop", {"centered": True, "momentum": 0.5}),
    "adagrad": ("Adagrad", {"initial_accumulator_value": 0.2}),
    "adadelta": ("Adadelta", {"epsilon": 1e-4}),
    "adamax": ("Adamax", {"beta_1": 0.8}),
    "nadam": ("Nadam", {}),
    "ftrl": (
        "Ftrl",
        {
            "l1_regularization_strength": 0.01,
            "l2_regularization_strength": 0.02,
            "l2_shrinkage_regularization_strength": 0.01,
            "beta": 0.1,
        },
    ),
    "ftrl_power": ("Ftrl", {"learning_rate_power": -0.7}),
    "lion": ("Lion", {"weight_decay": 0.1}),
    "clipvalue": ("Adam", {"clipvalue": 0.4}),
    "global_clipnorm": ("SGD", {"global_clipnorm": 0.5, "momentum": 0.9}),
}
# These are run by Keras itself, on the driver.
NOT_NATIVE = {
    "clipnorm": ("Adam", {"clipnorm": 0.3}),
    "ema": ("SGD", {"use_ema": True}),
}
STEPS = 100


def model_with(package, optimizer):
    package.utils.set_random_seed(4)
    model = package.Sequential(
        [package.layers.Input((3,)), package.layers.Dense(5), package.layers.Dense(2)]
    )
    model.compile(optimizer, "mse", jit_compile=False)
    optimizer.build(model.trainable_variables)
    return model


def served(model):
    """Return a parameter server with the model's weights, and what it updates."""
    wrapped = KerasModel(model)
    optimizer, clip = KerasOptimizer(wrapped), Clip()
    take_clipping(model.optimizer, clip)
    return OptimizerServer(
        optimizer,
        [wrapped],
        num_replicas=1,
        state_bytes=1 << 12,
        clip=clip,
        context=default_context(),
    )


def client_of(server):
    import os

    from xshards import _core

    return _core.ReplicaClient.attach(os.dup(server.server.fd), 0)


def train(server, gradients):
    client = client_of(server)
    for step in gradients:
        for index, values in enumerate(step):
            client.gradient(index)[:] = values.reshape(-1)
        client.presence[:] = 1
        client.push(1)
        assert server.update(10.0) == "updated"
        client.wait(10.0)
    client.detach()


def gradients_for(model):
    draw = np.random.default_rng(8)
    return [
        [draw.normal(size=tuple(one.shape)).astype("float32") for one in variables]
        for variables in [model.trainable_variables] * STEPS
    ]


def make(package, kind, options, rate=0.02):
    return getattr(package.optimizers, kind)(learning_rate=rate, **options)


def check(package, kind, options, *, native, rate=0.02):
    theirs = model_with(package, make(package, kind, options, rate))
    ours = model_with(package, make(package, kind, options, rate))
    server = served(ours)
    assert server.native is native
    gradients = gradients_for(theirs)
    train(server, gradients)
    for step in gradients:
        pairs = zip(map(package_tensor, step), theirs.trainable_variables, strict=True)
        theirs.optimizer.apply_gradients(list(pairs))
    server.close()
    for one, other in zip(ours.get_weights(), theirs.get_weights(), strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-4, atol=2e-5)
    assert int(ours.optimizer.iterations.numpy()) == STEPS
    return ours, theirs


def package_tensor(values):
    import tensorflow as tf

    return tf.constant(values)


@pytest.mark.parametrize("package", PACKAGES, ids=names)
@pytest.mark.parametrize("case", CASES)
def test_a_rule_does_what_the_optimizer_does(package, case):
    kind, options = CASES[case]
    ours, theirs = check(package, kind, options, native=True)
    if kind == "SGD" and "momentum" not in options:
        return  # legacy Keras keeps a momentum that it does not use
    # What the server kept goes on where Keras would.
    for one, other in zip(
        KerasOptimizer(KerasModel(ours)).state_dict()["variables"],
        KerasOptimizer(KerasModel(theirs)).state_dict()["variables"],
        strict=True,
    ):
        if np.shape(one):
            np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-5)
    if kind == "Nadam":
        check_nadam_goes_on(ours, theirs)


def check_nadam_goes_on(ours, theirs):
    """Keras' product of momentums is that of all steps, also after a few."""
    products = [float(one.optimizer._u_product.numpy()) for one in (ours, theirs)]
    assert products[0] == pytest.approx(products[1], rel=1e-4)
    for step in gradients_for(theirs)[:3]:
        for model in (ours, theirs):
            pairs = zip(
                map(package_tensor, step), model.trainable_variables, strict=True
            )
            model.optimizer.apply_gradients(list(pairs))
    for one, other in zip(ours.get_weights(), theirs.get_weights(), strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("case", NOT_NATIVE)
def test_what_the_server_lacks_is_run_by_keras(case):
    kind, options = NOT_NATIVE[case]
    check(keras, kind, options, native=False)


def test_an_optimizer_of_the_users_own_is_run_as_it_is():
    class Halved(keras.optimizers.SGD):
        def update_step(self, gradient, variable, learning_rate):
            super().update_step(gradient / 2, variable, learning_rate)

    theirs, ours = (model_with(keras, Halved(0.1)) for _ in range(2))
    server = served(ours)
    assert not server.native
    gradients = gradients_for(theirs)[:10]
    train(server, gradients)
    server.close()
    for step in gradients:
        pairs = zip(map(package_tensor, step), theirs.trainable_variables, strict=True)
        theirs.optimizer.apply_gradients(list(pairs))
    for one, other in zip(ours.get_weights(), theirs.get_weights(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)


@pytest.mark.parametrize("package", PACKAGES, ids=names)
def test_schedules_give_the_rate_of_each_step(package):
    schedule = package.optimizers.schedules.ExponentialDecay(0.1, 7, 0.8)
    check(package, "SGD", {"momentum": 0.5}, native=True, rate=schedule)
    boundaries = package.optimizers.schedules.PiecewiseConstantDecay(
        [10, 60], [0.1, 0.05, 0.01]
    )
    check(package, "Adam", {}, native=True, rate=boundaries)


def test_weights_that_are_spared_do_not_decay():
    def spared():
        optimizer = keras.optimizers.AdamW(0.02, weight_decay=0.5)
        optimizer.exclude_from_weight_decay(var_names=["bias"])
        return model_with(keras, optimizer)

    theirs, ours = spared(), spared()
    server = served(ours)
    assert server.native
    gradients = gradients_for(theirs)
    train(server, gradients)
    server.close()
    for step in gradients:
        pairs = zip(map(package_tensor, step), theirs.trainable_variables, strict=True)
        theirs.optimizer.apply_gradients(list(pairs))
    for one, other in zip(ours.get_weights(), theirs.get_weights(), strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-4, atol=2e-5)
