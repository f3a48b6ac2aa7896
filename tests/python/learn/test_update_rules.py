# SPDX-License-Identifier: Apache-2.0
"""The native update rules against torch.optim, step by step."""

import numpy as np
import pytest

from xshards import _core

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

STEPS = 100
# An odd count, one element, a vector register and a bit, more than one cache block.
COUNTS = [7, 1, 33, 5001]

# torch's names of hyper-parameters and ours, where they differ.
OURS = {
    "lr": "learning_rate",
    "eps": "epsilon",
    "lr_decay": "learning_rate_decay",
    "initial_accumulator_value": "initial_accumulator",
}

CASES = [
    ("SGD", {"lr": 0.1}),
    ("SGD", {"lr": 0.1, "weight_decay": 0.1, "maximize": True}),
    ("SGD", {"lr": 0.05, "momentum": 0.9}),
    ("SGD", {"lr": 0.05, "momentum": 0.9, "dampening": 0.3, "weight_decay": 0.01}),
    ("SGD", {"lr": 0.05, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01}),
    ("Adam", {"lr": 0.01}),
    ("Adam", {"lr": 0.01, "betas": (0.8, 0.9), "eps": 1e-3, "weight_decay": 0.1}),
    ("Adam", {"lr": 0.01, "amsgrad": True, "maximize": True}),
    ("AdamW", {"lr": 0.01}),
    ("AdamW", {"lr": 0.01, "weight_decay": 0.5, "amsgrad": True}),
    ("Adagrad", {"lr": 0.1}),
    (
        "Adagrad",
        {
            "lr": 0.1,
            "lr_decay": 0.1,
            "weight_decay": 0.1,
            "initial_accumulator_value": 0.3,
        },
    ),
    ("Adadelta", {"lr": 1.0}),
    ("Adadelta", {"lr": 0.5, "rho": 0.7, "weight_decay": 0.1, "maximize": True}),
    ("Adamax", {"lr": 0.01}),
    ("Adamax", {"lr": 0.01, "betas": (0.7, 0.9), "weight_decay": 0.1}),
    ("RMSprop", {"lr": 0.01}),
    ("RMSprop", {"lr": 0.01, "alpha": 0.9, "centered": True, "weight_decay": 0.1}),
    ("RMSprop", {"lr": 0.01, "momentum": 0.9}),
    ("RMSprop", {"lr": 0.01, "momentum": 0.9, "centered": True, "maximize": True}),
]
TOLERANCE = {
    "float32": {"rtol": 2e-4, "atol": 2e-6},
    "float64": {"rtol": 1e-11, "atol": 1e-13},
}


def rule_of(name, options):
    """Spell a torch optimizer's options as ours."""
    ours = {OURS.get(key, key): float(value) for key, value in plain(options)}
    return name.lower(), ours


def plain(options):
    for key, value in options.items():
        if key == "betas":
            yield from zip(("beta1", "beta2"), value, strict=True)
        else:
            yield key, value


