# SPDX-License-Identifier: Apache-2.0
"""Data, metrics, checkpoints and mistakes of graph Estimators."""

import os
import signal
import threading
import time

import numpy as np
import pandas as pd
import pytest

pytestmark = pytest.mark.tensorflow

from graphs import network  # noqa: E402

import xshards as xs  # noqa: E402
from xshards.errors import (  # noqa: E402
    XShardsNotImplementedError,
    XShardsRuntimeError,
    XShardsTypeError,
    XShardsValueError,
)
from xshards.learn.tf1 import Estimator  # noqa: E402
from xshards.learn.tf1.framework import tf  # noqa: E402
from xshards.learn.trigger import SeveralIteration  # noqa: E402


def make(net, *, optimizer=None, **options):
    return Estimator.from_graph(
        inputs=net.x,
        labels=net.y,
        outputs=net.output,
        loss=net.loss,
        optimizer=optimizer or tf.train.AdamOptimizer(0.05),
        **options,
    )


def weights(estimator, net):
    return np.concatenate([v.reshape(-1) for v in estimator.sess.run(net.variables)])


def test_shards_frames_and_datasets_train_alike(rows, shut_down):
    x, y = rows
    frame = pd.DataFrame(x, columns=list("abcd")).assign(target=y[:, 0])
    columns = {"feature_cols": list("abcd"), "label_cols": ["target"]}

    def dataset(net):
        with net.graph.as_default():
            return tf.data.Dataset.from_tensor_slices((x, y))

    given = [
        (lambda net: xs.XShards.partition({"x": x, "y": y}, num_shards=3), {}),
        (lambda net: xs.from_pandas(frame, num_partitions=3), columns),
        (dataset, {}),
    ]
    found = []
    for data, options in given:
        net = network()
        estimator = shut_down(make(net, workers=2))
        estimator.fit(data(net), 2, 32, shuffle=False, **options)
        found.append(weights(estimator, net))
        measured = estimator.evaluate(data(net), 32, **options)
        assert measured["num_samples"] == 150
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
    shards = given[0][0](None)
    predicted = estimator.predict(shards).collect()
    assert [len(one["prediction"]) for one in predicted] == [50, 50, 50]
    whole = np.concatenate([one["prediction"] for one in predicted])
    np.testing.assert_allclose(whole, estimator.predict(x), 1e-5, 1e-6)
    framed = estimator.predict(frame, feature_cols=list("abcd"))
    np.testing.assert_allclose(framed["prediction"], whole[:, 0], 1e-5, 1e-6)


def test_datasets_in_eager_mode_and_of_generators(rows, shut_down):
    import tensorflow as v2

    x, y = rows

    def generate():
        yield from zip(x[:40], y[:40], strict=True)

    specs = (v2.TensorSpec((4,)), v2.TensorSpec((1,)))
    data = v2.data.Dataset.from_generator(generate, output_signature=specs)
    net = network()
    estimator = shut_down(make(net, workers=2))
    (one,) = estimator.fit(data, 1, 16)
    assert one["num_samples"] == 40
    for wrong, text in [
        (data.batch(4), "Dataset should not be batched"),
        (data.repeat(), "Dataset should not be repeated"),
        (data.filter(lambda a, b: False), "a dataset with elements, it has none"),
    ]:
        with pytest.raises(XShardsValueError, match=text):
            estimator.fit(wrong)


