# SPDX-License-Identifier: Apache-2.0
"""Orca's optimizers and schedules on the real server, against the formulas."""

import pickle

import numpy as np
import pytest

from xshards import _core
from xshards.errors import (
    XShardsNotImplementedError,
    XShardsTypeError,
    XShardsValueError,
)
from xshards.learn import optimizers
from xshards.learn.optimizers import schedule as schedules

STEPS = 20


def run(optimizer, gradients, dtype="float64", start=None):
    """Give the weights after each of the gradients."""
    count = len(gradients[0])
    server = _core.ParameterServer.make(
        [("w", count, dtype, 0)], [optimizer.rule()], num_replicas=1
    )
    server.weights(0)[:] = np.linspace(-1, 1, count) if start is None else start
    client = _core.ReplicaClient.attach(server.fd, 0)
    schedule, base = optimizer.schedule, server.learning_rate(0)
    seen = []
    for iteration, gradient in enumerate(gradients):
        if schedule is not None:
            server.set_learning_rate(0, schedule.rate_at(base, iteration))
        client.gradient(0)[:] = gradient
        client.presence[0] = 1
        client.push(1)
        assert server.step(10).outcome == "updated"
        assert client.wait(10) == "ready"
        seen.append(client.weights(0).copy())
    return seen


def gradients(count=5):
    random = np.random.default_rng(2)
    return [random.normal(size=count) for _ in range(STEPS)]


def start(count=5):
    return np.linspace(-1, 1, count)


class Sgd:
    def __init__(self, rate, decay=0.0, weight_decay=0.0, momentum=0.0, damping=0.0):
        self.__dict__.update(locals())
        self.velocity = None

    def step(self, weights, gradient, iteration):
        gradient = gradient + self.weight_decay * weights
        if self.velocity is None:
            self.velocity = gradient
        else:
            self.velocity = (
                self.momentum * self.velocity + (1 - self.damping) * gradient
            )
        return weights - self.rate / (1 + iteration * self.decay) * self.velocity


class Adam:
    def __init__(self, rate, decay=0.0):
        self.rate, self.decay, self.mean, self.square = rate, decay, 0, 0

    def step(self, weights, gradient, iteration):
        self.mean = 0.9 * self.mean + 0.1 * gradient
        self.square = 0.999 * self.square + 0.001 * gradient**2
        mean = self.mean / (1 - 0.9 ** (iteration + 1))
        square = self.square / (1 - 0.999 ** (iteration + 1))
        rate = self.rate / (1 + iteration * self.decay)
        return weights - rate * mean / (np.sqrt(square) + 1e-8)


class Adagrad:
    def __init__(self, rate, decay):
        self.rate, self.decay, self.sum = rate, decay, 0

    def step(self, weights, gradient, iteration):
        self.sum = self.sum + gradient**2
        rate = self.rate / (1 + iteration * self.decay)
        return weights - rate * gradient / (np.sqrt(self.sum) + 1e-10)


class Adadelta:
    square = steps = 0

    def step(self, weights, gradient, iteration):
        self.square = 0.9 * self.square + 0.1 * gradient**2
        step = np.sqrt(self.steps + 1e-10) / np.sqrt(self.square + 1e-10) * gradient
        self.steps = 0.9 * self.steps + 0.1 * step**2
        return weights - step


class Adamax:
    mean = largest = 0

    def step(self, weights, gradient, iteration):
        self.mean = 0.9 * self.mean + 0.1 * gradient
        self.largest = np.maximum(0.999 * self.largest, np.abs(gradient) + 1e-38)
        return weights - 0.002 / (1 - 0.9 ** (iteration + 1)) * self.mean / self.largest


class RmsProp:
    square = 0

    def step(self, weights, gradient, iteration):
        self.square = 0.99 * self.square + 0.01 * gradient**2
        rate = 0.01 / (1 + iteration * 0.1)
        return weights - rate * gradient / (np.sqrt(self.square) + 1e-8)


