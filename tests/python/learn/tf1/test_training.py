# SPDX-License-Identifier: Apache-2.0
"""Graphs trained by replicas are those that one plain session trains."""

import numpy as np
import pytest

pytestmark = pytest.mark.tensorflow

from graphs import network, plain_fit  # noqa: E402

from xshards.errors import XShardsValueError  # noqa: E402
from xshards.learn import optimizers as orca  # noqa: E402
from xshards.learn.tf1 import Estimator  # noqa: E402
from xshards.learn.tf1.driver_optimizer import OwnerOptimizer  # noqa: E402
from xshards.learn.tf1.framework import tf  # noqa: E402

# Of 150 rows: the last batch of 32 has 22, that of 49 has 3.
BATCHES = [32, 49]
OPTIMIZERS = {
    "sgd": lambda: tf.train.GradientDescentOptimizer(0.1),
    "momentum": lambda: tf.train.MomentumOptimizer(0.05, 0.9),
    "nesterov": lambda: tf.train.MomentumOptimizer(0.05, 0.9, use_nesterov=True),
    "adagrad": lambda: tf.train.AdagradOptimizer(0.1),
    "adadelta": lambda: tf.train.AdadeltaOptimizer(1.0),
    "ftrl": lambda: tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.001),
    "adam": lambda: tf.train.AdamOptimizer(0.05),
    "rmsprop": lambda: tf.train.RMSPropOptimizer(0.01),
}


def make(net, optimizer, **options):
    return Estimator.from_graph(
        inputs=net.x,
        labels=net.y,
        outputs=net.output,
        loss=net.loss,
        optimizer=optimizer,
        **options,
    )


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("batch_size", BATCHES)
@pytest.mark.parametrize("name", ["sgd", "adam"])
def test_training_equals_a_plain_session(rows, shut_down, name, batch_size, workers):
    losses, weights = plain_fit(
        network(), OPTIMIZERS[name](), rows, epochs=3, batch_size=batch_size
    )
    net = network()
    estimator = shut_down(make(net, OPTIMIZERS[name](), workers=workers))
    history = estimator.fit(rows, 3, batch_size, shuffle=False)
    np.testing.assert_allclose([one["train_loss"] for one in history], losses, 1e-5)
    for found, expected in zip(estimator.sess.run(net.variables), weights, strict=True):
        np.testing.assert_allclose(found, expected, 1e-4, 1e-6)


@pytest.mark.parametrize(
    "name", [one for one in OPTIMIZERS if one not in ("sgd", "adam")]
)
def test_optimizers_equal_tensorflows(rows, shut_down, name):
    _, weights = plain_fit(network(), OPTIMIZERS[name](), rows, epochs=4, batch_size=32)
    net = network()
    estimator = shut_down(make(net, OPTIMIZERS[name](), workers=2))
    estimator.fit(rows, 4, 32, shuffle=False)
    for found, expected in zip(estimator.sess.run(net.variables), weights, strict=True):
        np.testing.assert_allclose(found, expected, 1e-4, 1e-6)


def test_variables_of_both_kinds_train(rows, shut_down):
    _, weights = plain_fit(
        network(resource=False), OPTIMIZERS["sgd"](), rows, epochs=1, batch_size=32
    )
    net = network(resource=False)
    estimator = shut_down(make(net, OPTIMIZERS["sgd"](), workers=2))
    estimator.fit(rows, 1, 32, shuffle=False)
    for found, expected in zip(estimator.sess.run(net.variables), weights, strict=True):
        np.testing.assert_allclose(found, expected, 1e-4, 1e-6)


