# SPDX-License-Identifier: Apache-2.0
"""The binding of the parameter server, with replicas as processes."""

import signal
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xshards import _core, errors

REPLICA = """
import os, signal, sys
import numpy as np
from xshards import _core

fd, replica, steps, die_at = map(int, sys.argv[1:])
client = _core.ReplicaClient.attach(fd, replica)
while client.wait(60) == "ready" and client.steps < steps:
    random = np.random.default_rng([replica, client.steps])
    for index in range(client.num_parameters):
        gradient = client.gradient(index)
        gradient[:] = random.normal(size=len(gradient))
    if client.steps == die_at:
        os.kill(os.getpid(), signal.SIGKILL)
    client.push(replica + 1, str(client.steps + 1).encode())
assert int(client.state) == steps
"""
STEPS = 10
PARAMETERS = [("a", 1000, "float32", 0), ("b", 3, "float64", 0)]


def make_server(num_replicas=2, **options):
    rules = [("adam", {"learning_rate": 0.1})]
    return _core.ParameterServer.make(
        PARAMETERS, rules, num_replicas=num_replicas, replica_state_bytes=16, **options
    )


@pytest.fixture
def start():
    """Start replicas that do not outlive the test."""
    started = []

    def start(server, replica, die_at=-1):
        arguments = [server.fd, replica, STEPS, die_at]
        process = subprocess.Popen(
            [sys.executable, "-c", REPLICA, *map(str, arguments)], pass_fds=[server.fd]
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()


def weights_of(server):
    return [server.weights(index).copy() for index in range(len(PARAMETERS))]


def train(start, die_at=-1):
    """Train two replicas; replica 1 dies once, in the step `die_at`."""
    server = make_server()
    replicas = [start(server, 0), start(server, 1, die_at)]
    deaths = []
    while server.steps < STEPS:
        report = server.step(60)
        if report.outcome == "replica_died":
            deaths += report.dead_replicas
            assert replicas[1].wait() == -signal.SIGKILL
            replicas[1] = start(server, 1)
        else:
            assert report.outcome == "updated"
            assert report.rows == 3
    assert [process.wait() for process in replicas] == [0, 0]
    return weights_of(server), deaths


def test_killed_replica_repeats_its_step_exactly(start):
    expected, deaths = train(start)
    assert deaths == []
    disturbed, deaths = train(start, die_at=4)
    assert deaths == [1]
    for ours, theirs in zip(disturbed, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_views_are_the_shared_memory_itself():
    server = make_server(num_replicas=1)
    client = _core.ReplicaClient.attach(server.fd, 0)
    server.weights(0)[:] = np.arange(1000)
    np.testing.assert_array_equal(client.weights(0), np.arange(1000))
    assert client.weights(0).ctypes.data % 64 == 0
    assert client.weights(1).dtype == np.float64
    with pytest.raises(ValueError, match="read-only"):
        client.weights(0)[0] = 1
    gradient = client.gradient(0)
    gradient[:] = 2
    np.testing.assert_array_equal(client.gradient(0), np.full(1000, 2))


def test_views_outlive_server_and_client():
    server = make_server(num_replicas=1)
    client = _core.ReplicaClient.attach(server.fd, 0)
    weights, seen = server.weights(0), client.weights(0)
    del server, client
    weights[:] = 7
    assert seen[999] == 7


def test_region_counts_in_the_memory_of_the_context(context):
    before = context.used_memory
    server = make_server(context=context._core)
    assert context.used_memory == before + server.num_bytes
    del server
    assert context.used_memory == before


@given(
    counts=st.lists(st.integers(0, 300), min_size=1, max_size=5),
    rows=st.lists(
        st.integers(0, 50) | st.floats(0.125, 50, width=16), min_size=1, max_size=4
    ),
    data=st.data(),
)
def test_average_is_that_of_numpy(counts, rows, data):
    server = _core.ParameterServer.make(
        [(f"p{index}", count, "float64", 0) for index, count in enumerate(counts)],
        [("sgd", {"learning_rate": 1})],
        num_replicas=len(rows),
        num_owners=data.draw(st.integers(1, 3)),
    )
    clients = [
        _core.ReplicaClient.attach(server.fd, replica) for replica in range(len(rows))
    ]
    random = np.random.default_rng(0)
    expected = [np.zeros(count) for count in counts]
    stepped = [0] * len(counts)
    for client, count_rows in zip(clients, rows, strict=True):
        for index, count in enumerate(counts):
            gradient = random.normal(size=count)
            present = data.draw(st.booleans())
            client.gradient(index)[:] = gradient
            client.presence[index] = present
            if present and count_rows:
                expected[index] -= count_rows / sum(rows) * gradient
                stepped[index] = 1
        client.push(count_rows)
    assert server.step(10).rows == sum(rows)
    assert server.step_counts.tolist() == stepped
    for index, values in enumerate(expected):
        np.testing.assert_allclose(clients[0].weights(index), values, 1e-12, 1e-14)


def test_waits_end_in_time_and_when_stopped():
    server = make_server()
    client = _core.ReplicaClient.attach(server.fd, 0)
    client.push(1)
    assert client.wait(0.01) == "timeout"
    assert server.step(0.01).outcome == "timeout"
    server.stop()
    assert server.step(60).outcome == "stopped"
    assert client.wait(60) == "stopped"


def test_detached_replica_makes_room():
    server = make_server()
    client = _core.ReplicaClient.attach(server.fd, 0)
    with pytest.raises(ValueError, match="is already attached by process"):
        _core.ReplicaClient.attach(server.fd, 0)
    client.detach()
    _core.ReplicaClient.attach(server.fd, 0)


def test_restored_server_goes_on():
    server = make_server(num_replicas=1)
    server.restore(12, [b"twelve"])
    server.step_counts[:] = 12
    client = _core.ReplicaClient.attach(server.fd, 0)
    assert client.steps == server.steps == 12
    assert client.state == server.replica_state(0) == b"twelve"
    client.push(1, b"thirteen")
    assert server.replica_state(0) == b"twelve"
    assert server.step(10).step == 13
    assert server.replica_state(0) == b"thirteen"
    assert server.step_counts.tolist() == [13, 13]


def test_external_update_rule():
    server = make_server()
    clients = [_core.ReplicaClient.attach(server.fd, replica) for replica in range(2)]
    assert server.wait_for_gradients(0.01).outcome == "timeout"
    with pytest.raises(ValueError, match="Gradients are not complete"):
        server.release()
    for client in clients:
        client.gradient(0)[:] = client.replica + 1
        client.presence[1] = 0
        client.push(client.replica + 1)
    report = server.wait_for_gradients(10)
    assert (report.outcome, report.rows, report.step) == ("ready", 3, 0)
    assert [server.rows(replica) for replica in range(2)] == [1, 2]
    assert server.presence(1).tolist() == [1, 0]
    np.testing.assert_array_equal(server.gradient(1, 0), np.full(1000, 2))
    server.weights(0)[:] = 5
    assert clients[0].wait(0.01) == "timeout"
    assert server.release().step == 1
    assert clients[0].wait(10) == clients[1].wait(10) == "ready"
    assert clients[1].weights(0)[7] == 5
    assert server.step_counts.tolist() == [1, 0]
    with pytest.raises(IndexError, match="replicas 0 to 1, got 2"):
        server.rows(2)


def test_mistakes_are_named():
    with pytest.raises(TypeError, match="float32 or float64, got 'int64'"):
        _core.ParameterServer.make([("a", 1, "int64", 0)], [("sgd", {})])
    with pytest.raises(
        errors.XShardsValueError, match=r"expects one of the options .* got 'lr'"
    ):
        _core.ParameterServer.make([("a", 1, "float32", 0)], [("sgd", {"lr": 1})])
    server = make_server()
    with pytest.raises(IndexError, match="parameters 0 to 1, got 2"):
        server.weights(2)
    with pytest.raises(IndexError, match="2 optimizer states, got 2"):
        server.state(2, 0)
    with pytest.raises(IndexError, match="groups 0 to 0, got 1"):
        server.learning_rate(1)
    with pytest.raises(IndexError, match="replicas 0 to 1, got 5"):
        _core.ReplicaClient.attach(server.fd, 5)


def test_import_loads_no_framework():
    script = (
        "import sys, xshards; from xshards import _core; _core.ParameterServer;"
        "sys.exit('torch' in sys.modules or 'tensorflow' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0
