# SPDX-License-Identifier: Apache-2.0
"""Several updates in one call of TensorFlow."""

import threading

import keras
import numpy as np
import pytest
from keras_models import PACKAGES, dense, names

from xshards import _core
from xshards.errors import XShardsValueError
from xshards.learn.tf.adapter import KerasAdapter
from xshards.learn.tf.model import KerasModel
from xshards.learn.tf.step_functions import TrainFunction
from xshards.learn.tf.variables import show, specs_of
from xshards.learn.tf.windows import Windows, add_operation
from xshards.learn.training.replica_turn import Position, Turn

pytestmark = pytest.mark.tensorflow

ROWS = 16


class Replica:
    """A model that a server of its own updates by plain steps, in this process."""

    def __init__(self, keras_model, rows):
        self.model = KerasModel(keras_model)
        x, y = rows
        self.model.build((x[:1], y[:1], None))
        weights = self.model.weights
        self.server = _core.ParameterServer.make(
            specs_of(weights, [0] * len(weights)),
            [("sgd", {"learning_rate": 0.1})],
            replica_state_bytes=1 << 16,
        )
        client = _core.ReplicaClient.attach(self.server.fd, 0)
        for index, weight in enumerate(weights):
            self.server.weights(index)[:] = weight.numpy().reshape(-1)
            assert show(weight.variable, client.private_weights().parameter(index))
        self.client = client
        self.turn = Turn(KerasAdapter(), rank=0, num_replicas=1, seed=0, generation=7)
        self.turn.buffers = self.model.state
        assert add_operation()
        self.windows = Windows(self.model, TrainFunction(self.model), self.turn, client)

    def run(self):
        """Train on what was added, while the server updates."""
        done = threading.Event()

        def update():
            while not done.is_set():
                self.server.step(0.01)

        driver = threading.Thread(target=update)
        driver.start()
        try:
            return self.windows.run()
        finally:
            done.set()
            driver.join()


def batches(rows, count=5):
    x, y = rows
    parts = [slice(start * ROWS, (start + 1) * ROWS) for start in range(count)]
    return [(x[part], y[part]) for part in parts]


def add_all(replica, data):
    for number, (x, y) in enumerate(data, 1):
        assert replica.windows.add(number, len(x), len(x), (x, y, None))


@pytest.mark.parametrize("package", PACKAGES, ids=names)
@pytest.mark.parametrize("jit", [False, True])
def test_a_window_trains_as_keras_does(rows, package, jit):
    optimizer = package.optimizers.SGD(0.1)
    replica = Replica(dense(package, optimizer, jit_compile=jit), rows)
    add_all(replica, batches(rows))
    assert replica.run() == 5

    plain = dense(package, package.optimizers.SGD(0.1))
    x, y = (one[: 5 * ROWS] for one in rows)
    history = plain.fit(x, y, ROWS, epochs=1, shuffle=False, verbose=0).history
    pairs = zip(replica.model.weights, plain.trainable_variables, strict=True)
    for own, wanted in pairs:
        np.testing.assert_allclose(own.numpy(), wanted.numpy(), rtol=1e-5, atol=1e-6)
    assert replica.model.results() == {
        name: pytest.approx(value[0], rel=1e-5) for name, value in history.items()
    }
    assert replica.turn.meters.num_batches == 5
    assert replica.turn.meters.num_samples == 5 * ROWS


def test_a_successor_knows_every_step(rows):
    replica = Replica(dense(optimizer=keras.optimizers.SGD(0.1)), rows)
    replica.turn.epoch = 2
    add_all(replica, batches(rows, 3))
    replica.run()
    position = Position.decode(replica.client.state)
    assert (position.generation, position.epoch, position.batch) == (7, 2, 3)
    assert position.meters == replica.turn.meters.state()
    for left, own in zip(position.buffers, replica.model.state.read(), strict=True):
        np.testing.assert_array_equal(left, own)


def test_a_batch_of_another_shape_has_a_window_of_its_own(rows):
    replica = Replica(dense(optimizer=keras.optimizers.SGD(0.1)), rows)
    x, y = rows
    assert replica.windows.add(1, 16, 16, (x[:16], y[:16], None))
    assert not replica.windows.add(2, 8, 8, (x[:8], y[:8], None))
    assert replica.run() == 1
    assert replica.windows.add(2, 8, 8, (x[:8], y[:8], None))
    assert replica.run() == 1
    assert replica.run() == 0
    assert Position.decode(replica.client.state).batch == 2


def test_a_window_holds_no_more_than_it_has_room_for(rows):
    replica = Replica(dense(optimizer=keras.optimizers.SGD(0.1)), rows)
    x, y = rows
    added = 0
    while replica.windows.add(added + 1, 1, 1, (x[:1], y[:1], None)):
        added += 1
    assert added == 32


def test_a_loss_of_nan_ends_training_before_its_update(rows):
    replica = Replica(dense(optimizer=keras.optimizers.SGD(0.1)), rows)
    data = batches(rows, 4)
    broken = np.where(np.arange(ROWS)[:, None] == 5, np.nan, data[2][0])
    data[2] = (broken.astype("float32"), data[2][1])
    add_all(replica, data)
    with pytest.raises(XShardsValueError, match="in batch 3 of epoch 1"):
        replica.run()
    assert replica.client.steps == 2
    assert all(np.isfinite(one.numpy()).all() for one in replica.model.weights)


def test_python_functions_are_found(rows):
    import tensorflow as tf

    def noise(x):
        drawn = tf.py_function(lambda: np.random.normal(), [], tf.float32)  # noqa: NPY002
        return x + tf.ensure_shape(drawn, [])

    model = keras.Sequential(
        [keras.Input((4,)), keras.layers.Lambda(noise), keras.layers.Dense(1)]
    )
    model.compile("sgd", "mse", jit_compile=False)
    assert Replica(model, rows).windows.needs_python()
    assert not Replica(dense(), rows).windows.needs_python()