class Ftrl:
    def __init__(self, rate, l1, l2):
        self.rate, self.l1, self.l2, self.sum, self.linear = rate, l1, l2, 0.1, 0

    def step(self, weights, gradient, iteration):
        before, self.sum = self.sum, self.sum + gradient**2
        sigma = (np.sqrt(self.sum) - np.sqrt(before)) / self.rate
        self.linear = self.linear + gradient - sigma * weights
        curve = np.sqrt(self.sum) / self.rate + 2 * self.l2
        moved = (np.sign(self.linear) * self.l1 - self.linear) / curve
        return np.where(np.abs(self.linear) > self.l1, moved, 0)


@pytest.mark.parametrize(
    ("optimizer", "reference"),
    [
        (optimizers.SGD(), Sgd(1e-3)),
        (optimizers.SGD(0.1, 0.5, 0.01), Sgd(0.1, 0.5, 0.01)),
        # Without a word about it, dampening is the momentum.
        (optimizers.SGD(0.1, momentum=0.9), Sgd(0.1, momentum=0.9, damping=0.9)),
        (
            optimizers.SGD(0.1, momentum=0.9, dampening=0.0),
            Sgd(0.1, momentum=0.9),
        ),
        (optimizers.Adam(), Adam(1e-3)),
        (optimizers.Adam(0.1, 0.5), Adam(0.1, 0.5)),
        (optimizers.ParallelAdam(0.1, 0.5, parallel_num=4), Adam(0.1, 0.5)),
        (optimizers.Adagrad(0.1, 0.5), Adagrad(0.1, 0.5)),
        (optimizers.Adadelta(), Adadelta()),
        (optimizers.Adamax(), Adamax()),
        (
            optimizers.Ftrl(
                0.1, l1_regularization_strength=0.3, l2_regularization_strength=0.2
            ),
            Ftrl(0.1, 0.3, 0.2),
        ),
        (optimizers.RMSprop(learningrate_decay=0.1), RmsProp()),
    ],
    ids=lambda value: repr(value) if hasattr(value, "rule") else None,
)
def test_steps_equal_the_formula(optimizer, reference):
    weights = start()
    steps = zip(run(optimizer, gradients()), gradients(), strict=True)
    for iteration, (ours, gradient) in enumerate(steps):
        weights = reference.step(weights, gradient, iteration)
        np.testing.assert_allclose(ours, weights, 1e-9, 1e-12)


def test_nesterov_is_torchs():
    torch = pytest.importorskip("torch")
    weight = torch.nn.Parameter(torch.tensor(start()))
    theirs = torch.optim.SGD([weight], lr=0.1, momentum=0.9, nesterov=True)
    ours = run(optimizers.SGD(0.1, momentum=0.9, nesterov=True), gradients())
    for mine, gradient in zip(ours, gradients(), strict=True):
        weight.grad = torch.tensor(gradient)
        theirs.step()
        np.testing.assert_allclose(mine, weight.detach().numpy(), 1e-11)


def test_ftrl_makes_weights_exactly_zero():
    pull = optimizers.Ftrl(0.1, l1_regularization_strength=50.0)
    assert run(pull, gradients())[-1].tolist() == [0.0] * 5


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_adamax_stays_finite_without_gradients(dtype):
    # Its epsilon is below the smallest normal float32.
    zero = [np.zeros(3)] * 3
    for weights in run(optimizers.Adamax(), zero, dtype, [1, 2, 3]):
        assert weights.tolist() == [1, 2, 3]


def test_a_schedule_replaces_the_decay():
    optimizer = optimizers.SGD(
        1.0, 0.5, learningrate_schedule=schedules.Step(2, 0.5), dampening=0.0
    )
    weights = run(optimizer, [np.ones(1)] * 5, start=[0.0])
    assert [float(w[0]) for w in weights] == [-1, -2, -2.5, -3, -3.25]


def rates(scheduler, base=8.0, count=5, **options):
    native = scheduler.native(**options)
    return [native.rate_at(base, iteration) for iteration in range(count)]


