# SPDX-License-Identifier: Apache-2.0
"""Networks in graphs of version 1, and how a plain session trains them."""

from types import SimpleNamespace

import numpy as np

from xshards.learn.tf1.framework import tf


def network(*, resource=True, seed=1, dropout=False):
    """Make a graph of two layers; weights are the same for the same seed."""
    graph = tf.Graph()
    with graph.as_default():
        tf.set_random_seed(seed)
        x = tf.placeholder(tf.float32, [None, 4], name="x")
        y = tf.placeholder(tf.float32, [None, 1], name="y")
        with tf.variable_scope("net", use_resource=resource):
            draw = np.random.default_rng(seed)
            first = tf.get_variable(
                "first", initializer=draw.normal(size=(4, 6)).astype("float32")
            )
            bias = tf.get_variable("bias", [6], initializer=tf.zeros_initializer())
            second = tf.get_variable(
                "second", initializer=draw.normal(size=(6, 1)).astype("float32")
            )
        hidden = tf.nn.tanh(tf.matmul(x, first) + bias)
        if dropout:
            hidden = tf.nn.dropout(hidden, rate=0.5)
        output = tf.matmul(hidden, second)
        loss = tf.reduce_mean(tf.square(output - y))
    return SimpleNamespace(
        graph=graph,
        x=x,
        y=y,
        output=output,
        loss=loss,
        variables=[first, bias, second],
    )


def plain_fit(net, optimizer, data, *, epochs, batch_size, clip=None):
    """Train in one session, on batches in order; returns losses and weights."""
    x, y = data
    with net.graph.as_default():
        pairs = optimizer.compute_gradients(net.loss, net.variables)
        if clip is not None:
            pairs = [(clip(gradient), variable) for gradient, variable in pairs]
        train = optimizer.apply_gradients(pairs)
        losses = []
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(epochs):
                total = 0.0
                for begin in range(0, len(x), batch_size):
                    part = slice(begin, begin + batch_size)
                    feed = {net.x: x[part], net.y: y[part]}
                    loss, _ = session.run([net.loss, train], feed)
                    total += loss * len(x[part])
                losses.append(total / len(x))
            return losses, session.run(net.variables)
