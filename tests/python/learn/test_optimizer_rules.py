# SPDX-License-Identifier: Apache-2.0
"""Torch optimizers spelled as rules of the server: the same steps, or none."""

import numpy as np
import pytest

from xshards import _core

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

from xshards.learn.pytorch.optimizer_rules import native_rules  # noqa: E402

optim = torch.optim
STEPS = 30
COUNTS = [7, 1, 33]

OPTIMIZERS = {
    "sgd": lambda p: optim.SGD(p, lr=0.1),
    "sgd momentum": lambda p: optim.SGD(
        p, lr=0.05, momentum=0.9, dampening=0.3, weight_decay=0.01
    ),
    "sgd nesterov": lambda p: optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True),
    "sgd maximize": lambda p: optim.SGD(p, lr=0.05, maximize=True, weight_decay=0.1),
    "sgd foreach": lambda p: optim.SGD(p, lr=0.05, momentum=0.9, foreach=True),
    "adam": lambda p: optim.Adam(p),
    "adam options": lambda p: optim.Adam(
        p, lr=0.01, betas=(0.8, 0.9), eps=1e-3, weight_decay=0.1
    ),
    "adam amsgrad": lambda p: optim.Adam(p, lr=0.01, amsgrad=True, maximize=True),
    "adam decoupled": lambda p: optim.Adam(
        p, lr=0.01, weight_decay=0.3, decoupled_weight_decay=True
    ),
    "adam fused": lambda p: optim.Adam(p, lr=0.01, fused=True),
    "adamw": lambda p: optim.AdamW(p, lr=0.01),
    "adamw options": lambda p: optim.AdamW(p, lr=0.01, weight_decay=0.5, amsgrad=True),
    "adagrad": lambda p: optim.Adagrad(
        p, lr=0.1, lr_decay=0.1, weight_decay=0.1, initial_accumulator_value=0.3
    ),
    "adagrad group": lambda p: optim.Adagrad(
        [{"params": p, "initial_accumulator_value": 9.0}], initial_accumulator_value=0.3
    ),
    "adadelta": lambda p: optim.Adadelta(p, lr=0.5, rho=0.7, weight_decay=0.1),
    "adamax": lambda p: optim.Adamax(p, betas=(0.7, 0.9), weight_decay=0.1),
    "rmsprop": lambda p: optim.RMSprop(p, lr=0.01, alpha=0.9, weight_decay=0.1),
    "rmsprop centered": lambda p: optim.RMSprop(
        p, lr=0.01, momentum=0.9, centered=True, maximize=True
    ),
    "two groups": lambda p: optim.Adam(
        [
            {"params": p[:1], "lr": 0.1, "weight_decay": 0.2},
            {"params": p[1:], "betas": (0.5, 0.6)},
        ],
        lr=0.01,
    ),
}


def parameters():
    random = np.random.default_rng(3)
    return [torch.nn.Parameter(torch.tensor(random.normal(size=n))) for n in COUNTS]


def group_of(optimizer, parameter):
    for index, group in enumerate(optimizer.param_groups):
        if any(parameter is other for other in group["params"]):
            return index
    raise AssertionError


def serve(optimizer, weights):
    server = _core.ParameterServer.make(
        [
            (f"p{index}", p.numel(), "float64", group_of(optimizer, p))
            for index, p in enumerate(weights)
        ],
        native_rules(optimizer),
    )
    for index, parameter in enumerate(weights):
        server.weights(index)[:] = parameter.detach().numpy()
    return server, _core.ReplicaClient.attach(server.fd, 0)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_rules_do_what_the_optimizer_does_step_by_step(name):
    weights = parameters()
    optimizer = OPTIMIZERS[name](weights)
    server, client = serve(optimizer, weights)
    random = np.random.default_rng(5)
    for _ in range(STEPS):
        for index, parameter in enumerate(weights):
            gradient = random.normal(size=parameter.shape)
            parameter.grad = torch.tensor(gradient)
            client.gradient(index)[:] = gradient
            client.presence[index] = 1
        optimizer.step()
        client.push(1)
        assert server.step(10).outcome == "updated"
        assert client.wait(10) == "ready"
        for index, parameter in enumerate(weights):
            np.testing.assert_allclose(
                client.weights(index), parameter.detach().numpy(), 1e-11, 1e-13
            )


def test_a_scheduler_may_refer_to_the_optimizer():
    weights = parameters()
    optimizer = optim.SGD(weights, lr=0.1, momentum=0.5)
    optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.5, total_steps=10)
    assert native_rules(optimizer)[0][1]["learning_rate"] == pytest.approx(0.02)


class Mine(optim.SGD):
    pass


@pytest.mark.parametrize(
    "make",
    [
        lambda p: optim.LBFGS(p),
        lambda p: optim.RAdam(p),
        lambda p: optim.Rprop(p),
        lambda p: optim.ASGD(p),
        lambda p: Mine(p, lr=0.1),
        lambda p: optim.SGD(p, lr=0.1, differentiable=True),
        lambda p: optim.SGD(p, lr=torch.tensor(0.1)),
        lambda p: optim.Adam(p, lr=torch.tensor(0.1), foreach=False),
        lambda p: optim.Adam([{"params": p[:1]}, {"params": p[1:], "mine": 1}]),
    ],
)
def test_unsupported_optimizers_have_no_rule(make):
    assert native_rules(make(parameters())) is None


@pytest.mark.parametrize("when", ["pre", "post"])
def test_hooks_around_steps_are_not_passed_over(when):
    optimizer = optim.SGD(parameters(), lr=0.1)
    assert native_rules(optimizer) is not None
    getattr(optimizer, f"register_step_{when}_hook")(lambda *_: None)
    assert native_rules(optimizer) is None