def test_several_inputs_by_order_and_by_name(shut_down):
    with tf.Graph().as_default():
        a = tf.placeholder(tf.int32, [None], name="a")
        b = tf.placeholder(tf.float32, [None, 2], name="b")
        y = tf.placeholder(tf.float32, [None, 1], name="y")
        table = tf.get_variable("table", [5, 2], initializer=tf.ones_initializer())
        looked_up = tf.nn.embedding_lookup(table, a)
        output = tf.reduce_sum(looked_up * b, axis=1, keepdims=True)
        estimator = Estimator.from_graph(
            inputs=[a, b],
            labels=y,
            outputs=[output, looked_up],
            loss=tf.losses.mean_squared_error(y, output),
            optimizer=tf.train.GradientDescentOptimizer(0.1),
            workers=2,
        )
    shut_down(estimator)
    numbers, pairs = np.arange(10) % 5, np.ones((10, 2))
    target = np.full(10, 3.0)
    by_order = estimator.fit(([numbers, pairs], target), 1, 4, shuffle=False)
    by_name = {"b": pairs, "a": numbers}
    estimator.fit({"x": by_name, "y": target}, 60, 4, shuffle=False)
    first, second = estimator.predict(by_name)
    assert by_order[0]["train_loss"] > 0.5
    np.testing.assert_allclose(first, np.full((10, 1), 3.0), atol=1e-2)
    assert second.shape == (10, 2)
    with pytest.raises(XShardsValueError, match="names should exist in data"):
        estimator.predict({"b": pairs, "c": numbers})
    with pytest.raises(XShardsValueError, match=r"b takes arrays of shape \(\?, 2\)"):
        estimator.predict([numbers, np.ones((10, 3))])
    with pytest.raises(XShardsValueError, match=r"has 2 inputs .*, the data has 1"):
        estimator.predict(numbers)


def test_metrics_and_feeds(rows, shut_down):
    net = network()
    with net.graph.as_default():
        scale = tf.placeholder(tf.float32, [], name="scale")
        metrics = {"error": scale * tf.reduce_mean(tf.abs(net.output - net.y))}
        net.loss = net.loss * scale
    estimator = shut_down(make(net, metrics=metrics, workers=2))
    history = estimator.fit(
        rows, 1, 32, feed_dict={scale: (0.0, 2.0)}, validation_data=rows
    )
    assert history[0]["train_loss"] == 0
    plain = estimator.sess.run(metrics["error"], _feed(net, rows) | {scale: 2.0})
    assert history[0]["val_error"] == pytest.approx(plain, 1e-5)
    assert estimator.evaluate(rows)["error"] == pytest.approx(plain, 1e-5)


def _feed(net, rows):
    return {net.x: rows[0], net.y: rows[1]}


def test_a_graph_without_loss_predicts(rows, shut_down):
    net = network()
    estimator = Estimator.from_graph(inputs=net.x, outputs=net.output, workers=1)
    shut_down(estimator)
    expected = estimator.sess.run(net.output, {net.x: rows[0]})
    np.testing.assert_allclose(estimator.predict(rows[0]), expected, 1e-5, 1e-6)
    with pytest.raises(XShardsRuntimeError, match="fit needs an optimizer"):
        estimator.fit(rows)
    with pytest.raises(XShardsNotImplementedError, match="its variables are in"):
        estimator.get_model()


@pytest.mark.parametrize("kind", ["momentum", "adam"])
def test_checkpoints_go_on_where_they_were(rows, shut_down, tmp_path, kind):
    made = {
        "momentum": lambda: tf.train.MomentumOptimizer(0.05, 0.9),
        "adam": lambda: tf.train.AdamOptimizer(0.05),
    }[kind]
    net = network()
    whole = shut_down(make(net, optimizer=made(), workers=2, seed=1))
    whole.fit(rows, 4, 32)
    expected = weights(whole, net)
    net = network()
    options = {"workers": 2, "seed": 1, "model_dir": str(tmp_path)}
    first = shut_down(make(net, optimizer=made(), **options))
    first.fit(rows, 2, 32, checkpoint_trigger="everyepoch")
    net = network(seed=2)
    second = shut_down(make(net, optimizer=made(), **options))
    second.load_orca_checkpoint(tmp_path)
    second.fit(rows, 2, 32)
    np.testing.assert_allclose(weights(second, net), expected, 1e-6, 1e-7)