class Pair:
    """A torch optimizer and a server with one replica, fed the same gradients."""

    def __init__(self, name, groups, dtype, counts=COUNTS):
        self.random = np.random.default_rng(3)
        self.group_of = [index % len(groups) for index in range(len(counts))]
        first = [self.random.normal(size=count).astype(dtype) for count in counts]
        self.parameters = [torch.nn.Parameter(torch.tensor(w)) for w in first]
        param_groups = [
            {"params": [p for p, g in self.numbered() if g == group], **options}
            for group, options in enumerate(groups)
        ]
        # As arguments too: Adagrad reads its initial value from there alone.
        self.torch = getattr(torch.optim, name)(param_groups, **groups[0])
        self.server = _core.ParameterServer.make(
            [
                (f"p{index}", count, dtype, group)
                for index, (count, group) in enumerate(
                    zip(counts, self.group_of, strict=True)
                )
            ],
            [rule_of(name, options) for options in groups],
        )
        for index, values in enumerate(first):
            self.server.weights(index)[:] = values
        self.client = _core.ReplicaClient.attach(self.server.fd, 0)

    def numbered(self):
        return zip(self.parameters, self.group_of, strict=True)

    def step(self, missing=()):
        for index, parameter in enumerate(self.parameters):
            gradient = self.random.normal(size=parameter.shape)
            parameter.grad = torch.tensor(gradient, dtype=parameter.dtype)
            self.client.gradient(index)[:] = gradient
            self.client.presence[index] = index not in missing
            if index in missing:
                parameter.grad = None
        self.torch.step()
        self.client.push(1)
        assert self.server.step(10).outcome == "updated"
        assert self.client.wait(10) == "ready"

    def check(self):
        for index, parameter in enumerate(self.parameters):
            np.testing.assert_allclose(
                self.client.weights(index),
                parameter.detach().numpy(),
                **TOLERANCE[str(self.client.weights(index).dtype)],
                err_msg=f"parameter {index} after {self.server.steps} steps",
            )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("name", "options"), CASES)
def test_rule_equals_torch_step_by_step(name, options, dtype):
    pair = Pair(name, [options], dtype)
    for _ in range(STEPS):
        pair.step()
        pair.check()


@pytest.mark.parametrize(("name", "options"), CASES)
def test_parameter_without_gradient_is_skipped_as_torch_does(name, options):
    pair = Pair(name, [options], "float64")
    for step in range(STEPS):
        # One is missing at first, one now and then, one always; once all are.
        missing = {0} if step < 3 else set()
        missing |= {1} if step % 3 == 0 else set()
        missing |= {2}
        pair.step(range(4) if step == 50 else missing)
        pair.check()
    # Of 100: all but step 50, and those without a gradient of their own.
    assert pair.server.step_counts.tolist() == [96, 65, 0, 99]


@pytest.mark.parametrize("name", sorted({name for name, _ in CASES}))
def test_groups_have_their_own_hyper_parameters(name):
    groups = [{"lr": 0.01}, {"lr": 0.1, "weight_decay": 0.2}]
    if name == "SGD":
        groups[1]["momentum"] = 0.5
    pair = Pair(name, groups, "float64")
    for _ in range(STEPS):
        pair.step()
    pair.check()


def test_learning_rate_changes_as_a_torch_scheduler_says():
    pair = Pair("Adam", [{"lr": 0.1}], "float64")
    scheduler = torch.optim.lr_scheduler.ExponentialLR(pair.torch, 0.9)
    for _ in range(20):
        pair.step()
        scheduler.step()
        pair.server.set_learning_rate(0, scheduler.get_last_lr()[0])
    pair.check()
    assert pair.server.learning_rate(0) == scheduler.get_last_lr()[0]


def test_states_have_torchs_names_and_values():
    pair = Pair("Adam", [{"lr": 0.01, "amsgrad": True}], "float64")
    for _ in range(5):
        pair.step()
    states = pair.torch.state_dict()["state"]
    for index in range(len(COUNTS)):
        assert pair.server.step_counts[index] == states[index]["step"]
        for number, name in enumerate(pair.server.state_names(0)):
            np.testing.assert_allclose(
                pair.server.state(number, index), states[index][name].numpy(), 1e-11
            )


def test_norm_clipping_equals_torchs():
    pair = Pair("SGD", [{"lr": 0.5}], "float64")
    pair.server.set_clip(norm=0.7)
    for _ in range(10):
        gradients = [pair.random.normal(size=count) for count in COUNTS]
        for index, gradient in enumerate(gradients):
            pair.parameters[index].grad = torch.tensor(gradient)
            pair.client.gradient(index)[:] = gradient
        norm = torch.nn.utils.clip_grad_norm_(pair.parameters, 0.7)
        pair.torch.step()
        pair.client.push(1)
        report = pair.server.step(10)
        assert report.gradient_norm == pytest.approx(float(norm), rel=1e-12)
        pair.check()