@pytest.mark.parametrize(
    ("scheduler", "expected"),
    [
        (schedules.Poly(2, 4), [8 * (1 - n / 4) ** 2 for n in range(5)]),
        (schedules.Exponential(2, 0.25), [8 * 0.25 ** (n / 2) for n in range(5)]),
        (schedules.Exponential(2, 0.25, True), [8, 8, 2, 2, 0.5]),
        (schedules.Exponential(2, 0.25, stair_case=True), [8, 8, 2, 2, 0.5]),
        (schedules.Step(2, 0.5), [8, 8, 4, 4, 2]),
        (schedules.Default(), [8] * 5),
        (schedules.Plateau("loss"), [8] * 5),
        (schedules.Warmup(0.5), [8, 8.5, 9, 9.5, 10]),
        (schedules.MultiStep((1, 4), 0.5), [8, 4, 4, 4, 2]),
        (
            schedules.SequentialSchedule(3)
            .add(schedules.Warmup(1), 1)
            .add(schedules.Step(1, 0.5), 9),
            [8, 9, 4.5, 2.25, 1.125],
        ),
    ],
)
def test_rates(scheduler, expected):
    assert rates(scheduler) == pytest.approx(expected)
    assert rates(pickle.loads(pickle.dumps(scheduler))) == pytest.approx(expected)


def test_default_schedule_has_the_optimizers_decay():
    optimizer = optimizers.SGD(
        8.0, learningrate_decay=1.0, learningrate_schedule=schedules.Default()
    )
    assert optimizer.schedule.rate_at(8.0, 3) == 2.0


def test_plateau_reduces_what_it_watches():
    scheduler = schedules.Plateau("Accuracy", 0.5, patience=1, mode="max", min_lr=1.5)
    optimizer = optimizers.SGD(8.0, learningrate_schedule=scheduler)
    assert optimizer.monitor == "Accuracy"
    first, second = optimizer.schedule, optimizer.schedule
    for accuracy in [0.5, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4]:
        first.observe(accuracy, 8.0, 0)
    assert first.rate_at(8.0, 9) == 1.5
    # Another run of the same optimizer knows nothing of this one.
    assert second.rate_at(8.0, 9) == 8.0


def test_monitor_of_a_sequence():
    sequence = schedules.SequentialSchedule(3).add(schedules.Warmup(1), 1)
    assert sequence.monitor is None
    assert sequence.add(schedules.Plateau("score"), 5).monitor == "score"


def test_no_decay_needs_no_schedule():
    for made in (optimizers.SGD(), optimizers.Adam(), optimizers.Ftrl()):
        assert made.schedule is None
        assert made.monitor is None


def test_optimizers_are_plain_data():
    made = optimizers.SGD(0.1, 0.5, learningrate_schedule=schedules.Warmup(0.5))
    copy = pickle.loads(pickle.dumps(made))
    assert copy.rule() == made.rule()
    assert copy.schedule.rate_at(0.1, 2) == pytest.approx(1.1)


def test_mistakes_are_named():
    with pytest.raises(XShardsNotImplementedError, match=r"torch\.optim\.LBFGS"):
        optimizers.LBFGS().rule()
    with pytest.raises(XShardsNotImplementedError, match="parameter groups"):
        optimizers.SGD(learningrates=[0.1, 0.2])
    with pytest.raises(XShardsNotImplementedError, match="line search"):
        optimizers.LBFGS(linesearch="wolfe")
    with pytest.raises(XShardsTypeError, match="got float"):
        optimizers.SGD(learningrate_schedule=0.5)
    with pytest.raises(XShardsTypeError, match="got int"):
        schedules.SequentialSchedule(3).add(3, 1)
    with pytest.raises(XShardsValueError, match="'auto'"):
        schedules.Plateau("loss", mode="auto")
    # Checked when they are described, not when training begins.
    with pytest.raises(ValueError, match="factor must be below 1, got 2"):
        schedules.Plateau("loss", factor=2)
    with pytest.raises(ValueError, match="step_size must be at least 1, got 0"):
        schedules.Step(0, 1)