def test_tf_checkpoints(rows, shut_down, tmp_path):
    net = network()
    estimator = shut_down(make(net, workers=1))
    estimator.fit(rows, 1, 32)
    expected = weights(estimator, net)
    estimator.save_tf_checkpoint(tmp_path / "model")
    net = network(seed=2)
    other = shut_down(make(net, workers=1))
    # Files of the model have no variables of Adam, and no Saver looks for them there.
    names = [name for name, _ in tf.train.list_variables(str(tmp_path / "model"))]
    assert names == ["net/bias", "net/first", "net/second"]
    with net.graph.as_default():
        tf.train.Saver().restore(other.sess, str(tmp_path / "model"))
    np.testing.assert_array_equal(weights(other, net), expected)
    predicted = other.predict(rows[0])
    np.testing.assert_allclose(predicted, estimator.predict(rows[0]), 1e-5, 1e-6)
    other.sess.run(net.variables[0].initializer)
    other.load_tf_checkpoint(tmp_path / "model")
    np.testing.assert_array_equal(weights(other, net), expected)


def test_summaries(rows, shut_down, tmp_path):
    net = network()
    estimator = shut_down(make(net, workers=2))
    estimator.set_tensorboard(tmp_path, "app")
    estimator.fit(rows, 1, 50, validation_data=rows)
    assert [one[0] for one in estimator.get_train_summary("Loss")] == [1, 2, 3]
    rates = [one[1] for one in estimator.get_train_summary("LearningRate")]
    assert rates == pytest.approx([0.05] * 3)
    assert len(estimator.get_validation_summary("Loss")) == 1


def test_a_killed_replica_is_replaced(rows, shut_down, tmp_path):
    def run(kill):
        net = network(dropout=True)
        optimizer = tf.train.MomentumOptimizer(0.01, 0.9)
        estimator = shut_down(make(net, optimizer=optimizer, workers=2, seed=4))
        estimator.fit(rows, 1, 10)
        if kill:
            victim = estimator._job.pids[1]
            timer = threading.Timer(0.02, os.kill, [victim, signal.SIGKILL])
            timer.start()
        estimator.fit(rows, 30, 10)
        return weights(estimator, net)

    np.testing.assert_array_equal(run(kill=True), run(kill=False))


def test_mistakes_are_named_and_leave_no_replica(rows, shut_down):
    net = network()
    with pytest.raises(XShardsTypeError, match=r"should be an instance of tf\.train"):
        make(net, optimizer="adam")
    with pytest.raises(XShardsTypeError, match="tensors of a graph; got ndarray"):
        Estimator.from_graph(inputs=rows[0], outputs=net.output)
    with net.graph.as_default(), tf.Session() as session:
        with pytest.raises(XShardsValueError, match=r"a variable .* has no value"):
            make(net, sess=session)
        constant = tf.constant(1.0)
        with pytest.raises(XShardsValueError, match="a loss that depends on variables"):
            Estimator.from_graph(inputs=net.x, loss=constant)
    estimator = shut_down(make(net, workers=2))
    with pytest.raises(XShardsValueError, match=r"x takes arrays of shape \(\?, 4\)"):
        estimator.fit((rows[0][:, :2], rows[1]))
    pids = estimator._job.pids
    estimator.fit(rows, 1, 32)
    estimator.shutdown()
    deadline = time.monotonic() + 5
    while pids and time.monotonic() < deadline:
        pids = [pid for pid in pids if os.path.exists(f"/proc/{pid}")]  # noqa: PTH110
    assert not pids
    estimator.sess.close()
    with pytest.raises(XShardsRuntimeError, match="the session was closed"):
        estimator.predict(rows[0])


def test_many_iterations_between_checkpoints(rows, shut_down, tmp_path):
    net = network()
    estimator = shut_down(make(net, workers=2, model_dir=str(tmp_path)))
    estimator.fit(rows, 2, 32, checkpoint_trigger=SeveralIteration(4))
    files = {one.name for one in tmp_path.glob("*/model.*")}
    assert files == {"model.4", "model.8"}