def test_a_schedule_in_the_graph_is_followed(rows, shut_down):
    def scheduled(net):
        with net.graph.as_default():
            step = tf.train.get_or_create_global_step()
            rate = tf.train.exponential_decay(0.1, step, 2, 0.5)
            return tf.train.GradientDescentOptimizer(rate), step

    net = network()
    optimizer, step = scheduled(net)
    with net.graph.as_default(), tf.Session() as session:
        train = optimizer.minimize(net.loss, global_step=step)
        session.run(tf.global_variables_initializer())
        for begin in range(0, 150, 50):
            part = slice(begin, begin + 50)
            session.run(train, {net.x: rows[0][part], net.y: rows[1][part]})
        weights = session.run(net.variables)
    net = network()
    optimizer, step = scheduled(net)
    estimator = shut_down(make(net, optimizer, workers=2))
    estimator.fit(rows, 1, 50, shuffle=False)
    assert estimator.sess.run(step) == 3
    for found, expected in zip(estimator.sess.run(net.variables), weights, strict=True):
        np.testing.assert_allclose(found, expected, 1e-4, 1e-6)


@pytest.mark.parametrize("name", ["sgd", "adam"])
def test_clipping_equals_tensorflows(rows, shut_down, name):
    def norm(gradient):
        return tf.clip_by_norm(gradient, 0.05)

    def value(gradient):
        return tf.clip_by_value(gradient, -0.02, 0.01)

    given = [(norm, {"clip_norm": 0.05}), (value, {"clip_value": (-0.02, 0.01)})]
    for clip, option in given:
        _, weights = plain_fit(
            network(), OPTIMIZERS[name](), rows, epochs=2, batch_size=32, clip=clip
        )
        net = network()
        estimator = shut_down(make(net, OPTIMIZERS[name](), workers=2, **option))
        estimator.fit(rows, 2, 32, shuffle=False)
        for found, expected in zip(
            estimator.sess.run(net.variables), weights, strict=True
        ):
            np.testing.assert_allclose(found, expected, 1e-4, 1e-6)


def test_orcas_optimizers_run_in_the_server(rows, shut_down):
    _, weights = plain_fit(
        network(), OPTIMIZERS["sgd"](), rows, epochs=2, batch_size=32
    )
    net = network()
    prefixes = {"net/first": orca.SGD(0.1), "net/": orca.SGD(0.1)}
    with pytest.raises(XShardsValueError, match="net/first matches 2 of the prefixes"):
        make(net, prefixes)
    prefixes = {"net/first": orca.SGD(0.1), "net/b": orca.SGD(0.1)}
    prefixes["net/s"] = orca.SGD(0.1)
    estimator = shut_down(make(net, prefixes, workers=2))
    assert len(estimator._job.optimizers[0].rules()) == 3
    estimator.fit(rows, 2, 32, shuffle=False)
    found = dict(zip(["first", "bias", "second"], weights, strict=True))
    with net.graph.as_default():
        for variable in net.variables:
            expected = found[variable.op.name.removeprefix("net/")]
            value = estimator.sess.run(variable)
            np.testing.assert_allclose(value, expected, 1e-5, 1e-7)


def test_random_operations_repeat_with_the_seed(rows, shut_down):
    found = []
    for seed in (5, 5, 6):
        net = network(dropout=True)
        estimator = shut_down(make(net, OPTIMIZERS["sgd"](), workers=2, seed=seed))
        estimator.fit(rows, 2, 32)
        found.append(estimator.sess.run(net.variables[0]))
    assert np.array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2])


def test_the_session_goes_on_where_training_ended(rows, shut_down):
    """Values that users set between calls count, and those of fit are theirs."""
    net = network()
    optimizer = tf.train.AdamOptimizer(0.05)
    estimator = shut_down(make(net, optimizer, workers=2))
    assert isinstance(estimator._job.optimizers[0], OwnerOptimizer)
    estimator.fit(rows, 1, 32)
    direct = estimator.sess.run(net.output, {net.x: rows[0]})
    np.testing.assert_allclose(estimator.predict(rows[0]), direct, 1e-5, 1e-6)
    bias = net.variables[1]
    with net.graph.as_default():
        bias.load(np.full(6, 9.0, "float32"), estimator.sess)
    direct = estimator.sess.run(net.output, {net.x: rows[0]})
    np.testing.assert_allclose(estimator.predict(rows[0]), direct, 1e-5, 1e-6)
    expected = float(np.mean((direct - rows[1]) ** 2))
    found = estimator.evaluate(rows)
    assert found == {"num_samples": 150, "val_loss": pytest.approx(expected, 1e-5)}
